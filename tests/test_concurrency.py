"""Threads calling at once, forks with a live pool, spawned processes: the sequential results, every
time.
"""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from kernelmean.compiled import threads
from tests.compiling import compiled_loops

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this platform cannot fork"
)

KERNELS = ("gaussian", "laplacian", "cauchy")


@pytest.fixture(autouse=True)
def loops_are_compiled():
    """Locks, blocks and threads of compiled loops are what is shared."""
    with compiled_loops():
        yield


def fit(task):
    """A fit and a traversal that depend on the task alone; what they give, as bytes."""
    rng = np.random.default_rng(task)
    d = 2 + task % 2
    X = rng.normal(size=(5000, d))
    engine = km.engines.open("cpu", threads=1 + task % 3)
    space = "rkhs" if task % 2 else "l2"
    mean = km.sparse_kernel_mean(
        X,
        selection="kcenter",
        kernel=KERNELS[task % 3],
        space=space,
        k=25,
        random_state=task,
        engine=engine,
    )
    centers = km.k_center(X, 40, first=task, engine=engine)
    return (
        mean.indices.tobytes(),
        mean.weights.tobytes(),
        mean.indicator.tobytes(),
        centers.indices.tobytes(),
        centers.radii.tobytes(),
    )


def test_threads_fitting_at_once_give_the_sequential_results():
    """Before anything is compiled in this process, if it runs first: compiling is part of what is
    shared.
    """
    tasks = range(8)
    barrier = threading.Barrier(8)

    def at_once(task):
        barrier.wait(timeout=60)
        return [fit(task), fit(task + 8)]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(at_once, tasks))
    assert together == [[fit(task), fit(task + 8)] for task in tasks]


def test_threads_sharing_one_room_give_the_sequential_results():
    """One point cloud, one traversal per thread: point clouds hold no state but the points."""
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    cloud = km.engines.open("cpu", threads=3).load(X)
    assert cloud.compiled.blocks.tree is not None
    radial = km.Gaussian(0.7).radial(3, "rkhs")

    def ask(i):
        picks = cloud.traverse(i).take(15)
        return (
            cloud.kernel_sum(radial, X[i : i + 5]).tobytes(),
            picks.indices.tobytes(),
            cloud.nearest(X[:4]).masses().tobytes(),
        )

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(ask, range(12)))
    fresh = km.engines.open("cpu", threads=1).load(X)
    assert fresh.kernel_sum(radial, X[3:8]).tobytes() == together[3][0]
    assert together == [ask(i) for i in range(12)]


def test_a_pool_inside_a_pool_does_not_wait_for_itself():
    """Work that starts work: tasks on our threads run what they start in place."""
    done = []

    def inner(i):
        done.append(i)

    def outer(i):
        threads.run(inner, [(10 * i + j,) for j in range(4)], 2)

    runner = threading.Thread(
        target=threads.run, args=(outer, [(i,) for i in range(6)], 2), daemon=True
    )
    runner.start()
    runner.join(timeout=30)
    assert not runner.is_alive()
    assert sorted(done) == sorted(10 * i + j for i in range(6) for j in range(4))


def test_an_error_in_a_task_reaches_the_caller():
    def fail(i):
        if i == 3:
            raise RuntimeError("task 3")

    with pytest.raises(RuntimeError, match="task 3"):
        threads.run(fail, [(i,) for i in range(5)], 2)


# --- processes
# --------------------------------------------------------------------------------------------------

PRELUDE = """
import multiprocessing, os, pickle, select, signal, sys, threading, time, warnings
import numpy as np
import kernelmean as km
import kernelmean._work

USUAL_WORK = kernelmean._work.LEAST_WORK
kernelmean._work.LEAST_WORK = 0.0  # compiled loops, in every process that runs this script

# Python 3.12 warns of any fork in a process with threads.
warnings.simplefilter("ignore", DeprecationWarning)
X = np.random.default_rng(0).normal(size=(40_000, 3))

def compute(kernel="gaussian", threads=3):
    family = {"gaussian": km.Gaussian(0.5), "laplacian": km.Laplacian(0.5)}
    family |= {"cauchy": km.Cauchy(0.5), "own": km.Radial(own)}
    cloud = km.engines.open("cpu", threads=threads).load(X)
    values = cloud.kernel_sum(family[kernel].radial(3, "rkhs"), X[:20])
    return values.tobytes() + cloud.traverse(0).take(10).radii.tobytes()

def own(s):
    return 1.0 / (1.0 + s)

def in_a_fork(work, seconds=30):
    # The child's bytes, or None if it does not answer in time (a second, or some to compile).
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, work())
        finally:
            os._exit(0)
    os.close(write)
    ready, _, _ = select.select([read], [], [], seconds)
    answer = os.read(read, 65536) if ready else None
    if answer is None:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    return answer
"""


def run_script(tmp_path, body, timeout=200):
    """A script in a process of its own, so that a deadlock costs a time-out, not the test run."""
    script = tmp_path / "script.py"
    script.write_text(PRELUDE + textwrap.dedent(body))
    path = str(Path(km.__file__).parents[1])
    env = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1:] == ["FINE"], done.stdout


@needs_fork
def test_a_fork_of_a_process_with_a_live_pool_computes(tmp_path):
    """The pool's threads do not survive the fork; the child makes its own. A kernel new to the
    child compiles there.
    """
    run_script(
        tmp_path,
        """
        expected = compute()
        assert in_a_fork(compute) == expected
        theirs = in_a_fork(lambda: compute("laplacian"))
        assert theirs == compute("laplacian")
        assert in_a_fork(lambda: in_a_fork(compute)) == expected   # a fork of a fork
        assert compute() == expected                               # the parent's pool is as it was
        print("FINE")
        """,
    )


@needs_fork
def test_a_fork_while_other_threads_compute(tmp_path):
    run_script(
        tmp_path,
        """
        expected = compute()
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                compute()
        workers = [threading.Thread(target=busy) for _ in range(3)]
        for worker in workers:
            worker.start()
        for attempt in range(8):
            answer = in_a_fork(compute)
            if answer != expected:
                break
        stop.set()
        for worker in workers:
            worker.join()
        assert answer is not None, f"fork {attempt} hangs"
        assert answer == expected
        print("FINE")
        """,
    )


@needs_fork
def test_a_fork_while_another_thread_compiles(tmp_path):
    """Locks held by a compiling thread have no owner in the child: the child must be able to
    compile all the same.
    """
    run_script(
        tmp_path,
        """
        compute()
        stop = threading.Event()
        def compiling():
            while not stop.is_set():
                # A new function each time is compiled each time.
                kernel = km.Radial(lambda s: 1.0 / (1.0 + s))
                km.engines.open("cpu").load(X[:50]).kernel_sum(kernel.radial(3, "rkhs"), X[:2])
        worker = threading.Thread(target=compiling)
        worker.start()
        time.sleep(0.3)
        answer = in_a_fork(lambda: compute("own"))
        stop.set()
        worker.join()
        assert answer is not None, "the fork hangs"
        assert answer == compute("own")
        print("FINE")
        """,
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(tmp_path, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this platform has no {method}")
    run_script(
        tmp_path,
        f"""
        if __name__ == "__main__":
            expected = [compute("gaussian"), compute("cauchy")]
            with multiprocessing.get_context({method!r}).Pool(2) as pool:
                answers = pool.map(compute, ["gaussian", "cauchy"])
            assert answers == expected
            print("FINE")
        """,
    )


# --- the number of threads
# --------------------------------------------------------------------------------------------


def test_the_environment_sets_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("KERNELMEAN_NUM_THREADS", "3")
    assert km.engines.open("cpu").threads == 3
    assert km.engines.open("cpu", threads=2).threads == 2  # an argument wins
    monkeypatch.setenv("KERNELMEAN_NUM_THREADS", "")
    assert km.engines.open("cpu").threads >= 1
    monkeypatch.delenv("KERNELMEAN_NUM_THREADS")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert km.engines.open("cpu").threads == available


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " ", "2x", "²"])
def test_a_wrong_number_of_threads_is_refused(monkeypatch, value):
    monkeypatch.setenv("KERNELMEAN_NUM_THREADS", value)
    with pytest.raises(
        ValueError, match="KERNELMEAN_NUM_THREADS must be a positive whole number, got"
    ):
        km.engines.open("cpu")
    with pytest.raises(ValueError, match="KERNELMEAN_NUM_THREADS"):
        km.k_center(np.eye(3), 2)


def test_the_environment_decides_how_many_threads_run(monkeypatch):
    """As many names as asked for, none more."""
    monkeypatch.setenv("KERNELMEAN_NUM_THREADS", "4")
    seen = set()
    barrier = threading.Barrier(4)

    def meet(i):
        barrier.wait(timeout=30)  # four tasks pass only if four threads run
        seen.add(threading.current_thread().name)

    threads.run(meet, [(i,) for i in range(8)], km.engines.open("cpu").threads)
    assert len(seen) == 4
    assert all(name.startswith("kernelmean") for name in seen)


# --- fits that travel between processes
# -------------------------------------------------------------------------------

TRAVELLING = """
Y = X[:600] * [1.0, 0.5, 2.0]

def bits(*arrays):
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)

def fitted(task):
    # A mean and what it says, from nothing but the task.
    kernel, space = task
    mean = km.sparse_kernel_mean(Y, kernel=kernel, space=space, k=12, refine=2, random_state=0)
    return pickle.dumps(mean), said(mean)

def said(mean):
    full = km.kernel_mean(Y[:200], kernel=mean.kernel, space=mean.space)
    numbers = [mean.inner(full), mean.distance(full), mean.certificate(Y, method="exact").error]
    return bits(mean.centers, mean.weights, mean(Y[:50]), mean.gradient(Y[:7]), np.array(numbers))

def said_there(packed):
    # What a mean from another process says here, and what comes of it after one more journey.
    mean = pickle.loads(packed)
    return said(mean), said(pickle.loads(pickle.dumps(mean)))

def estimated(seed):
    density = km.SparseKDE(bandwidth=0.7, random_state=seed).fit(Y)
    clusters = km.MeanShift(bandwidth=1.0, random_state=seed).fit(Y[:200])
    bounded = km.SparseKDE(domain={0: (-99, None)}, random_state=seed).fit(Y[:200]).mean_
    again = pickle.loads(pickle.dumps(bounded))
    assert bits(again.log(Y[:40])) == bits(bounded.log(Y[:40]))
    values = density.score_samples(Y[:40]), clusters.labels_, bounded.log(Y[:40])
    return pickle.dumps(density), bits(*values)

def scored_there(packed):
    return bits(pickle.loads(packed).score_samples(Y[:40]))

TASKS = [("gaussian", "rkhs"), ("laplacian", "l2")]
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_means_and_estimators_travel_between_processes(tmp_path, method):
    """Fitted here and there, asked here and there: the same bits, by every way of starting a
    process.
    """
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this platform has no {method}")
    run_script(
        tmp_path,
        TRAVELLING
        + f"""
if __name__ == "__main__":
    here, estimates = [fitted(task) for task in TASKS], estimated(0)
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        there = pool.map(fitted, TASKS, chunksize=1)
        told = pool.map(said_there, [packed for packed, _ in here], chunksize=1)
        their_estimates = pool.apply(estimated, (0,))
        their_scores = pool.apply(scored_there, estimates[:1])
    assert [words for _, words in there] == [words for _, words in here]
    assert told == [(words, words) for _, words in here]
    assert [said(pickle.loads(packed)) for packed, _ in there] == [words for _, words in here]
    assert their_estimates[1] == estimates[1]
    assert their_scores == scored_there(estimates[0]) == scored_there(their_estimates[0])
    print("FINE")
""",
    )


def test_a_search_on_two_processes_finds_what_one_finds(tmp_path):
    """scikit-learn's search by way of joblib's processes, with one BLAS thread everywhere: its bits
    depend on their number.
    """
    run_script(
        tmp_path,
        TRAVELLING
        + """
if __name__ == "__main__":
    from joblib import parallel_config
    from sklearn.model_selection import GridSearchCV
    from threadpoolctl import threadpool_limits

    def search(jobs):
        grid = {"bandwidth": [0.3, 0.7, 1.5]}
        found = GridSearchCV(km.SparseKDE(random_state=0), grid, cv=2, n_jobs=jobs).fit(Y)
        scores = bits(found.best_estimator_.score_samples(Y[:40]))
        return bits(found.cv_results_["mean_test_score"]), found.best_params_, scores

    kernelmean._work.LEAST_WORK = USUAL_WORK  # as in joblib's processes, which import no script
    with threadpool_limits(1, user_api="blas"), parallel_config("loky", inner_max_num_threads=1):
        assert search(2) == search(1)
    print("FINE")
""",
    )

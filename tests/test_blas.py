"""The number of BLAS threads is the process's own: whoever asks for one thread gives it back as it
was.
"""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

import kernelmean as km
from kernelmean import _blas

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this platform cannot fork"
)
BEFORE = 2


def blas():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


@pytest.fixture(autouse=True)
def two_threads():
    """A number that is not one, on any machine; set past threadpoolctl, where this thread would
    stay in control of it.
    """
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [library.num_threads for library in libraries]
    for library in libraries:
        _blas._set(library, BEFORE)
    assert set(blas()) == {BEFORE}
    yield
    for library, count in zip(libraries, before, strict=True):
        _blas._set(library, count)


def test_inside_there_is_one_thread_and_afterwards_what_was_before():
    with _blas.one_thread():
        assert set(blas()) == {1}
        with _blas.one_thread():
            assert set(blas()) == {1}
        assert set(blas()) == {1}  # the outer one is still inside
    assert set(blas()) == {BEFORE}


def test_an_error_inside_gives_the_threads_back():
    with pytest.raises(RuntimeError, match="inside"), _blas.one_thread(), _blas.one_thread():
        raise RuntimeError("inside")
    assert set(blas()) == {BEFORE}


def test_callers_that_interleave_give_the_threads_back():
    """First in, first out: the last one out saw nothing but one thread when it came in."""
    first, second = _blas.one_thread(), _blas.one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas()) == {1}
    second.__exit__(None, None, None)
    assert set(blas()) == {BEFORE}


def test_eight_threads_inside_at_once_give_the_threads_back():
    barrier = threading.Barrier(8)

    def visit(i):
        barrier.wait(timeout=60)
        for _ in range(20):
            with _blas.one_thread():
                assert set(blas()) == {1}
        barrier.wait(timeout=60)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(visit, range(8)))
    assert set(blas()) == {BEFORE}


def test_eight_threads_that_compare_samples_give_the_threads_back():
    rng = np.random.default_rng(0)
    samples = [(rng.normal(size=(200 + 40 * i, 2)), rng.normal(size=(200, 2))) for i in range(8)]
    barrier = threading.Barrier(8)

    def compare(pair):
        barrier.wait(timeout=60)
        return [float(km.mmd(*pair, random_state=0)) for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(compare, samples))
    assert set(blas()) == {BEFORE}
    assert together == [[float(km.mmd(*pair, random_state=0))] * 3 for pair in samples]


def in_a_fork(work, seconds=60):
    """What ``work`` returns in a child, as text; a child that hangs is ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, repr(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe, ended_after(seconds, child):
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


@contextmanager
def ended_after(seconds, child):
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def visited_again():
    """One thread inside, and the number found before and after."""
    found = [set(blas())]
    with _blas.one_thread():
        found.append(set(blas()))
    return [*found, set(blas())]


@needs_fork
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # Python 3.12 warns of any fork in a process with threads
def test_a_child_forked_while_another_thread_is_inside_has_its_threads():
    """The thread that is inside does not exist in the child, and will never leave."""
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with _blas.one_thread():
            entered.set()
            leave.wait(timeout=120)

    other = threading.Thread(target=stay)
    other.start()
    assert entered.wait(timeout=60)
    try:
        assert in_a_fork(visited_again) == repr([{BEFORE}, {1}, {BEFORE}])
        assert set(blas()) == {1}  # the parent's other thread is still inside
    finally:
        leave.set()
        other.join()
    assert set(blas()) == {BEFORE}


@needs_fork
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_inside_leaves_by_itself():
    def leave(visit):
        found = [set(blas())]
        visit.__exit__(None, None, None)
        return [*found, set(blas()), *visited_again()]

    visit = _blas.one_thread()
    visit.__enter__()
    try:
        assert in_a_fork(lambda: leave(visit)) == repr([{1}, {BEFORE}, {BEFORE}, {1}, {BEFORE}])
    finally:
        visit.__exit__(None, None, None)
    assert set(blas()) == {BEFORE}

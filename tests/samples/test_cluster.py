"""A real cluster of separate processes: the same centres as on one machine, index for index, also
where workers die.
"""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kernelmean as km
from kernelmean.kernels import Atoms

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

from kernelmean.samples.cluster import clients  # noqa: E402
from kernelmean.samples.cluster import collections as tables  # noqa: E402
from kernelmean.samples.cluster import remote as carrying  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "default"
)  # of Dask itself, on every start and end of a process


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def spread_everything(monkeypatch):
    """Also what is small enough to come here."""
    monkeypatch.setattr(tables, "HERE", 0)
    monkeypatch.setattr(carrying, "PATIENCE", 0.5)


def cloud(n=6000, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def lattice(n=6000, d=2):
    return np.random.default_rng(1).integers(-5, 6, size=(n, d)).astype(float)


@pytest.mark.parametrize(
    ("make", "chunks"),
    [
        (cloud, ((1500, 1, 2, 4000, 497), (3,))),  # uneven
        (cloud, ((6000,), (3,))),  # one partition
        (cloud, ((2000, 2000, 2000), (1, 2))),  # columns apart
        (lattice, ((1000,) * 6, (2,))),
    ],
)
def test_the_same_centres_index_for_index(client, make, chunks):
    X = make()
    found, expected = (
        km.k_center(da.from_array(X, chunks=chunks), 100, first=5),
        km.k_center(X, 100, first=5),
    )
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.radii, expected.radii)
    assert found.cover == expected.cover


def test_empty_partitions_and_unknown_sizes(client):
    X = cloud()
    D = da.from_array(X, chunks=(1000, 3))
    kept = D[D[:, 0] > 0.5]  # sizes unknown
    none = D[D[:, 0] > 100.0]
    found = km.k_center(
        da.concatenate([none, kept, none], allow_unknown_chunksizes=True), 40, first=3
    )
    np.testing.assert_array_equal(found.indices, km.k_center(X[X[:, 0] > 0.5], 40, first=3).indices)
    with pytest.raises(ValueError, match="at least one point"):
        km.k_center(none, 3)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_atoms_travel_to_workers_and_spreads_come_back(client, spread):
    X = cloud(900)
    spreads = np.full(5, 0.3) if spread == "scalar" else np.full((5, 3, 3), 0.2) + np.eye(3)
    atoms = Atoms(X[:5], spreads)
    radial = km.Gaussian(0.7).radial(3, "rkhs")
    naive = km.engines.open("naive").load(X)
    engine = km.engines.open("cluster", client=client, local="naive")
    loaded = tables.check(da.from_array(X, chunks=(400, 3)), engine, "X").load(engine)
    np.testing.assert_allclose(
        loaded.atom_sum(radial, atoms), naive.atom_sum(radial, atoms), rtol=1e-13
    )
    np.testing.assert_allclose(
        loaded.atom_moments(radial, atoms), naive.atom_moments(radial, atoms), atol=1e-14
    )
    here, there = (e.load_atoms(atoms) for e in (engine, km.engines.open("naive")))
    np.testing.assert_array_equal(
        here.kernel_sum(radial, X[:9], np.ones(5)), there.kernel_sum(radial, X[:9], np.ones(5))
    )
    found, expected = loaded.nearest(X[:5]), naive.nearest(X[:5])
    np.testing.assert_allclose(found.variances(), expected.variances(), rtol=1e-12)
    np.testing.assert_allclose(found.covariances(), expected.covariances(), atol=1e-13)


def test_float32_is_float64(client):
    X = cloud().astype(np.float32)
    found = km.k_center(da.from_array(X, chunks=(2500, 3)), 30, first=1)
    np.testing.assert_array_equal(found.indices, km.k_center(X, 30, first=1).indices)


def test_frames(client):
    X = cloud(3000, 2)
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=3)
    fitted = km.SparseKDE(k=20, selection="kcenter", random_state=0).fit(frame)
    expected = km.SparseKDE(k=20, selection="kcenter", random_state=0).fit(X)
    assert list(fitted.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(fitted.mean_.indices, expected.mean_.indices)
    np.testing.assert_allclose(
        fitted.score_samples(frame).compute(), expected.score_samples(X), rtol=1e-9
    )
    with pytest.raises(ValueError, match="columns"):
        fitted.score_samples(frame[["b", "a"]])


@pytest.mark.parametrize(
    "bad", [pd.Categorical(["x", "y"] * 3), ["x", "y"] * 3, pd.date_range("2020", periods=6)]
)
def test_columns_that_are_no_numbers_are_named(client, bad):
    frame = dd.from_pandas(pd.DataFrame({"a": np.arange(6.0), "kind": bad}), npartitions=2)
    with pytest.raises(TypeError, match=r"'kind'.*real numbers"):
        km.sparse_kernel_mean(frame)


def test_other_collections_are_refused(client):
    series = dd.from_pandas(pd.Series(np.arange(6.0)), npartitions=2)
    for wrong in (series, dask.delayed(cloud)()):
        for use in (
            lambda X: km.k_center(X, 2),
            km.SparseKDE(k=2).fit,
            km.SparseKDE(k=2).fit(cloud(50)).score_samples,
        ):
            with pytest.raises(
                TypeError, match=r"X is a Dask .* an array or a frame of numbers is needed"
            ):
                use(wrong)


def test_batches_of_a_stream_may_be_on_the_cluster(client):
    X = cloud(1000, 2)
    found, expected = (
        km.SparseKDE(k=15, selection="kcenter", random_state=0),
        km.SparseKDE(k=15, selection="kcenter", random_state=0),
    )
    for rows in (slice(0, 700), slice(700, 1000)):
        found.partial_fit(da.from_array(X[rows], chunks=(400, 2)))
        expected.partial_fit(X[rows])
    assert found.mean_.n_points == 1000
    assert found.mean_.distance(expected.mean_) < 1e-7


def test_bad_numbers_on_a_worker_are_the_same_sentence_here(client):
    X = cloud(1000)
    X[700, 1] = np.inf
    with pytest.raises(ValueError, match="X holds infinite values"):
        km.k_center(da.from_array(X, chunks=(300, 3)), 5)


@pytest.mark.parametrize(
    "options", [{"k": 25}, {"k_max": 40, "selection": "kcenter"}, {"k": 8, "selection": "kmeans++"}]
)
def test_fits_agree_with_one_machine(client, options):
    X, w = cloud(4000, 2), np.random.default_rng(2).integers(0, 4, 4000).astype(float)
    D = da.from_array(X, chunks=(900, 2))
    common = {"scale": "std", "random_state": 0, **options}
    found = km.sparse_kernel_mean(D, sample_weight=da.from_array(w, chunks=900), **common)
    expected = km.sparse_kernel_mean(X, sample_weight=w, **common)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-6)
    np.testing.assert_allclose(found.centers, expected.centers, rtol=1e-9)
    assert found.n_points == expected.n_points
    np.testing.assert_allclose(found(D).compute(), expected(X), rtol=1e-7)
    np.testing.assert_allclose(found.gradient(D).compute(), expected.gradient(X), atol=1e-9)


def test_repeated_fits_are_equal_bit_for_bit(client):
    D = da.from_array(cloud(5000), chunks=(800, 3))
    first, second = (
        km.sparse_kernel_mean(D, k=60, selection="kcenter", random_state=0) for _ in range(2)
    )
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.kappa.tobytes() == second.kappa.tobytes()


def test_estimators(client):
    X = np.concatenate([cloud(1500, 2), 5.0 + cloud(1500, 2, 1)])
    y, D = np.repeat([0, 1], 1500), da.from_array(X, chunks=(700, 2))
    shares = [
        km.ClassProportions(k=10, bandwidth="scott", random_state=0).fit(A, y).predict(A)
        for A in (D, X)
    ]
    np.testing.assert_allclose(*shares, atol=1e-9)
    shifts = [km.MeanShift(k=15, selection="kcenter", random_state=0).fit(A) for A in (D, X)]
    np.testing.assert_array_equal(shifts[0].labels_, shifts[1].labels_)
    np.testing.assert_array_equal(shifts[0].predict(D).compute(), shifts[1].predict(X))
    options = {"embedding": None, "k": 10, "selection": "kcenter", "random_state": 0}
    maps = [km.DistributionEmbedding(**options).fit([A, X[:900]]).distances_ for A in (D, X)]
    np.testing.assert_allclose(*maps, atol=1e-9)


def test_arrays_with_engine_cluster(client):
    X = cloud(3000)
    found = km.sparse_kernel_mean(X, k=15, selection="kcenter", engine="cluster", random_state=0)
    expected = km.sparse_kernel_mean(X, k=15, selection="kcenter", random_state=0)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found(X[:9]), expected(X[:9]), rtol=1e-12)
    given = km.k_center(
        X,
        10,
        first=0,
        engine=km.engines.open("cluster", client=client.scheduler.address, local="naive"),
    )
    np.testing.assert_array_equal(given.indices, km.k_center(X, 10, first=0).indices)


def test_nothing_stays_on_the_workers(client):
    """Neither after a fit nor after one that failed."""
    km.k_center(da.from_array(cloud(), chunks=(2000, 3)), 10)
    with pytest.raises(ValueError, match="X holds infinite values"):
        km.k_center(
            da.from_array(np.append(cloud(), [[np.inf, 0.0, 0.0]], axis=0), chunks=(2000, 3)), 10
        )
    deadline = time.monotonic() + 60.0
    while any(client.has_what().values()) and time.monotonic() < deadline:
        gc.collect()  # errors hold on to their frames
        time.sleep(0.05)
    assert not any(client.has_what().values())


# --- faults
# --------------------------------------------------------------------------------------------------


class Killing:
    """Kills the worker that holds the first part when the n-th question is asked."""

    def __init__(self, monkeypatch, client, nth):
        self._ask, self._client, self._left = carrying.RemoteParts._ask, client, nth
        self.killed = None
        patched, pids = self, client.run(os.getpid)

        def ask(carried, *arguments):
            asked = patched._ask(carried, *arguments)
            patched._left -= 1
            if patched._left == 0:
                patched.killed = next(iter(asked))
                os.kill(pids[patched.killed], signal.SIGKILL)
            return asked

        monkeypatch.setattr(carrying.RemoteParts, "_ask", ask)


@pytest.mark.parametrize("nth", [3, 6])
def test_a_worker_that_dies_changes_nothing(client, monkeypatch, nth):
    """Its parts are made anew elsewhere and hear of all centres so far; a nanny starts another
    worker meanwhile.
    """
    X = cloud(20_000)
    D = da.from_array(X, chunks=(2500, 3))
    expected = km.sparse_kernel_mean(X, k=80, selection="kcenter", random_state=0)
    killing = Killing(monkeypatch, client, nth)
    found = km.sparse_kernel_mean(D, k=80, selection="kcenter", random_state=0)
    assert killing.killed is not None
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9)
    client.wait_for_workers(2, timeout=120)


def test_a_worker_that_dies_for_good(monkeypatch):
    """Without a nanny the other worker takes over."""
    X = cloud(8000)
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address=":0", worker_class=distributed.Worker, processes=False
        ) as empty,
        distributed.Client(empty, set_as_default=False) as client,
    ):
        empty.scale(2)
        client.wait_for_workers(2, timeout=120)
        asks, ask = [], carrying.RemoteParts._ask

        def retire(carried, *arguments):
            asked = ask(carried, *arguments)
            asks.append(1)
            if len(asks) == 3:
                victim = next(
                    worker
                    for worker in empty.workers.values()
                    if worker.address == next(iter(asked))
                )
                client.sync(victim.close, nanny=False)
            return asked

        monkeypatch.setattr(carrying.RemoteParts, "_ask", retire)
        engine = km.engines.open("cluster", client=client)
        found = km.k_center(da.from_array(X, chunks=(1000, 3)), 60, first=2, engine=engine)
        assert len(client.scheduler_info()["workers"]) == 1
    np.testing.assert_array_equal(found.indices, km.k_center(X, 60, first=2).indices)


def test_a_lost_scheduler_is_an_error_and_no_hang(monkeypatch, tmp_path):
    """A scheduler and a worker of their own; the scheduler is killed in the middle of a fit."""
    file = str(tmp_path / "scheduler.json")
    start = [
        sys.executable,
        "-m",
        "dask",
        "scheduler",
        "--scheduler-file",
        file,
        "--port",
        "0",
        "--dashboard-address",
        ":0",
    ]
    scheduler = subprocess.Popen(start, stderr=subprocess.DEVNULL)
    join = [
        sys.executable,
        "-m",
        "dask",
        "worker",
        "--scheduler-file",
        file,
        "--no-nanny",
        "--nthreads",
        "1",
    ]
    worker = subprocess.Popen(
        [*join, "--dashboard-address", ":0", "--death-timeout", "120"], stderr=subprocess.DEVNULL
    )
    asks, ask = [], carrying.RemoteParts._ask

    def lose(carried, *arguments):
        asks.append(1)
        if len(asks) == 3:
            scheduler.kill()
        return ask(carried, *arguments)

    monkeypatch.setattr(carrying.RemoteParts, "_ask", lose)
    try:
        client = distributed.Client(scheduler_file=file, set_as_default=False, timeout="120s")
        with pytest.raises(ConnectionError, match="scheduler"):
            km.k_center(
                da.from_array(cloud(), chunks=(1000, 3)),
                50,
                engine=km.engines.open("cluster", client=client),
            )
        client.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_an_interrupt_cancels_what_is_under_way(client, monkeypatch):
    pending = []

    def interrupted(carried, home, future):
        pending.append(future)
        raise KeyboardInterrupt

    monkeypatch.setattr(carrying.RemoteParts, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        km.k_center(da.from_array(cloud(200_000), chunks=(100_000, 3)), 10)
    assert all(future.done() for future in pending)  # cancelled, or finished before


def test_no_scheduler_at_an_address(monkeypatch):
    monkeypatch.setattr(clients, "ANSWER", 0.5)
    engine = km.engines.open("cluster", client="tcp://127.0.0.1:9")
    with pytest.raises(ConnectionError, match="no Dask scheduler answers"):
        km.k_center(cloud(), 3, engine=engine)


def test_a_local_client_is_started_and_said_in_the_log(caplog):
    """Where there is none; in a thread, since this process has one already."""
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.INFO, logger="kernelmean"):
        patch.setattr(distributed, "get_client", _no_client)
        client = clients.connect(km.engines.open("cluster"))
        client.close()
    assert any("local" in record.message for record in caplog.records)
    assert threading.active_count() < 100


def _no_client():
    raise ValueError("no client")


@pytest.mark.parametrize("wrong", [{"client": 3}, {"local": "abacus"}])
def test_wrong_options(wrong):
    with pytest.raises((TypeError, ValueError)):
        km.engines.open("cluster", **wrong)


@pytest.mark.parametrize("as_collection", [True, False])
def test_two_samples_are_tested_on_the_workers(client, as_collection):
    """The sums over the bins are those of the workers; arrays are spread over them first."""
    A, B = cloud(2000), cloud(1500, seed=1) + np.array([0.1, 0.0, 0.0])
    here = km.mmd_test(A, B, random_state=0, bins=8, k=40)
    spread = [da.from_array(X, chunks=(500, 3)) for X in (A, B)] if as_collection else [A, B]
    there = km.mmd_test(*spread, random_state=0, bins=8, k=40, engine="cluster")
    assert there.p_value == here.p_value
    np.testing.assert_allclose(there.null, here.null, rtol=1e-6)


def test_where_two_samples_differ_is_found_on_the_workers(client):
    A, B = cloud(1500), cloud(1200, seed=1)
    B[:100] = 2.0 + 0.3 * B[:100]
    here = km.difference(A, B, random_state=0)
    spread = [da.from_array(X, chunks=(500, 3)) for X in (A, B)]
    there = km.difference(*spread, engine="cluster", random_state=0)
    assert there.test.p_value == here.test.p_value
    assert np.array_equal(there.regions.cell_labels, here.regions.cell_labels)
    assert there.columns == here.columns
    assert len(here.regions) > 0

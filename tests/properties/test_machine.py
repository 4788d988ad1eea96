"""Chains of operations on means and densities, each compared with a brute-force kernel mean that is
carried along.

Single operations have tests of their own; what breaks are combinations, such as a refit to other
data that is truncated.
"""

from __future__ import annotations

import atexit
import copy
import functools
import importlib.util
import math
import pickle
import tempfile
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, precondition, rule

import kernelmean as km
from kernelmean import _checks
from kernelmean._types import EPS
from tests import brute
from tests.properties.oracle import Measure, Oracle, decay_of_one_over_one_plus, one_over_one_plus

pytestmark = [
    pytest.mark.fuzz,
    # Whatever the machine tries, its few centres are no good: see tests/fitting/test_honesty.py.
    pytest.mark.filterwarnings("ignore::kernelmean.FitWarning"),
]

DIMENSION = 2  # loops are compiled for each dimension
KERNELS = [
    km.Gaussian(0.7),
    km.Gaussian(2.0),
    km.Laplacian(0.8),
    km.Cauchy(0.5),
    km.Student(2.3, 0.9),
]
OWN = km.Radial(one_over_one_plus, 0.8, decay_function=decay_of_one_over_one_plus)
SELECTIONS = ("kcenter", "greedy", "kmeans++", "kmeans", "random", "auto")
CONSTRAINTS = (None, "simplex", "sum-to-one", "simplex-projection")
ENGINES = ["naive", "cpu", "mapped"]
if (
    importlib.util.find_spec("torch") is not None
    and importlib.import_module("torch").cuda.is_available()
):
    ENGINES.append("gpu")
if settings.default.max_examples > 100 and importlib.util.find_spec("distributed") is not None:
    ENGINES.append(
        "cluster"
    )  # workers take a second to start, and each question a few milliseconds
# standard errors that an estimate may be off: one in 10⁹ for a normal law, more for the tails of a
# spectrum
SIGMAS = 6.0


def cloud(kind: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, DIMENSION))
    if kind == "lattice":
        X = np.round(X)
    if kind == "copies":
        X = X[rng.integers(n, size=n)]
    if kind == "offset":
        X += 1e4
    return X


clouds = st.builds(
    cloud,
    st.sampled_from(["normal", "lattice", "copies", "offset"]),
    st.integers(4, 40),
    st.integers(0, 10**6),
)


def row_counts(n: int) -> st.SearchStrategy:
    """How often each row is there; some are absent."""
    return st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any).map(np.array)


def sample_weights(n: int) -> st.SearchStrategy:
    """None, counts, or shares; some rows may be absent."""
    shares = (
        st.lists(st.sampled_from([0.0, 0.25, 0.3, 1.7]), min_size=n, max_size=n)
        .filter(any)
        .map(np.array)
    )
    return st.one_of(st.none(), row_counts(n), shares)


@functools.cache
def workers():
    """A client with two workers in this process, for all examples."""
    distributed = importlib.import_module("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    client = distributed.Client(cluster)
    atexit.register(lambda: (client.close(), cluster.close()))
    return client


class Tracked(NamedTuple):
    """A mean, the measure it stands for, and the rows it came from if it came from one sample."""

    mean: km.SparseKernelMean
    target: Measure
    n_points: float
    rows: np.ndarray | None


def size_of(n: int, w: np.ndarray | None) -> float:
    if w is None:
        return float(n)
    if (w == np.rint(w)).all() or len(np.unique(w[w > 0])) == 1:
        return float(w.sum()) if (w == np.rint(w)).all() else float(np.count_nonzero(w))
    return float(w.sum() ** 2 / (w**2).sum())


def grain(mean: km.SparseKernelMean) -> float:
    """How far rounding moves a point, in lengths of the kernel: coordinates of 10⁴ have four digits
    less behind the point.
    """
    stretch = 1.0 if mean.scale is None else float(np.linalg.norm(mean.scale, 2))
    return 8 * EPS * float(np.abs(mean.centers).max()) * stretch / mean.kernel.length


def check(tracked: Tracked) -> None:
    """Everything that a mean says of itself, against the formulas."""
    mean, target = tracked.mean, tracked.target
    oracle, own = Oracle.of(mean), Measure(np.array(mean.centers), np.array(mean.weights))
    size = 1.0 + float(np.abs(own.weights).sum())
    squared, zz = oracle.inner(target - own, target - own), oracle.inner(target, target)
    error, noise = math.sqrt(max(squared, 0.0)), (100 * EPS + grain(mean)) * size**2
    assert mean.k == len(mean.centers) == len(np.unique(mean.centers, axis=0))
    assert mean.n_points == pytest.approx(tracked.n_points, rel=1e-12)
    np.testing.assert_allclose(mean.kappa, oracle.kappa(target, mean.centers), atol=2e-11)
    _check_values(mean, oracle, own, size)
    _check_weights(mean, oracle, own, target, noise)
    for bound in (mean.bound, mean.tighter_bound):
        assert (
            bound is None
            or error * oracle.unit <= bound * (1 + 1e-9) + math.sqrt(noise) * oracle.unit
        )
    if mean.bound is not None and mean.tighter_bound is not None:
        assert mean.tighter_bound <= mean.bound * (1 + 1e-9)
    if not math.isnan(mean.cover) and tracked.rows is not None:
        assert mean.cover == pytest.approx(oracle.cover(target, mean.centers), rel=1e-9, abs=1e-9)
    if mean.indices is not None:
        np.testing.assert_array_equal(tracked.rows[mean.indices], mean.centers)
    if mean.constraint is None and mean.solver == "cholesky":
        assert squared <= zz + mean.indicator[-1] + noise
        assert (np.diff(mean.indicator) <= 0).all()
    for name in ("centers", "weights", "kappa", "radii", "indicator"):
        assert not getattr(mean, name).flags.writeable


def _check_values(mean, oracle, own, size):
    Q = np.concatenate([mean.centers[:3], mean.centers[:1] + np.array([[0.3, -0.2]])])
    expected = oracle.values(own, Q)
    peak = float(oracle.values(Measure(Q[:1], np.ones(1)), Q[:1])[0])
    single = mean.engine == "gpu"  # which evaluates in float32 unless told otherwise
    np.testing.assert_allclose(
        mean(Q), expected, rtol=0, atol=(2e-6 if single else 1e-11) * peak * size
    )
    if (own.weights >= 0).all():
        log_tolerance, seen = (
            1e-4 if single else 1e-9,
            expected > 1e-290 * peak,
        )  # the oracle's exponentials vanish farther out
        np.testing.assert_allclose(
            mean.log(Q)[seen], np.log(expected[seen]), rtol=log_tolerance, atol=log_tolerance
        )
    if not isinstance(mean.kernel, km.Laplacian):
        h = 1e-4 * mean.kernel.length
        steps = h * np.eye(DIMENSION)
        numeric = np.stack(
            [
                (oracle.values(own, Q + step) - oracle.values(own, Q - step)) / (2 * h)
                for step in steps
            ],
            axis=1,
        )
        scale = 1.0 if mean.scale is None else float(np.linalg.norm(mean.scale, 2))
        np.testing.assert_allclose(
            mean.gradient(Q),
            numeric,
            rtol=0,
            atol=1e-5 * peak * size * scale**3 / mean.kernel.length,
        )


def _check_weights(mean, oracle, own, target, noise):
    """Feasible and optimal: no feasible direction descends by more than rounding and jitter."""
    alpha = own.weights
    if mean.constraint is not None:
        assert alpha.sum() == pytest.approx(1.0, abs=1e-9)
    if mean.constraint in ("simplex", "simplex-projection"):
        assert (alpha >= 0).all()
    if mean.constraint == "simplex":
        residual = oracle.kappa(own, mean.centers) - oracle.kappa(target, mean.centers)
        assert float(alpha @ residual - residual.min()) <= 1e-9 + 1e6 * noise


class Means(RuleBasedStateMachine):
    """fit, refit, truncate, merge, stream, save, load, pickle, certify, compare."""

    tracked = Bundle("tracked")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        # However small, a mapped array is read part by part, and what is on a cluster stays there.
        self.patches = [
            mock.patch.object(_checks, "MAPPED", 8),
            mock.patch.object(_checks, "free_memory", return_value=0),
        ]
        if "cluster" in ENGINES:
            self.patches.append(mock.patch("kernelmean.samples.cluster.collections.HERE", 0))
        for patch in self.patches:
            patch.start()
        self.count = 0

    def teardown(self):
        for patch in self.patches:
            patch.stop()
        self.folder.cleanup()

    def path(self) -> Path:
        self.count += 1
        return Path(self.folder.name) / str(self.count)

    def placed(self, X: np.ndarray, engine: str):
        """X where the engine takes it from: memory, a file that is read batch by batch, or the
        workers of a cluster.
        """
        if engine == "cluster":
            workers()
            return importlib.import_module("dask.array").from_array(
                X, chunks=(max(1, len(X) // 3), X.shape[1])
            ), "cpu"
        if engine != "mapped":
            return X, engine
        path = self.path()
        X.astype("<f8").tofile(path)
        return np.memmap(path, "<f8", "r", shape=X.shape), "cpu"

    @initialize(
        kernel=st.sampled_from([*KERNELS, OWN]),
        space=st.sampled_from(["rkhs", "l2"]),
        scale=st.sampled_from([None, None, "matrix"]),
    )
    def world(self, kernel, space, scale):
        """All means of one run can be compared: one kernel, space and scale."""
        self.kernel, self.space = kernel, "rkhs" if kernel is OWN else space
        self.scale = None if scale is None else np.array([[2.0, 0.5], [0.0, 0.7]])

    @rule(
        target=tracked,
        X=clouds,
        data=st.data(),
        selection=st.sampled_from([*SELECTIONS, "rows"]),
        constraint=st.sampled_from(CONSTRAINTS),
        solver=st.sampled_from(["cholesky", "cholesky", "cg"]),
        k=st.one_of(st.just("auto"), st.integers(1, 12)),
        refine=st.sampled_from([0, 0, 3]),
        engine=st.sampled_from(ENGINES),
        seed=st.integers(0, 5),
    )
    def fit(self, X, data, selection, constraint, solver, k, refine, engine, seed):
        w = data.draw(sample_weights(len(X)), label="weights")
        present = np.arange(len(X)) if w is None else np.flatnonzero(w)
        rows = selection
        if selection == "rows":
            rows = data.draw(
                st.lists(st.sampled_from(present.tolist()), min_size=1, max_size=8, unique=True),
                label="rows",
            )
            k = "auto"
        place, engine = self.placed(X, engine)
        mean = km.sparse_kernel_mean(
            place,
            kernel=self.kernel,
            space=self.space,
            scale=self.scale,
            selection=rows,
            spread=None,  # the oracle knows points only
            constraint=constraint,
            solver=solver,
            k=k,
            refine=0 if self.kernel is OWN else refine,
            sample_weight=w,
            engine=engine,
            random_state=seed,
        )
        found = Tracked(mean, Measure.of_sample(X, w), size_of(len(X), w), X)
        check(found)
        return found

    @rule(target=tracked, one=tracked, data=st.data())
    def truncate(self, one, data):
        m = data.draw(st.integers(1, one.mean.k), label="m")
        short = one.mean.truncate(m)
        assert short.k == m
        assert short.constraint == one.mean.constraint
        found = one._replace(mean=short)
        check(found)
        return found

    @rule(target=tracked, one=tracked, constraint=st.sampled_from(CONSTRAINTS))
    def constrain(self, one, constraint):
        found = one._replace(mean=one.mean.refit(constraint=constraint))
        assert found.mean.constraint == constraint
        check(found)
        return found

    @rule(target=tracked, one=tracked, X=clouds, data=st.data(), engine=st.sampled_from(ENGINES))
    def refit_to_other_data(self, one, X, data, engine):
        w = data.draw(sample_weights(len(X)), label="weights")
        X = X - X[0] + one.mean.centers[0]  # where the centres are
        found = one.mean.refit(self.placed(X, engine)[0], sample_weight=w)
        assert found.kernel == one.mean.kernel
        refitted = Tracked(found, Measure.of_sample(X, w), size_of(len(X), w), X)
        check(refitted)
        return refitted

    @precondition(lambda self: self.kernel is not OWN)
    @rule(one=tracked, length=st.sampled_from([0.4, 1.1]))
    def refit_with_another_bandwidth(self, one, length):
        """Means of another kernel do not go on: they could not be merged with the others."""
        assume(one.rows is not None)
        found = one.mean.refit(one.rows, bandwidth=length)
        assert found.kernel.length == pytest.approx(length)
        check(Tracked(found, Measure.of_sample(one.rows, None), float(len(one.rows)), one.rows))

    @rule(
        target=tracked,
        parts=st.lists(tracked, min_size=1, max_size=3),
        k=st.one_of(st.none(), st.integers(1, 15)),
        constraint=st.sampled_from(CONSTRAINTS),
    )
    def merge(self, parts, k, constraint):
        merged = km.merge([part.mean for part in parts], k=k, constraint=constraint)
        total = sum(part.mean.n_points for part in parts)
        shares = [part.mean.n_points / total for part in parts]
        target = Measure(
            np.concatenate([part.mean.centers for part in parts]),
            np.concatenate(
                [share * part.mean.weights for share, part in zip(shares, parts, strict=True)]
            ),
        )
        found = Tracked(merged, target, total, None)
        check(found)
        return found

    @rule(parts=st.lists(tracked, min_size=1, max_size=4), k=st.integers(2, 12))
    def stream(self, parts, k):
        stream = km.MeanStream(k=k)
        for part in parts:
            stream = stream.add(part.mean)
        path = self.path()
        stream.save(path)
        again = km.MeanStream.load(path, kernel=OWN if self.kernel is OWN else None)
        total = sum(part.mean.n_points for part in parts)
        target = Measure(
            np.concatenate([part.mean.centers for part in parts]),
            np.concatenate([part.mean.weights * (part.mean.n_points / total) for part in parts]),
        )
        mean = again.mean
        own = Measure(np.array(mean.centers), np.array(mean.weights))
        oracle = Oracle.of(mean)
        size = 1.0 + float(np.abs(own.weights).sum() + np.abs(target.weights).sum())
        error = math.sqrt(max(oracle.inner(target - own, target - own), 0.0)) * oracle.unit
        assert (
            error
            <= stream.error * (1 + 1e-9) + 20 * math.sqrt(EPS + grain(mean)) * size * oracle.unit
        )
        assert again.errors == stream.errors

    @rule(target=tracked, one=tracked, way=st.sampled_from(["file", "pickle", "copy"]))
    def carry(self, one, way):
        """Another process, another day: the same mean, bit for bit (but a file does not say which
        engine evaluates it).
        """
        mean = one.mean
        if way == "file":
            path = self.path()
            mean.save(path)
            again = km.load(path, kernel=OWN if self.kernel is OWN else None)
        else:
            again = pickle.loads(pickle.dumps(mean)) if way == "pickle" else copy.deepcopy(mean)
        for name in ("centers", "weights", "kappa", "indicator", "radii"):
            np.testing.assert_array_equal(getattr(again, name), getattr(mean, name))
        if again.engine == mean.engine:
            np.testing.assert_array_equal(
                again(mean.centers[:2] + 0.1), mean(mean.centers[:2] + 0.1)
            )
        assert (again.bound, again.tighter_bound, again.nested) == (
            mean.bound,
            mean.tighter_bound,
            mean.nested,
        )
        found = one._replace(mean=again)
        check(found)
        return found

    @rule(
        one=tracked,
        method=st.sampled_from(["exact", "rows", "spectral", "auto"]),
        seed=st.integers(0, 5),
    )
    def certify(self, one, method, seed):
        assume(one.rows is not None)
        assume(not (self.kernel is OWN and method == "spectral"))
        X = one.target.points
        counts = one.target.weights * len(
            X
        )  # shares: as fractional weights, whatever they came from
        w = None if np.ptp(counts) == 0 else counts
        found = one.mean.certificate(
            X, sample_weight=w, method=method, size=1000, random_state=seed
        )
        oracle, own = (
            Oracle.of(one.mean),
            Measure(np.array(one.mean.centers), np.array(one.mean.weights)),
        )
        squared = oracle.inner(one.target - own, one.target - own)
        size = 1.0 + float(np.abs(own.weights).sum())
        floor = (100 * EPS + grain(one.mean)) * size**2
        error = math.sqrt(max(squared, 0.0)) * oracle.unit
        slack = SIGMAS * found.standard_error + math.sqrt(floor) * oracle.unit
        assert error <= found.error + slack
        if not found.below_floor:
            # err² by the delta method: an error lost in its own spread is no estimate to hold to.
            assert found.error <= error + slack or found.error <= 2 * found.standard_error

    @rule(first=tracked, second=tracked)
    def compare(self, first, second):
        oracle = Oracle.of(first.mean)
        one, other = (
            Measure(np.array(t.mean.centers), np.array(t.mean.weights)) for t in (first, second)
        )
        size = (1.0 + float(np.abs(one.weights).sum() + np.abs(other.weights).sum())) ** 2
        coarse = max(grain(first.mean), grain(second.mean))
        inner = oracle.inner(one, other) * oracle.unit**2
        squared = oracle.inner(one - other, one - other) * oracle.unit**2
        assert first.mean.inner(second.mean) == pytest.approx(
            inner, abs=1e-11 * size * oracle.unit**2
        )
        D = km.distance_matrix([first.mean, second.mean])[0, 1]
        for distance in (first.mean.distance(second.mean), D):
            assert distance**2 == pytest.approx(
                squared, abs=(100 * EPS + 2 * coarse) * size * oracle.unit**2
            )


class Densities(RuleBasedStateMachine):
    """SparseKDE through fit, partial_fit, merge, save, load and pickle, against the density of all
    rows so far.
    """

    densities = Bundle("densities")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def teardown(self):
        self.folder.cleanup()

    @initialize(kernel=st.sampled_from(KERNELS))
    def world(self, kernel):
        self.kernel = kernel

    def check(self, estimator, X, w):
        """The L2 distance to the full density of all rows is at most what the merges say they cost.

        Batches have no more distinct points than centres allowed: each is exact to rounding.
        """
        mean = estimator.mean_
        oracle, own = Oracle.of(mean), Measure(np.array(mean.centers), np.array(mean.weights))
        target = Measure(X, brute.normalised(w))
        assert mean.is_density
        assert own.weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert mean.n_points == pytest.approx(w.sum())
        squared = oracle.inner(target - own, target - own)
        allowed = getattr(estimator, "merging_error_", 0.0) / oracle.unit
        assert math.sqrt(max(squared, 0.0)) <= allowed + 3e-6 + 10 * math.sqrt(grain(mean))
        Q = X[:4] + 0.1
        np.testing.assert_allclose(
            estimator.score_samples(Q), np.log(oracle.values(own, Q)), rtol=1e-9, atol=1e-9
        )
        assert estimator.log_quantiles_.shape == (1001,)
        assert (np.diff(estimator.log_quantiles_) >= 0).all()

    @rule(target=densities, X=clouds, k=st.sampled_from(["auto", 45]), seed=st.integers(0, 3))
    def fit(self, X, k, seed):
        found = km.SparseKDE(kernel=self.kernel, k=k, selection="kcenter", random_state=seed).fit(X)
        self.check(found, X, np.ones(len(X)))
        return found, X, np.ones(len(X))

    @rule(target=densities, one=densities, X=clouds, data=st.data())
    def partial_fit(self, one, X, data):
        estimator, rows, w = copy.deepcopy(one[0]), *one[1:]
        counts = data.draw(
            st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X)).filter(any).map(np.array),
            label="weights",
        )
        X = X - X[0] + rows[0]
        estimator.partial_fit(X, sample_weight=counts)
        kept = np.concatenate([rows, X[counts > 0]]), np.concatenate([w, counts[counts > 0]])
        self.check(estimator, *kept)
        return estimator, *kept

    @rule(target=densities, first=densities, second=densities)
    def merge(self, first, second):
        estimator = copy.deepcopy(first[0]).merge(second[0])
        kept = np.concatenate([first[1], second[1]]), np.concatenate([first[2], second[2]])
        self.check(estimator, *kept)
        return estimator, *kept

    @rule(target=densities, one=densities, way=st.sampled_from(["file", "pickle"]))
    def carry(self, one, way):
        estimator = one[0]
        if way == "file":
            self.count += 1
            path = Path(self.folder.name) / f"{self.count}.km"
            estimator.save(path)
            again = km.SparseKDE.load(path).set_params(
                k="auto"
            )  # else later batches have no more centres than this model
            assert getattr(again, "merging_error_", None) == getattr(
                estimator, "merging_error_", None
            )
        else:
            again = pickle.loads(pickle.dumps(estimator))
        np.testing.assert_array_equal(
            again.score_samples(one[1][:3]), estimator.score_samples(one[1][:3])
        )
        self.check(again, *one[1:])
        return again, *one[1:]


TestMeans = Means.TestCase
TestDensities = Densities.TestCase

"""No result of the cpu engine depends on a number of threads, its own or those of BLAS."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import kernelmean as km
from kernelmean.kernels import Atoms
from tests.engines.cases import LEVELS, RADIALS, cloud, same_bits
from tests.engines.cpu.seams import engines


def every_operation(engine, n, d):
    """One result per operation, each of several pieces of work."""
    X, Q, w = cloud(n, d)
    many = np.random.default_rng(0).normal(size=(1500, d))
    radial = RADIALS["gaussian-rkhs"](d)
    loaded = engine.load(X, w)
    traversal, nearest = loaded.traverse(7), loaded.nearest(Q)
    return {
        "kernel_sum": loaded.kernel_sum(radial, Q),
        "kernel_sum of many": loaded.kernel_sum(radial, many),
        "columns": loaded.kernel_sum(radial, Q, np.stack([w, -w], axis=1)),
        "log_kernel_sum": loaded.log_kernel_sum(radial, Q),
        "log_kernel_sum of many": loaded.log_kernel_sum(radial, many),
        "quadratic": np.array(loaded.quadratic(radial) if d == 17 else 0.0),
        "fourier_sum": loaded.fourier_sum(many[:300], X[0]),
        "picks": traversal.take(12).radii,
        "cover": np.array(traversal.distances().cover),
        "masses": nearest.masses(),
        "means": nearest.means(),
        "draw": np.array(nearest.distances().draw(0.37)),
        "average": np.array(nearest.distances().mean(np.sqrt)),
        "variances": nearest.variances(),
        "covariances": nearest.covariances(),
        "mean": loaded.summary.mean,
        "std": loaded.summary.std,
        "covariance": loaded.summary.covariance,
        "quantiles": loaded.summary.quantiles(LEVELS),
    }


def atom_operations(engine, kind, k, d):
    """Sums over atoms at few queries and at many, and sums over a sample at atoms."""
    rng = np.random.default_rng((k, d))
    roots = 0.3 * rng.normal(size=(k, d, d)) if kind == "full" else np.zeros((k, 0, 0))
    spreads = roots @ np.swapaxes(roots, 1, 2) if kind == "full" else rng.uniform(size=k)
    atoms = Atoms(rng.normal(size=(k, d)), spreads)
    X, few, w = cloud(70_000 if d == 3 else 9000, d)
    many, v = rng.normal(size=(1500, d)), rng.uniform(size=k)
    radial, decay = RADIALS["gaussian-rkhs"](d), RADIALS["gaussian-decay"](d)
    loaded, points = engine.load_atoms(atoms), engine.load(X, w)
    found = {}
    for name, Q in {"few": few, "many": many, "far": 300.0 + many[:70]}.items():
        found[f"sum at {name}"] = loaded.kernel_sum(radial, Q, v)
        found[f"columns at {name}"] = loaded.kernel_sum(radial, Q, np.stack([v, -v], axis=1))
        found[f"logarithms at {name}"] = loaded.log_kernel_sum(radial, Q, v)
        moved = loaded.shift(decay, Q, v)
        found[f"steps at {name}"] = np.column_stack([moved.log_value, moved.log_pull, moved.step])
    found["atom_sum"] = points.atom_sum(radial, atoms[:2000])
    found["atom_sum of few"] = points.atom_sum(radial, atoms[:7])
    found["atom_moments"] = points.atom_moments(radial, atoms[:70])
    return found


def differing(actual, expected):
    return [name for name, value in actual.items() if not same_bits(value, expected[name])]


@pytest.mark.parametrize(("n", "d"), [(90_000, 3), (8200, 17)])
def test_no_operation_depends_on_the_number_of_threads(n, d):
    expected = every_operation(engines["cpu-1"], n, d)
    for name in ("cpu-2", "cpu-3", "cpu-5"):
        assert differing(every_operation(engines[name], n, d), expected) == [], name


@pytest.mark.parametrize(("k", "d"), [(2500, 3), (600, 2)])
@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_no_sum_over_atoms_depends_on_the_number_of_threads(kind, k, d):
    expected = atom_operations(engines["cpu-1"], kind, k, d)
    for name in ("cpu-2", "cpu-3", "cpu-5"):
        assert differing(atom_operations(engines[name], kind, k, d), expected) == [], name


@pytest.mark.parametrize(("n", "d"), [(90_000, 3), (8200, 17)])
def test_no_operation_depends_on_the_threads_of_the_linear_algebra_library(n, d):
    """BLAS splits long dot products by its own number of threads, that is by the cores."""
    with threadpool_limits(1):
        expected = every_operation(engines["cpu-2"], n, d)
    for limit in (2, 3):
        with threadpool_limits(limit):
            assert differing(every_operation(engines["cpu-2"], n, d), expected) == [], (
                f"BLAS on {limit} threads"
            )


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_must_be_positive(threads):
    with pytest.raises(ValueError, match="threads must be at least 1"):
        km.engines.open("cpu", threads=threads)


@pytest.mark.parametrize("threads", [1.5, "2", None, True])
def test_threads_must_be_whole(threads):
    with pytest.raises(TypeError, match="threads must be a whole number"):
        km.engines.open("cpu", threads=threads)

"""No result of the cpu engine depends on a number of threads, its own or those of BLAS."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import kernelmean as km
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
        "mean": loaded.summary.mean,
        "std": loaded.summary.std,
        "covariance": loaded.summary.covariance,
        "quantiles": loaded.summary.quantiles(LEVELS),
    }


def differing(actual, expected):
    return [name for name, value in actual.items() if not same_bits(value, expected[name])]


@pytest.mark.parametrize(("n", "d"), [(90_000, 3), (8200, 17)])
def test_no_operation_depends_on_the_number_of_threads(n, d):
    expected = every_operation(engines["cpu-1"], n, d)
    for name in ("cpu-2", "cpu-3", "cpu-5"):
        assert differing(every_operation(engines[name], n, d), expected) == [], name


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

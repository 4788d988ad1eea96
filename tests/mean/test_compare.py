"""All distances between many means in one pass, against pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import engines
from tests.strategies import clouds

KERNELS = [km.Gaussian(0.7), km.Laplacian(1.3), km.Student(3.5, 2.0), km.Cauchy(0.8)]


def mean_on(C, alpha, kernel=KERNELS[0], space="rkhs", scale=None, engine="naive"):
    return km.KernelMean(
        np.asarray(C, float), np.asarray(alpha, float), kernel, space, scale, 10, engine
    )


def some_means(kernel, space, scale=None, engine="cpu", count=4, d=2):
    rng = np.random.default_rng(3)
    sizes = (1, 7, 30, 4)[:count]
    return [
        mean_on(rng.normal(size=(k, d)), rng.normal(size=k), kernel, space, scale, engine)
        for k in sizes
    ]


def brute(a, b):
    """√(αᵀKα + βᵀKβ − 2αᵀKβ) with g by its definition."""

    def product(p, q):
        A = np.eye(p.dimension) if p.scale is None else p.scale
        r2 = (((p.centers[:, None] - q.centers[None]) @ A.T) ** 2).sum(axis=2)
        jacobian = abs(np.linalg.det(A)) if p.space == "l2" else 1.0
        return jacobian * float(p.weights @ p.kernel.inner(r2, p.dimension, p.space) @ q.weights)

    return np.sqrt(max(product(a, a) + product(b, b) - 2 * product(a, b), 0.0))


@pytest.mark.parametrize("engine", ["naive", "cpu"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_entry_is_the_distance_of_its_pair(kernel, space, engine):
    means = some_means(kernel, space, np.array([[2.0, 0.3], [0.0, 0.5]]), engine)
    D = km.distance_matrix(means)
    expected = [[0.0 if a is b else brute(a, b) for b in means] for a in means]
    np.testing.assert_allclose(D, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    assert (np.diag(D) == 0).all()


def test_a_rectangle_is_a_part_of_the_square():
    means = some_means(KERNELS[0], "l2")
    D = km.distance_matrix(means)
    np.testing.assert_allclose(
        km.distance_matrix(means[:3], means[1:]), D[:3, 1:], rtol=1e-12, atol=1e-15
    )
    assert km.distance_matrix(means[:1], means).shape == (1, 4)
    assert km.distance_matrix(means[2:3], [means[2]])[0, 0] == 0.0


def test_gaussians_of_different_bandwidth_compare_in_l2():
    wide, narrow = some_means(km.Gaussian(0.7), "l2"), some_means(km.Gaussian(0.2), "l2", count=3)
    means = [wide[0], narrow[0], wide[1], narrow[2], wide[3], narrow[1]]
    expected = [[0.0 if a is b else a.distance(b) for b in means] for a in means]
    np.testing.assert_allclose(km.distance_matrix(means), expected, rtol=1e-10)
    np.testing.assert_allclose(
        km.distance_matrix(means[:2], means[2:]), np.array(expected)[:2, 2:], rtol=1e-10
    )


def test_full_and_sparse_means_mix():
    X = np.random.default_rng(0).normal(size=(200, 2))
    full = km.kernel_mean(X, kernel=km.Gaussian(0.5))
    sparse = km.sparse_kernel_mean(X, kernel=km.Gaussian(0.5), k=20, random_state=0)
    D = km.distance_matrix([full, sparse])
    assert D[0, 1] == pytest.approx(sparse.certificate(X, method="exact").error, rel=1e-6)


@pytest.mark.parametrize("step", [1e-5, 1e-7, 1e-9])
def test_means_that_nearly_coincide_keep_their_digits(step):
    """z + δφ(·, c) is at distance δ, far below the rounding of ‖z‖² ≈ 1."""
    C, alpha = np.random.default_rng(0).normal(size=(20, 2)), np.full(20, 0.3)
    a, b = mean_on(C, alpha), mean_on(C, alpha + step * np.eye(20)[4])
    for D in (km.distance_matrix([a, b])[0, 1], km.distance_matrix([a], [b])[0, 0]):
        np.testing.assert_allclose(D, step, rtol=1e-6)
    assert (km.distance_matrix([a, a]) == 0).all()


def test_units_that_fit_no_float_cancel():
    """In 600 dimensions the L2 unit (4πσ²)^{−d/2} alone is 0 or infinite; distances of the right
    size are neither.
    """
    d = 600
    kernel = km.Gaussian(1 / np.sqrt(4 * np.pi))  # g(0) = 1 in any dimension
    means = some_means(kernel, "l2", d=d)
    for factor in (0.2, 5.0):
        other = some_means(km.Gaussian(kernel.bandwidth * factor), "l2", d=d, engine="naive")
        with np.errstate(over="ignore"):
            expected = np.array([[0.0 if a is b else a.distance(b) for b in other] for a in other])
        np.testing.assert_allclose(km.distance_matrix(other), expected, rtol=1e-9)
    assert (km.distance_matrix(means)[np.triu_indices(4, 1)] > 0.1).all()


@given(st.lists(clouds(8), min_size=2, max_size=5))
def test_it_is_a_metric(samples):
    """Symmetric, zero for equal means, and the triangle inequality, whatever the samples."""
    means = [km.kernel_mean(X[:, :1], kernel=km.Gaussian(1.0), engine="naive") for X in samples]
    D = km.distance_matrix(means)
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    for j in range(len(D)):
        assert (D - D[:, [j]] - D[[j], :]).max() <= 1e-7


class Counting:
    """An engine that counts kernel sums."""

    name = "counting"

    def __init__(self):
        self.calls = 0

    def load(self, X, weights=None):
        cloud = engines.open("naive").load(X, weights)
        engine = self

        class PointCloud:
            def kernel_sum(self, *arguments):
                engine.calls += 1
                return cloud.kernel_sum(*arguments)

        return PointCloud()

    def load_atoms(self, atoms):
        raise AssertionError("these means are on points")


def test_there_is_one_kernel_sum_per_mean():
    engine = Counting()
    rng = np.random.default_rng(0)
    means = [mean_on(rng.normal(size=(5, 2)), rng.normal(size=5), engine=engine) for _ in range(9)]
    km.distance_matrix(means)
    assert engine.calls == 9
    engine.calls = 0
    km.distance_matrix(means[:2], means)
    assert (
        engine.calls == 9 + 9 + 2 + 2 - 2 + 8
    )  # one per column, own norms, and two equal pairs of four sums each


def test_bad_lists_get_one_sentence():
    means = some_means(KERNELS[0], "rkhs")
    with pytest.raises(ValueError, match="at least one SparseKernelMean, got none"):
        km.distance_matrix(means, [])
    with pytest.raises(TypeError, match="a SparseKernelMean is needed, got ndarray"):
        km.distance_matrix(means, [np.eye(2)])
    with pytest.raises(ValueError, match="different spaces: 2-D rkhs and 2-D l2"):
        km.distance_matrix(means, some_means(KERNELS[0], "l2"))
    with pytest.raises(ValueError, match="the kernels differ"):
        km.distance_matrix([*means, some_means(km.Gaussian(0.1), "rkhs")[0]])

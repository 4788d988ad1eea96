"""Inner products of atoms: against their formula, Monte Carlo and quadrature."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

import kernelmean as km
from kernelmean.kernels import Atoms, Table
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram, log_gram, log_total, squared_norms, weighted_products
from tests import brute

KINDS = [None, "scalar", "full"]
PAIRS = [(a, b) for a in KINDS for b in KINDS]


def atoms_of(kind, k=5, d=3, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(k, d, d)) * np.sqrt(size)
    S = roots @ np.swapaxes(roots, 1, 2)
    spreads = {None: None, "scalar": size * rng.uniform(0, 2, k), "full": S}[kind]
    return Atoms(rng.normal(size=(k, d)), spreads)


def expected(tau2, A, B):
    """√(τ^{2d}/|V|) exp(−½uᵀV⁻¹u), V = τ²I + S_a + S_b, pair by pair."""
    A, B = A.as_kind("full"), B.as_kind("full")
    kernel = tau2 * np.eye(A.dimension)
    return np.array(
        [
            [
                brute.log_normal(c - e, kernel + S + T) - brute.log_peak(kernel)
                for e, T in zip(B.centers, B.spreads, strict=True)
            ]
            for c, S in zip(A.centers, A.spreads, strict=True)
        ]
    )


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_the_formula_holds_for_every_pair_of_kinds(first, second, space):
    A, B = atoms_of(first, 5), atoms_of(second, 4, seed=1)
    radial = km.Gaussian(0.7).radial(3, space)
    logs = expected(0.49 if space == "rkhs" else 0.98, A, B)
    np.testing.assert_allclose(gram(radial, A, B), np.exp(logs), rtol=1e-12)
    np.testing.assert_allclose(log_gram(radial, A, B), logs, rtol=1e-12, atol=1e-13)
    w = np.random.default_rng(2).normal(size=4)
    np.testing.assert_allclose(weighted_products(radial, A, B, w), np.exp(logs) @ w, rtol=1e-11)
    v = np.random.default_rng(3).normal(size=5)
    mantissa, level = log_total(radial, A, v, B, w)
    assert mantissa * np.exp(level) == pytest.approx(v @ np.exp(logs) @ w, rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_squared_norms_are_the_diagonal(kind):
    A, radial = atoms_of(kind), km.Gaussian(0.7).radial(3, "rkhs")
    np.testing.assert_allclose(squared_norms(radial, A), np.diag(gram(radial, A, A)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_no_spread_is_a_point(kind):
    points = atoms_of(None)
    radial = km.Gaussian(0.7).radial(3, "rkhs")
    np.testing.assert_allclose(
        gram(radial, points.as_kind(kind), points.as_kind(kind)),
        gram(radial, points.centers, points.centers),
        rtol=1e-14,
    )


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_it_is_the_mean_of_the_kernel_over_both_atoms(kind):
    """Monte Carlo: x and y from the atoms, each entry within five standard errors."""
    A = atoms_of(kind, 3, d=2, size=0.3)
    radial = km.Gaussian(0.8).radial(2, "rkhs")
    rng = np.random.default_rng(5)
    full = A.as_kind("full")
    draws = [
        [
            rng.multivariate_normal(c, S, size=200_000)
            for c, S in zip(full.centers, full.spreads, strict=True)
        ]
        for _ in range(2)
    ]
    found = gram(radial, A, A)
    for a, x in enumerate(draws[0]):
        for b, y in enumerate(draws[1]):
            values = radial(((x - y) ** 2).sum(axis=1))
            assert abs(found[a, b] - values.mean()) < 5 * values.std() / np.sqrt(len(values))


def test_it_is_the_integral_in_one_dimension():
    A = Atoms(np.array([[0.3], [1.4]]), np.array([0.2, 0.0]))
    for space, tau2 in (("rkhs", 0.25), ("l2", 0.5)):
        radial = km.Gaussian(0.5).radial(1, space)

        def integrand(x, tau2=tau2):
            density = np.exp(-((x - 0.3) ** 2) / 0.4) / np.sqrt(0.4 * np.pi)
            return density * np.exp(-((x - 1.4) ** 2) / (2 * tau2))

        assert gram(radial, A, A)[0, 1] == pytest.approx(quad(integrand, -8, 8)[0], rel=1e-9)


def test_it_is_the_integral_in_two_dimensions():
    """In L2: ∫ of the product of two blurred atoms, in units of ∫φ²."""
    S = np.array([[[0.3, 0.1], [0.1, 0.2]], [[0.1, -0.05], [-0.05, 0.4]]])
    A = Atoms(np.array([[0.0, 0.0], [0.5, -0.3]]), S)
    kernel = 0.6**2 * np.eye(2)
    inverses = [np.linalg.inv(kernel + T) for T in S]
    heights = [np.exp(brute.log_peak(kernel + T)) for T in S]

    def integrand(y, x):
        q = np.array([x, y])
        terms = [
            h * np.exp(-0.5 * (q - c) @ P @ (q - c))
            for c, P, h in zip(A.centers, inverses, heights, strict=True)
        ]
        return terms[0] * terms[1]

    value = dblquad(integrand, -6, 6, -6, 6, epsabs=1e-9)[0] / np.exp(brute.log_peak(2 * kernel))
    radial = km.Gaussian(0.6).radial(2, "l2")
    assert gram(radial, A, A)[0, 1] == pytest.approx(value, rel=1e-6)


def test_sums_by_logarithms_do_not_underflow():
    """In 784 dimensions every product of wide atoms is far below the least float."""
    rng = np.random.default_rng(0)
    A = Atoms(rng.normal(size=(6, 784)), rng.uniform(5.0, 9.0, 6))
    radial = km.Gaussian(0.5).radial(784, "rkhs")
    v = rng.uniform(size=6)
    logs = log_gram(radial, A, A)
    assert logs.max() < -745
    mantissa, level = log_total(radial, A, v, A, v)
    top = logs.max()
    direct = np.log(v @ np.exp(logs - top) @ v) + top
    assert np.log(mantissa) + level == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize("size", [1e-12, 1e8])
@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_huge_and_tiny_spreads(kind, size):
    A, radial = atoms_of(kind, size=size), km.Gaussian(0.7).radial(3, "rkhs")
    np.testing.assert_allclose(log_gram(radial, A, A), expected(0.49, A, A), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_the_factor_of_atoms_solves_for_their_weights(kind):
    A, radial = atoms_of(kind, 8, size=0.2), km.Gaussian(0.5).radial(3, "rkhs")
    alpha = np.random.default_rng(1).normal(size=8)
    K = np.exp(expected(0.25, A, A))
    factor = Factor(radial)
    factor.append(A[:3], (K @ alpha)[:3])
    factor.append(A[3:], (K @ alpha)[3:])
    np.testing.assert_allclose(factor.weights(8), alpha, rtol=1e-8)
    np.testing.assert_allclose(factor.lower(8) @ factor.lower(8).T, K, atol=1e-13)


@pytest.mark.parametrize("kernel", [km.Laplacian(0.7), km.Student(3.5, 1.0)])
def test_values_of_a_table_are_the_same_compiled_and_not(kernel, monkeypatch):
    radial = kernel.radial(3, "l2")
    A, B = np.random.default_rng(0).normal(size=(2, 30, 3))
    B[:5] = A[:5]
    assert isinstance(radial, Table)
    found = []
    for least in (0.0, np.inf):
        monkeypatch.setattr("kernelmean._work.LEAST_WORK", least)
        found.append(gram(radial, A, 3.0 * B))
    np.testing.assert_allclose(*found, rtol=1e-13)

"""The growing Cholesky factor: every prefix, jitter, pivots."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgError

import kernelmean as km
from kernelmean.linalg.factor import Factor, cholesky, solve_lower, square
from kernelmean.linalg.gram import gram
from tests import brute


def problem(n=80, k=24, d=2, sigma=0.6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    chosen = brute.farthest_first(X, k, 0)[0]
    g = brute.gaussian(sigma)
    return X[chosen], brute.gram(g, X[chosen], X) @ brute.uniform(X), g


def grown(C, kappa, sigma, blocks):
    factor = Factor(km.Gaussian(sigma).radial(C.shape[1], "rkhs"))
    start = 0
    for b in blocks:
        factor.append(C[start : start + b], kappa[start : start + b])
        start += b
    return factor


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 50))
def test_blocks_of_any_size_give_the_factor_of_the_whole(blocks, seed):
    C, kappa, g = problem(k=sum(blocks), n=90, seed=seed)
    blocks = blocks if sum(blocks) == len(C) else [len(C)]
    factor = grown(C, kappa, 0.6, blocks)
    L = factor.lower(len(C))
    expected = brute.gram(g, C, C) + np.diag(factor.jitters)
    np.testing.assert_allclose(L @ L.T, expected, atol=1e-14 * len(C))
    assert np.array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ factor.y, kappa, rtol=1e-12)
    np.testing.assert_allclose(factor.pivots, np.diag(L) ** 2, rtol=1e-15)


def test_every_prefix_agrees_with_its_own_direct_solve():
    """α_m = L_m⁻ᵀy_m and E_m = −|y_m|² for every m (THEORY §2.3); the system solved is K + Λ."""
    C, kappa, g = problem()
    factor = grown(C, kappa, 0.6, [5, 11, 8])
    for m in range(1, len(C) + 1):
        K = brute.gram(g, C[:m], C[:m]) + np.diag(factor.jitters[:m])
        alpha = brute.direct_solve(K, kappa[:m])
        np.testing.assert_allclose(factor.weights(m), alpha, rtol=1e-9, atol=1e-12)
        assert factor.indicator[m - 1] == pytest.approx(-kappa[:m] @ alpha, rel=1e-13)


def test_substitutions_invert_the_leading_blocks():
    C, kappa, _ = problem(k=20)
    factor = grown(C, kappa, 0.6, [3, 9, 8])
    for m in (1, 3, 7, 12, 20):
        b = np.random.default_rng(m).normal(size=m)
        L = factor.lower(m)
        np.testing.assert_allclose(L @ factor.forward_substitute(b), b, atol=1e-12)
        np.testing.assert_allclose(L.T @ factor.back_substitute(b), b, atol=1e-12)


def test_the_indicator_never_rises_even_for_a_singular_matrix():
    C, kappa, _ = problem(k=60, n=100, sigma=8.0)
    factor = grown(C, kappa, 8.0, [32, 28])
    assert (np.diff(factor.indicator) <= 0).all()
    assert factor.pivots[-1] <= 4 * factor.jitter


def test_jitter_obeys_its_exact_identity():
    """err² = ‖z̄‖² − |y|² − αᵀΛα (THEORY §2.3), so −|y|² stays on the safe side."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    C = X[brute.farthest_first(X, 12, 0)[0]]
    g = brute.gaussian(0.5)
    p = brute.uniform(X)
    factor = Factor(km.Gaussian(0.5).radial(2, "rkhs"))
    factor._boost = 1e11  # large enough to be seen
    factor.append(C, brute.gram(g, C, X) @ p)
    alpha = factor.weights(12)
    assert factor.jitter > 1e-3
    promised = brute.norm_squared(g, X, p) - factor.y @ factor.y - factor.jitters @ alpha**2
    assert brute.error_squared(g, X, p, C, alpha) == pytest.approx(promised, rel=1e-9)


def test_a_slightly_indefinite_matrix_raises_the_jitter_with_a_warning():
    C, kappa, _ = problem(k=40, n=100, sigma=2.0)

    def rounded(r2):
        return np.round(
            np.exp(-r2 / 8), 6
        )  # smooth kernel, cond ≫ 1e6, rounded at 1e-6: negative eigenvalues near −1e-6

    assert np.linalg.eigvalsh(gram(rounded, C, C)).min() < -1e-8
    factor = Factor(rounded)
    with pytest.warns(UserWarning, match="nearly singular"):
        factor.append(C, kappa)
    assert factor.jitter > 1e-8 > 4 * len(C) * np.finfo(float).eps
    L = factor.lower(len(C))
    np.testing.assert_allclose(L @ L.T, gram(rounded, C, C) + np.diag(factor.jitters), atol=1e-13)


def test_ordinary_jitter_is_four_k_eps_and_silent():
    C, kappa, _ = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factor = grown(C, kappa, 0.6, [len(C)])
    assert factor.jitter == 4 * len(C) * np.finfo(float).eps


def test_a_function_that_is_no_kernel_is_refused():
    C, kappa, _ = problem(k=10)
    with pytest.raises(LinAlgError, match="not positive definite"):
        Factor(lambda r2: 1.0 + r2).append(C, kappa)  # grows with distance: eigenvalues of order −1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("k", "columns"), [(1, 5), (7, 1), (40, 90)])
def test_triangular_solves_and_cholesky_without_checks(order, k, columns):
    rng = np.random.default_rng(k)
    root = rng.normal(size=(k, k + 3))
    A = np.asarray(root @ root.T, order=order)
    jitter, untouched = rng.uniform(size=k), A.copy()
    L = cholesky(A, jitter)
    np.testing.assert_allclose(L @ L.T, A + np.diag(jitter), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(L, np.tril(L))
    np.testing.assert_array_equal(A, untouched)
    L = np.asarray(L, order=order)
    np.testing.assert_allclose(square(L), A + np.diag(jitter), rtol=1e-12, atol=1e-12)
    for B in (
        rng.normal(size=(k, columns)),
        np.asfortranarray(rng.normal(size=(k, columns))),
        rng.normal(size=k),
    ):
        np.testing.assert_allclose(L @ solve_lower(L, B), B, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            L.T @ solve_lower(L, B, transposed=True), B, rtol=1e-9, atol=1e-9
        )


def test_cholesky_refuses_what_is_not_positive_definite():
    with pytest.raises(LinAlgError, match="order 2"):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("kernel", [km.Laplacian(0.7), km.Student(4.3, 0.7)])
def test_a_gram_matrix_by_a_table_is_that_of_its_spline(kernel):
    """The second table reaches beyond its last cell, where g goes on as a straight line in the
    logarithm.
    """
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(30, 4)), rng.normal(size=(700, 4)) * np.logspace(-4, 8, 700)[:, None]
    radial = kernel.radial(4, "l2")
    expected = radial(((A[:, None] - B[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(gram(radial, A, B), expected, rtol=1e-12, atol=1e-300)

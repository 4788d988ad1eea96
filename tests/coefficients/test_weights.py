"""Coefficients: when to stop, simplex, projection, sum to one, conjugate gradients."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.coefficients import stopping
from kernelmean.linalg import simplex
from tests import brute
from tests.strategies import clouds, vectors

# The paper's selection throughout; the choice that is the default has tests of its own.
sparse_kernel_mean = functools.partial(km.sparse_kernel_mean, selection="kcenter")

# Stopping


def stop_by_definition(y, tol, patience):
    """First m ≥ 3 that ends ``patience`` steps in a row with y_m² ≤ tol·Σ_{2≤i≤m} y_i²."""
    run = 0
    for m in range(3, len(y) + 1):
        run = run + 1 if y[m - 1] ** 2 <= tol * sum(v**2 for v in y[1:m]) else 0
        if run == patience:
            return m
    return None


@given(
    vectors(25).filter(lambda y: len(y) > 1 and y[1] != 0),
    st.sampled_from([0.3, 1e-2, 1e-4, 0.0]),
    st.integers(1, 4),
)
def test_the_stopping_rule_is_its_definition(y, tol, patience):
    assert stopping.converged_at(y, tol, patience) == stop_by_definition(y, tol, patience)


def test_two_centres_are_never_convergence():
    """At m = 2 the paper's ratio is 1 by definition, whatever the tolerance."""
    assert stopping.converged_at(np.array([1.0, 0.5]), 1.0, 1) is None
    assert stopping.converged_at(np.array([1.0, 0.5, 1e-9]), 1e-3, 1) == 3


def test_increments_that_are_all_zero_mean_one_centre():
    assert stopping.converged_at(np.array([1.0, 0.0, 0.0, 0.0]), 1e-10, 2) == 1


def test_patience_counts_consecutive_steps_only():
    y = np.array([1, 1, 1e-9, 1, 1e-9, 1e-9, 1, 1e-9, 1e-9, 1e-9])
    assert [stopping.converged_at(y, 1e-12, patience) for patience in (1, 2, 3, 4)] == [
        3,
        6,
        10,
        None,
    ]


def test_pivots_at_the_floor_end_before_the_run():
    pivots = np.array([1, 1, 1e-15, 1] + 12 * [1e-15])
    jitters = np.full(len(pivots), 1e-15)
    assert (
        stopping.exhausted_at(pivots, jitters, 3) == 4
    )  # ten in a row, though patience asks for three
    assert stopping.exhausted_at(pivots, jitters, 12) == 4
    assert stopping.exhausted_at(pivots, jitters, 13) is None
    assert stopping.exhausted_at(pivots[:13], jitters[:13], 3) is None


@pytest.mark.parametrize("patience", [1, 3, 10])
def test_an_automatic_fit_stops_where_the_rule_says_on_its_own_indicator(patience):
    X = np.random.default_rng(0).normal(size=(400, 2))
    mean = sparse_kernel_mean(
        X, bandwidth=0.8, k_max=300, tol=1e-8, patience=patience, random_state=1
    )
    longer = sparse_kernel_mean(X, bandwidth=0.8, k=mean.k + 20, random_state=1)
    assert mean.stop_reason == "tol"
    y2 = -np.diff(longer.indicator)
    small = y2[1:] <= 1e-8 * np.cumsum(y2)[1:]  # from m = 3 on
    runs = [m + 3 for m in range(patience - 1, len(small)) if small[m - patience + 1 : m + 1].all()]
    assert mean.k == runs[0]
    np.testing.assert_array_equal(mean.indices, longer.indices[: mean.k])


@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_every_stop_reason_can_be_reached():
    X = np.random.default_rng(1).normal(size=(100, 2))
    options = {"bandwidth": 1.0, "random_state": 0}
    assert sparse_kernel_mean(X, k=7, **options).stop_reason == "fixed"
    assert sparse_kernel_mean(X, k_max=5, **options).stop_reason == "k_max"
    assert sparse_kernel_mean(X, k_max=100, tol=1e-6, patience=2, **options).stop_reason == "tol"
    assert sparse_kernel_mean(np.tile(X[:4], (5, 1)), **options).stop_reason == "distinct"
    assert (
        sparse_kernel_mean(X, k_max=100, tol=0.0, bandwidth=20.0, random_state=0).stop_reason
        == "rank"
    )


def test_numerical_rank_is_reported_before_the_centres_that_add_nothing():
    X = np.random.default_rng(2).uniform(size=(300, 1))
    mean = sparse_kernel_mean(X, bandwidth=1.0, k_max=200, tol=0.0, random_state=0)
    assert mean.stop_reason == "rank"
    assert mean.k < 25  # eigenvalues of a Gaussian wider than the data fall faster than 1/m!
    assert mean.certificate(X).relative_error < 1e-6


def test_near_duplicates_among_the_centres_are_not_the_numerical_rank():
    """Pivots at the floor say that these points repeat earlier ones, nothing of the points that
    follow.
    """
    X = np.random.default_rng(3).normal(size=(100, 2))
    X[1], X[2] = X[0] + 1e-9, X[0] - 1e-9
    mean = sparse_kernel_mean(X, bandwidth=0.5, selection=np.arange(100), tol=1e-12, patience=1)
    assert mean.k > 5


@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_by_default_at_most_the_largest_integer_below_three_roots_of_n_centres():
    for n, limit in ((1, 2), (100, 29), (101, 30), (10, 9)):
        X = np.random.default_rng(4).normal(size=(n, 3))
        mean = sparse_kernel_mean(X, bandwidth=0.05, tol=0.0, random_state=0)
        assert mean.k == min(limit, n)


# Simplex


def small_problem(X, k, sigma=0.7):
    g = brute.gaussian(sigma)
    C = X[brute.farthest_first(X, k, 0)[0]]
    K = brute.gram(g, C, C) + 1e-12 * np.eye(len(C))
    return K, brute.gram(g, C, X) @ brute.uniform(X)


@given(clouds(20, 3, ("normal", "lattice", "duplicates")), st.integers(1, 6))
def test_simplex_weights_are_the_best_over_all_supports(X, k):
    K, kappa = small_problem(X, k)
    L = np.linalg.cholesky(K)
    alpha = simplex.minimise(L, np.linalg.solve(L, kappa))
    best = brute.simplex_by_supports(K, kappa)
    assert (alpha >= 0).all()
    assert alpha.sum() == pytest.approx(1.0, rel=1e-14)

    def objective(a):
        return a @ K @ a - 2 * kappa @ a

    assert objective(alpha) <= objective(best) + 1e-13


@pytest.mark.parametrize("sigma", [0.3, 0.8, 2.0])
def test_the_active_set_and_nonnegative_least_squares_find_the_same_minimum(sigma):
    X = np.random.default_rng(6).normal(size=(300, 2))
    K, kappa = small_problem(X, 80, sigma)
    L = np.linalg.cholesky(K)
    y = np.linalg.solve(L, kappa)
    a, b = simplex.minimise(L, y), simplex.nonnegative_least_squares(L, y)
    assert a @ K @ a - 2 * kappa @ a == pytest.approx(b @ K @ b - 2 * kappa @ b, rel=1e-11)
    assert simplex.frank_wolfe_gap(L, y, a) <= 1e-11 * float(y @ y)


@given(vectors(), vectors())
def test_the_frank_wolfe_gap_bounds_the_excess_of_half_the_objective(diagonal, weights):
    k = len(weights)
    L = np.tril(np.random.default_rng(k).normal(size=(k, k))) + 2 * np.eye(k)
    y = np.resize(diagonal, k)
    alpha = np.abs(weights) + 0.1
    alpha /= alpha.sum()
    gap = simplex.frank_wolfe_gap(L, y, alpha)
    K, kappa = L @ L.T, L @ y
    s = K @ alpha - kappa
    assert gap == pytest.approx(alpha @ s - s.min(), rel=1e-9, abs=1e-12)
    best = simplex.minimise(L, y)
    excess = 0.5 * (alpha @ K @ alpha - best @ K @ best) - kappa @ (alpha - best)
    assert excess <= gap + 1e-10


@given(vectors())
def test_projection_is_the_one_found_by_bisection(v):
    projected = simplex.project(v)
    assert (projected >= 0).all()
    assert projected.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(projected, brute.project_by_bisection(v), atol=1e-12)


def test_projection_of_huge_weights_is_still_on_the_simplex():
    """λ = 1e-13 lets unconstrained weights reach 1e12: subtraction leaves four digits, and no
    crash.
    """
    projected = simplex.project(np.array([3e12, -2e12, 3e12]))
    np.testing.assert_allclose(projected, [0.5, 0.0, 0.5], atol=1e-3)


@given(vectors(), st.floats(-2, 2))
def test_projection_ignores_a_common_shift_and_keeps_the_simplex(v, shift):
    np.testing.assert_allclose(simplex.project(v + shift), simplex.project(v), atol=1e-12)
    inside = simplex.project(v)
    np.testing.assert_allclose(simplex.project(inside), inside, atol=1e-15)


# Constraints and solvers of the fit


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(5).normal(size=(200, 2))


@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_constrained_weights_are_what_they_claim(cloud, space):
    free, one, exact, projected = (
        sparse_kernel_mean(cloud, bandwidth=0.5, k=30, space=space, constraint=c, random_state=0)
        for c in (None, "sum-to-one", "simplex", "simplex-projection")
    )
    assert one.weights.sum() == pytest.approx(1.0, rel=1e-12)
    for mean in (exact, projected):
        assert (mean.weights >= 0).all()
        assert mean.weights.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(
        projected.weights, brute.project_by_bisection(free.weights), atol=1e-12
    )
    # Each feasible set lies in the one before, and the projection is a feasible point of the last
    # but one.
    errors = [
        mean.certificate(cloud, method="exact").error for mean in (free, one, exact, projected)
    ]
    assert (np.diff(errors) >= -1e-12).all()


def test_sum_to_one_solves_the_equality_constrained_problem(cloud):
    mean = sparse_kernel_mean(cloud, bandwidth=0.5, k=20, constraint="sum-to-one", random_state=0)
    g = brute.gaussian(0.5)
    K = brute.gram(g, mean.centers, mean.centers)
    kappa = brute.gram(g, mean.centers, cloud) @ brute.uniform(cloud)
    kkt = np.block([[K, np.ones((20, 1))], [np.ones((1, 20)), np.zeros((1, 1))]])
    np.testing.assert_allclose(
        mean.weights, np.linalg.solve(kkt, np.append(kappa, 1.0))[:20], rtol=1e-8
    )


def test_simplex_in_l2_uses_the_inner_product_of_l2(cloud):
    mean = sparse_kernel_mean(
        cloud, bandwidth=0.5, k=6, space="l2", constraint="simplex", random_state=0
    )
    g = brute.gaussian(0.5 * np.sqrt(2))
    K = brute.gram(g, mean.centers, mean.centers)
    kappa = brute.gram(g, mean.centers, cloud) @ brute.uniform(cloud)
    np.testing.assert_allclose(mean.weights, brute.simplex_by_supports(K, kappa), atol=1e-10)


def test_conjugate_gradients_stop_as_matlab_stops(cloud):
    """Relative residual 1e-6 or 20 iterations, zero start."""
    for sigma in (0.2, 1.5):  # one converges, the other runs out of iterations
        mean = sparse_kernel_mean(cloud, bandwidth=sigma, k=40, solver="cg", random_state=0)
        g = brute.gaussian(sigma)
        K = brute.gram(g, mean.centers, mean.centers)
        expected = brute.conjugate_gradients(K, mean.kappa, 1e-6, 20)
        # Iterates in float64 drift apart at the level of eps × cond of the Krylov basis; compare
        # what matters, in the K norm.
        difference = mean.weights - expected
        assert difference @ K @ difference <= 1e-10 * (expected @ K @ expected)
        assert mean.solver == "cg"
        assert mean.bound is None


def test_conjugate_gradients_agree_with_cholesky_where_the_matrix_is_well_conditioned(cloud):
    options = {"bandwidth": 0.15, "k": 30, "random_state": 0}
    by_cg = sparse_kernel_mean(cloud, solver="cg", **options)
    by_cholesky = sparse_kernel_mean(cloud, **options)
    np.testing.assert_allclose(by_cg.weights, by_cholesky.weights, rtol=1e-5)

"""The active set against nonnegative least squares and the optimality conditions, on random and
awkward problems.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.linalg import active_set, simplex
from kernelmean.linalg.factor import Factor


def problem(X, chosen, sigma):
    """(K, κ, L, ‖z̄‖²) with the jitter of the factor."""
    cloud = km.engines.open("naive").load(X)
    radial = km.Gaussian(sigma).formula(X.shape[1])
    factor = Factor(radial)
    factor.append(X[chosen], cloud.kernel_sum(radial, X[chosen]))
    L = factor.lower(len(chosen))
    return L @ L.T, L @ factor.y, L, cloud.quadratic(radial)


def check(K, kappa, L, zz, guess=None):
    y = np.linalg.solve(L, kappa)
    alpha = active_set.minimise(L, y, guess)
    assert simplex.frank_wolfe_gap(L, y, alpha) <= 1e-11 * zz
    assert alpha.min() >= 0
    assert abs(alpha.sum() - 1) <= 1e-14
    reference = simplex.nonnegative_least_squares(L, y)
    # f(α) − f(β) = (α − β)ᵀ(s_α + s_β), without cancellation; at most twice the gap that the entry
    # rule leaves, and rounding
    assert (alpha - reference) @ (K @ (alpha + reference) - 2 * kappa) <= 2.4e-13 * zz
    return alpha


def sample(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "heavy":
        return rng.standard_t(1.2, size=(n, d))
    if kind == "lattice":
        return np.unique(rng.integers(0, 12, size=(n, d)).astype(float), axis=0)
    return np.concatenate(
        [rng.normal(size=(n // 2, d)) * 0.05, rng.uniform(-3, 3, size=(n - n // 2, d))]
    )


@settings(max_examples=80)
@given(
    st.sampled_from(["normal", "heavy", "lattice", "spike"]),
    st.integers(1, 120),
    st.integers(1, 8),
    st.floats(-1.5, 1.5),
    st.booleans(),
    st.integers(0, 2**20),
)
def test_random_problems(kind, k, d, log_sigma, spread, seed):
    X = sample(kind, 300, d, seed)
    k = min(k, len(X))
    chosen = (
        km.k_center(X, k, first=0).indices
        if spread
        else np.random.default_rng(seed).permutation(len(X))[:k]
    )
    check(*problem(X, chosen, 10.0**log_sigma))


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(0, 2**20), st.floats(0, 6))
def test_arbitrary_targets(k, seed, spread):
    """κ need not come from data: wild targets give few positive weights."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(k, k + 2)) * np.logspace(0, -spread, k + 2)
    B /= np.linalg.norm(B, axis=1)[:, None]
    K = B @ B.T + 1e-12 * np.eye(k)
    check(K, K @ rng.normal(size=k), np.linalg.cholesky(K), 1.0)


@pytest.mark.data
@pytest.mark.parametrize("sigma", [0.1, 0.31, 1.0, 1.7])
@pytest.mark.parametrize("selection", ["kcenter", "random"])
def test_banana(banana, sigma, selection):
    mean = km.sparse_kernel_mean(
        banana, bandwidth=sigma, k=400, selection=selection, random_state=0
    )
    check(*problem(banana, mean.indices, sigma))


def test_one_and_two_centres():
    assert active_set.minimise(np.eye(1), np.array([0.3])).tolist() == [1.0]
    L = np.linalg.cholesky(np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert active_set.minimise(L, np.linalg.solve(L, [0.9, 0.1])).tolist() == [1.0, 0.0]


def test_no_target_gives_the_smallest_norm():
    assert active_set.minimise(np.eye(4), np.zeros(4)).tolist() == [0.25] * 4


def test_rows_that_leave_and_enter_keep_the_factor():
    X = np.random.default_rng(5).normal(size=(40, 3))
    K, kappa, _, _ = problem(X, np.arange(40), 1.0)
    face = active_set._Face(K, kappa, np.arange(30))
    for position in (29, 0, 13, 13, 5):
        face.leave(position)
    assert face.enter(35)
    assert face.enter(0)
    fresh = active_set._Face(K, kappa, face.free.copy())
    np.testing.assert_allclose(face.minimiser(), fresh.minimiser(), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(face.multiplier(), fresh.multiplier(), rtol=1e-10)


def test_without_its_certificate_least_squares_take_over(monkeypatch):
    X = np.random.default_rng(1).normal(size=(300, 2))
    _, kappa, L, zz = problem(X, np.arange(100), 0.5)
    monkeypatch.setattr(active_set, "ENTRIES_PER_WEIGHT", 0)
    y = np.linalg.solve(L, kappa)
    stopped = active_set.minimise(L, y)
    assert simplex.frank_wolfe_gap(L, y, stopped) > 1e-11 * zz
    assert simplex.frank_wolfe_gap(L, y, simplex.minimise(L, y)) <= 1e-11 * zz


@pytest.mark.parametrize("kind", ["normal", "heavy", "spike"])
def test_a_guess_changes_where_the_search_begins_not_where_it_ends(kind):
    X = sample(kind, 300, 3, 5)
    chosen = np.random.default_rng(5).permutation(len(X))[:80]
    K, kappa, L, zz = problem(X, chosen, 0.6)
    alone = check(K, kappa, L, zz)
    corner = np.eye(80)[7]
    nearby = np.maximum(alone + 0.01 * np.random.default_rng(6).normal(size=80), 0.0)
    for guess in (alone, corner, nearby / nearby.sum(), np.full(80, 1 / 80)):
        before = guess.copy()
        np.testing.assert_allclose(check(K, kappa, L, zz, guess), alone, atol=1e-7)
        np.testing.assert_array_equal(guess, before)

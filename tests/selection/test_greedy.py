"""Orthogonal greedy selection: against brute force, and what the pool must never change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import engines
from kernelmean.fitting.fit import sparse_density
from kernelmean.linalg.pursuit import GreedyPursuit
from kernelmean.selection import greedy
from tests import brute
from tests.strategies import weighted_clouds

SIGMA = 0.8


def problem(n=60, d=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    K = brute.gram(brute.gaussian(SIGMA), X, X)
    return X, K, K.mean(axis=1)


def pursuit(X, kappa, unit_sum=False, sigma=SIGMA):
    return GreedyPursuit(km.Gaussian(sigma).radial(X.shape[1], "rkhs"), unit_sum, X, kappa)


def fitted(X, k="auto", seed=0, **options):
    return km.sparse_kernel_mean(
        X, **{"bandwidth": SIGMA, "selection": "greedy", "random_state": seed, "k": k, **options}
    )


def best_objective(K, kappa, chosen, unit_sum):
    """min αᵀKα − 2κᵀα on the chosen rows, free or subject to Σα = 1, by a direct solve."""
    A, b = K[np.ix_(chosen, chosen)], kappa[chosen]
    alpha = np.linalg.solve(A, b)
    if unit_sum:
        u = np.linalg.solve(A, np.ones(len(b)))
        alpha = alpha + u * (1 - alpha.sum()) / u.sum()
    return alpha @ A @ alpha - 2 * b @ alpha


def test_every_pick_lowers_the_error_most():
    X, K, kappa = problem()
    picks = list(pursuit(X, kappa).take(12))
    for m in range(len(picks)):
        others = [j for j in range(len(X)) if j not in picks[:m]]
        after = [best_objective(K, kappa, [*picks[:m], j], unit_sum=False) for j in others]
        assert others[int(np.argmin(after))] == picks[m]


def test_sums_know_the_best_objective_of_weights_that_sum_to_one():
    X, K, kappa = problem(seed=1)
    search = pursuit(X, kappa, unit_sum=True)
    for m in range(1, 10):
        search.take(1)
        y2, wy, w2 = search._left.sums
        assert -y2 + (1 - wy) ** 2 / w2 == pytest.approx(
            best_objective(K, kappa, search.picks[:m], unit_sum=True), rel=1e-9
        )


def test_with_unit_sum_the_first_centre_is_the_best_single_one():
    """A single centre has weight one: the objective is 1 − 2κ."""
    X, _, kappa = problem(seed=2)
    assert pursuit(X, kappa, unit_sum=True).take(1)[0] == np.argmax(kappa)


@pytest.mark.parametrize("unit_sum", [False, True])
def test_candidates_that_come_later_are_as_if_there_from_the_start(unit_sum):
    X, _, kappa = problem(n=90, seed=3)
    late, whole = pursuit(X[:50], kappa[:50], unit_sum), pursuit(X, kappa, unit_sum)
    picks = late.take(9)
    late.extend(X[50:], kappa[50:])
    whole.follow(picks)
    for name in ("r", "u", "squares"):
        np.testing.assert_allclose(
            getattr(late._left, name), getattr(whole._left, name), atol=1e-11
        )
    np.testing.assert_array_equal(late.take(6), whole.take(6))


@pytest.mark.parametrize("unit_sum", [False, True])
def test_picks_by_the_block_are_as_good_as_one_by_one(unit_sum, monkeypatch):
    """One sample says little: either way may be luckier by a fifth."""
    ratios = []
    for seed in range(6):
        X, K, kappa = problem(n=900, d=3, seed=seed)
        by_block = pursuit(X, kappa, unit_sum).take(200)
        with monkeypatch.context() as single:
            single.setattr("kernelmean.linalg.pursuit.LARGEST_BLOCK_PICKS", 1)
            one_by_one = pursuit(X, kappa, unit_sum).take(200)
        assert len(np.unique(by_block)) == 200
        errors = [
            kappa.mean() + best_objective(K, kappa, chosen, unit_sum)
            for chosen in (by_block, one_by_one)
        ]
        ratios.append(errors[0] / errors[1])
    assert np.exp(np.mean(np.log(ratios))) <= 1.1


@pytest.mark.parametrize("unit_sum", [False, True])
def test_within_a_shortlist_every_pick_is_the_best(unit_sum):
    """Followed one by one, the picks of a block are those of the largest score among the listed,
    outsiders apart.
    """
    X, _, kappa = problem(n=400, d=3, seed=7)
    search, twin = pursuit(X, kappa, unit_sum), pursuit(X, kappa, unit_sum)
    twin.follow(search.take(60))
    listed = np.sort(np.argsort(-search._left.scores(unit_sum))[:40])
    picks = search._shortlisted(listed, np.empty(0, np.intp), 12)
    assert len(picks) == 12
    for j in picks:
        assert listed[np.argmax(twin._left.scores(unit_sum)[listed])] == j
        twin.follow(np.array([j]))


def test_a_shortlist_ends_where_one_outside_is_better():
    X, _, kappa = problem(n=400, d=3, seed=8)
    search = pursuit(X, kappa)
    search.take(60)
    order = np.argsort(-search._left.scores(False))
    assert len(search._shortlisted(np.sort(order[:40]), order[:1], 12)) == 1
    assert len(search._shortlisted(np.sort(order[:40]), order[-1:], 12)) == 12


@pytest.mark.parametrize("constraint", [None, "simplex"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_the_mean_is_the_optimum_on_distinct_rows_and_the_same_in_every_engine(space, constraint):
    X = np.repeat(np.random.default_rng(5).normal(size=(80, 2)), 2, axis=0)
    naive, cpu = (
        fitted(X, 20, space=space, constraint=constraint, engine=engine)
        for engine in ("naive", "cpu")
    )
    np.testing.assert_array_equal(naive.indices, cpu.indices)
    assert (naive.selection, naive.k, naive.stop_reason) == ("greedy", 20, "fixed")
    np.testing.assert_array_equal(naive.centers, X[naive.indices])
    assert len(np.unique(naive.centers, axis=0)) == 20
    same = fitted(
        X, 20, selection=naive.indices, space=space, constraint=constraint, engine="naive"
    )
    np.testing.assert_allclose(naive.indicator, same.indicator, rtol=1e-11)


def small_pools(monkeypatch):
    """Make a few hundred rows a large sample, with stages, draws and a draft."""
    for name, value in {
        "MAX_ROWS_ALL_CANDIDATES": 8,
        "FIRST_STAGE_CENTERS": 8,
        "MIN_DRAWS": 12,
        "DRAFT_ROWS": 100,
        "DRAFT_ROWS_PER_CENTER": 1,
    }.items():
        monkeypatch.setattr(greedy, name, value)


def test_the_pool_grows_in_stages_and_kappa_is_summed_once(monkeypatch):
    small_pools(monkeypatch)
    X = np.random.default_rng(6).normal(size=(400, 2))
    cloud_type = type(engines.open("cpu").load(X))
    summed, original = [], cloud_type.kernel_sum

    def counted(self, radial, Q, W=None):
        summed.append(Q)
        return original(self, radial, Q, W)

    monkeypatch.setattr(cloud_type, "kernel_sum", counted)
    mean = fitted(X, k_max=40, tol=0.0)
    pools = [len(Q) for Q in summed]
    assert mean.k == 40
    assert len(pools) == 4  # for 8, 16, 32 and 40 centres
    assert sum(pools) <= 1.6 * (3 + 1 / 4) * 40
    points = np.concatenate(summed)
    assert len(np.unique(points, axis=0)) == len(points)
    for center in mean.centers:
        assert (points == center).all(axis=1).any()
    g = brute.gaussian(SIGMA)
    np.testing.assert_allclose(mean.kappa, brute.gram(g, mean.centers, X).mean(axis=1), rtol=1e-12)


def test_a_fit_that_stops_early_has_paid_for_few_candidates(monkeypatch):
    small_pools(monkeypatch)
    X = np.random.default_rng(7).normal(size=(500, 1))
    mean = fitted(X, bandwidth=2.0)
    assert mean.stop_reason in ("tol", "rank")
    assert mean.k < 30
    assert (
        brute.relative_error(brute.gaussian(2.0), X, brute.uniform(X), mean.centers, mean.weights)
        < 1e-4
    )


@settings(max_examples=25)
@given(weighted_clouds(), st.integers(1, 8), st.integers(0, 50))
def test_integer_weights_pick_what_repeated_rows_pick(cloud, k, seed):
    X, w = cloud
    weighted, copies = (
        fitted(X, k, seed, sample_weight=w, engine="naive"),
        fitted(brute.repeated(X, w), k, seed, engine="naive"),
    )
    np.testing.assert_allclose(weighted.indicator, copies.indicator, rtol=1e-9)


def test_integer_weights_pick_what_repeated_rows_pick_from_a_draft_too(monkeypatch):
    small_pools(monkeypatch)
    rng = np.random.default_rng(8)
    X, w = rng.normal(size=(200, 2)), rng.integers(0, 4, 200)
    weighted, copies = fitted(X, 25, sample_weight=w), fitted(brute.repeated(X, w), 25)
    np.testing.assert_array_equal(weighted.centers, copies.centers)


@pytest.mark.parametrize(
    "options", [{}, {"constraint": "simplex"}, {"constraint": "simplex", "space": "l2"}]
)
def test_at_the_residual_floor_the_selection_ends_by_rank(options):
    X = np.random.default_rng(9).normal(size=(200, 2))
    mean = fitted(X, 150, bandwidth=20.0, **options)
    assert mean.stop_reason == "rank"
    assert 3 < mean.k < 100
    assert np.isfinite(mean.weights).all()
    assert mean.jitter < 1e-12


def test_a_block_that_rounding_undoes_is_taken_one_by_one():
    """Candidates that coincide: each is far above the floor, both together are not."""
    X, _, kappa = problem(seed=12)
    twins = np.concatenate([X, X[:5]])
    search = pursuit(twins, np.concatenate([kappa, kappa[:5]]))
    search._include(np.array([0, 1, 60, 2, 61]))
    np.testing.assert_array_equal(search.picks, [0, 1, 2])
    assert np.isfinite(search.take(20)).all()


def test_all_distinct_points_are_found_when_more_are_asked_for():
    X = np.repeat(np.random.default_rng(10).normal(size=(12, 2)), 4, axis=0) * 3
    mean = fitted(X, 40)
    assert (mean.k, mean.stop_reason) == (12, "distinct")


def test_a_density_takes_the_farthest_quarter_first():
    X = np.random.default_rng(11).standard_t(2.5, size=(300, 2))
    mean = sparse_density(X, k=40, bandwidth=0.5, selection="greedy", random_state=0)
    fringe = km.k_center(X, 10, first=int(mean.indices[0])).indices
    np.testing.assert_array_equal(mean.indices[:10], fringe)


@pytest.mark.data
def test_greedy_beats_farthest_first_and_random_points_in_21_dimensions(data):
    """THEORY §8: from d = 5 on farthest-first loses even to random points."""
    with np.load(data / "benchmark11" / "waveform.npz", allow_pickle=False) as file:
        X = file["X"][:1500]
    for k in (32, 128):
        errors = [
            fitted(X, k, selection=s, bandwidth=3.0).certificate(X).relative_error
            for s in ("greedy", "kcenter", "random")
        ]
        assert errors[0] < 0.8 * min(errors[1:])

"""Effects of columns and pairs: against brute force, under maps that mean nothing, by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from kernelmean._random import Streams
from kernelmean.comparison import columns as module
from kernelmean.comparison import effects
from kernelmean.comparison.columns import Explanation, explain
from kernelmean.comparison.histograms import histograms, medians
from kernelmean.comparison.rank_functions import cell_codes, functions
from kernelmean.samples import ArraySample, WeightedSample


def explained(A, B, seed=0, weights=(None, None)) -> Explanation:
    samples = [WeightedSample.of(ArraySample(X), w) for X, w in zip((A, B), weights, strict=True)]
    return explain(*samples, [f"x{j}" for j in range(A.shape[1])], Streams(seed))


def correlated(n, d, rng, rho=0.5):
    return np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))


def two(n_a, n_b, d, seed, rho=0.5):
    rng = np.random.default_rng(seed)
    return correlated(n_a, d, rng, rho), correlated(n_b, d, rng, rho)


def binned(A, B, weights=None) -> effects.Binned:
    """Every row a bin, in the order given."""
    codes, cells = cell_codes(np.concatenate([A, B]), np.random.default_rng(0))
    return effects.Binned(codes, cells, weights, 1, (len(A), len(B)))


def cosines(x, m):
    """Cosines of mid-ranks, centred and orthonormal under the rows."""
    u = (stats.rankdata(x) - 0.5) / len(x)
    C = np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, m + 1)))
    C -= C.mean(axis=0)
    for r in range(m):
        for s in range(r):
            C[:, r] -= (C[:, r] @ C[:, s]) / len(x) * C[:, s]
        C[:, r] /= np.sqrt((C[:, r] ** 2).mean())
    return C


def measured(features, rows):
    own = (np.arange(sum(rows.bins)) < rows.bins[0]).astype(float)
    return features.squares(own[None], 1 - own[None])[0]


# The effects


def test_effects_of_columns_are_those_of_brute_force():
    A, B = two(60, 90, 3, 0)
    B[:, 1] *= 1.5
    rows = binned(A, B)
    features = effects.column_features(rows)
    w = np.arange(1, effects.MAIN + 1) ** -0.5
    square = measured(features, rows)
    noise = features.noise(rows.bins)
    for j in range(3):
        psi = cosines(np.append(A[:, j], B[:, j]), effects.MAIN)
        a, b = psi[:60], psi[60:]
        assert square[j] == pytest.approx(w @ (a.mean(axis=0) - b.mean(axis=0)) ** 2, rel=1e-9)
        variances = a.var(axis=0, ddof=1) / 60 + b.var(axis=0, ddof=1) / 90
        assert noise[j] == pytest.approx(w @ variances, rel=1e-9)


def test_effects_of_pairs_are_those_of_brute_force():
    A, B = two(60, 90, 3, 1)
    rows = binned(A, B)
    at = np.triu_indices(3, 1)
    square = measured(effects.pair_features(rows, at), rows)
    m = effects.MAX_PAIR
    w = np.outer(*[np.arange(1, m + 1) ** -0.5] * 2)
    for found, j, k in zip(square, *at, strict=True):
        M = [cosines(X[:, j], m).T @ cosines(X[:, k], m) / len(X) for X in (A, B)]
        assert found == pytest.approx((w * (M[0] - M[1]) ** 2).sum(), rel=1e-7)


def test_two_values_have_one_function_and_their_pair_is_a_correlation():
    A, B = two(200, 200, 2, 2)
    A, B = (A > 0.3) * 1.0, (B > 0.7) * 1.0
    rows = binned(A, B)
    square = measured(effects.pair_features(rows, np.triu_indices(2, 1)), rows)
    rho = [np.corrcoef(X.T)[0, 1] for X in (A, B)]
    assert square[0] == pytest.approx((rho[0] - rho[1]) ** 2, rel=1e-6)


@pytest.mark.parametrize("kind", ["continuous", "ties"])
def test_features_of_pairs_vary_as_if_rows_were_ranked_anew(kind):
    """Against the change of the effect's means by other weights, with ranks by these weights."""
    A, B = two(300, 300, 2, 3, rho=0.8)
    if kind == "ties":
        A, B = np.round(A), np.round(B)
    rows = binned(A, B)
    at = np.triu_indices(2, 1)
    R = effects.pair_features(rows, at).sums[:300, 0]
    g = np.random.default_rng(4).normal(size=300)
    means = []
    for sign in (-1, 1):
        weights = np.append(1 + sign * 1e-3 * (g - g.mean()), np.ones(300))
        changed = effects.pair_features(rows._replace(weights=weights), at)
        means.append(changed.sums[:300, 0].sum(axis=0) / 300)
    slope = (means[1] - means[0]) / 2e-3
    linear = (g - g.mean()) @ R / 300
    assert np.abs(linear - slope)[0] < 0.1 * np.abs(slope).max()
    assert np.abs(linear - slope).max() < 0.3 * np.abs(slope).max()


# What means nothing


def test_units_outliers_and_monotone_maps_do_not_matter():
    A, B = two(300, 400, 3, 5)
    B[:, 0] += 0.5
    plain = explained(A, B)
    mapped = explained(
        *(np.column_stack([1e6 * X[:, 0], X[:, 1] ** 3, np.exp(X[:, 2])]) for X in (A, B))
    )
    for one, other in zip(
        (*plain.columns, *plain.pairs), (*mapped.columns, *mapped.pairs), strict=True
    ):
        assert one.columns == other.columns
        assert one[1:5] == pytest.approx(other[1:5], abs=1e-9)


def test_a_map_of_one_column_of_one_sample_changes_no_pair():
    """Not its effect: which is found, and so the shares, may change with the columns."""
    A, B = two(300, 300, 3, 6, rho=0.8)
    at = np.triu_indices(3, 1)
    C = B.copy()
    C[:, 0] = np.exp(2 * C[:, 0]) + 1
    pairs = [measured(effects.pair_features(rows := binned(A, X), at), rows) for X in (B, C)]
    # Ranks are of at most 512 cells of the pool, which the map changes.
    np.testing.assert_allclose(pairs[0], pairs[1], rtol=0.02, atol=1e-5)


def test_integer_weights_repeat_rows():
    A, B = two(150, 200, 3, 7)
    B[:, 2] += 0.4
    counts = np.random.default_rng(8).integers(1, 4, 150).astype(float)
    weighted = explained(A, B, weights=(counts, None))
    repeated = explained(np.repeat(A, counts.astype(int), axis=0), B)
    assert weighted.columns == repeated.columns
    assert weighted.pairs == repeated.pairs


def test_other_weights_count():
    """Weights that undo a shift leave nothing to find; rows of little weight matter little."""
    rng = np.random.default_rng(9)
    A, B = rng.normal(size=(2, 2000, 2))
    B[:, 0] += 0.4
    undo = np.exp(-0.4 * B[:, 0])
    assert explained(A, B).columns[0].p_value == 0.001
    found = explained(A, B, weights=(None, undo)).columns
    assert all(effect.share == 0.0 for effect in found)
    moved = next(effect for effect in found if effect.columns == ("x0",))
    assert moved.value_b == pytest.approx(0.0, abs=0.15)


def test_one_seed_gives_one_answer_and_input_stays():
    A, B = two(300, 500, 4, 10)
    before = A.copy(), B.copy()
    one, other = (explained(A, B, seed=3) for _ in range(2))
    assert one.columns == other.columns
    assert one.pairs == other.pairs
    assert explained(A, B, seed=4).columns != one.columns
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])


# What is found


def test_shares_sum_to_one_and_lie_in_their_intervals():
    A, B = two(800, 600, 5, 11)
    B[:, 1] += 0.4
    B[:, 3] *= 1.6
    found = explained(A, B)
    effects_ = (*found.columns, *found.pairs)
    assert sum(effect.share for effect in effects_) == pytest.approx(1.0)
    assert all(0 <= e.low <= e.share <= e.high <= 1 for e in effects_)
    shares = [effect.share for effect in found.columns]
    assert shares == sorted(shares, reverse=True)
    assert {found.columns[i].columns for i in range(2)} == {("x1",), ("x3",)}


@pytest.mark.parametrize("change", ["shift", "scale", "skew"])
def test_the_planted_column_is_first(change):
    hits = 0
    for seed in range(8):
        A, B = two(500, 500, 8, seed)
        j = seed % 8
        x = B[:, j]
        B[:, j] = {
            "shift": x + 0.4,
            "scale": 1.6 * x,
            "skew": np.where(x > 0, 1.6, 0.7) * x,
        }[change]
        hits += explained(A, B, seed).columns[0].columns == (f"x{j}",)
    assert hits >= 7


def test_the_planted_pair_is_first_and_above_every_column():
    rng = np.random.default_rng(12)
    A, B = rng.normal(size=(2, 800, 6))
    B[:, 4] = 0.5 * B[:, 1] + np.sqrt(0.75) * B[:, 4]
    found = explained(A, B)
    assert found.pairs[0].columns == ("x1", "x4")
    assert found.pairs[0].share > max(effect.share for effect in found.columns)
    rho = [stats.spearmanr(X[:, 1], X[:, 4])[0] for X in (A, B)]
    # Some rows fill no bin.
    assert (found.pairs[0].value_a, found.pairs[0].value_b) == pytest.approx(rho, abs=0.03)


def test_a_shift_of_correlated_columns_is_no_pair():
    A, B = two(4000, 4000, 3, 13, rho=0.8)
    B[:, 0] = 1.5 * B[:, 0] + 0.5
    found = explained(A, B)
    assert found.columns[0].share == pytest.approx(1.0)
    assert max(effect.share for effect in found.pairs) == 0.0


def test_p_values_are_uniform_where_nothing_differs(monkeypatch):
    monkeypatch.setattr(module, "PERMUTATIONS", 99)
    monkeypatch.setattr(module, "DRAWS", 5)
    p = {"columns": [], "pairs": []}
    some = 0
    for seed in range(60):
        found = explained(*two(60, 80, 3, seed, rho=0.7), seed)
        p["columns"] += [effect.p_value for effect in found.columns]
        p["pairs"] += [effect.p_value for effect in found.pairs]
        some += found.columns[0].share > 0 or found.pairs[0].share > 0
    for values in p.values():
        assert abs(np.mean(values) - 0.5) < 0.1
        assert np.mean(np.array(values) <= 0.1) < 0.2
    assert some <= 14


def test_nothing_beyond_chance_has_no_shares():
    X = np.random.default_rng(14).normal(size=(200, 2))
    found = explained(X, X)
    assert all(effect.share == 0.0 for effect in (*found.columns, *found.pairs))
    assert all(effect.p_value > 0.5 for effect in found.columns)


# Bad input


def test_constant_columns():
    A, B = two(200, 300, 4, 15)
    for X in (A, B):
        X[:, 0] = 7.0
    A[:, 1] = 0.0
    found = explained(A, B)
    by_name = {effect.columns: effect for effect in (*found.columns, *found.pairs)}
    assert found.columns[0].columns == ("x1",)
    assert by_name["x0",].share == 0.0
    assert by_name["x0",].p_value == 1.0
    assert by_name["x1", "x2"].share == 0.0
    assert by_name["x1", "x2"].value_a == 0.0
    numbers = np.array([effect[1:] for effect in by_name.values()])
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 1000), (1000, 5), (2, 2), (2, 3)])
def test_few_rows(n_a, n_b):
    A, B = two(n_a, n_b, 2, 16)
    found = explained(A, B + np.array([5.0, 0.0]))
    assert found.columns[0].columns == ("x0",)
    assert np.isfinite([effect[1:] for effect in (*found.columns, *found.pairs)]).all()


def test_one_column_has_no_pairs():
    A, B = two(100, 100, 1, 17)
    found = explained(A, B + 1.0)
    assert found.pairs == ()
    assert found.columns[0].share == 1.0


def test_many_columns_have_pairs_among_the_clearest(monkeypatch):
    monkeypatch.setattr(effects, "PAIR_FUNCTIONS", 12)
    monkeypatch.setattr(module, "PAIR_FUNCTIONS", 12)
    A, B = np.random.default_rng(18).normal(size=(2, 200, 20))
    B[:, 13] = B[:, 7] + 0.5
    found = explained(A, B)
    assert len(found.columns) == 20
    assert len({name for pair in found.pairs for name in pair.columns}) <= 12
    assert found.columns[0].columns == ("x13",)


def test_many_rows_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    A, B = two(1000, 200, 2, 19)
    B[:, 1] += 1.0
    found = explained(A, B, weights=(np.full(1000, 2.0), None))
    assert found.columns[0].columns == ("x1",)
    assert np.sum(found.histograms.shares_a[0]) == pytest.approx(1.0)


# Ranks, medians and histograms


def test_functions_are_orthonormal_and_as_many_as_values_allow():
    rng = np.random.default_rng(20)
    p = np.zeros((4, 101))
    p[0] = 1 / 101
    p[1, [3, 50]] = 0.1, 0.9
    p[2, 7] = 1.0
    p[3, :4] = rng.dirichlet(np.ones(4))
    psi = functions(p, 5)
    for j, rank in enumerate((5, 1, 0, 3)):
        gram = psi[j].T @ (p[j][:, None] * psi[j])
        expected = np.diag((np.arange(5) < rank).astype(float))
        np.testing.assert_allclose(gram, expected, atol=1e-9)
        np.testing.assert_allclose(p[j] @ psi[j], 0.0, atol=1e-12)


def test_weighted_medians_are_those_of_repeated_rows():
    rng = np.random.default_rng(21)
    for n in (1, 2, 5, 8):
        X = rng.normal(size=(n, 3))
        counts = rng.integers(1, 4, n)
        expected = np.median(np.repeat(X, counts, axis=0), axis=0)
        np.testing.assert_allclose(medians(X, counts / counts.sum()), expected)


def test_histograms_have_common_edges_and_all_rows():
    rng = np.random.default_rng(22)
    A, B = rng.standard_t(1, size=(2, 500, 4))
    A[:, 1], B[:, 1] = rng.integers(0, 4, (2, 500))
    A[:, 2] = B[:, 2] = 3.0
    A[:, 3] = np.where(rng.random(500) < 0.995, 0.0, A[:, 3])
    B[:, 3] = 0.0
    found = histograms([(A, None), (B, rng.random(500))])
    for edges, a, b in zip(found.edges, found.shares_a, found.shares_b, strict=True):
        assert (np.diff(edges) > 0).all()
        assert len(a) == len(b) == len(edges) - 1 <= 42
        assert a.sum() == pytest.approx(1.0)
        assert b.sum() == pytest.approx(1.0)
    assert found.edges[0][0] == min(A[:, 0].min(), B[:, 0].min())
    assert np.ptp(found.edges[0][1:-1]) < 0.5 * np.ptp(found.edges[0])
    np.testing.assert_allclose(found.edges[1], [-0.5, 0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(found.shares_a[1], np.bincount(A[:, 1].astype(int)) / 500)
    assert found.shares_a[2].tolist() == [1.0]

"""The two-sample test: against brute force, at its level, with power, and at the door."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.comparison import bins as binning
from tests import brute
from tests.strategies import clouds, spread_clouds


def normal(n: int, d: int, seed: int, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) + shift * np.eye(d)[0]


def mmd(A: np.ndarray, B: np.ndarray, g: brute.Profile) -> float:
    """√(mean g(A, A) + mean g(B, B) − 2 mean g(A, B)), over all pairs."""
    square = (
        brute.gram(g, A, A).mean() + brute.gram(g, B, B).mean() - 2 * brute.gram(g, A, B).mean()
    )
    return float(np.sqrt(max(square, 0.0)))


def projected_mmd(A: np.ndarray, B: np.ndarray, C: np.ndarray, g: brute.Profile) -> float:
    """‖P(μ_A − μ_B)‖² = δᵀK(C)⁻¹δ, δ = mean g(C, A) − mean g(C, B)."""
    delta = brute.gram(g, C, A).mean(axis=1) - brute.gram(g, C, B).mean(axis=1)
    return float(np.sqrt(delta @ np.linalg.solve(brute.gram(g, C, C), delta)))


# The statistic


@pytest.mark.parametrize(
    ("n_a", "n_b", "bins"),
    [(30, 30, 8), (41, 67, 8), (7, 150, 4), (5, 4, 64), (100, 3, 4), (2, 2, 2)],
)
@pytest.mark.parametrize("sparse", [True, False])
def test_the_statistic_is_the_mmd_of_all_points_whatever_the_bins(n_a, n_b, bins, sparse):
    A, B = normal(n_a, 2, 0), normal(n_b, 2, 1, shift=0.3)
    result = km.mmd_test(A, B, bandwidth=0.7, sparse=sparse, k=1000, bins=bins, random_state=0)
    assert result.statistic == pytest.approx(mmd(A, B, brute.gaussian(0.7)), rel=1e-7)
    assert result.k == (n_a + n_b if sparse else None)


@pytest.mark.parametrize(
    ("kernel", "g"),
    [(km.Laplacian(1.5), brute.laplacian(1.5)), (km.Student(2.0, 3.0), brute.student(2.0, 3.0))],
    ids=["laplacian", "student"],
)
def test_other_kernels_measure_with_their_own_products(kernel, g):
    A, B = normal(60, 3, 0), normal(50, 3, 1)
    for sparse in (True, False):
        assert km.mmd_test(A, B, kernel=kernel, sparse=sparse, bins=4).statistic == pytest.approx(
            mmd(A, B, g), rel=1e-7
        )


def test_few_centres_give_the_mmd_of_the_projections():
    A, B = normal(300, 2, 0), normal(200, 2, 1, shift=0.5)
    result = km.mmd_test(A, B, bandwidth=1.0, k=5, bins=8, random_state=3)
    C = np.concatenate([A, B])[Streams(3).of("test order").permutation(500)[:5]]
    assert result.statistic == pytest.approx(projected_mmd(A, B, C, brute.gaussian(1.0)), rel=1e-9)
    assert result.statistic < mmd(A, B, brute.gaussian(1.0))


def test_more_centres_come_closer_to_the_full_means():
    A, B = normal(500, 3, 0), normal(500, 3, 1, shift=0.3)
    options = {"bandwidth": "median", "random_state": 0}
    exact = km.mmd_test(A, B, sparse=False, **options).statistic
    gaps = [exact - km.mmd_test(A, B, k=k, **options).statistic for k in (4, 16, 64, 256)]
    assert all(a > b > -1e-12 for a, b in pairwise(gaps))
    assert gaps[-1] < 1e-3 * exact


def test_scale_and_rules_read_the_pooled_sample():
    A, B = normal(80, 2, 0) * [1.0, 1000.0], normal(90, 2, 1) * [1.0, 1000.0]
    pool = np.concatenate([A, B])
    result = km.mmd_test(A, B, bandwidth="median", scale="std", random_state=0)
    sd = pool.std(axis=0, ddof=1)
    assert result.kernel.bandwidth == pytest.approx(km.bandwidth.median(pool / sd), rel=1e-9)
    assert result.statistic == pytest.approx(
        mmd(A / sd, B / sd, brute.gaussian(result.kernel.bandwidth)), rel=1e-6
    )
    assert km.mmd_test(A, B, bandwidth="scott").kernel.bandwidth == pytest.approx(
        km.bandwidth.scott(pool), rel=1e-12
    )


# The p-value


@pytest.mark.parametrize(("n_a", "n_b"), [(4, 4), (3, 6), (6, 2), (2, 2)])
def test_the_p_value_of_tiny_samples_is_that_of_all_permutations(n_a, n_b):
    A, B = normal(n_a, 2, 5), normal(n_b, 2, 6, shift=1.0)
    pool, g = np.concatenate([A, B]), brute.gaussian(1.0)
    values = []
    for chosen in combinations(range(n_a + n_b), n_a):
        rest = [i for i in range(n_a + n_b) if i not in chosen]
        values.append(mmd(pool[list(chosen)], pool[rest], g))
    expected = np.mean(np.array(values) >= values[0] - 1e-9)
    for seed in range(3):
        result = km.mmd_test(A, B, bandwidth=1.0, random_state=seed)
        assert result.p_value == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(result.null, np.sort(values[1:]), atol=1e-7)


def test_permutations_of_bins_keep_the_rows_outside_in_their_sample():
    A, B = normal(11, 1, 0), normal(7, 1, 1)
    order, rng = Streams(4).of("test order").permutation(18), Streams(4).of("test bins")
    rows = [order[rng.permutation(np.flatnonzero(part))] for part in (order < 11, order >= 11)]
    result = km.mmd_test(A, B, bandwidth=1.0, bins=6, permutations=10**4, random_state=4)
    assert (result.bins, result.bin_size) == ((5, 3), 2)
    a, b = (np.concatenate([A, B])[part] for part in rows)
    bins = [*np.split(a[:10], 5), *np.split(b[:6], 3)]
    values = []
    for chosen in combinations(range(8), 5):
        first = np.concatenate([bins[i] for i in chosen] + [a[10:]])
        values.append(
            mmd(
                first,
                np.concatenate([bins[i] for i in range(8) if i not in chosen] + [b[6:]]),
                brute.gaussian(1.0),
            )
        )
    np.testing.assert_allclose(result.null, np.sort(values[1:]), rtol=1e-6)
    assert result.p_value == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-9))


def test_random_permutations_approach_all_of_them():
    A, B = normal(10, 2, 0), normal(8, 2, 1, shift=0.6)
    exact = km.mmd_test(A, B, bandwidth=1.0, permutations=50_000, random_state=0)
    drawn = km.mmd_test(A, B, bandwidth=1.0, permutations=20_000, random_state=0)
    assert len(exact.null) == 43_757
    assert len(drawn.null) == 20_000
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.015)


@given(
    st.integers(0, 10**6),
    st.integers(2, 30),
    st.integers(2, 30),
    st.sampled_from([0.01, 0.05, 0.1, 0.5, 1.0]),
)
def test_the_threshold_rejects_where_the_p_value_does(seed, n_a, n_b, level):
    result = km.mmd_test(
        normal(n_a, 1, seed), normal(n_b, 1, seed + 1), permutations=99, random_state=seed
    )
    assert (result.statistic > result.threshold(level)) == (result.p_value <= level)


@given(clouds(max_points=40, min_points=2, max_columns=2), st.integers(2, 20), st.integers(0, 100))
def test_any_cloud_has_a_p_value(X, cut, seed):
    """Duplicates, lattices, lines, constants, far origins."""
    X = np.concatenate([X, X[:4]])
    cut = min(cut, len(X) - 2)
    result = km.mmd_test(X[:cut], X[cut:], permutations=19, bins=4, random_state=seed)
    assert 1 / 20 <= result.p_value <= 1.0 or len(result.null) < 19
    assert np.isfinite(result.null).all()
    assert result.statistic >= 0.0


# Level and power


@pytest.mark.parametrize(
    ("n_a", "n_b", "options"),
    [
        (20, 20, {"bins": 16}),  # single points
        (64, 64, {"bins": 16, "k": 8}),
        (50, 131, {"bins": 12, "k": 16}),  # unequal, with rows outside bins
        (10, 300, {"bins": 8, "k": 16}),  # more bins than are permuted
        (40, 40, {"bins": 16, "sparse": False}),
    ],
    ids=["points", "bins", "unequal", "lopsided", "full"],
)
def test_the_level_is_nominal(n_a, n_b, options):
    """One bandwidth, 500 null data sets, skewed: rejections at .05 are binomial; beyond 4.2 sd
    once in 10⁴ (fixed seeds all the same).
    """
    rng = np.random.default_rng(1)
    engine = km.engines.open("naive")
    p = []
    for seed in range(500):
        X = rng.exponential(size=(n_a + n_b, 2))
        p.append(
            km.mmd_test(
                X[:n_a],
                X[n_a:],
                bandwidth="median",
                permutations=79,
                engine=engine,
                random_state=seed,
                **options,
            ).p_value
        )
    rate = np.mean(np.array(p) <= 0.05)
    assert abs(rate - 0.05) <= 4.2 * np.sqrt(0.05 * 0.95 / 500)
    assert abs(np.mean(np.array(p) <= 0.5) - 0.5) <= 4.2 * 0.5 / np.sqrt(500)


def test_lattice_data_keep_the_level():
    """Ties count against rejection: the level may fall below, never above."""
    rng = np.random.default_rng(2)
    p = [
        km.mmd_test(
            *rng.integers(0, 2, size=(2, 30, 2)),
            bins=8,
            permutations=79,
            engine="naive",
            random_state=seed,
        ).p_value
        for seed in range(400)
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 4.2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("sparse", [True, False])
def test_a_clear_difference_is_found_both_ways(sparse):
    A, B = normal(400, 3, 0), normal(700, 3, 1, shift=1.0)
    assert km.mmd_test(A, B, sparse=sparse, random_state=0).p_value == 0.001
    assert km.mmd_test(B, A, sparse=sparse, random_state=0).p_value == 0.001


def test_a_difference_in_spread_alone_is_found():
    A, B = normal(2000, 2, 0), 1.4 * normal(2000, 2, 1)
    assert km.mmd_test(A, B, random_state=0).p_value <= 0.005


def test_the_smaller_of_very_unequal_samples_still_has_power():
    A, B = normal(12, 2, 0, shift=2.0), normal(5000, 2, 1)
    result = km.mmd_test(A, B, random_state=0)
    assert result.bins == (12, 500)
    assert result.p_value == 0.001


@pytest.mark.data
def test_the_classes_of_banana_differ_and_halves_of_a_class_do_not(data):
    with np.load(data / "benchmark11" / "banana.npz", allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    one, other = (X[y == label] for label in np.unique(y))
    assert km.mmd_test(one, other, random_state=0).p_value == 0.001
    order = np.random.default_rng(0).permutation(len(one))
    assert km.mmd_test(one[order[:1000]], one[order[1000:]], random_state=0).p_value > 0.01


# The bins


@given(st.integers(2, 5000), st.integers(2, 5000), st.integers(2, 80), st.integers(0, 1000))
def test_bins_partition_the_rows_and_the_signs_sum_to_zero(n_a, n_b, bins, seed):
    rng = np.random.default_rng(seed)
    found = binning.cut(rng.permutation(n_a + n_b), n_a, bins, rng)
    a, b = found.counts
    assert np.array_equal(np.sort(np.concatenate(found.parts)), np.arange(n_a + n_b))
    assert all(len(part) == found.size for part in found.parts[: a + b])
    assert all((part < n_a).all() for part in found.parts[:a])
    assert not any((part < n_a).any() for part in found.parts[a : a + b])
    assert [bool(part[0] < n_a) for part in found.parts[a + b :]] == list(found.rest)
    assert min(a, b) >= 1
    assert a + b <= binning.MAX_BINS_FACTOR * bins + 1
    weights = rng.random(n_a + n_b) + 0.1
    for known in (None, weights):
        V = next(binning.signs(found, found.masses(known), 1, np.random.default_rng(0)))
        assert np.abs(V.sum(axis=1)).max() <= 1e-12
        assert np.maximum(V, 0.0).sum(axis=1) == pytest.approx(1.0)


def test_centres_fall_into_any_bin():
    """The first rows of the order are the centres: bins drawn in that order would not be
    exchangeable.
    """
    held = np.zeros(16)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        order = rng.permutation(160)
        found = binning.cut(order, 80, 16, rng)
        held += [np.isin(part, order[:10]).sum() for part in found.parts]
    assert found.counts == (8, 8)
    assert np.abs(held - 250).max() <= 5 * np.sqrt(250)


@pytest.mark.parametrize(
    ("n_a", "n_b"), [(4096, 4096), (1000, 1500), (3001, 2003), (60_000, 10_007)]
)
def test_few_rows_stay_outside_bins(n_a, n_b):
    m = binning.bin_size(n_a, n_b, 64)
    assert n_a % m + n_b % m <= 0.01 * (n_a + n_b)
    assert 64 <= n_a // m + n_b // m <= 140


# Sameness


def test_a_seed_fixes_everything_and_threads_nothing():
    A, B = normal(3000, 2, 0), normal(2000, 2, 1, shift=0.1)
    results = [
        km.mmd_test(A, B, random_state=7, engine=km.engines.open("cpu", threads=threads))
        for threads in (1, 1, 2)
    ]
    assert len({result.p_value for result in results}) == 1
    assert results[0].statistic == pytest.approx(results[2].statistic, rel=1e-12)
    assert km.mmd_test(A, B, random_state=8).p_value != results[0].p_value


def test_engines_agree():
    A, B = normal(500, 3, 0), normal(333, 3, 1, shift=0.1)
    for options in ({"k": 40}, {"sparse": False}, {"kernel": "laplacian", "k": 40}):
        naive, cpu = (
            km.mmd_test(A, B, engine=engine, random_state=0, **options)
            for engine in ("naive", "cpu")
        )
        assert naive.p_value == cpu.p_value
        np.testing.assert_allclose(naive.null, cpu.null, rtol=1e-6)


def test_the_order_of_rows_does_not_change_the_statistic_of_full_means():
    A, B = normal(90, 2, 0), normal(80, 2, 1)
    one = km.mmd_test(A, B, sparse=False, bandwidth=1.0, bins=8, random_state=0)
    two = km.mmd_test(
        A[::-1],
        B[np.random.default_rng(0).permutation(80)],
        sparse=False,
        bandwidth=1.0,
        bins=8,
        random_state=1,
    )
    swapped = km.mmd_test(B, A, sparse=False, bandwidth=1.0, bins=8, random_state=2)
    assert one.statistic == pytest.approx(two.statistic, rel=1e-9)
    assert one.statistic == pytest.approx(swapped.statistic, rel=1e-9)


@pytest.mark.parametrize("sparse", [True, False])
def test_equal_samples_have_p_one(sparse):
    A = normal(300, 2, 0)
    result = km.mmd_test(A, A, sparse=sparse, random_state=0)
    assert result.p_value == 1.0
    assert result.statistic < 1e-7


@pytest.mark.parametrize(
    "options",
    [{}, {"scale": "std"}, {"kernel": km.Cauchy(1.0)}, {"sparse": False}, {"bandwidth": 2.0}],
)
def test_equal_points_have_p_one_and_need_no_bandwidth(options):
    result = km.mmd_test(np.full((300, 2), 3.7), np.full((200, 2), 3.7), random_state=0, **options)
    assert (result.statistic, result.p_value) == (0.0, 1.0)


@given(spread_clouds(max_points=20, min_points=4))
def test_inputs_are_left_alone_and_results_cannot_be_changed(X):
    A, B = X[:2].copy(), X[2:].copy()
    A.flags.writeable = B.flags.writeable = False
    result = km.mmd_test(A, B, permutations=9, random_state=0)
    with pytest.raises(ValueError, match="read-only"):
        result.null[0] = 0.0
    with pytest.raises(AttributeError):
        result.p_value = 0.0


# At the door

GOOD = normal(10, 2, 0)


@pytest.mark.parametrize(
    ("A", "B", "options", "error", "sentence"),
    [
        (GOOD, GOOD[:, :1], {}, ValueError, "A has 2 columns and B has 1"),
        (GOOD, np.empty((0, 2)), {}, ValueError, r"B has shape \(0, 2\)"),
        (GOOD[:1], GOOD, {}, ValueError, "A has one point only"),
        (GOOD, GOOD[:1], {}, ValueError, "B has one point only"),
        (GOOD, np.where(GOOD > 1, np.nan, GOOD), {}, ValueError, "B holds NaN"),
        (np.where(GOOD > 1, np.inf, GOOD), GOOD, {}, ValueError, "A holds infinite"),
        ([["a", "b"]], GOOD, {}, TypeError, "A holds strings"),
        (GOOD[:, 0], GOOD, {}, ValueError, "A must be a table"),
        (GOOD, GOOD, {"k": 0}, ValueError, "k must be at least 1"),
        (GOOD, GOOD, {"k": "auto"}, TypeError, "k must be a whole number"),
        (GOOD, GOOD, {"bins": 1}, ValueError, "bins must be at least 2"),
        (GOOD, GOOD, {"permutations": 0}, ValueError, "permutations must be at least 1"),
        (GOOD, GOOD, {"sparse": "no"}, ValueError, "unknown sparse"),
        (GOOD, GOOD, {"bandwidth": "wide"}, ValueError, "unknown bandwidth rule"),
        (
            np.ones((3, 2)),
            np.ones((3, 2)),
            {"bandwidth": "wide"},
            ValueError,
            "unknown bandwidth rule",
        ),
        (GOOD, GOOD, {"bandwidth": -1.0}, ValueError, "bandwidth must be"),
        (GOOD, GOOD, {"kernel": "box"}, ValueError, "box"),
        (
            GOOD,
            GOOD,
            {"kernel": km.Gaussian(1.0), "bandwidth": 2.0},
            ValueError,
            "carries its own scale",
        ),
        (GOOD, GOOD, {"engine": "abacus"}, ValueError, "unknown engine"),
        (GOOD, GOOD, {"random_state": "seed"}, TypeError, "random_state must be"),
    ],
)
def test_bad_input_gets_one_clear_sentence(A, B, options, error, sentence):
    with pytest.raises(error, match=sentence):
        km.mmd_test(A, B, **options)


def test_a_level_must_be_a_number():
    with pytest.raises(TypeError, match="level"):
        km.mmd_test(GOOD, GOOD + 1.0, random_state=0).threshold("5 %")
    assert km.mmd_test(GOOD, GOOD + 1.0, random_state=0).threshold(0.0) == np.inf

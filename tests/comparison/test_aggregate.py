"""The test that tunes itself: its components, its level, what it finds, weights and engines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gamma

import kernelmean as km
from kernelmean.comparison import aggregate
from kernelmean.linalg.ridge import ridge_products
from tests import brute


def normal(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def correlated(n: int, seed: int) -> np.ndarray:
    """Marginals of a standard normal sample in 4-D, the first two columns correlated."""
    X = normal(n, 4, seed)
    X[:, 1] = 0.4 * X[:, 0] + np.sqrt(0.84) * X[:, 1]
    return X


# The formulas


def test_the_evidence_is_the_tail_of_a_gamma_distribution_of_the_same_moments():
    T = np.random.default_rng(0).gamma(3.0, 2.0, size=(2, 50))
    expected = [
        -gamma.logsf(row, row.mean() ** 2 / row.var(), scale=row.var() / row.mean()) / np.log(10)
        for row in T
    ]
    found = aggregate.evidence(T, np.array([1.0, 0.1]))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found[1], np.maximum(expected[1] - 1.0, 0.0), rtol=1e-9, atol=1e-12)


def test_evidence_does_not_end_where_a_tail_underflows():
    """P(Γ_a ≥ x) by its continued fraction in 60 digits, where float64 has 0."""
    mpmath = pytest.importorskip("mpmath")
    for a, x in ((0.5, 800.0), (3.0, 900.0), (40.0, 1000.0)):
        found = aggregate._log_tail(np.array([[a]]), np.array([[x]]))[0, 0]
        exact = float(mpmath.log(mpmath.gammainc(a, x, mpmath.inf, regularized=True)))
        assert found == pytest.approx(exact, rel=1e-4)


def test_what_does_not_vary_is_no_evidence():
    assert not aggregate.evidence(np.ones((2, 9)), np.ones(2)).any()
    assert not aggregate.evidence(np.zeros((1, 5)), np.ones(1)).any()


def test_ridges_are_the_inverse_of_a_regularised_covariance():
    rng = np.random.default_rng(1)
    Y, F = rng.normal(size=(6, 4)), rng.normal(size=(6, 50)) * np.arange(1, 7)[:, None]
    S = np.cov(F, bias=True)
    largest = np.linalg.eigvalsh(S)[-1]
    for ridge, G in zip((0.1, 0.001), ridge_products(Y, F, (0.1, 0.001)), strict=True):
        expected = Y.T @ np.linalg.solve(S + ridge * largest * np.eye(6), Y)
        np.testing.assert_allclose(G, expected, rtol=1e-9)


def test_the_components_are_those_that_are_looked_at():
    A, B = normal(300, 2, 0), normal(200, 2, 1)
    found = km.mmd_test(A, B, random_state=0)
    sigmas = [component.kernel.bandwidth for component in found.components]
    ridges = [component.ridge for component in found.components]
    assert ridges == [None, 0.01, 0.01, 0.001, None, None]
    np.testing.assert_allclose(np.array(sigmas) / sigmas[0], [1.0, 1.0, 4.0, 4.0, 0.25, 0.0625])
    assert found.kernel in {component.kernel for component in found.components}
    assert found.aggregated
    assert not km.mmd_test(A, B, bandwidth=1.0, random_state=0).aggregated


def test_a_plain_component_has_the_p_value_of_its_own_test():
    A, B = normal(300, 2, 0), normal(200, 2, 1) + 0.1
    found = km.mmd_test(A, B, random_state=3)
    plain = [component for component in found.components if component.ridge is None]
    for component, look in zip(plain, (1, 2, 2), strict=True):  # narrow ones have 2k centres
        options = {"kernel": component.kernel, "scale": found.scale, "k": 256 * look}
        assert km.mmd_test(A, B, random_state=3, **options).p_value == component.p_value


def test_full_means_have_no_ridges():
    A, B = normal(40, 2, 0), normal(30, 2, 1)
    found = km.mmd_test(A, B, sparse=False, random_state=0)
    assert [component.ridge for component in found.components] == [None] * 4
    every = km.mmd_test(A, B, k=70, random_state=0)
    plain = [c.p_value for c in every.components if c.ridge is None]
    assert plain == [found.components[i].p_value for i in (0, 2, 3)]


def test_other_kernels_aggregate_too():
    A, B = normal(200, 2, 0), normal(200, 2, 1) + 1.0
    found = km.mmd_test(A, B, kernel="laplacian", random_state=0)
    assert isinstance(found.kernel, km.Laplacian)
    assert found.p_value == 0.001


# Level and power


@pytest.mark.parametrize(
    ("n_a", "n_b", "lattice"),
    [(40, 40, False), (64, 200, False), (30, 300, True)],
    ids=["points", "unequal", "ties"],
)
def test_the_level_is_nominal(n_a, n_b, lattice):
    """400 null pairs: rejections are binomial; beyond 4.2 sd once in 10⁴ (fixed seeds all the
    same).
    """
    rng = np.random.default_rng(1)
    p = []
    for seed in range(400):
        X = rng.exponential(size=(n_a + n_b, 2))
        X = np.round(2.0 * X) if lattice else X
        options = {"permutations": 79, "bins": 16, "k": 24, "engine": "naive"}
        p.append(km.mmd_test(X[:n_a], X[n_a:], random_state=seed, **options).p_value)
    for level in (0.05, 0.5):
        rate = np.mean(np.array(p) <= level)
        assert abs(rate - level) <= 4.2 * np.sqrt(level * (1.0 - level) / 400)


def test_a_change_of_correlation_is_found_that_one_bandwidth_does_not_see():
    A, B = normal(400, 4, 0), correlated(400, 1)
    assert km.mmd_test(A, B, random_state=0).p_value <= 0.01
    assert km.mmd_test(A, B, bandwidth="median", random_state=0).p_value > 0.05


def test_units_do_not_matter():
    A, B = normal(300, 3, 0), correlated(300, 1)[:, :3]
    units = np.array([1.0, 1e-6, 1e9])
    one, other = (km.mmd_test(X, Y, random_state=0) for X, Y in ((A, B), (A * units, B * units)))
    assert one.p_value == other.p_value
    assert one.statistic == pytest.approx(other.statistic, rel=1e-6)


def test_a_length_is_one_in_the_units_of_the_data():
    A, B = 100.0 * normal(50, 2, 0), 100.0 * normal(60, 2, 1)
    found = km.mmd_test(A, B, bandwidth=80.0, random_state=0)
    assert found.scale is None
    square = sum(
        sign * brute.gram(brute.gaussian(80.0), X, Y).mean()
        for sign, X, Y in ((1, A, A), (1, B, B), (-2, A, B))
    )
    assert found.statistic == pytest.approx(np.sqrt(square), rel=1e-7)


# Weights


@pytest.mark.parametrize("bandwidth", ["aggregate", 0.8])
def test_integer_weights_are_repeated_rows(bandwidth):
    A, B = normal(60, 2, 0), normal(50, 2, 1) + 0.2
    w = np.random.default_rng(2).integers(0, 4, 60)
    options = {"bandwidth": bandwidth, "random_state": 0}
    weighted = km.mmd_test(A, B, sample_weight=(w, None), **options)
    repeated = km.mmd_test(np.repeat(A, w, axis=0), B, **options)
    assert weighted.p_value == repeated.p_value
    assert weighted.statistic == repeated.statistic


def test_real_weights_weigh_the_means():
    A, B, w = normal(60, 2, 0), normal(50, 2, 1), np.random.default_rng(2).random(60) + 0.1
    v = np.random.default_rng(3).random(50) + 0.1
    p, q = w / w.sum(), v / v.sum()
    g = brute.gaussian(0.8)
    square = p @ brute.gram(g, A, A) @ p + q @ brute.gram(g, B, B) @ q
    square -= 2 * p @ brute.gram(g, A, B) @ q
    for options in ({"k": 500}, {"sparse": False}, {"k": 500, "bins": 6}):
        found = km.mmd_test(A, B, bandwidth=0.8, sample_weight=(w, v), random_state=0, **options)
        assert found.statistic == pytest.approx(np.sqrt(square), rel=1e-7)


def test_weights_that_say_nothing_keep_the_level():
    rng = np.random.default_rng(5)
    p = []
    for seed in range(300):
        X, w = rng.normal(size=(80, 2)), rng.exponential(size=80)
        options = {"permutations": 79, "bins": 16, "k": 24, "engine": "naive"}
        weights = (w[:40], w[40:])
        p.append(
            km.mmd_test(X[:40], X[40:], sample_weight=weights, random_state=seed, **options).p_value
        )
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) <= 4.2 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize("options", [{}, {"bandwidth": "median"}, {"sparse": False}])
def test_weights_of_one_sample_alone_keep_the_level(options):
    """Both samples have one law, but only A has weights, some of them heavy."""
    rng = np.random.default_rng(7)
    p = []
    for seed in range(100):
        A, B = rng.normal(size=(2, 100, 2))
        weights = (rng.exponential(size=100) ** 2, None)
        more = {"permutations": 79, "bins": 32, "k": 24, "engine": "naive", **options}
        p.append(km.mmd_test(A, B, sample_weight=weights, random_state=seed, **more).p_value)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 4.2 * np.sqrt(0.05 * 0.95 / 100)


def test_rows_thinned_by_weight_have_the_weighted_law():
    X = np.random.default_rng(0).normal(size=(4000, 1))
    heavier = np.exp(X[:, 0])  # the weighted law is normal about one
    found = km.mmd_test(X, X[:2000] + 1.0, sample_weight=(heavier, None), random_state=0)
    assert found.p_value > 0.01
    assert km.mmd_test(X, X[:2000], sample_weight=(heavier, None), random_state=0).p_value <= 0.01


# Frames and engines


def test_columns_of_frames_are_matched_by_name():
    A, B = normal(80, 2, 0), normal(80, 2, 1) + np.array([0.0, 1.0])
    frames = pd.DataFrame(A, columns=["x", "y"]), pd.DataFrame(B[:, ::-1], columns=["y", "x"])
    found, plain = km.mmd_test(*frames, random_state=0), km.mmd_test(A, B, random_state=0)
    assert (found.p_value, found.statistic) == (plain.p_value, plain.statistic)
    with pytest.raises(ValueError, match="A has a column 'y' that B has not"):
        km.mmd_test(frames[0], frames[1].rename(columns={"y": "z"}))


def test_engines_agree():
    A, B = normal(700, 3, 0), correlated(600, 1)[:, :3]
    results = [
        km.mmd_test(A, B, engine=engine, bins=4, k=40, random_state=0)
        for engine in ("naive", "cpu")
    ]
    assert results[0].p_value == results[1].p_value
    np.testing.assert_allclose(results[0].null, results[1].null, rtol=1e-5)


@pytest.mark.parametrize("weights", [np.ones(10), (None,), (None, None, None)])
def test_weights_are_a_pair(weights):
    with pytest.raises(ValueError, match="sample_weight is a pair"):
        km.mmd_test(normal(10, 2, 0), normal(10, 2, 1), sample_weight=weights)

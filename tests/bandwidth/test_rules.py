"""Rules for the scale against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.special import logsumexp

import kernelmean as km
from kernelmean.bandwidth import labelled, leave_one_out
from tests import brute
from tests.strategies import spread_clouds, weighted_clouds

RULES = ("scott", "silverman", "iqr", "median", "mode")


def formulas(X):
    n, d = X.shape
    sd = X.std(axis=0, ddof=1)
    spread = np.subtract(*np.quantile(X, [0.75, 0.25], axis=0))
    one_column = 0.9 * min(sd[0], spread[0] / 1.349 if spread[0] else sd[0]) * n**-0.2
    return {
        "scott": sd.mean() * n ** (-1 / (d + 4)),
        "silverman": one_column if d == 1 else sd.mean() * (4 / ((d + 2) * n)) ** (1 / (d + 4)),
        "iqr": np.where(spread > 0, spread / 1.35, sd).mean(),
        "median": np.median([r for r in pdist(X) if r > 0]),
        "mode": sd.mean() * (4 / (d + 4)) ** (1 / (d + 6)) * n ** (-1 / (d + 6)),
    }


@pytest.mark.parametrize("rule", RULES)
@given(X=spread_clouds(max_points=40))
def test_every_rule_is_its_formula(rule, X):
    # 1e-8: an offset of 1e6 leaves np.std and np.quantile of the oracle about ten digits.
    assert getattr(km.bandwidth, rule)(X) == pytest.approx(formulas(X)[rule], rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
@given(cloud=weighted_clouds(25, least=0))
def test_integer_weights_are_repeated_rows_in_every_rule(rule, cloud):
    X, w = cloud
    copies = brute.repeated(X, w)
    if (copies == copies[0]).all():
        with pytest.raises(ValueError, match="no spread"):
            getattr(km.bandwidth, rule)(X, w)
    else:
        assert getattr(km.bandwidth, rule)(X, w) == pytest.approx(
            getattr(km.bandwidth, rule)(copies), rel=1e-9
        )


@pytest.mark.parametrize("rule", RULES)
def test_integer_weights_are_repeated_rows_beyond_a_thousand_points(rule):
    """The median rule draws 1000 points by weight there: from the same seed the same points."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(700, 2)), rng.integers(0, 5, size=700)
    assert w.sum() > 1000
    assert getattr(km.bandwidth, rule)(X, w) == pytest.approx(
        getattr(km.bandwidth, rule)(brute.repeated(X, w)), rel=1e-12
    )


def test_an_absent_row_is_nobodys_neighbour():
    X, y = np.array([[0.0], [1.0], [5.0], [10.0], [11.0]]), [0, 0, 1, 1, 1]
    assert km.bandwidth.jaakkola(X, y, [1, 1, 0, 1, 1]) == 9.5
    with pytest.raises(ValueError, match="one class only"):
        km.bandwidth.jaakkola(X, y, [1, 1, 0, 0, 0])
    X[2] = np.nan  # checked all the same
    with pytest.raises(ValueError, match="NaN"):
        km.bandwidth.jaakkola(X, y, [1, 1, 0, 1, 1])


@pytest.mark.parametrize("rule", RULES)
def test_fractional_weights_count_by_kish(rule):
    """Halving every weight of equal weights changes nothing; unequal ones count as (Σw)²/Σw²
    points.
    """
    X = np.random.default_rng(1).normal(size=(64, 3))
    assert getattr(km.bandwidth, rule)(X, np.full(64, 0.5)) == pytest.approx(
        getattr(km.bandwidth, rule)(X), rel=1e-12
    )
    w = np.random.default_rng(2).uniform(0.5, 1.5, size=64)
    n = w.sum() ** 2 / (w**2).sum()
    p = w / w.sum()
    sd = np.sqrt(p @ (X - p @ X) ** 2 * n / (n - 1))
    if rule == "scott":
        assert km.bandwidth.scott(X, w) == pytest.approx(sd.mean() * n ** (-1 / 7), rel=1e-12)
    if rule == "silverman":
        assert km.bandwidth.silverman(X, w) == pytest.approx(
            sd.mean() * (4 / (5 * n)) ** (1 / 7), rel=1e-12
        )


@pytest.mark.parametrize("rule", RULES)
@given(X=spread_clouds(), factor=st.sampled_from([1e-6, 0.37, 2.0, 1e5]))
def test_rules_follow_the_scale_of_the_data(rule, X, factor):
    sigma = getattr(km.bandwidth, rule)(X)
    assert getattr(km.bandwidth, rule)(X * factor) == pytest.approx(sigma * factor, rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_rules_lose_no_digit_far_from_the_origin(rule):
    """X + 1e8 − 1e8 is exact once rounded, so both clouds have the same differences to the last
    bit.
    """
    far = np.random.default_rng(3).normal(size=(99, 2)) + 1e8  # quartiles fall between points
    near = far - 1e8
    assert getattr(km.bandwidth, rule)(far) == pytest.approx(
        getattr(km.bandwidth, rule)(near), rel=1e-13
    )


def test_iqr_falls_back_to_the_standard_deviation():
    X = np.zeros((20, 1))
    X[0] = 1.0
    assert km.bandwidth.iqr(X) == pytest.approx(X.std(ddof=1), rel=1e-12)
    assert km.bandwidth.silverman(X) == pytest.approx(0.9 * X.std(ddof=1) * 20**-0.2, rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((1, 1))])
def test_data_without_spread_ask_for_a_number(rule, X):
    with pytest.raises(ValueError, match="give the bandwidth as a positive number"):
        getattr(km.bandwidth, rule)(X)


def test_the_median_of_many_points_is_near_that_of_all():
    X = np.random.default_rng(4).normal(size=(3000, 2))
    found = km.bandwidth.median(X, random_state=0)
    assert found == km.bandwidth.median(X, random_state=0)
    assert found != km.bandwidth.median(X, random_state=1)
    # 1000 points: the sample median of distances has a relative s.d. of about 1/√1000.
    assert found == pytest.approx(np.median(pdist(X)), rel=0.1)


@pytest.mark.parametrize("rule", RULES)
def test_a_name_in_the_fit_is_the_rule(rule):
    X = np.random.default_rng(5).normal(size=(80, 2))
    mean = km.sparse_kernel_mean(X, bandwidth=rule, k=5, random_state=0)
    assert mean.kernel == km.Gaussian(getattr(km.bandwidth, rule)(X))


@pytest.mark.parametrize("name", ["laplacian", "exponential", "cauchy"])
def test_other_kernels_get_the_scale_with_the_same_half_maximum_radius(name):
    X = np.random.default_rng(6).normal(size=(80, 2))
    sigma = km.bandwidth.scott(X)
    kernel = km.sparse_kernel_mean(X, kernel=name, bandwidth="scott", k=5, random_state=0).kernel
    half = 2 * np.log(2) * sigma**2  # r² where a Gaussian is at half its peak
    assert float(kernel.profile(half, 2)) == pytest.approx(0.5, rel=1e-12)


def test_a_number_is_the_kernels_own_length():
    X = np.random.default_rng(7).normal(size=(30, 2))
    kernels = {
        "gaussian": km.Gaussian(0.4),
        "laplacian": km.Laplacian(0.4),
        "cauchy": km.Cauchy(0.4**2),
    }
    for name, kernel in kernels.items():
        found = km.sparse_kernel_mean(X, kernel=name, bandwidth=0.4, k=3, random_state=0).kernel
        np.testing.assert_allclose(
            found.profile([0.1, 1.0], 2), kernel.profile([0.1, 1.0], 2), rtol=1e-14
        )


@pytest.mark.data
def test_banana_bandwidths_are_those_of_the_specification(banana):
    """THEORY §2.5 and §5: IQR/1.35 is 1.21, the median heuristic 1.75."""
    assert km.bandwidth.iqr(banana) == pytest.approx(1.21, abs=0.005)
    assert km.bandwidth.median(banana) == pytest.approx(1.75, abs=0.08)
    assert km.bandwidth.likelihood(banana) < km.bandwidth.scott(banana)


@pytest.mark.data
def test_jaakkola_on_banana_is_that_of_the_specification(data, banana):
    """THEORY §5: nearest .156, all between-class distances 1.70."""
    with np.load(data / "benchmark11" / "banana.npz", allow_pickle=False) as file:
        y = file["y"]
    assert km.bandwidth.jaakkola(banana, y) == pytest.approx(0.156, abs=0.001)
    assert km.bandwidth.jaakkola(banana, y, variant="cross") == pytest.approx(1.70, abs=0.06)


def left_out_likelihood(X, sigma):
    """Mean of log Σ_{j≠i} φ_σ(x_i − x_j)/(n − 1), each point left out with its copies."""
    d = X.shape[1]
    log_k = -((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * sigma**2)
    equal = (X[:, None] == X[None]).all(axis=2)
    others = logsumexp(np.where(equal, -np.inf, log_k), axis=1) - np.log(len(X) - equal.sum(axis=1))
    return float(np.mean(others)) - d * np.log(sigma) - d / 2 * np.log(2 * np.pi)


@pytest.mark.parametrize(("engine", "d"), [("naive", 1), ("naive", 2), ("naive", 5), ("cpu", 2)])
def test_likelihood_finds_the_maximum_of_the_exact_leave_one_out_likelihood(engine, d):
    rng = np.random.default_rng(d)
    X = np.concatenate(
        [rng.normal(size=(150, d)), 0.2 * rng.normal(size=(150, d)) + 3, [[40.0] * d]]
    )
    X[:20] = X[20:40]  # copies
    found = km.bandwidth.likelihood(X, engine=engine)
    grid = np.exp(np.linspace(np.log(found) - 3, np.log(found) + 3, 301))
    values = [left_out_likelihood(X, sigma) for sigma in grid]
    assert left_out_likelihood(X, found) >= max(values) - 1e-4


def test_likelihood_takes_integer_weights_as_repeated_rows_and_equal_copies_for_nothing():
    rng = np.random.default_rng(8)
    X, w = rng.normal(size=(120, 2)), rng.integers(0, 4, 120)
    assert km.bandwidth.likelihood(X, w) == pytest.approx(
        km.bandwidth.likelihood(brute.repeated(X, w)), rel=1e-3
    )
    assert km.bandwidth.likelihood(np.repeat(X, 3, axis=0)) == pytest.approx(
        km.bandwidth.likelihood(X), rel=0.01
    )
    assert km.bandwidth.likelihood(X, np.full(120, 0.5)) == pytest.approx(
        km.bandwidth.likelihood(X), rel=0.05
    )


def test_likelihood_follows_the_scale_and_ignores_the_origin():
    X = np.random.default_rng(9).standard_t(2.5, size=(200, 2))
    found = km.bandwidth.likelihood(X)
    for factor in (1e-6, 1e5):
        assert km.bandwidth.likelihood(X * factor) == pytest.approx(found * factor, rel=1e-3)
    assert km.bandwidth.likelihood(X + 1e6) == pytest.approx(found, rel=1e-3)


def test_likelihood_over_fewer_rows_is_near_that_of_all(monkeypatch):
    X = np.random.default_rng(10).normal(size=(6000, 3))
    whole = km.bandwidth.likelihood(X)
    monkeypatch.setattr(leave_one_out, "MAX_KERNEL_VALUES", {True: 1500 * 6000, False: 1500 * 6000})
    part = km.bandwidth.likelihood(X)
    assert part != whole
    assert part == pytest.approx(whole, rel=0.15)
    assert km.bandwidth.likelihood(X) == part
    assert km.bandwidth.likelihood(X, random_state=1) != part


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((1, 1))])
def test_likelihood_without_spread_asks_for_a_number(X):
    with pytest.raises(ValueError, match="give the bandwidth as a positive number"):
        km.bandwidth.likelihood(X)


@given(X=spread_clouds(max_points=30), seed=st.integers(0, 1000))
def test_jaakkola_is_its_formula(X, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, len(X))
    y[:2] = [0, 1]
    r = squareform(pdist(X))
    other = y[:, None] != y[None, :]
    nearest = np.median(np.where(other, r, np.inf).min(axis=1))
    between = np.median(r[other])
    for variant, expected in (("nearest", nearest), ("cross", between)):
        if expected > 0:
            assert km.bandwidth.jaakkola(X, y, variant=variant) == pytest.approx(expected, rel=1e-9)
        else:
            with pytest.raises(ValueError, match="no spread"):
                km.bandwidth.jaakkola(X, y, variant=variant)


@pytest.mark.parametrize("variant", ["nearest", "cross"])
def test_jaakkola_takes_integer_weights_as_repeated_rows(variant):
    rng = np.random.default_rng(11)
    X, y, w = rng.normal(size=(90, 2)), rng.choice(["a", "b", "c"], 90), rng.integers(1, 4, 90)
    repeated = km.bandwidth.jaakkola(np.repeat(X, w, axis=0), np.repeat(y, w), variant=variant)
    assert km.bandwidth.jaakkola(X, y, w, variant=variant) == pytest.approx(repeated, rel=1e-12)


def test_jaakkola_over_fewer_points_is_near_that_of_all(monkeypatch):
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(4000, 2)), rng.integers(0, 2, 4000)
    whole = km.bandwidth.jaakkola(X, y)
    monkeypatch.setattr(labelled, "MAX_DISTANCES", 1.0)
    assert km.bandwidth.jaakkola(X, y) == pytest.approx(whole, rel=0.1)


def test_jaakkola_says_what_it_needs():
    X = np.random.default_rng(13).normal(size=(6, 2))
    with pytest.raises(ValueError, match="one class only"):
        km.bandwidth.jaakkola(X, np.zeros(6))
    with pytest.raises(ValueError, match="one label per point"):
        km.bandwidth.jaakkola(X, np.zeros(5))
    with pytest.raises(TypeError, match="cannot be ordered"):
        km.bandwidth.jaakkola(X, np.array([1, "a", 2, 3, None, 4], dtype=object))
    with pytest.raises(ValueError, match="unknown variant 'far'"):
        km.bandwidth.jaakkola(X, [0, 0, 0, 1, 1, 1], variant="far")
    with pytest.raises(ValueError, match="needs labels"):
        km.sparse_kernel_mean(X, bandwidth="jaakkola")


def test_likelihood_with_uneven_weights_looks_at_a_few_draws_per_row():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(400, 2)), rng.uniform(0.5, 1.5, 400)
    loaded = km.engines.open("cpu").load(X, w)
    found = leave_one_out.LeftOut.of(loaded, 10_000_000, np.random.default_rng(0))
    assert len(found.rows) == leave_one_out.MAX_DRAWS_PER_ROW * 400
    # Each row is drawn about as often as its weight says.
    drawn = np.unique(found.rows, axis=0, return_counts=True)[1]
    assert drawn.sum() == len(found.rows)
    assert drawn.max() <= np.ceil(leave_one_out.MAX_DRAWS_PER_ROW * 400 * w.max() / w.sum()) + 1
    sigma, plain = (
        km.bandwidth.likelihood(X, sample_weight=w, random_state=0),
        km.bandwidth.likelihood(X, random_state=0),
    )
    assert sigma == pytest.approx(plain, rel=0.15)

"""Rules for the scale against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

import kernelmean as km
from tests import brute
from tests.strategies import spread_clouds, weighted_clouds

RULES = ("scott", "silverman", "iqr", "median")


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
        assert getattr(km.bandwidth, rule)(X, w) == pytest.approx(getattr(km.bandwidth, rule)(copies), rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_integer_weights_are_repeated_rows_beyond_a_thousand_points(rule):
    """The median rule draws 1000 points by weight there: from the same seed the same points."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(700, 2)), rng.integers(0, 5, size=700)
    assert w.sum() > 1000
    assert getattr(km.bandwidth, rule)(X, w) == pytest.approx(getattr(km.bandwidth, rule)(brute.repeated(X, w)), rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_fractional_weights_count_by_kish(rule):
    """Halving every weight of equal weights changes nothing; unequal ones count as (Σw)²/Σw² points."""
    X = np.random.default_rng(1).normal(size=(64, 3))
    assert getattr(km.bandwidth, rule)(X, np.full(64, 0.5)) == pytest.approx(getattr(km.bandwidth, rule)(X), rel=1e-12)
    w = np.random.default_rng(2).uniform(0.5, 1.5, size=64)
    n = w.sum() ** 2 / (w**2).sum()
    p = w / w.sum()
    sd = np.sqrt(p @ (X - p @ X) ** 2 * n / (n - 1))
    if rule == "scott":
        assert km.bandwidth.scott(X, w) == pytest.approx(sd.mean() * n ** (-1 / 7), rel=1e-12)
    if rule == "silverman":
        assert km.bandwidth.silverman(X, w) == pytest.approx(sd.mean() * (4 / (5 * n)) ** (1 / 7), rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
@given(X=spread_clouds(), factor=st.sampled_from([1e-6, 0.37, 2.0, 1e5]))
def test_rules_follow_the_scale_of_the_data(rule, X, factor):
    sigma = getattr(km.bandwidth, rule)(X)
    assert getattr(km.bandwidth, rule)(X * factor) == pytest.approx(sigma * factor, rel=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_rules_lose_no_digit_far_from_the_origin(rule):
    """X + 1e8 − 1e8 is exact once rounded, so both clouds have the same differences to the last bit."""
    far = np.random.default_rng(3).normal(size=(99, 2)) + 1e8  # quartiles fall between points
    near = far - 1e8
    assert getattr(km.bandwidth, rule)(far) == pytest.approx(getattr(km.bandwidth, rule)(near), rel=1e-13)


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
    kernels = {"gaussian": km.Gaussian(0.4), "laplacian": km.Laplacian(0.4), "cauchy": km.Cauchy(0.4**2)}
    for name, kernel in kernels.items():
        found = km.sparse_kernel_mean(X, kernel=name, bandwidth=0.4, k=3, random_state=0).kernel
        np.testing.assert_allclose(found.profile([0.1, 1.0], 2), kernel.profile([0.1, 1.0], 2), rtol=1e-14)


@pytest.mark.data
def test_banana_bandwidths_are_those_of_the_specification(banana):
    """THEORY §2.5 and §5: IQR/1.35 is 1.21, the median heuristic 1.75."""
    assert km.bandwidth.iqr(banana) == pytest.approx(1.21, abs=0.005)
    assert km.bandwidth.median(banana) == pytest.approx(1.75, abs=0.08)

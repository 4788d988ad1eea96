"""The likeliest normal distribution that ends at bounds: against direct maximisation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr

from kernelmean.domains.truncated import TruncatedNormals
from kernelmean.mixtures import truncation
from kernelmean.mixtures.truncation import Ends, fitted, steepest

INF = np.inf
LEAST = 1e-9
# Mean, variance, ends; none so steep or so even that it is limited.
ROWS = {
    "half a normal": (1.0, np.pi / 2 - 1, 0.0, INF),
    "humped": (1.0, 0.3, 0.0, INF),
    "steep": (1.0, 0.7, 0.0, INF),
    "all but exponential": (1.0, 0.95, 0.0, INF),
    "far from its bound": (5.0, 2.0, 0.0, INF),
    "at a bound elsewhere": (3.0, 0.2, 2.2, INF),
    "humped from above": (-1.0, 0.3, -INF, 0.0),
    "steep from above": (-1.0, 0.7, -INF, 0.0),
    "from above elsewhere": (6.5, 0.04, -INF, 7.0),
    "narrow": (0.5, 0.001, 0.0, 1.0),
    "in the middle": (0.5, 0.05, 0.0, 1.0),
    "aside": (0.3, 0.05, 0.0, 1.0),
    "sloping": (0.2, 0.03, 0.0, 1.0),
    "sloping up": (0.83, 0.02, 0.0, 1.0),
    "near one of two": (0.9, 0.005, 0.0, 1.0),
    "all but even": (0.5, 0.08, 0.0, 1.0),
    "on a wide interval": (40.0, 400.0, -7.0, 93.0),
}


def ends(lower: float, upper: float, alpha: float = truncation.STEEPEST) -> Ends:
    return Ends(lower, upper, alpha, LEAST)


def one(
    mean: float, variance: float, lower: float, upper: float, alpha: float = truncation.STEEPEST
) -> tuple[float, float]:
    c, v = fitted(np.array([mean]), np.array([variance]), ends(lower, upper, alpha))
    return float(c[0]), float(v[0])


def moments(c: np.ndarray, v: np.ndarray, lower: float, upper: float) -> tuple:
    s = np.sqrt(v)
    normal = TruncatedNormals.of((lower - c) / s, (upper - c) / s)
    return c + s * normal.first, v * normal.variance


def log_mass(a: float, b: float) -> float:
    if a > 0.0:
        a, b = -b, -a
    low, high = log_ndtr([a, b])
    return float(high + np.log1p(-np.exp(low - high)))


def log_likelihood(
    c: float, v: float, mean: float, variance: float, lower: float, upper: float
) -> float:
    """E log p for rows with a mean and a variance, up to a constant."""
    s = np.sqrt(v)
    square = (variance + (mean - c) ** 2) / v
    return -0.5 * square - np.log(s) - log_mass((lower - c) / s, (upper - c) / s)


def likeliest(mean: float, variance: float, lower: float, upper: float) -> tuple:
    """(c, v) and what they reach, from several starts."""

    def loss(place: np.ndarray) -> float:
        return -log_likelihood(place[0], np.exp(place[1]), mean, variance, lower, upper)

    options = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 4000, "maxfev": 8000}
    starts = [(mean + d * np.sqrt(variance), np.log(variance) + 0.5) for d in (0.0, -1.0, 1.0)]
    tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    best = min(tried, key=lambda result: result.fun)
    return best.x[0], np.exp(best.x[1]), -best.fun


@pytest.mark.parametrize("name", ROWS)
def test_no_other_is_likelier(name):
    c, v = one(*ROWS[name])
    expected_c, expected_v, best = likeliest(*ROWS[name])
    assert log_likelihood(c, v, *ROWS[name]) > best - 1e-12
    s = np.sqrt(v)
    assert c == pytest.approx(expected_c, rel=1e-5, abs=1e-5 * s)
    assert v == pytest.approx(expected_v, rel=1e-5)


@pytest.mark.parametrize("name", ROWS)
def test_it_has_the_mean_and_the_variance_of_the_rows(name):
    mean, variance, lower, upper = ROWS[name]
    c, v = one(*ROWS[name])
    found = moments(np.array([c]), np.array([v]), lower, upper)
    assert found[0][0] == pytest.approx(mean, abs=1e-6 * np.sqrt(variance))
    assert found[1][0] == pytest.approx(variance, rel=1e-6)


def test_random_rows_of_an_interval_have_their_moments_unless_they_are_limited():
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.02, 0.98, 3000)
    variance = mean * (1.0 - mean) * rng.uniform(0.02, 0.4, 3000)
    s = np.sqrt(variance)
    both = np.maximum(mean, 1.0 - mean) < truncation.MEETS * s
    mean, variance, s = mean[both], variance[both], s[both]
    c, v = fitted(mean, variance, ends(0.0, 1.0))
    beyond = np.maximum(-c, c - 1.0) / np.sqrt(v)
    assert (beyond <= truncation.STEEPEST * (1 + 1e-12)).all()
    free = beyond < truncation.STEEPEST * (1 - 1e-9)
    assert 500 < free.sum() < len(free)
    found_mean, found_variance = moments(c[free], v[free], 0.0, 1.0)
    np.testing.assert_array_less(np.abs(found_mean - mean[free]), 1e-6 * s[free])
    np.testing.assert_allclose(found_variance, variance[free], rtol=1e-6)


# --- limits


@pytest.mark.parametrize("variance", [0.99, 1.0, 1.5, 40.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("alpha", [truncation.STEEPEST, 3.0])
def test_exponential_rows_of_a_half_line_are_as_steep_as_may_be_and_keep_their_mean(
    variance, sign, alpha
):
    bound, mean = 2.0, 2.0 + sign
    lower, upper = (bound, INF) if sign > 0.0 else (-INF, bound)
    c, v = one(mean, variance, lower, upper, alpha)
    assert sign * (bound - c) == pytest.approx(alpha * np.sqrt(v), rel=1e-12)
    found, _ = moments(np.array([c]), np.array([v]), lower, upper)
    assert found[0] == pytest.approx(mean, rel=1e-5 if alpha < truncation.STEEPEST else 1e-12)


@pytest.mark.parametrize("mean", [0.1, 0.9, 0.3])
def test_steep_rows_of_an_interval_keep_the_slope_at_their_end(mean):
    variance = 1.5 * min(mean, 1.0 - mean) ** 2
    end = 0.0 if mean < 0.5 else 1.0
    c, v = one(mean, variance, 0.0, 1.0)
    steeper_c, steeper_v = one(mean, variance, 0.0, 1.0, INF)
    assert abs(c - end) == pytest.approx(truncation.STEEPEST * np.sqrt(v), rel=1e-12)
    assert abs(steeper_c - end) > 2.0 * truncation.STEEPEST * np.sqrt(steeper_v)
    assert (c - end) / v == pytest.approx((steeper_c - end) / steeper_v, rel=1e-12)


@pytest.mark.parametrize("share", [1 / 12, 0.09, 0.2, 0.25])
@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (-3.0, 5.0)])
def test_rows_that_are_even_or_lie_at_both_ends_become_even(share, lower, upper):
    width = upper - lower
    middle = 0.5 * (lower + upper)
    c, v = one(middle, share * width**2, lower, upper)
    assert np.sqrt(v) == pytest.approx(truncation.WIDEST * width, rel=1e-6)
    logs = -0.5 * (np.linspace(lower, upper, 9) - c) ** 2 / v
    assert np.ptp(logs) < 1e-8


def test_a_bound_that_is_far_changes_nothing():
    mean, variance = np.array([0.81, 8.1, -3.0]), np.array([0.01, 1.0, 0.1])
    for lower, upper in ((0.0, INF), (-INF, 17.0), (-INF, INF), (-6.0, 17.0)):
        far = (mean - 8.0 * np.sqrt(variance) > lower) & (mean + 8.0 * np.sqrt(variance) < upper)
        assert far.any()
        c, v = fitted(mean, variance, ends(lower, upper))
        np.testing.assert_array_equal(c[far], mean[far])
        np.testing.assert_array_equal(v[far], variance[far])


def test_of_two_bounds_only_those_that_are_near_count():
    rows = 1.0, 0.7
    assert one(*rows, 0.0, 50.0) == one(*rows, 0.0, INF)
    assert one(*rows, -50.0, 1.5) == one(*rows, -INF, 1.5)
    assert one(*rows, 0.0, 3.0) != one(*rows, 0.0, INF)


def test_a_bound_comes_into_sight_all_but_smoothly():
    for near, far in ((7.999, 8.001), (-7.999, -8.001)):
        lower, upper = (0.0, INF) if near > 0.0 else (-INF, 0.0)
        np.testing.assert_allclose(one(near, 1.0, lower, upper), (near, 1.0), rtol=1e-6)
        assert one(far, 1.0, lower, upper) == (far, 1.0)


@pytest.mark.parametrize(("lower", "upper"), [(2.0, INF), (-INF, 2.0), (2.0, 7.0), (-4.0, 2.0)])
def test_rows_at_a_bound_are_moved_in_by_the_least(lower, upper):
    least = 1e-3
    limits = Ends(lower, upper, truncation.STEEPEST, least)
    c, v = fitted(np.array([2.0]), np.array([least**2]), limits)
    found, _ = moments(c, v, lower, upper)
    inside = 2.0 + least if lower == 2.0 else 2.0 - least
    assert found[0] == pytest.approx(inside, abs=1e-9 * least)


def test_rows_of_an_interval_that_has_no_room_lie_in_its_middle():
    c, v = fitted(np.array([1.0]), np.array([1e-6]), Ends(1.0, 1.001, truncation.STEEPEST, 1.0))
    assert moments(c, v, 1.0, 1.001)[0][0] == pytest.approx(1.0005, abs=1e-12)


@pytest.mark.parametrize("coordinates", [0, 1, 2, 8, 9, 20, 500])
def test_peaks_beyond_bounds_are_no_higher_than_numbers_can_hold(coordinates):
    alpha = steepest(coordinates)
    nats = coordinates * alpha**2 / 2.0
    assert nats <= truncation.MOST_NATS * (1 + 1e-12)
    assert alpha == truncation.STEEPEST or nats == pytest.approx(truncation.MOST_NATS)
    assert (alpha < truncation.STEEPEST) == (coordinates > 8)


# --- symmetries


def of_all(sign: float, shift: float, factor: float) -> list[tuple[float, float]]:
    """What is found for all rows after x ↦ shift + sign·factor·x, mapped back."""
    found = []
    for mean, variance, lower, upper in ROWS.values():
        turned = sorted(shift + sign * factor * np.array([lower, upper]))
        c, v = one(shift + sign * factor * mean, factor**2 * variance, *turned)
        found.append((sign * (c - shift) / factor, v / factor**2))
    return found


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e5])
@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shifts_scales_and_reflections_of_rows_are_those_of_what_is_found(sign, shift, factor):
    np.testing.assert_allclose(
        of_all(sign, shift * factor, factor), of_all(1.0, 0.0, 1.0), rtol=1e-10, atol=1e-10
    )


def test_each_is_found_by_itself():
    for lower, upper in ((0.0, INF), (-INF, 0.0), (0.0, 1.0)):
        some = [rows[:2] for rows in ROWS.values() if rows[2:] == (lower, upper)]
        mean, variance = np.array([*some, (0.5, 0.2), (8.5, 1e-4)]).T
        together = fitted(mean, variance, ends(lower, upper))
        alone = [one(*rows, lower, upper) for rows in zip(mean, variance, strict=True)]
        np.testing.assert_allclose(np.array(together).T, alone, rtol=1e-5)


def test_no_rows_have_none():
    for lower, upper in ((0.0, INF), (-INF, 0.0), (0.0, 1.0)):
        c, v = fitted(np.empty(0), np.empty(0), ends(lower, upper))
        assert c.shape == v.shape == (0,)


def test_moments_of_rows_are_left_alone():
    mean, variance = np.array([0.1, 0.3, 1.0]), np.array([0.1, 0.05, 1e-4])
    for some in (mean, variance):
        some.flags.writeable = False
    c, v = fitted(mean, variance, ends(0.0, 1.0))
    assert not np.shares_memory(c, mean)
    assert not np.shares_memory(v, variance)

"""The elementary functions of the compiled loops against longer arithmetic, on all their range."""

import math

import mpmath as mp
import numba
import numpy as np
import pytest

from kernelmean.compiled import elementary

ULP = 2.0**-53  # half a unit in the last place of 1: relative errors below are in these units


def elementwise(function):
    @numba.njit
    def loop(x):
        out = np.empty_like(x)
        for i in range(len(x)):
            out[i] = function(x[i])
        return out

    return loop


@numba.njit
def cos_sin(x):
    out = np.empty((2, len(x)))
    for i in range(len(x)):
        out[0, i], out[1, i] = elementary.cos_sin(x[i])
    return out


exp = elementwise(elementary.exp)
log = elementwise(elementary.log)
log1p = elementwise(elementary.log1p)


def exact(function, x):
    """Rounded from 50 digits: float64 and the remainder, so that errors below one unit are seen."""
    with mp.workdps(50):
        values = [function(mp.mpf(float(v))) for v in x]
        high = np.array([float(v) for v in values])
        low = np.array([float(v - h) for v, h in zip(values, map(mp.mpf, high), strict=True)])
    return high, low


def relative_error(actual, function, x):
    """Largest |actual − f(x)|/|f(x)| in units of 2⁻⁵³."""
    high, low = exact(function, x)
    return float(np.max(np.abs((actual - high) - low) / np.abs(high))) / ULP


def spread(seed, low, high, size=3000):
    """Evenly in the logarithm."""
    return np.exp(np.random.default_rng(seed).uniform(math.log(low), math.log(high), size))


EXP_ARGUMENTS = {
    "tiny": -spread(1, 1e-300, 1e-10),
    "small": -spread(2, 1e-10, 1.0),
    "typical": -np.random.default_rng(3).uniform(0, 50, 3000),
    "far": -np.random.default_rng(4).uniform(50, 708, 3000),
    "halfway between powers of two": -(np.arange(1000) + 0.5) * math.log(2),
    "positive": np.random.default_rng(5).uniform(0, 709, 3000),
}


@pytest.mark.parametrize("part", EXP_ARGUMENTS)
def test_exp_is_within_two_half_units(part):
    x = EXP_ARGUMENTS[part]
    assert relative_error(exp(x), mp.exp, x) <= 2.0


def test_exp_at_its_edges():
    """One at zero, right down to −708, zero below, and never a subnormal number."""
    x = np.array([0.0, -0.0, -708.0, np.nextafter(-708.0, -np.inf), -745.2, -1e308, -np.inf])
    values = exp(x)
    assert values[:2].tolist() == [1.0, 1.0]
    assert values[2] == pytest.approx(math.exp(-708), rel=4 * ULP)
    assert values[3:].tolist() == [0.0] * 4


def test_exp_never_increases_to_the_left_of_zero_by_more_than_its_error():
    x = -np.sort(np.random.default_rng(6).uniform(0, 40, 20_000))
    values = exp(x)
    assert (values[1:] <= values[:-1] * (1 + 4 * ULP)).all()
    assert values.max() <= 1.0


LOG_ARGUMENTS = {
    "smallest normal": spread(1, 2.2250738585072014e-308, 1e-300),
    "small": spread(2, 1e-300, 0.5),
    "about one": 1.0 + np.random.default_rng(3).uniform(-0.5, 1.0, 3000),
    "next to one": 1.0 + np.random.default_rng(4).uniform(-1e-8, 1e-8, 3000),
    "at the seam": math.sqrt(0.5) * (1.0 + np.random.default_rng(5).uniform(-1e-14, 1e-14, 300)),
    "large": spread(6, 2.0, 1e308),
    "largest": spread(7, 1e308, 1.797e308),
}


@pytest.mark.parametrize("part", LOG_ARGUMENTS)
def test_log_is_within_four_half_units(part):
    x = LOG_ARGUMENTS[part]
    x = x[x != 1.0]
    assert relative_error(log(x), mp.log, x) <= 4.0


def test_log_at_its_edges():
    assert log(np.array([1.0]))[0] == 0.0
    top = np.finfo(np.float64).max
    assert log(np.array([top]))[0] == pytest.approx(math.log(top), rel=4 * ULP)


LOG1P_ARGUMENTS = {
    "below the last place of one": spread(1, 1e-300, 1e-17),
    "at the last place of one": spread(2, 1e-17, 1e-14),
    "small": spread(3, 1e-14, 0.1),
    "about one": np.random.default_rng(4).uniform(0, 4, 3000),
    "at the seam": np.random.default_rng(5).uniform(-1e-14, 1e-14, 300) + (math.sqrt(2) - 1),
    "large": spread(6, 4.0, 1e20),
    "huge": spread(7, 1e20, 1e308),
    "largest": spread(8, 1e308, 1.797e308),
}


@pytest.mark.parametrize("part", LOG1P_ARGUMENTS)
def test_log1p_is_within_four_half_units(part):
    x = LOG1P_ARGUMENTS[part]
    assert relative_error(log1p(x), mp.log1p, x) <= 4.0


def test_log1p_at_its_edges():
    """Exact at zero, within the smallest number at subnormal ones; an infinite squared distance
    stays infinite.
    """
    values = log1p(np.array([0.0, 5e-324, 1e-310, np.inf]))
    assert values[0] == 0.0
    assert abs(values[1]) <= 5e-324
    assert abs(values[2] - 1e-310) <= 5e-324
    assert values[3] == np.inf


def powers(function):
    @numba.njit
    def loop(x, a):
        out = np.empty_like(x)
        for i in range(len(x)):
            out[i] = function(x[i], a)
        return out

    return loop


power, small_power = (
    powers(elementary.power_of_one_plus),
    powers(elementary.small_power_of_one_plus),
)
POWER_ARGUMENTS = {
    part: LOG1P_ARGUMENTS[part]
    for part in ("at the last place of one", "small", "about one", "at the seam")
}
POWER_ARGUMENTS["large"] = spread(9, 4.0, 1e20)


@pytest.mark.parametrize("a", [-0.3, -1.3, -3.3, -7.9, -20.3, -700.1])
@pytest.mark.parametrize("part", POWER_ARGUMENTS)
def test_powers_are_within_four_and_twice_the_exponent_in_half_units(part, a):
    """However far, as long as the values are normal; and the precise ones, near one, to a few half
    units of the logarithm.
    """
    x = POWER_ARGUMENTS[part]
    x = x[a * np.log1p(x) > -700.0][:1000]
    high, low = exact(lambda v: mp.power(1 + v, mp.mpf(a)), x)
    precise, small = (np.abs((f(x, a) - high) - low) / high / ULP for f in (power, small_power))
    assert small.max(initial=0.0) <= 4.0 - 2.0 * a
    assert precise.max(initial=0.0) <= 4.0 - 2.0 * a
    assert (precise <= 5.0 * np.maximum(1.0, np.abs(np.log(high)))).all()


@pytest.mark.parametrize("function", [power, small_power])
def test_powers_at_their_edges(function):
    """One at zero, zero below 2⁻¹⁰²¹ and at infinity, and never a subnormal number."""
    values = function(np.array([0.0, 5e-324, 2.0**510, 2.0**512, 1e308, np.inf]), -2.0)
    assert values.tolist() == [1.0, 1.0, 2.0**-1020, 0.0, 0.0, 0.0]


COS_SIN_ARGUMENTS = {
    "tiny": np.concatenate([spread(1, 1e-300, 1e-8, 300), -spread(2, 1e-300, 1e-8, 300)]),
    "one turn": np.random.default_rng(3).uniform(-7, 7, 3000),
    "many turns": np.random.default_rng(4).uniform(-1e4, 1e4, 3000),
    "up to 2^20": np.random.default_rng(5).uniform(-(2.0**20), 2.0**20, 3000),
    "next to multiples of a right angle": np.arange(1, 600_000, 307) * (math.pi / 2),
    "halfway between": (np.arange(1, 3000) + 0.5) * (math.pi / 2),
}


@pytest.mark.parametrize("part", COS_SIN_ARGUMENTS)
def test_cos_and_sin_are_within_four_half_units(part):
    """Relative to the value itself, zeros included: next to nπ/2 nothing cancels."""
    x = COS_SIN_ARGUMENTS[part]
    values = cos_sin(x)
    assert relative_error(values[0], mp.cos, x) <= 4.0
    assert relative_error(values[1], mp.sin, x) <= 4.0


def test_cos_and_sin_at_zero():
    assert cos_sin(np.array([0.0])).tolist() == [[1.0], [0.0]]


def test_cos_and_sin_stay_bounded_for_any_phase():
    """Heavy-tailed frequencies on far data give phases without any digit left; their cosine is
    still at most one.
    """
    x = np.concatenate([spread(1, 2.0**20, 1e300), -spread(2, 2.0**20, 1e300)])
    values = cos_sin(x)
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= 1.0 + 4 * ULP
    with np.errstate(all="ignore"):
        assert np.abs((values**2).sum(axis=0) - 1.0).max() <= 8 * ULP

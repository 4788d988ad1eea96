"""Normal distributions that end at bounds: against closed forms in fifty digits."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from kernelmean.domains import truncated
from kernelmean.domains.truncated import TruncatedNormals

INF = np.inf
INTERVALS = {
    "near zero": (-1.0, 1.0),
    "beside zero": (-0.3, 4.0),
    "half": (0.0, INF),
    "half from above": (-INF, 0.0),
    "with its peak and no end": (-2.0, INF),
    "with no start": (-INF, 1.5),
    "whole": (-INF, INF),
    "wider than there is mass": (-20.0, 40.0),
    "huge": (-1e4, 1e4),
    "huge with a tail": (12.0, 1e4),
    "the widest component on its interval": (-5e-5, 5e-5),
    "the widest beside the middle": (11.0, 11.0001),
    "as steep as components are": (12.0, INF),
    "tail": (30.0, INF),
    "lower tail": (-INF, -30.0),
    "far tail": (300.0, INF),
    "farthest tail": (1e4, INF),
    "part of a tail": (40.0, 50.0),
    "part of the lower tail": (-50.0, -40.0),
    "across the reach": (8.9, 9.5),
    "up to the reach": (-9.0, 9.0),
    "tiny": (0.0, 1e-9),
    "tiny elsewhere": (1.0, 1.0 + 1e-9),
    "tiny in a tail": (-9.0 - 1e-6, -9.0),
    "small": (-1e-4, 1e-4),
}
# Beyond 38 standard deviations Φ is none; and what is whole has no end.
NONE = ("far tail", "farthest tail", "part of a tail", "part of the lower tail", "whole")
ENDED = [name for name in INTERVALS if name not in NONE]


def mass(a, b):
    """Φ(b) − Φ(a), by the smaller tails."""
    if a > 0.0:
        a, b = -b, -a
    a, b = mpmath.mpf(a), mpmath.mpf(b)
    return (mpmath.erfc(-b / mpmath.sqrt(2)) - mpmath.erfc(-a / mpmath.sqrt(2))) / 2


def exact(a, b):
    """log p, E z, E z² and the variance; with φ at the ends."""
    with mpmath.workdps(50):
        p = mass(a, b)
        at = [mpmath.npdf(end) / p for end in (a, b)]
        ends = [0 if np.isinf(end) else mpmath.mpf(end) for end in (a, b)]
        first = at[0] - at[1]
        second = 1 + ends[0] * at[0] - ends[1] * at[1]
        return [float(value) for value in (mpmath.log(p), first, second, second - first**2)]


def assert_exact(a, b):
    found = TruncatedNormals.of(a, b)
    log_mass, first, second, variance = np.array(
        [exact(*ends) for ends in zip(a, b, strict=True)]
    ).T
    np.testing.assert_allclose(found.log_mass, log_mass, rtol=1e-14, atol=2e-14)
    np.testing.assert_allclose(found.first, first, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found.second, second, rtol=1e-13)
    s = np.sqrt(variance)
    np.testing.assert_array_less(np.abs(found.first - first), 1e-13 * s + 1e-15 * np.abs(first))
    in_steps = np.abs(first) / s  # as many as the last digit of a place is of the deviation
    np.testing.assert_array_less(np.abs(found.variance / variance - 1), 1e-13 + 1e-15 * in_steps)


def test_mass_and_moments_are_exact():
    assert_exact(*np.array(list(INTERVALS.values())).T)


def test_mass_and_moments_of_random_intervals_are_exact():
    rng = np.random.default_rng(0)
    a = rng.normal(0.0, 1.0, 300) * 10.0 ** rng.uniform(-2.0, 1.7, 300)
    b = a + 10.0 ** rng.uniform(-4.0, 2.0, 300)
    assert_exact(a, b)


def test_shares_sum_to_one_within_the_interval():
    a, b = np.array(list(INTERVALS.values())).T
    found = TruncatedNormals.of(a, b)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0, rtol=1e-14)
    assert (found.shares >= 0.0).all()
    assert ((found.z >= a[:, None]) & (found.z <= b[:, None])).all()


def test_the_logarithm_of_the_mass_is_found_alone():
    a, b = np.array(list(INTERVALS.values())).T
    expected = [exact(*ends)[0] for ends in INTERVALS.values()]
    np.testing.assert_allclose(truncated.log_mass(a, b), expected, rtol=1e-14, atol=2e-14)


def test_what_is_left_out_is_less_than_e_to_the_minus_forty_of_the_peak():
    a, b = np.array(list(INTERVALS.values())).T
    low, high = truncated.with_mass(a, b)
    assert ((a <= low) & (low < high) & (high <= b)).all()
    peak = np.clip(0.0, a, b)
    for end, of_part in ((a, low), (b, high)):
        nats = 0.5 * (of_part**2 - peak**2)
        whole = of_part == end
        assert whole.any()
        np.testing.assert_allclose(nats[~whole], 40.5, rtol=1e-7)
        assert (nats[whole] <= 40.5).all()


def test_the_rule_is_found_once_and_cannot_be_written_to():
    t, w = truncated.rule()
    assert truncated.rule()[0] is t
    assert w.sum() == pytest.approx(2.0, rel=1e-14)
    for part in (t, w):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0.0


@pytest.mark.parametrize("name", ["tail", "lower tail", "across the reach", "huge", "beside zero"])
def test_what_is_between_two_places_keeps_its_digits_in_either_tail(name):
    a, b = INTERVALS[name]
    places = np.linspace(max(a, -31.0), min(b, 31.0), 9)
    found = truncated.between(places[:-1], places[1:])
    with mpmath.workdps(50):
        expected = [float(mass(*ends)) for ends in itertools.pairwise(places)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nothing_is_between_places_that_cross():
    low, high = np.array([1.0, -2.0, INF, 0.5]), np.array([0.0, -3.0, 3.0, 0.5])
    np.testing.assert_array_equal(truncated.between(low, high), 0.0)


def lost(a, b):
    """The last digits of Φ at the nearer end, which differences lose, as a share of the mass."""
    low, high = (-b, -a) if a + b > 0.0 else (a, b)
    with mpmath.workdps(50):
        return 4e-16 * (1.0 + high**2) * float(mass(-INF, high) / mass(low, high))


def shares_below(a, b, places):
    """Of each place."""
    with mpmath.workdps(50):
        return np.array([float(mass(a, place) / mass(a, b)) for place in places])


@pytest.mark.parametrize("name", ENDED)
def test_shares_between_places_are_parts_of_the_whole(name):
    a, b = INTERVALS[name]
    one = np.array([a]), np.array([b])
    low, high = (float(end[0]) for end in truncated.with_mass(*one))
    places = np.concatenate([[a], np.linspace(low, high, 7)[1:-1], [b]])
    found = truncated.share_between(places[:-1], places[1:], truncated.log_mass(*one))
    expected = np.diff(shares_below(a, b, places))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=lost(a, b))


def test_no_share_is_above_one():
    rng = np.random.default_rng(0)
    a = rng.normal(0.0, 4.0, 2000)
    b = a + rng.exponential(3.0, 2000)
    shares = truncated.share_between(a, b, truncated.log_mass(a, b))
    assert (shares <= 1.0).all()
    np.testing.assert_allclose(shares, 1.0, rtol=1e-11)


@pytest.mark.parametrize("name", ENDED)
def test_below_what_is_drawn_lies_the_share_that_was_asked_for(name):
    a, b = INTERVALS[name]
    u = np.array([0.0, 1e-12, 1e-3, 0.25, 0.5, 0.75, 0.999, 1.0])
    places = truncated.drawn(np.full(len(u), a), np.full(len(u), b), u)
    assert ((places >= a) & (places <= b)).all()
    assert (np.diff(places) >= 0.0).all()
    np.testing.assert_allclose(shares_below(a, b, places), u, rtol=0, atol=lost(a, b))
    np.testing.assert_allclose(places[[0, -1]], [a, b], rtol=1e-13, atol=1e-16)


def test_draws_from_many_distributions_are_each_its_own():
    names = ["tail", "lower tail", "small", "half", "half from above", "beside zero"]
    a, b = np.array([INTERVALS[name] for name in names]).T
    u = np.linspace(0.1, 0.9, len(names))
    alone = [truncated.drawn(*(x[None] for x in row))[0] for row in zip(a, b, u, strict=True)]
    np.testing.assert_array_equal(truncated.drawn(a, b, u), alone)

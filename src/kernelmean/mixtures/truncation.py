"""The likeliest normal distribution that ends at bounds, by the mean and the variance of its rows.

It has the mean and the variance that the rows have, where there is one that does. Rows of a
half-line that vary as much as those of an exponential, or more, have an all but exponential one in
its place, and rows of an interval that pile up at both ends an even one.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from kernelmean._types import Matrix, Vector
from kernelmean.domains.truncated import rule

MEETS = 8.0  # standard deviations of the rows: a bound beyond is none
# Deviations from the mean to a bound beyond it: an exponential to a percent down to e^{−5}.
STEEPEST = 12.0
# The peak of a component is so much higher than its density in D, e^{α²/2} for each coordinate; all
# together they stay within float64.
MOST_NATS = 600.0
WIDEST = 1e4  # standard deviations in widths of an interval: even to 10⁻⁹
NEWTON_STEPS = 40
HALVINGS = 30


class Ends(NamedTuple):
    """Where rows end."""

    lower: float  # −∞ where they do not
    upper: float
    steepest: float  # standard deviations of a component to a bound beyond its mean, at most
    least: float  # as near to a bound as the mean of rows comes, which may be tied there


def steepest(coordinates: int) -> float:
    """α of a component that ends at bounds in so many coordinates."""
    return min(STEEPEST, float(np.sqrt(2.0 * MOST_NATS / max(coordinates, 1))))


def fitted(mean: Vector, variance: Vector, ends: Ends) -> tuple[Vector, Vector]:
    """(c, v) of the likeliest N(c, v) between the ends, for rows with these moments there."""
    inset = min(ends.least, 0.5 * (ends.upper - ends.lower))
    mean = np.clip(mean, ends.lower + inset, ends.upper - inset)
    c = np.array(mean)
    v = np.array(variance)
    s = np.sqrt(variance)
    low = (ends.lower - mean) / s > -MEETS
    high = (ends.upper - mean) / s < MEETS
    for some, end, sign in ((low & ~high, ends.lower, 1.0), (high & ~low, ends.upper, -1.0)):
        height = sign * (mean[some] - end)
        alpha, deviation = _half_line(height, variance[some], ends.steepest)
        c[some] = end - sign * alpha * deviation
        v[some] = deviation**2
    both = low & high
    if both.any():
        A = ((ends.lower - mean) / s)[both]
        B = ((ends.upper - mean) / s)[both]
        place, wide = _no_steeper(*_interval(A, B), A, B, ends.steepest)
        c[both] = mean[both] + s[both] * place
        v[both] = variance[both] * wide
    return c, v


@cache
def _table() -> tuple[Vector, Vector, Vector]:
    """α, and the variance over the squared mean and the mean over σ of N(−ασ, σ²) on y > 0."""
    from scipy.special import erfcx

    alpha = np.linspace(-10.0, STEEPEST, 8000)
    hazard = np.sqrt(2.0 / np.pi) / erfcx(alpha / np.sqrt(2.0))  # φ(α)/(1 − Φ(α))
    mean = hazard - alpha
    return alpha, (1.0 - hazard * mean) / mean**2, mean


def _half_line(mean: Vector, variance: Vector, steepest: float) -> tuple[Vector, Vector]:
    """(α, σ) of the likeliest N(−ασ, σ²) on y > 0."""
    alpha, ratio, height = _table()
    found = np.minimum(np.interp(variance / mean**2, ratio, alpha), steepest)
    return found, mean / np.interp(found, alpha, height)


def _no_steeper(
    c: Vector, v: Vector, A: Vector, B: Vector, steepest: float
) -> tuple[Vector, Vector]:
    """The same, or those of the same slope at the end whose peak is not so high beyond it."""
    s = np.sqrt(v)
    for end, sign in ((A, 1.0), (B, -1.0)):
        beyond = sign * (end - c) / s
        steep = beyond > steepest
        s = np.where(steep, s * steepest / np.where(steep, beyond, 1.0), s)
        c = np.where(steep, end - sign * steepest * s, c)
    return c, s**2


def _interval(A: Vector, B: Vector) -> tuple[Vector, Vector]:
    """(c, v) for rows of mean 0 and variance 1 on [A, B], by Newton in c/v and −1/(2v).

    The logarithm of the likelihood is concave in these.
    """
    t, w = rule()
    z = 0.5 * ((A + B)[:, None] + (B - A)[:, None] * t)
    most = -0.5 / (WIDEST * (B - A)) ** 2
    linear = np.zeros(len(A))
    square = np.full(len(A), -0.5)
    value, moments = _log_likelihood(linear, square, z, w)
    for _ in range(NEWTON_STEPS):
        step1, step2, gain = _newton(moments, most - square)
        if (gain < 1e-12).all():
            break
        step = np.ones(len(A))
        for _ in range(HALVINGS):
            tried = linear + step * step1, square + step * step2
            new, new_moments = _log_likelihood(*tried, z, w)
            worse = new < value + 1e-4 * step * gain - 1e-13
            if not worse.any():
                break
            step[worse] *= 0.5
        linear, square = tried
        value = new
        moments = new_moments
    v = -0.5 / square
    return linear * v, v


def _newton(moments: list[Vector], room: Vector) -> tuple[Vector, Vector, Vector]:
    """Steps in c/v and −1/(2v), the latter no larger than ``room``, and what they gain at first."""
    first, second, third, fourth = moments
    g1 = -first
    g2 = 1.0 - second
    h11 = second - first**2
    h12 = third - first * second
    h22 = fourth - second**2
    determinant = np.maximum(h11 * h22 - h12**2, 1e-12 * h11 * h22)
    step2 = np.minimum((h11 * g2 - h12 * g1) / determinant, room)
    step1 = (g1 - h12 * step2) / h11
    return step1, step2, g1 * step1 + g2 * step2


def _log_likelihood(
    linear: Vector, square: Vector, z: Matrix, w: Vector
) -> tuple[Vector, list[Vector]]:
    """(k,) the mean of log p for rows of mean 0 and variance 1, and E z, …, E z⁴ under p."""
    exponent = linear[:, None] * z + square[:, None] * z**2
    top = exponent.max(axis=1)
    p = np.exp(exponent - top[:, None]) * w
    total = p.sum(axis=1)
    p /= total[:, None]
    moments = []
    power = p
    for _ in range(4):
        power = power * z
        moments.append(power.sum(axis=1))
    return square - np.log(total) - top, moments

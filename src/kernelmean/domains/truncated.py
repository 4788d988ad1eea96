"""Normal distributions that end at bounds: N(c, s²) within [l, u], and nothing beyond.

With a = (l − c)/s and b = (u − c)/s it is that of z = (x − c)/s on [a, b], of density

    φ(z)/p,  p = Φ(b) − Φ(a).

All of it comes from one Gauss–Legendre rule over the part of [a, b] that has mass, so that
distributions that lie far beyond a bound, or are all but even, keep their digits.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from kernelmean._types import Matrix, Vector

NODES = 64  # over at most 18 standard deviations: the integrals are exact to 1e-13
REACH = 9.0  # standard deviations beyond which nothing is left: e^{−40} of the peak


class TruncatedNormals(NamedTuple):
    """k standard normal distributions on intervals, by nodes and their probabilities."""

    z: Matrix  # (k, N)
    shares: Matrix  # (k, N) of sum one
    log_mass: Vector  # (k,) log p

    @classmethod
    def of(cls, a: Vector, b: Vector) -> TruncatedNormals:
        """Those on [a, b], a < b."""
        t, w = rule()
        low, high = with_mass(a, b)
        half = 0.5 * (high - low)
        z = 0.5 * (high + low)[:, None] + half[:, None] * t
        peak = 0.5 * np.square(np.clip(0.0, low, high))
        heights = np.exp(peak[:, None] - 0.5 * z**2) * w
        total = heights.sum(axis=1)
        log_mass = np.log(half * total) - peak - 0.5 * np.log(2.0 * np.pi)
        return cls(z, heights / total[:, None], log_mass)

    @property
    def first(self) -> Vector:
        """(k,) E z."""
        found: Vector = (self.shares * self.z).sum(axis=1)
        return found

    @property
    def second(self) -> Vector:
        """(k,) E z²."""
        found: Vector = (self.shares * self.z**2).sum(axis=1)
        return found

    @property
    def variance(self) -> Vector:
        """(k,) E (z − E z)²."""
        found: Vector = (self.shares * (self.z - self.first[:, None]) ** 2).sum(axis=1)
        return found


@cache
def rule() -> tuple[Vector, Vector]:
    """Nodes and weights of Gauss and Legendre on [−1, 1], which take a while to find."""
    t, w = np.polynomial.legendre.leggauss(NODES)
    for part in (t, w):
        part.flags.writeable = False
    return t, w


def with_mass(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """The part of [a, b] where φ is more than e^{−40} of its peak there."""
    low = np.where(b < 0.0, np.maximum(a, -np.hypot(b, REACH)), np.maximum(a, -REACH))
    high = np.where(a > 0.0, np.minimum(b, np.hypot(a, REACH)), np.minimum(b, REACH))
    return low, high


def log_mass(a: Vector, b: Vector) -> Vector:
    """log(Φ(b) − Φ(a)) for a < b."""
    return TruncatedNormals.of(a, b).log_mass


def between(low: Matrix, high: Matrix) -> Matrix:
    """Φ(high) − Φ(low), by the smaller tails, which keep their digits."""
    from scipy.special import ndtr  # slow to import, and no part of the command line

    flip = low > 0.0
    a = np.where(flip, -high, low)
    b = np.where(flip, -low, high)
    found: Matrix = np.maximum(ndtr(b) - ndtr(a), 0.0)
    return found


def share_between(low: Matrix, high: Matrix, log_mass: Vector | Matrix) -> Matrix:
    """The share of a mass e^log_mass that is between two places."""
    return np.asarray(np.minimum(between(low, high) * np.exp(-log_mass), 1.0))


def drawn(a: Vector, b: Vector, u: Vector) -> Vector:
    """The place in [a, b] below which the share u of the mass lies."""
    from scipy.special import ndtr, ndtri

    flip = a + b > 0.0  # by the lower tail, which has digits where the upper one has none
    low = np.where(flip, -b, a)
    high = np.where(flip, -a, b)
    start = ndtr(low)
    share = np.where(flip, 1.0 - u, u)
    place = ndtri(start + share * (ndtr(high) - start))
    found: Vector = np.clip(np.where(flip, -place, place), a, b)
    return found

"""One column of a mixture: its distribution function and its quantiles.

A quantile needs the inverse of F(x) = Σ_a α_a Φ((x − c_a)/s_a). With many levels, F, its derivative
and its second derivative are tabulated once at nodes that are dense beside the width of every
component there; between two nodes F is a polynomial of degree five, which few steps of Newton
invert, however many components there are. In the tails, where F itself is tiny, Newton's steps sum
over the components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from kernelmean._types import Vector

REACH = 9.0  # standard deviations on either side of a component where its nodes lie: Φ(−9) = 1e-19
NODES = 32  # per standard deviation: the error of F between nodes is then below 1e-13
TAIL = 1e-5  # levels closer to 0 or 1 are solved in the logarithm of F
NOTHING = 40.0  # standard deviations below a component where Φ is 0 in float64
STEPS = 60  # of Newton or bisection, at most
BLOCK = 2**21  # values in memory at once
MOST_PLACES = 2**12  # in a block: few enough for most components to be far from all of them
PIECE = 2**16  # levels inverted at once: what they need fits a cache


class Column(NamedTuple):
    """The mixture Σ_a α_a N(c_a, s_a²) of one column."""

    weights: Vector  # (k,)
    means: Vector  # (k,)
    deviations: Vector  # (k,)

    def cdf(self, x: Vector) -> Vector:
        """F(x) = Σ_a α_a Φ((x − c_a)/s_a) for (q,) places; time O(q·k)."""
        found = np.empty(len(x))
        order = np.argsort(x)
        for some in _blocks(len(x), len(self.weights)):
            places = x[order[some]]
            near, below = self._near(places, NOTHING, REACH)
            found[order[some]] = ndtr(near._standardised(places)) @ near.weights + below
        return np.clip(found, 0.0, 1.0)

    def quantile(self, p: Vector) -> Vector:
        """The x with F(x) = p for (q,) levels from 0 to 1, which have −∞ and ∞."""
        found = np.where(p <= 0.0, -np.inf, np.inf)
        low = (p > 0.0) & (p < TAIL)
        high = (p < 1.0) & (p > 1.0 - TAIL)
        found[low] = self._tail(p[low])
        found[high] = -self.mirrored()._tail(1.0 - p[high])
        middle = np.flatnonzero((p >= TAIL) & (p <= 1.0 - TAIL))
        if len(middle):
            table = self.table()
            for first in range(0, len(middle), PIECE):
                some = middle[first : first + PIECE]
                found[some] = table.inverse(p[some])
        return found

    def mirrored(self) -> Column:
        """The mixture of −x."""
        return self._replace(means=-self.means)

    def nodes(self, per_deviation: int, reach: float = REACH) -> Vector:
        """Increasing places, so many per deviation of every component that reaches there.

        Components of about the same width share one lattice, so that many of them on one another
        need no more nodes than one.
        """
        octaves = np.floor(np.log2(self.deviations)).astype(int)
        lattices = []
        origin = float(np.median(self.means))
        for octave in np.unique(octaves):
            step = 2.0**octave / per_deviation
            own = octaves == octave
            first = np.floor((self.means[own] - reach * self.deviations[own] - origin) / step)
            last = np.ceil((self.means[own] + reach * self.deviations[own] - origin) / step)
            lattices.append(origin + step * _covered(first, last))
        return np.unique(np.concatenate(lattices))

    def table(self) -> Table:
        """F, f and f′ at nodes that are dense for all components."""
        x = self.nodes(NODES)
        F, f, slope = self.derivatives(x)
        return Table(x, np.maximum.accumulate(F), f, slope)

    def derivatives(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """F, f and f′ at (q,) places in increasing order."""
        values = [self._derivatives(x[some]) for some in _blocks(len(x), len(self.weights))]
        F, f, slope = (np.concatenate(part) for part in zip(*values, strict=True))
        return F, f, slope

    def _standardised(self, x: Vector) -> Vector:
        standardised: Vector = (x[:, None] - self.means) / self.deviations
        return standardised

    def _derivatives(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """F, f and f′ = −Σ_a α_a z_a φ(z_a)/s_a² at (q,) places in increasing order."""
        near, below = self._near(x, REACH, REACH)
        z = near._standardised(x)
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        rates = near.weights / near.deviations
        slope = -(z * density) @ (rates / near.deviations)
        return ndtr(z) @ near.weights + below, density @ rates, slope

    def _near(self, x: Vector, before: float, behind: float) -> tuple[Column, float]:
        """The components within so many deviations of increasing places; the weight below them."""
        passed = self.means + behind * self.deviations < x[0]
        ahead = self.means - before * self.deviations > x[-1]
        near = ~(passed | ahead)
        part = Column(self.weights[near], self.means[near], self.deviations[near])
        return part, float(self.weights[passed].sum())

    def _tail(self, p: Vector) -> Vector:
        """The x with log F(x) = log p, by Newton within a bracket that halves where it must."""
        found = np.empty(len(p))
        for some in _blocks(len(p), len(self.weights)):
            found[some] = self._tail_block(np.log(p[some]))
        return found

    def _tail_block(self, target: Vector) -> Vector:
        low = np.full(len(target), float((self.means - 40.0 * self.deviations).min()))
        high = np.full(len(target), float((self.means + 40.0 * self.deviations).max()))
        x: Vector = 0.5 * (low + high)
        for _ in range(2 * STEPS):
            log_F, log_f = self._logarithms(x)
            low = np.where(log_F < target, x, low)
            high = np.where(log_F < target, high, x)
            with np.errstate(over="ignore", invalid="ignore"):
                # d log F/dx = f/F
                stepped = x - (log_F - target) * np.exp(log_F - log_f)
            inside = (stepped > low) & (stepped < high)
            new = np.where(inside, stepped, 0.5 * (low + high))
            settled = np.abs(new - x) <= 4e-16 * np.maximum(np.abs(x), np.abs(high - low))
            x = new
            if settled.all():
                break
        return x

    def _logarithms(self, x: Vector) -> tuple[Vector, Vector]:
        """log F and log f."""
        z = self._standardised(x)
        log_f = -0.5 * z**2 - np.log(np.sqrt(2.0 * np.pi) * self.deviations)
        return (
            logsumexp(log_ndtr(z), axis=1, b=self.weights),
            logsumexp(log_f, axis=1, b=self.weights),
        )


class Table(NamedTuple):
    """A distribution function at nodes, and between them by a polynomial of degree five."""

    x: Vector  # (m,) nodes
    F: Vector  # (m,)
    f: Vector  # (m,) F′
    slope: Vector  # (m,) F″

    def inverse(self, p: Vector) -> Vector:
        """The x with F(x) = p, by Newton on the polynomial, within its cell."""
        cell = np.clip(np.searchsorted(self.F, p) - 1, 0, len(self.x) - 2)
        width = self.x[cell + 1] - self.x[cell]
        coefficients = self._coefficients(cell, width)
        low = np.zeros(len(p))
        high = np.ones(len(p))
        rise = self.F[cell + 1] - self.F[cell]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(rise > 0.0, (p - self.F[cell]) / rise, 0.5)
        for _ in range(STEPS):
            value, rate = _horner(coefficients, t)
            low = np.where(value < p, t, low)
            high = np.where(value < p, high, t)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = t - (value - p) / rate
            new = np.where((new >= low) & (new <= high), new, 0.5 * (low + high))
            done = bool((np.abs(new - t) <= 1e-15).all())
            t = new
            if done:
                break
        places: Vector = self.x[cell] + t * width
        return places

    def _coefficients(self, cell: np.ndarray, width: Vector) -> list[Vector]:
        """Of 1, t, …, t⁵ in each cell: the polynomial with F, F′ and F″ at both of its ends."""
        a0 = self.F[cell]
        b0 = self.F[cell + 1]
        a1 = self.f[cell] * width
        b1 = self.f[cell + 1] * width
        a2 = 0.5 * self.slope[cell] * width**2
        b2 = 0.5 * self.slope[cell + 1] * width**2
        rise = b0 - a0
        return [
            a0,
            a1,
            a2,
            10.0 * rise - 6.0 * a1 - 4.0 * b1 - 3.0 * a2 + b2,
            -15.0 * rise + 8.0 * a1 + 7.0 * b1 + 3.0 * a2 - 2.0 * b2,
            6.0 * rise - 3.0 * (a1 + b1) - a2 + b2,
        ]


def _horner(coefficients: list[Vector], t: Vector) -> tuple[Vector, Vector]:
    """The polynomial and its derivative at t."""
    value = coefficients[-1]
    rate = np.zeros(len(t))
    for c in coefficients[-2::-1]:
        rate = rate * t + value
        value = value * t + c
    return value, rate


def _covered(first: Vector, last: Vector) -> Vector:
    """The whole numbers that lie in any of the ranges from ``first`` to ``last``."""
    order = np.argsort(first)
    first = first[order]
    last = np.maximum.accumulate(last[order])
    begins = np.flatnonzero(np.concatenate([[True], first[1:] > last[:-1]]))
    ends = np.concatenate([begins[1:] - 1, [len(first) - 1]])
    pieces = [np.arange(first[b], last[e] + 1.0) for b, e in zip(begins, ends, strict=True)]
    return np.concatenate(pieces)


def _blocks(count: int, k: int) -> list[slice]:
    """Slices of places whose values for all components fit memory."""
    size = max(min(BLOCK // k, MOST_PLACES), 1)
    return [slice(first, first + size) for first in range(0, count, size)]

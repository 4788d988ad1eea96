"""Questions about the values of a density under itself: its entropy and its level sets.

In one dimension both are integrals over nodes that are dense for every component. In more, points
are drawn from the density.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import brentq

from kernelmean._types import Points, Vector
from kernelmean.mean import sampling
from kernelmean.mean.questions.column import Column
from kernelmean.mean.questions.mixture import Mixture
from kernelmean.mean.questions.values import Estimate, HighestDensityRegion

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean

DRAWS = 2**17  # points drawn where there is no closed form
NODES_PER_DEVIATION = 2  # cells of the quadrature in one dimension
GAUSS_POINTS = 12  # in each of them
REACH = 14.0  # standard deviations on either side: beyond, f log f has no mass
CROSSING_NODES = 16  # per deviation, where the density is looked at for crossings of a level
BISECTIONS = 50  # of the cell in which it crosses
THIRDS = 45  # taken off the two cells around a peak, which is then known to half of all digits


class HasLog(Protocol):
    """A density of one column."""

    @property
    def dimension(self) -> int:
        """Number of columns."""

    def log(self, Q: Any) -> Vector:
        """Its logarithm."""


class Distribution(Protocol):
    """The distribution of one column."""

    def cdf(self, x: Vector) -> Vector:
        """P(column ≤ x)."""


class Seen(NamedTuple):
    """A log-density at increasing places."""

    x: Vector  # (m,)
    logs: Vector  # (m,)


def column_of(mixture: Mixture, column: int) -> Column:
    """One column of a mixture."""
    deviations = mixture.deviations(np.array([column]))[:, 0]
    return Column(mixture.weights, mixture.means[:, column], deviations)


def entropy(mean: KernelMean, rng: np.random.Generator) -> Estimate:
    """−∫ f log f: by quadrature in one dimension, else by points drawn from f."""
    if mean.dimension == 1 and mean.kernel.traits.spreads:
        column = column_of(Mixture.of(mean, "entropy"), 0)
        x, w = quadrature(column.nodes(NODES_PER_DEVIATION, REACH))
        logs = mean.log(x[:, None])
        return Estimate(-float(w @ (np.exp(logs) * logs)))
    X = sampling.draw(mean, DRAWS, rng)
    terms = -mean.log(X)
    if mean.kernel.traits.spreads:
        terms = _controlled(terms, X, Mixture.of(mean, "entropy"))
    return Estimate(float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(DRAWS))


def region(mean: KernelMean, level: float, rng: np.random.Generator) -> HighestDensityRegion:
    """The threshold t with P(f(X) ≥ t) = level, X from f."""
    if mean.dimension == 1 and mean.kernel.traits.spreads:
        column = column_of(Mixture.of(mean, "hdr"), 0)
        return line_region(mean, column, column.nodes(CROSSING_NODES), level)
    logs = mean.log(sampling.draw(mean, DRAWS, rng))
    error = math.sqrt(level * (1.0 - level) / DRAWS)
    return HighestDensityRegion(level, float(np.quantile(logs, 1.0 - level)), error, mean)


def _controlled(terms: Vector, X: Points, mixture: Mixture) -> Vector:
    """The same expectation with less variance: ½(x − μ)ᵀΣ⁻¹(x − μ) has the expectation d/2."""
    L = np.linalg.cholesky(mixture.covariance())
    z = np.linalg.solve(L, (X - mixture.expectation()).T)
    control = 0.5 * (z**2).sum(axis=0) - 0.5 * len(L)
    slope = float(np.cov(terms, control)[0, 1] / control.var(ddof=1))
    reduced: Vector = terms - slope * control
    return reduced


def line_region(
    mean: HasLog, column: Distribution, nodes: Vector, level: float
) -> HighestDensityRegion:
    """The region of one column, by its log-density at nodes that are dense for all components."""
    seen = _with_peaks(mean, nodes)
    log_t = _threshold(mean, column, seen, level)
    return HighestDensityRegion(level, log_t, 0.0, mean, _crossings(mean, seen, log_t))


def quadrature(nodes: Vector) -> tuple[Vector, Vector]:
    """Places and weights of Gauss and Legendre on every cell between nodes."""
    t, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    half = 0.5 * np.diff(nodes)
    places = 0.5 * (nodes[1:] + nodes[:-1])[:, None] + half[:, None] * t
    return places.ravel(), (half[:, None] * w).ravel()


def _with_peaks(mean: HasLog, x: Vector) -> Seen:
    """The log-density at nodes and at the peaks between them, so that no small region is missed."""
    logs = mean.log(x[:, None])
    top = 1 + np.flatnonzero((logs[1:-1] >= logs[:-2]) & (logs[1:-1] >= logs[2:]))
    low = x[top - 1]
    high = x[top + 1]
    for _ in range(THIRDS if len(top) else 0):
        left = low + (high - low) / 3.0
        right = high - (high - low) / 3.0
        rising = mean.log(left[:, None]) < mean.log(right[:, None])
        low = np.where(rising, left, low)
        high = np.where(rising, high, right)
    places = np.unique(np.concatenate([x, 0.5 * (low + high)]))
    return Seen(places, mean.log(places[:, None]))


def _threshold(mean: HasLog, column: Distribution, seen: Seen, level: float) -> float:
    """log t such that the intervals where f ≥ t hold the level."""

    def excess(log_t: float) -> float:
        ends = _crossings(mean, seen, log_t)
        return float((column.cdf(ends[:, 1]) - column.cdf(ends[:, 0])).sum()) - level

    low = float(seen.logs.min())
    high = float(seen.logs.max())
    # Rounding hides how the mass changes at the very top, and beyond the nodes there is none.
    if excess(high) >= 0.0:
        return high
    if excess(low) <= 0.0:
        return low
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


def _crossings(mean: HasLog, seen: Seen, log_t: float) -> Points:
    """(m, 2): the intervals where log f ≥ log t, found between neighbouring nodes by bisection."""
    above = seen.logs >= log_t
    change = np.flatnonzero(above[1:] != above[:-1])
    rising = above[change + 1]
    low = seen.x[change]
    high = seen.x[change + 1]
    for _ in range(BISECTIONS if len(change) else 0):
        middle = 0.5 * (low + high)
        same = (mean.log(middle[:, None]) >= log_t) == rising
        low = np.where(same, low, middle)
        high = np.where(same, middle, high)
    # A region that reaches beyond the nodes ends with them.
    starts = np.concatenate([seen.x[:1][above[:1]], high[rising]])
    ends = np.concatenate([low[~rising], seen.x[-1:][above[-1:]]])
    return np.column_stack([starts, ends])

"""Whether a place holds as large a share of one sample as of the other: one test for each place.

Whole rows are counted, and the test is the hypergeometric one (Fisher's), two-sided by doubling the
smaller tail. Weights that are no counts stand for effective numbers of rows: a weight of a place
divided by Σw²/Σw of the rows there, which is Kish's count; the test is the binomial one, carried on
to real counts by the incomplete beta function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc, gammaln, ndtri, xlogy

from kernelmean._types import Points, Vector
from kernelmean.comparison.pooled_cells import Tree
from kernelmean.mean.loaded import LoadedSample

LARGEST_PLACE = 0.1  # of all rows, beyond which unions of cells are no places any more
WINDOW = 12.0  # standard deviations either side of the mean beyond which no count is looked up
TIE = 1e-9  # p-values this close, relatively, are one


@dataclass(frozen=True, eq=False)
class Side:
    """What one sample has in each place."""

    shares: Vector  # of its rows, by weight
    counts: Vector  # effective rows: rows, where they are counted
    totals: Vector  # effective rows of the whole sample, at the exchange rate of the place


@dataclass(frozen=True, eq=False)
class LocalTests:
    """p-values of some places, and how many as small are expected where nothing differs."""

    p_values: Vector  # of each place; 1 where it is not tested
    number: int  # of tests
    attainable: Vector  # p-values that the null hypothesis can give, ascending
    expected: Vector  # Σ over places of P(p ≤ attainable)

    def false_claims(self, threshold: Vector) -> Vector:
        """Σ_i P(p_i ≤ t), no more than t times the number of tests (Heyse 2011)."""
        steps = np.append(0.0, self.expected)
        below = np.searchsorted(self.attainable, threshold * (1.0 + TIE), side="right")
        return np.minimum(steps[below] if len(self.attainable) else np.inf, self.number * threshold)


def count(data: LoadedSample, centers: Points, tree: Tree) -> Side:
    """Shares and counts of the places by all rows of a sample."""
    summary = data.cloud.summary
    shares = tree.sums(data.cloud.nearest(centers).masses())
    if summary.counted:
        return Side(shares, np.rint(shares * summary.size), np.full(len(shares), summary.size))
    assert data.sample.weights is not None  # else the rows were counted
    # w/Σw, with Kish's size 1/Σw², and one row more of the typical weight Σw² in every place
    w = data.sample.weights / data.sample.weights.sum()
    squares = LoadedSample.of(
        replace(data.sample, weights=w**2), data.engine, data.scale, data.origin
    )
    typical = float((w**2).sum())
    summed = typical * tree.sums(squares.cloud.nearest(centers).masses())
    rate = (summed + typical**2) / (shares + typical)
    return Side(shares, shares / rate, 1.0 / rate)


def compare(first: Side, second: Side, tree: Tree, level: float, counted: bool) -> LocalTests:
    """Test every cell, and every larger place that holds few enough of the rows."""
    sizes = first.counts + second.counts
    tested = (np.arange(len(sizes)) < tree.cells) | (sizes <= LARGEST_PLACE * sizes[-1])
    tested &= sizes > 0.0
    p_values = np.ones(len(sizes))
    number = int(tested.sum()) if tree.cells > 1 else 0
    if number == 0:
        return LocalTests(p_values, 0, np.empty(0), np.empty(0))
    if not counted:
        p_values[tested] = _binomial(first, second)[tested]
        return LocalTests(p_values, number, np.empty(0), np.empty(0))
    attainable = []
    chances = []
    totals = (float(first.totals[0]), float(second.totals[0]))
    for size in np.unique(sizes[tested]):
        places = np.flatnonzero(tested & (sizes == size))
        lowest, chance, p = hypergeometric(size, *totals)
        at = np.clip(first.counts[places] - lowest, 0, len(p) - 1).astype(np.intp)
        p_values[places] = p[at]
        attainable.append(p[p <= level])
        chances.append(len(places) * chance[p <= level])
    values = np.concatenate(attainable)
    order = np.argsort(values, kind="stable")
    return LocalTests(p_values, number, values[order], np.cumsum(np.concatenate(chances)[order]))


def hypergeometric(size: float, first: float, second: float) -> tuple[float, Vector, Vector]:
    """Counts of A among ``size`` rows drawn from both samples: the lowest, their chances, and p.

    Only counts within :data:`WINDOW` standard deviations are listed.
    """
    total = first + second
    mean = size * first / total
    spread = np.sqrt(mean * second / total * (total - size) / max(total - 1.0, 1.0))
    reach = WINDOW * (spread + 1.0)
    lowest = max(0.0, size - second, np.floor(mean - reach))
    a = np.arange(lowest, min(first, size, np.ceil(mean + reach)) + 1.0)
    # (n_A choose a)(n_B choose m − a), up to a factor
    logs = -(
        gammaln(a + 1.0)
        + gammaln(first - a + 1.0)
        + gammaln(size - a + 1.0)
        + gammaln(second - size + a + 1.0)
    )
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    below = np.cumsum(chance)
    above = np.cumsum(chance[::-1])[::-1]
    return lowest, chance, np.minimum(1.0, 2.0 * np.minimum(below, above))


def log_likelihood_ratios(first: Side, second: Side) -> Vector:
    """How much likelier the counts of each place are at their own ratio than at that of all."""
    sizes = first.counts + second.counts
    present = np.maximum(sizes, np.finfo(np.float64).tiny)
    expected = first.totals / (first.totals + second.totals)
    # a log(a/mπ) + b log(b/m(1 − π)), m = a + b
    own: Vector = np.asarray(xlogy(first.counts, first.counts / present / expected))
    other: Vector = np.asarray(xlogy(second.counts, second.counts / present / (1.0 - expected)))
    return own + other


def difference_interval(
    shares: tuple[float, float], sizes: tuple[float, float], level: float
) -> tuple[float, float]:
    """Bounds of the share of B less that of A, at 1 − level (Newcombe 1998, by Wilson's bounds)."""
    z2 = float(ndtri(level / 2.0)) ** 2
    bounds = []
    for p, n in zip(shares, sizes, strict=True):
        # (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
        middle = p + z2 / (2.0 * n)
        reach = np.sqrt(z2 * (max(p * (1.0 - p), 0.0) / n + z2 / (4.0 * n * n)))
        bounds.append((p, (middle - reach) / (1.0 + z2 / n), (middle + reach) / (1.0 + z2 / n)))
    (a, a_low, a_high), (b, b_low, b_high) = bounds
    low = b - a - np.hypot(b - b_low, a_high - a)
    high = b - a + np.hypot(b_high - b, a - a_low)
    return float(low), float(high)


def _binomial(first: Side, second: Side) -> Vector:
    """2 min(P(a or fewer of m), P(a or more)), by I_x(a, b) for real counts a and b."""
    expected = first.totals / (first.totals + second.totals)
    a = first.counts
    b = second.counts
    above = np.where(a > 0.0, betainc(np.maximum(a, TIE), b + 1.0, expected), 1.0)
    below = np.where(b > 0.0, betainc(np.maximum(b, TIE), a + 1.0, 1.0 - expected), 1.0)
    return np.minimum(1.0, 2.0 * np.minimum(above, below))

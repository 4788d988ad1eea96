"""What explains a difference of two samples: histograms, shares of columns; and chance.

Shares of rows are of one sample each, shares of the difference of all columns and pairs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Vector
from kernelmean.pictures.difference import ranked_columns

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.value import Difference

MAX_MARGINALS = 6  # columns whose histograms are drawn
MAX_BARS = 10  # columns, and as many pairs, that are drawn as bars
MAX_NULL_BINS = 40  # of the histogram of the permutations
ROUNDING = 1e-9  # relative, within which widths of bins are equal


class MarginalHistogram(NamedTuple):
    """How the values of one column are spread in either sample."""

    column: str
    edges: Vector  # (m + 1,)
    shares: tuple[Vector, Vector]  # (m,) of the rows of each sample
    effect: Effect

    @property
    def heights(self) -> tuple[Vector, Vector]:
        """(m,) shares; those of wider bins at the ends per width of the others.

        Bins of other widths hold one value each, of which the share is all there is to tell.
        """
        widths = np.diff(self.edges)
        if not self._even:
            return self.shares
        lowered = np.minimum(widths[1] / widths, 1.0)
        return self.shares[0] * lowered, self.shares[1] * lowered

    @property
    def _even(self) -> bool:
        """Whether all bins but the two at the ends have one width."""
        inner = np.diff(self.edges)[1:-1]
        return len(inner) > 0 and bool(np.ptp(inner) <= ROUNDING * inner.max())

    def coarser(self, bins: int) -> MarginalHistogram:
        """With at least so many bins of equal width, but not many more; the ends take the rest."""
        inner = len(self.edges) - 3
        step = inner // bins
        if step < 2 or not self._even:
            return self
        first = 1 + inner % step // 2
        cuts = np.array([0, *range(first, inner + 2, step), inner + 2])
        a, b = (np.add.reduceat(shares, cuts[:-1]) for shares in self.shares)
        return self._replace(edges=self.edges[cuts], shares=(a, b))


class EffectBars(NamedTuple):
    """How much of a difference columns, or pairs beyond their two columns, explain."""

    what: str  # "column" or "pair"
    effects: tuple[Effect, ...]  # that are drawn, the largest first
    listed: tuple[Effect, ...]  # all that are known

    @property
    def labels(self) -> list[str]:
        """Names, both of a pair."""
        return [" × ".join(effect.columns) for effect in self.effects]

    @property
    def shares(self) -> Vector:
        """(m,) of the difference."""
        return np.array([effect.share for effect in self.effects])

    @property
    def reach(self) -> NDArray[np.float64]:
        """(2, m): how far the intervals go below and above the shares."""
        ends = np.array([(effect.low, effect.high) for effect in self.effects]).reshape(-1, 2).T
        below = np.maximum(self.shares - ends[0], 0.0)
        above = np.maximum(ends[1] - self.shares, 0.0)
        return np.stack([below, above])


class NullView(NamedTuple):
    """What the statistic of a test would be by chance, and what it is."""

    edges: Vector  # (m + 1,) bins of the permutations
    counts: Vector  # (m,) permutations in each
    statistic: float
    threshold: float  # that is exceeded by chance as often as the level says; may be infinite
    level: float
    p_value: float


def marginal_histograms(found: Difference) -> list[MarginalHistogram]:
    """Histograms of the columns that explain most, at most six."""
    known = found.histograms
    return [
        MarginalHistogram(
            found.column_names[j],
            np.asarray(known.edges[j]),
            (np.asarray(known.shares_a[j]), np.asarray(known.shares_b[j])),
            effect,
        )
        for j, effect in zip(ranked_columns(found), found.columns[:MAX_MARGINALS], strict=False)
    ]


def effect_bars(found: Difference) -> tuple[EffectBars, EffectBars]:
    """Columns, and pairs of columns, from the one that explains most on."""
    columns = EffectBars("column", tuple(found.columns[:MAX_BARS]), tuple(found.columns))
    return columns, EffectBars("pair", tuple(found.pairs[:MAX_BARS]), tuple(found.pairs))


def null_view(found: Difference) -> NullView:
    """The statistics of the permutations in bins, with the statistic and its threshold."""
    test = found.test
    null = np.asarray(test.null, dtype=np.float64)
    bins = int(np.clip(np.sqrt(len(null)), 5, MAX_NULL_BINS))
    counts, edges = np.histogram(null, bins)
    threshold = test.threshold(found.level)
    heights = counts.astype(np.float64)
    return NullView(edges, heights, test.statistic, threshold, found.level, test.p_value)

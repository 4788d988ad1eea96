"""Columns on a common scale: the normal scores of their ranks in the reference.

A value whose rank among the n rows of the reference is r (the mean rank where values repeat) has
the score Φ⁻¹(u), u = (r − ½)/n. Neither units, nor outliers, nor any monotone map matter. The
outermost five values on each side, and all that lies beyond them, share one score: as many new rows
as old ones have it, while beyond the very last value lie only new ones. So no single row can have a
large effect. A constant column has the score 0, and any other value the outermost ones. Values that
are equal in single precision have one score, so that rows may come in either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from kernelmean._types import IntVector, Matrix, Points, Vector

ROUNDING = 1e-7  # of a value, up to which it is that of a knot: single precision
KNOTS = 256  # values of a column that have scores of their own, at most; others lie in between
OUTERMOST_ROWS = 5  # on each side, which share one score
OUTERMOST_SHARE = 0.1  # of a small reference, at most


class NormalScores(NamedTuple):
    """The map of each column: ascending knots, their scores, and those of what lies beyond."""

    knots: Matrix  # (d, m), filled up with inf
    counts: IntVector  # (d,) knots of each column
    scores: Matrix  # (d, m)
    below: Vector  # (d,)
    above: Vector  # (d,)

    @classmethod
    def of(cls, X: Points) -> NormalScores:
        """By the rows of a reference. Time O(n·d·log n)."""
        found = [_column(column) for column in X.T]
        m = max(len(values) for values, _ in found)
        knots = np.full((len(found), m), np.inf)
        scores = np.zeros((len(found), m))
        for j, (values, own) in enumerate(found):
            knots[j, : len(values)] = values
            scores[j, : len(values)] = own
        outermost = np.full(len(found), -ndtri(_outermost(len(X))))
        counts = np.array([len(values) for values, _ in found], dtype=np.intp)
        return cls(knots, counts, scores, -outermost, outermost)

    def __call__(self, X: Points, compiled: bool = False) -> Points:
        """Scores of the values of a table, (n, d). Time O(n·d)."""
        if not compiled:
            return self._by_numpy(X)
        from kernelmean.compiled.row_features import column_scores

        out = np.empty(X.shape)
        column_scores(np.ascontiguousarray(X), *self, ROUNDING, out)
        return out

    def _by_numpy(self, X: Points) -> Points:
        """As the compiled loop: the score of a knot, or in between by a straight line."""
        columns = np.arange(X.shape[1])
        places = [
            np.searchsorted(own[:count], x)
            for own, count, x in zip(self.knots, self.counts, X.T, strict=True)
        ]
        high = np.stack(places, axis=1)  # of the first knot that is not smaller
        upper = np.minimum(high, self.counts - 1)
        lower = np.maximum(high - 1, 0)
        left = X - self.knots[columns, lower]
        right = self.knots[columns, upper] - X
        scores = self.scores[columns, lower], self.scores[columns, upper]
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 beyond the knots
            out = scores[0] + left / (left + right) * (scores[1] - scores[0])
        out = np.where(high == 0, self.below, np.where(high == self.counts, self.above, out))
        near = ROUNDING * np.abs(X)
        out = np.where((high > 0) & (left <= near), scores[0], out)
        found: Points = np.where((high < self.counts) & (right <= near), scores[1], out)
        return found


def _column(column: Vector) -> tuple[Vector, Vector]:
    """Knots of a column and their scores."""
    ordered = np.sort(column)
    first = np.flatnonzero(np.append(True, ordered[1:] > ordered[:-1]))
    last = np.append(first[1:], len(ordered))
    # Mean rank of equal values, counted from ½: (first + last)/2.
    u = (first + last) / (2.0 * len(ordered))
    values = ordered[first]
    outermost = _outermost(len(column))
    scores = ndtri(np.clip(u, outermost, 1.0 - outermost))
    if len(values) <= KNOTS:
        return values, scores
    # Half of them evenly spaced in rank, for the many values, and half in score, for the tails.
    in_rank = np.searchsorted(u, np.linspace(u[0], u[-1], KNOTS // 2))
    in_score = np.searchsorted(scores, np.linspace(scores[0], scores[-1], KNOTS // 2))
    kept = np.unique(np.minimum(np.append(in_rank, in_score), len(values) - 1))
    return values[kept], scores[kept]


def _outermost(n: int) -> float:
    return min(OUTERMOST_ROWS / n, OUTERMOST_SHARE)

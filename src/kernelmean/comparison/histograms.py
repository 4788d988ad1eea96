"""Histograms of every column of two samples on common edges, and medians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean._types import Points, Vector

MOST_VALUES = 40  # a column with no more distinct values has a bin for each
TAIL = 1.0  # per cent of the rows beyond each end of the even bins
EVEN_BINS = 38
FIRST = 1000  # rows that are looked at before all are


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms of every column in two samples, on common edges.

    Columns of at most 40 distinct values have a bin for each; others have even bins over the middle
    98 % of the rows, and a bin for what is beyond at each end. They are of the rows looked at, at
    most 250 000 of each sample.

    Attributes
    ----------
    edges : tuple of ndarray of shape (bins + 1,)
        The ascending edges of each column's bins, in its units.
    shares_a, shares_b : tuple of ndarray of shape (bins,)
        The share of the rows of each sample in these bins; they sum to one.

    See Also
    --------
    Difference : Which has them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.comparison.histograms import histograms
    >>> A, B = np.array([[1.0], [2.0]]), np.array([[2.0], [2.0]])
    >>> found = histograms([(A, None), (B, None)])
    >>> found.edges[0].tolist(), found.shares_a[0].tolist(), found.shares_b[0].tolist()
    ([0.5, 1.5, 2.5], [0.5, 0.5], [0.0, 1.0])
    """

    edges: tuple[Vector, ...]
    shares_a: tuple[Vector, ...]
    shares_b: tuple[Vector, ...]

    def __repr__(self) -> str:
        return f"Histograms({len(self.edges)} columns)"


def histograms(tables: Sequence[tuple[Points, Vector | None]]) -> Histograms:
    """Histograms of two tables of rows and weights."""
    (A, _), (B, _) = tables
    edges = tuple(_edges(np.concatenate(both)) for both in zip(A.T, B.T, strict=True))
    shares = [
        tuple(_shares(column, w, cuts) for column, cuts in zip(X.T, edges, strict=True))
        for X, w in tables
    ]
    return Histograms(edges, shares[0], shares[1])


def medians(X: Points, weights: Vector | None) -> Vector:
    """(d,): the midpoint of the values that half of the weight lies below and above."""
    if weights is None:
        return np.median(X, axis=0)
    return np.array([_median(column, weights) for column in X.T])


def _median(values: Vector, weights: Vector) -> float:
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    half = ends[-1] / 2
    # Rounding of a sum must not decide between one value and the midpoint of two.
    slack = 1e-12 * ends[-1]
    low, high = np.searchsorted(ends, (half - slack, half + slack))
    return float(values[order[low]] / 2 + values[order[min(high, len(order) - 1)]] / 2)


def _edges(values: Vector) -> Vector:
    """Around each of few values; else even bins over the middle, and the ends."""
    # Most columns show that they have many values by their first few.
    if len(np.unique(values[:FIRST])) <= MOST_VALUES:
        distinct = np.unique(values)
        if len(distinct) <= MOST_VALUES:
            return _around(distinct)
    ends = values.min(), values.max()
    low, high = np.percentile(values, (TAIL, 100.0 - TAIL))
    if not low < high:
        low, high = ends
    return _ascending(np.array([ends[0], *np.linspace(low, high, EVEN_BINS + 1), ends[1]]))


def _around(distinct: Vector) -> Vector:
    """Edges that lie between values, and as far outside as half of the smallest gap."""
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    reach = np.diff(distinct).min() / 2 if len(distinct) > 1 else 0.5
    return _ascending(np.array([distinct[0] - reach, *middle, distinct[-1] + reach]))


def _ascending(edges: Vector) -> Vector:
    """Edges without repeats, at least two."""
    distinct: Vector = np.unique(edges)
    if len(distinct) > 1:
        return distinct
    return np.array([np.nextafter(distinct[0], -np.inf), np.nextafter(distinct[0], np.inf)])


def _shares(values: Vector, weights: Vector | None, edges: Vector) -> Vector:
    """Of bins that hold their lower edge; the last holds its upper edge too."""
    bins = np.searchsorted(edges[1:-1], values, side="right")
    counts = np.bincount(bins, weights, len(edges) - 1)
    shares: Vector = counts / counts.sum()
    return shares

"""Which columns, and which pairs of columns, the difference of two samples lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kernelmean import _shown
from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.comparison.effects import (
    PAIR_FUNCTIONS,
    Binned,
    Measured,
    column_features,
    measure,
    pair_features,
    rank_correlations,
)
from kernelmean.comparison.histograms import Histograms, histograms, medians
from kernelmean.comparison.rank_functions import cell_codes
from kernelmean.samples import WeightedSample

MOST_ROWS = 250_000  # of each sample
BINS = 128  # at least so many of the smaller sample, where it has as many rows
LARGER = 8  # the larger sample has at most so many times BINS bins
PERMUTATIONS = 999
DRAWS = 499
MOST_PAIRS = 50
OUTSIDE = (2.5, 97.5)  # per cent: the ends of the intervals


class Effect(NamedTuple):
    """How much of a difference lies in a column, or in a pair of columns beyond its two columns.

    Attributes
    ----------
    columns : tuple of str
        One name or two.
    share : float
        The share of the whole difference; zero for what does not exceed chance.
    low, high : float
        A 95 % interval of the share.
    p_value : float
        Of the hypothesis of no effect, by permutations; not adjusted for how many effects there
        are.
    value_a, value_b : float
        Of a column, its median in either sample; of a pair, its rank correlation.

    See Also
    --------
    Difference : Has those of all columns, and of the largest pairs.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Effect(("age",), 0.8, 0.7, 0.9, 0.001, 41.0, 44.0).share
    0.8
    """

    columns: tuple[str, ...]
    share: float
    low: float
    high: float
    p_value: float
    value_a: float
    value_b: float

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What :func:`explain` found: where the difference of two samples lies.

    Attributes
    ----------
    columns : tuple of Effect
        Each column, the largest share first; among shares of zero, the least likely by chance
        first.
    pairs : tuple of Effect
        Pairs of columns in the same order, the first 50.
    histograms : Histograms
        Of every column in both samples.

    See Also
    --------
    explain : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean._random import Streams
    >>> from kernelmean.comparison.columns import explain
    >>> from kernelmean.samples import ArraySample, WeightedSample
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> A, B = (WeightedSample.of(ArraySample(part)) for part in (X[:300], X[300:] + [0.0, 1.0]))
    >>> explain(A, B, ["x", "y"], Streams(0)).columns[0].columns
    ('y',)
    """

    columns: tuple[Effect, ...]
    pairs: tuple[Effect, ...]
    histograms: Histograms = field(repr=False)


def explain(
    first: WeightedSample, second: WeightedSample, names: Sequence[str], streams: Streams
) -> Explanation:
    """The share that each column, and each pair of columns, has in the difference of two samples.

    Parameters
    ----------
    first, second : WeightedSample
        The samples, of at least two rows each and with the same columns. At most 250 000 rows of
        each are looked at, drawn at random; integer weights repeat rows.
    names : sequence of str
        A name for each column.
    streams : Streams
        Where chance comes from.

    Returns
    -------
    Explanation
        The effects. Shares sum to one over all columns and pairs; they are all zero, in intervals
        from 0 to 1, where no column and no pair exceeds chance. Time O(n·f²) for n rows and f ≤ 256
        functions, memory O(n·d).

    See Also
    --------
    Explanation : The value.

    Notes
    -----
    The effect of a column is how far the distributions of its ranks lie apart (a squared maximum
    mean discrepancy), that of a pair how far its copulas do: how the two columns depend on each
    other, whatever each is by itself. What chance adds is subtracted from both. An effect has a
    share if it exceeds what the largest of all columns, or of all pairs, would reach by chance in 5
    % of cases. With more than 85 columns pairs are compared by fewer functions, beyond 128 by one
    of each column, which is nearly the rank correlation; beyond 256, pairs are sought among the 256
    columns with the clearest effects. Of samples of very different size, at most eight times as
    many rows of the larger one enter the effects, but 1024 at least.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean._random import Streams
    >>> from kernelmean.comparison.columns import explain
    >>> from kernelmean.samples import ArraySample, WeightedSample
    >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> B[:, 1] += 0.9 * B[:, 0]  # in ranks: y itself is a little wider, and goes with x
    >>> samples = (WeightedSample.of(ArraySample(X)) for X in (A, B))
    >>> found = explain(*samples, ["x", "y"], Streams(0))
    >>> found.pairs[0].columns, found.pairs[0].share > 0.8
    (('x', 'y'), True)
    """
    tables = [
        _drawn(sample, streams.of("explained rows", which))
        for which, sample in enumerate((first, second))
    ]
    rows = _binned(tables, streams)
    resampled = _resampled(rows.bins, streams)
    columns = measure(column_features(rows), rows.bins, *resampled)
    chosen = np.sort(np.argsort(-columns.scores, kind="stable")[:PAIR_FUNCTIONS])
    at = np.triu_indices(len(chosen), 1)
    near = rows._replace(codes=rows.codes[:, chosen])
    pairs = measure(pair_features(near, at), rows.bins, *resampled)
    found = _Found.of(columns, pairs)
    own = found.order[found.order < len(names)]
    shown = found.order[found.order >= len(names)][:MOST_PAIRS]
    members = np.stack(at, axis=1)[shown - len(names)]
    centers = np.stack([medians(*table) for table in tables], axis=1)
    return Explanation(
        _effects(found, own, [(names[j],) for j in own], centers[own]),
        _effects(
            found,
            shown,
            [(names[chosen[j]], names[chosen[k]]) for j, k in members],
            rank_correlations(near, members),
        ),
        histograms(tables),
    )


class _Table(NamedTuple):
    """Rows that are looked at, with weights of mean one, or None where they count alike."""

    points: Points
    weights: Vector | None


def _drawn(given: WeightedSample, rng: np.random.Generator) -> _Table:
    """All rows, or ``MOST_ROWS`` of them drawn without replacement.

    Of weights that are integers, rows are drawn among the repeated ones.
    """
    weights = given.weights
    ends = np.arange(1, len(given) + 1)
    if weights is not None and (weights == np.rint(weights)).all():
        ends = np.cumsum(weights).astype(np.intp)
        weights = None
    total = int(ends[-1])
    positions = (
        np.arange(total)
        if total <= MOST_ROWS
        else np.sort(rng.choice(total, MOST_ROWS, replace=False))
    )
    rows = np.searchsorted(ends, positions, side="right")
    kept = None if weights is None else weights[rows] / weights[rows].mean()
    return _Table(given.sample.rows(rows), kept)


def _binned(tables: list[_Table], streams: Streams) -> Binned:
    """Rows in bins of equal size, at random; those that fill no bin are left out.

    With a bin for each row of the smaller sample where it has few, the larger has 1024 bins at
    most: more would not make the difference any more certain.
    """
    n = [len(table.points) for table in tables]
    size = max(1, min(n) // BINS)
    bins = [min(count // size, max(LARGER * BINS, min(n) // size)) for count in n]
    rng = streams.of("explained bins")
    rows = [rng.permutation(count)[: size * b] for count, b in zip(n, bins, strict=True)]
    pool = np.concatenate([t.points[r] for t, r in zip(tables, rows, strict=True)])
    codes, cells = cell_codes(pool, streams.of("explained ranks"))
    weights = None
    if any(table.weights is not None for table in tables):
        weights = np.concatenate(
            [
                np.ones(len(r)) if t.weights is None else t.weights[r]
                for t, r in zip(tables, rows, strict=True)
            ]
        )
    return Binned(codes, cells, weights, size, (bins[0], bins[1]))


def _resampled(bins: tuple[int, int], streams: Streams) -> tuple[Matrix, Matrix]:
    """Which bins permutations put in the first sample, and how often bins are drawn again."""
    count = sum(bins)
    own = np.tile((np.arange(count) < bins[0]).astype(np.float64), (PERMUTATIONS, 1))
    signs = streams.of("explained permutations").permuted(own, axis=1)
    rng = streams.of("explained draws")
    draws = [rng.multinomial(b, np.full(b, 1.0 / b), size=DRAWS) for b in bins]
    return signs, np.concatenate(draws, axis=1).astype(np.float64)


class _Found(NamedTuple):
    """Shares of all columns, then of all pairs."""

    shares: Vector
    low: Vector
    high: Vector
    p_values: Vector
    order: IntVector  # largest share first, then the clearest

    @classmethod
    def of(cls, columns: Measured, pairs: Measured) -> _Found:
        """The share of every effect in the sum of those found, with the ends of its interval.

        An effect that is not found has no share, but its interval says which it could have; so do
        those of the others, by what all effects that are not found may have together.
        """
        found = np.append(columns.found, pairs.found)
        values = np.where(found, np.append(columns.values, pairs.values), 0.0)
        shares = values / (values.sum() if found.any() else 1.0)
        draws = np.maximum(np.concatenate([columns.draws, pairs.draws], axis=1), 0.0)
        rest = _sum_not_found(columns) + _sum_not_found(pairs)
        total = draws[:, found].sum(axis=1, keepdims=True)
        total = total + np.maximum(np.where(found, 0.0, draws), rest)
        low, high = np.percentile(draws / np.where(total > 0.0, total, 1.0), OUTSIDE, axis=0)
        order = np.lexsort((-np.append(columns.scores, pairs.scores), -shares))
        p_values = np.append(columns.p_values, pairs.p_values)
        return cls(shares, np.minimum(low, shares), np.maximum(high, shares), p_values, order)


def _sum_not_found(family: Measured) -> Matrix:
    """(draws, 1): what all effects that are not found may have together."""
    found: Matrix = family.draws[:, ~family.found].sum(axis=1, keepdims=True)
    return np.maximum(found, 0.0)


def _effects(
    found: _Found, which: IntVector, names: Sequence[tuple[str, ...]], values: Matrix
) -> tuple[Effect, ...]:
    numbers = np.column_stack([*(part[which] for part in found[:4]), values])
    return tuple(Effect(name, *row) for name, row in zip(names, numbers.tolist(), strict=True))

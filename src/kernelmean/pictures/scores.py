"""The log-densities of rows: how they are spread, and which rows are the rarest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Points, Vector
from kernelmean.domains.tables import decoded
from kernelmean.files.transforms import parse
from kernelmean.mean.expansion import AnyMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import LEVELS, SparseKernelMean

MAX_HELD = 1 << 18  # scores that are held for the histogram; of more, every second, fourth, …
KERNEL_VALUES = 2e8  # that may be spent on the rarest rows of a sample
ROUNDING = 1e-9  # of log-densities, relative, by which the rarest fitted row may seem rarer
LEAST_SHARE = 1e-9  # what is left of a share that is not nothing
BARS = 48
MAX_LISTED = 20  # rows in the table
ENDS = (0.005, 0.999)  # quantiles between which the bars are
BEYOND = 0.25  # how far they go beyond, as a share of that range

Scored: TypeAlias = SparseKernelMean | DomainMean


class RareRows(NamedTuple):
    """The rows of the least log-density, the least first."""

    numbers: IntVector  # (m,) their places in the sample, from 0
    log_densities: Vector  # (m,)
    points: Points  # (m, d) as the mean has them
    # (m,) shares of the rows that were fitted that are as rare or rarer; None where not known
    shares: Vector | None
    names: tuple[str, ...]  # of what follows
    values: list[tuple[str, ...]]  # (m,) each in the units of the sample


class ScoreView(NamedTuple):
    """A histogram of log-densities, and the rarest rows."""

    edges: Vector  # (bars + 1,)
    shares: Vector  # (bars,) of the rows
    fitted: Vector | None  # (bars,) of the rows that were fitted; None where not known
    below: float  # share of the rows left of the first edge, −∞ included
    size: int  # rows
    outside: int  # rows where the density is zero
    mean: float  # of the finite ones
    rarest: RareRows


class ScoreTally:
    """What is kept of rows that are scored block by block: memory for a part of their scores."""

    def __init__(self, mean: Scored, names: Sequence[str]) -> None:
        self._mean = mean
        self._names = tuple(names)
        self._held: list[Vector] = []
        self._step = 1  # of which every so many-th score is held
        self._seen = 0
        self._outside = 0
        self._total = 0.0
        self._rare: list[tuple[float, int, Vector, tuple[str, ...]]] = []
        self._beside: tuple[str, ...] = ()

    def add(
        self,
        points: Points,
        scores: Vector,
        rows: IntVector,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        """Some more rows: points as the mean has them, log-densities, numbers, other columns."""
        known = beside or {}
        self._beside = tuple(known)
        finite = scores > -np.inf
        self._outside += int(np.count_nonzero(~finite))
        self._total += float(scores[finite].sum())
        self._held.append(scores[-self._seen % self._step :: self._step])
        self._seen += len(scores)
        while sum(map(len, self._held)) > MAX_HELD:
            self._held = [np.concatenate(self._held)[::2]]
            self._step *= 2
        for i in np.argsort(scores, kind="stable")[:MAX_LISTED]:
            others = tuple(str(values[i]) for values in known.values())
            self._rare.append((float(scores[i]), int(rows[i]), points[i].copy(), others))
        self._rare = sorted(self._rare, key=lambda row: row[:2])[:MAX_LISTED]

    def view(self) -> ScoreView:
        """What is drawn and listed."""
        held = np.concatenate(self._held)
        finite = held[held > -np.inf]
        edges = _edges(finite, self._mean.log_quantiles)
        counts = np.histogram(finite, edges)[0]
        inside = max(1, self._seen - self._outside)
        return ScoreView(
            edges=edges,
            shares=counts / len(held),
            fitted=_fitted(self._mean.log_quantiles, edges),
            below=float(np.mean(held < edges[0])),
            size=self._seen,
            outside=self._outside,
            mean=self._total / inside,
            rarest=self._rarest(),
        )

    def _rarest(self) -> RareRows:
        scores = np.array([row[0] for row in self._rare])
        points = np.array([row[2] for row in self._rare])
        quantiles = self._mean.log_quantiles
        values = [
            (*told, *row[3])
            for told, row in zip(_told(self._mean, points), self._rare, strict=True)
        ]
        return RareRows(
            numbers=np.array([row[1] for row in self._rare], dtype=np.intp),
            log_densities=scores,
            points=points,
            shares=None if quantiles is None else share_below(quantiles, scores),
            names=(*self._names, *self._beside),
            values=values,
        )


def score_view(mean: Scored, sample: ArrayLike, names: Sequence[str]) -> ScoreView:
    """The same of a sample in memory.  Time O(n·k·d)."""
    tally = ScoreTally(mean, names)
    if isinstance(mean, DomainMean):
        coded = mean.coded(sample)
        tally.add(coded, mean.log_coded(coded), np.arange(len(coded)))
        return tally.view()
    points = _checks.points(sample, "sample", mean.dimension)
    tally.add(points, mean.log(points), np.arange(len(points)))
    return tally.view()


def rarest_rows(
    mean: Scored, sample: ArrayLike, names: Sequence[str]
) -> tuple[RareRows, int | None]:
    """The rarest rows of a sample; and of how many, where these were not all.

    Rows are looked at, evenly spread, as many as 2·10⁸ kernel values allow.
    """
    if isinstance(mean, DomainMean):
        points = mean.coded(sample)
    else:
        points = _checks.points(sample, "sample", mean.dimension)
    terms = mean.unfolded.k if isinstance(mean, DomainMean) else mean.k
    step = -(-len(points) // max(1000, int(KERNEL_VALUES / terms)))
    numbers = np.arange(0, len(points), step)
    some = points[numbers]
    tally = ScoreTally(mean, names)
    scores = mean.log_coded(some) if isinstance(mean, DomainMean) else mean.log(some)
    tally.add(some, scores, numbers)
    return tally.view().rarest, len(numbers) if step > 1 else None


def share_below(quantiles: Vector, scores: Vector) -> Vector:
    """Shares of the fitted rows whose log-density is at most so large, by its quantiles."""
    rising = np.maximum.accumulate(quantiles)
    found = np.interp(scores, rising, LEVELS)
    known = scores >= rising[0] - ROUNDING * max(1.0, abs(float(rising[0])))
    shares: Vector = np.where(known, np.maximum(found, LEAST_SHARE), 0.0)
    return shares


def _edges(finite: Vector, quantiles: Vector | None) -> Vector:
    """Of bars that hold nearly all rows, those that were fitted too."""
    values = finite if len(finite) else np.zeros(1)
    known = values if quantiles is None else np.concatenate([values, quantiles[5:]])
    low, high = np.quantile(values, ENDS)
    if quantiles is not None:
        low = min(low, float(np.quantile(quantiles, ENDS[0])))
        high = max(high, float(quantiles[-1]))
    gap = max(high - low, 1e-9 * max(abs(low), abs(high), 1.0))
    first = max(float(known.min()), low - BEYOND * gap)
    return np.linspace(min(first, low), max(high, float(known.max())) + 1e-3 * gap, BARS + 1)


def _fitted(quantiles: Vector | None, edges: Vector) -> Vector | None:
    """Shares of the rows that were fitted, between the edges."""
    if quantiles is None:
        return None
    shares: Vector = np.diff(share_below(quantiles, edges))
    return shares


def _told(mean: AnyMean | DomainMean, points: Points) -> list[tuple[str, ...]]:
    """Rows in the units of the sample, categories by their names."""
    transform = parse(getattr(mean, "transform", None))
    places = points if transform is None else transform.inverse(points)
    columns = [[f"{value:.5g}" for value in column] for column in places.T]
    if isinstance(mean, DomainMean):
        for t, levels in zip(mean.domain.categories.tolist(), mean.domain.levels, strict=True):
            columns[t] = [str(level) for level in decoded(points[:, t], levels)]
    return list(zip(*columns, strict=True))

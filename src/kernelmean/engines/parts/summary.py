"""Counts, moments and quantiles of a sample in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Vector
from kernelmean.engines.parts.part_index import PartIndex
from kernelmean.engines.weighted_statistics import (
    deviation,
    pooled,
    rounded_counts,
    unbiased,
    window_means,
)

CUTS = 1024  # values per coordinate whose ranks are counted in one pass
FEW = 65536  # values between two cuts that are fetched and sorted


@dataclass(frozen=True)
class PartsSummary:
    """Counts, moments and quantiles; each property asks every part once, quantiles a few times."""

    index: PartIndex

    @property
    def size(self) -> float:
        """n, or what weights make of it."""
        return self.index.size

    @property
    def counted(self) -> bool:
        """Whether ``size`` counts rows: no weights, or integers."""
        return self.index.counted

    @property
    def count(self) -> int:
        """Rows, whatever their weight."""
        return int(self.index.begins[-1])

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.index.parts.dimension

    @property
    def mean(self) -> Vector:
        """Σ p_j x_j."""
        return self._moments[0]

    @lazy
    def std(self) -> Vector:
        """√(N/(N−1) Σ p_j (x_j − mean)²) per coordinate."""
        return deviation(self._moments[1], self.size)

    @lazy
    def covariance(self) -> Matrix:
        """N/(N−1) Σ_l share_l C_l, C_l = Σ p_j (x_j − mean)(x_j − mean)ᵀ over part l about the mean
        of all.
        """
        parts = self.index.parts.each("second_moments", self.mean)
        total: Matrix = sum(
            share * part for share, part in zip(self.index.shares, parts, strict=True)
        )
        return unbiased(total, self.size)

    @lazy
    def _moments(self) -> tuple[Vector, Vector]:
        """Mean and variance of all points from those of the parts."""
        means, variances = zip(*self.index.parts.each("moments"), strict=True)
        return pooled(self.index.shares, np.stack(means), np.stack(variances))

    def quantiles(self, levels: Vector) -> Matrix:
        """(levels, d) exact quantiles by linear interpolation; integer weights give those of the
        repeated rows.

        x_(r) + (position − r)(x_(r+1) − x_(r)), position = level·(N − 1), r its whole part.
        """
        position = np.asarray(levels, dtype=np.float64) * (self.size - 1)
        if not self.counted:
            return self._window_means(position)
        whole = np.floor(position)
        ranks = np.concatenate([whole, np.minimum(whole + 1, self.size - 1)])
        found = self._order_statistics(
            [(t, float(rank)) for rank in ranks for t in range(self.dimension)]
        )
        low, high = np.reshape(found, (2, len(position), self.dimension))
        return np.asarray(low + (position - whole)[:, None] * (high - low), dtype=np.float64)

    def _window_means(self, position: Vector) -> Matrix:
        """Weights that are no counts: the values that a window holds are fetched, and the weight
        below them is counted.
        """
        windows = [(t, float(h)) for h in position for t in range(self.dimension)]
        least = self._order_statistics(windows)
        most = self._order_statistics([(t, min(h + 1.0, self.size)) for t, h in windows])
        below = np.nextafter(least, -np.inf)
        cuts = [(t, np.array([cut])) for (t, _), cut in zip(windows, below, strict=True)]
        counted = np.sum(
            [np.concatenate(part) for part in self.index.parts.each("weight_up_to", cuts)], axis=0
        )
        ranges = [(t, cut, top) for (t, _), cut, top in zip(windows, below, most, strict=True)]
        parts = self.index.parts.each("between", ranges)
        found = [
            _window_mean(
                np.concatenate([part[i] for part in parts]), counted[i], h, self._unit, self.size
            )
            for i, (_, h) in enumerate(windows)
        ]
        return np.reshape(found, (len(position), self.dimension))

    def quantile_range(self, low: float, high: float) -> Vector:
        """Distance of two quantiles in each coordinate."""
        ends = self.quantiles(np.array([low, high]))
        return np.asarray(ends[1] - ends[0], dtype=np.float64)

    def _order_statistics(self, wanted: list[tuple[int, float]]) -> list[float]:
        """For (coordinate, rank): the least x with more weight than the rank at or below it. Cuts
        close in, pass by pass.
        """
        low, high = self._ends
        brackets = [
            Bracket(axis, rank, low[axis], high[axis], 0.0, self.size) for axis, rank in wanted
        ]
        while wide := [
            b for b in brackets if b.inside > FEW and np.nextafter(b.low, b.high) < b.high
        ]:
            cuts = [(b.axis, np.unique(np.linspace(b.low, b.high, CUTS + 1)[1:])) for b in wide]
            counted = self.index.parts.each("weight_up_to", cuts)
            for i, bracket in enumerate(wide):
                bracket.close_in(
                    cuts[i][1],
                    self._unit * np.sum([part[i] for part in counted], axis=0),
                    self.size,
                )
        narrow = [b for b in brackets if b.inside <= FEW]
        parts = self.index.parts.each("between", [(b.axis, b.low, b.high) for b in narrow])
        for i, bracket in enumerate(narrow):
            bracket.settle(np.concatenate([part[i] for part in parts]), self._unit, self.size)
        return [b.high for b in brackets]

    @property
    def _unit(self) -> float:
        """Weights count as N in all."""
        return self.size / sum(facts.weight for facts in self.index.facts)

    @lazy
    def _ends(self) -> tuple[Vector, Vector]:
        """Open lower and closed upper ends around all coordinates."""
        found = np.stack(self.index.parts.each("extremes"))
        return np.nextafter(found[:, 0].min(axis=0), -np.inf), found[:, 1].max(axis=0)


@dataclass
class Bracket:
    """An order statistic lies in (low, high]; ``below`` counts up to low, ``inside`` between."""

    axis: int
    rank: float
    low: float
    high: float
    below: float
    inside: float

    def close_in(self, cuts: Vector, counted: Vector, size: float) -> None:
        """Between two neighbouring cuts."""
        at = min(
            int(np.searchsorted(rounded_counts(counted, size), self.rank, side="right")),
            len(cuts) - 1,
        )
        if at:
            self.below = float(counted[at - 1])
            self.low = float(cuts[at - 1])
        self.inside = float(counted[at]) - self.below
        self.high = float(cuts[at])

    def settle(self, found: Matrix, unit: float, size: float) -> None:
        """At one of the values inside, given with their weights."""
        found = found[np.argsort(found[:, 0], kind="stable")]
        cumulative = rounded_counts(self.below + unit * np.cumsum(found[:, 1]), size)
        self.high = float(
            found[min(int(np.searchsorted(cumulative, self.rank, side="right")), len(found) - 1), 0]
        )


def _window_mean(found: Matrix, below: float, position: float, unit: float, size: float) -> float:
    """The mean of a window of values that are given with their weights; ``below`` is the weight
    below all of them.
    """
    found = found[np.argsort(found[:, 0], kind="stable")]
    cumulative = rounded_counts(unit * (below + np.cumsum(found[:, 1])), size)
    return float(window_means(found[:, 0], cumulative, np.array([position]))[0])

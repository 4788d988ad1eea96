"""Squared nearest-centre distances as an array on the host, and what every engine's share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Vector
from kernelmean.engines.protocols import Distances

STRIP = 8192  # distances of which a function is taken at a time: 64 KiB, which allocators keep
SUMMED = 4096  # distances whose mass is added up before a draw looks among them


def single_draw(distances: Distances, u: float) -> int | None:
    """The one point at position u of the cumulative p_j D²_j; None when every D² is zero."""
    drawn = distances.draws(np.array([u]))
    return int(drawn[0]) if len(drawn) else None


@dataclass(frozen=True)
class ArrayDistances:
    """Squared nearest-centre distances D² of all points, handed out as reductions only.

    Where ``squared`` are in another order than the rows, ``order`` says of which row each is: few
    reductions need them sorted.
    """

    squared: Vector
    p: Vector
    order: NDArray[np.integer] | None = None
    largest: float | None = None  # of ``squared``, where it is known

    @property
    def cover(self) -> float:
        """Covering radius max_j D_j."""
        return float(np.sqrt(self.squared.max() if self.largest is None else self.largest))

    def values(self) -> Vector:
        """D² of every point, on the host: for point clouds of few points."""
        return self._by_row

    def coincident(self) -> tuple[IntVector, Vector]:
        """Rows at distance 0 from a centre (centres and their duplicates), and their weights."""
        rows = np.flatnonzero(self.squared <= 0.0)
        rows = rows if self.order is None else np.sort(self.order[rows]).astype(np.intp)
        return rows, self.p[rows]

    def mean(self, function: Callable[[Vector], Vector]) -> float:
        """Σ_j p_j function(D²_j)."""
        strips = [slice(start, start + STRIP) for start in range(0, len(self.p), STRIP)]
        return float(sum(np.sum(self._weights(s) * function(self.squared[s])) for s in strips))

    def draw(self, u: float) -> int | None:
        """The point at position u of the cumulative p_j D²_j (D² sampling); None when every D² is
        zero.
        """
        return single_draw(self, u)

    def draws(self, u: Vector) -> IntVector:
        """The points at positions u of the cumulative p_j D²_j; none when every D² is zero."""
        mass = self.p * self._by_row
        sums = np.add.reduceat(mass, np.arange(0, len(mass), SUMMED))
        cumulative = np.cumsum(sums)
        if not cumulative[-1] > 0.0:
            return np.empty(0, np.intp)
        positions = u * cumulative[-1]
        blocks = np.minimum(np.searchsorted(cumulative, positions, side="right"), len(sums) - 1)
        rows = np.empty(len(u), np.intp)
        for b in np.unique(blocks):
            some = np.flatnonzero(blocks == b)
            within = np.cumsum(mass[b * SUMMED : (b + 1) * SUMMED])
            rest = positions[some] - (cumulative[b] - sums[b])
            rows[some] = b * SUMMED + np.minimum(
                np.searchsorted(within, rest, side="right"), len(within) - 1
            )
        empty = ~(mass[rows] > 0.0)
        if empty.any():  # rounding at the end of a block
            rows[empty] = np.argmax(mass)
        return rows

    @lazy
    def _by_row(self) -> Vector:
        """D² in the order of the rows."""
        if self.order is None:
            return self.squared
        sorted_by_row = np.empty_like(self.squared)
        sorted_by_row[self.order] = self.squared
        return sorted_by_row

    def _weights(self, some: slice) -> Vector:
        """The weights of some of ``squared``."""
        if self.order is None or self.p.strides == (0,):
            return self.p[some]
        weights: Vector = self.p[self.order[some]]
        return weights

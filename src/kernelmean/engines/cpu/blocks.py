"""The layout of the points: blocks of consecutive rows, coordinate-major within a block.

A block is a (coordinates, width) slab that stays in the fastest cache while many queries pass over it; the loop over
its points has a constant length, so it vectorises without a remainder. The last block is padded with weight zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector

UNROLLED = 16  # up to this d, one compiled version per d keeps the distance in registers
STRIP = 8  # beyond, coordinates are added in strips of eight


def width(d: int) -> int:
    """Points per block: 16 KiB of coordinates or so."""
    return 256 if d <= 8 else 128 if d <= UNROLLED else 64


def padded_dimension(d: int) -> int:
    """d, rounded up to whole strips where strips are used."""
    return d if d <= UNROLLED else -(-d // STRIP) * STRIP


@dataclass(frozen=True)
class Blocks:
    """n points as (blocks, coordinates, width)."""

    points: NDArray[np.float64]  # (blocks, padded d, width)
    n: int
    d: int

    @classmethod
    def of(cls, X: Points) -> Blocks:
        """One copy of X, written block by block."""
        n, d = X.shape
        B = width(d)
        points = np.zeros((-(-n // B), padded_dimension(d), B))
        whole = n // B
        for start in range(0, whole, 64):  # transposing a few blocks at a time stays in cache
            stop = min(start + 64, whole)
            points[start:stop, :d] = X[start * B : stop * B].reshape(stop - start, B, d).transpose(0, 2, 1)
        if whole * B < n:
            points[whole, :d, : n - whole * B] = X[whole * B :].T
        return cls(points, n, d)

    @property
    def shape(self) -> tuple[int, int]:
        """(blocks, width): the shape of one number per point."""
        return self.points.shape[0], self.points.shape[2]

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Which entries are points, not padding."""
        return (np.arange(self.shape[0] * self.shape[1]) < self.n).reshape(self.shape)

    def spread(self, values: Vector, padding: float = 0.0) -> Matrix:
        """One number per point, in the layout of the blocks."""
        out = np.full(self.shape, padding)
        out.reshape(-1)[: self.n] = values
        return out

    def gather(self, values: Matrix) -> Vector:
        """Back from the layout of the blocks to one number per point."""
        return values.reshape(-1)[: self.n]


def queries(Q: Points) -> Points:
    """Queries as rows, padded to whole strips like the blocks."""
    q, d = Q.shape
    if padded_dimension(d) == d:
        return np.ascontiguousarray(Q)
    out = np.zeros((q, padded_dimension(d)))
    out[:, :d] = Q
    return out

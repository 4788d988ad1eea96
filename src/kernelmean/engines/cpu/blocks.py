"""The layout of the points: blocks of consecutive points, coordinate-major within a block.

A block is a (coordinates, width) slab that stays in the fastest cache while many queries pass over
it; the loop over its points has a constant length, so it vectorises without a remainder. The last
block is padded with weight zero. In low dimension the points lie in the order of a kd-tree, so that
blocks are compact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import EXACT_MATH, entry
from kernelmean.engines.cpu.tree import Tree, plant, row_type
from kernelmean.engines.protocols import PointRows

UNROLLED = 16  # up to this d, one compiled version per d keeps the distance in registers
STRIP = 8  # beyond, coordinates are added in strips of eight
LINE = 8  # numbers in a cache line
CELL = 64  # points whose box is kept, within a block
TREE_DIMENSION = 10  # up to this d, boxes of a kd-tree are worth having
TREE_POINTS = 32768  # fewer points are not worth sorting, nor the compilation of what sorts


def width(d: int) -> int:
    """Points per block: 16 KiB of coordinates or so."""
    return 512 if d <= 5 else 256 if d <= 8 else 128 if d <= UNROLLED else 64


def padded_dimension(d: int) -> int:
    """d, rounded up to whole strips where strips are used."""
    return d if d <= UNROLLED else -(-d // STRIP) * STRIP


@dataclass(frozen=True)
class Blocks:
    """n points as (blocks, coordinates, width), in the order of a tree where there is one."""

    points: NDArray[np.float64]  # (blocks, padded d, width)
    n: int
    d: int
    tree: Tree | None

    @classmethod
    def of(cls, X: PointRows, count: int) -> Blocks:
        """One copy of X, written block by block."""
        X = read_only(X)
        n, d = X.shape
        tree = plant(X, count) if d <= TREE_DIMENSION and n >= TREE_POINTS else None
        points = aligned_zeros((-(-n // width(d)), padded_dimension(d), width(d)))
        order = np.arange(n, dtype=row_type(n)) if tree is None else tree.order
        threads.run(
            _fill, [(X, order, points, p.start, p.stop) for p in threads.pieces(len(points))], count
        )
        return cls(points, n, d, tree)

    @property
    def shape(self) -> tuple[int, int]:
        """(blocks, width): the shape of one number per point."""
        return self.points.shape[0], self.points.shape[2]

    @lazy
    def boxes(self) -> tuple[Matrix, Matrix]:
        """(d, blocks) least and greatest coordinates of each block."""
        lower, upper = self.cells
        return np.ascontiguousarray(lower.min(axis=2).T), np.ascontiguousarray(upper.max(axis=2).T)

    @lazy
    def cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(blocks, d, cells) least and greatest coordinates of each run of CELL points; [inf, −inf]
        where there are none.
        """
        blocks, width = self.shape
        parts = self.points[:, : self.d].reshape(blocks, self.d, width // CELL, CELL)
        lower = parts.min(axis=3)
        upper = parts.max(axis=3)
        for cell in range(width // CELL):  # padding belongs to no box
            live = min(max(self.n - (blocks - 1) * width - cell * CELL, 0), CELL)
            last = parts[-1, :, cell, :live]
            lower[-1, :, cell] = last.min(axis=1, initial=np.inf)
            upper[-1, :, cell] = last.max(axis=1, initial=-np.inf)
        return lower, upper

    def spread(self, values: Vector, padding: float = 0.0) -> Matrix:
        """One number per row of X, in the layout of the blocks."""
        out = np.full(self.shape, padding)
        live = out.reshape(-1)[: self.n]
        if self.tree is None or values.strides == (0,):
            live[:] = values
        else:
            np.take(values, self.tree.order, out=live, mode="clip")  # any other mode would buffer
        return out

    def spread_columns(self, W: Matrix) -> NDArray[np.float64]:
        """The same for several numbers per row of X: (n, m) becomes (blocks, m, width)."""
        blocks, width = self.shape
        flat = np.zeros((W.shape[1], blocks * width))
        flat[:, : self.n] = (W if self.tree is None else W[self.tree.order]).T
        return np.ascontiguousarray(flat.reshape(-1, blocks, width).swapaxes(0, 1))

    def gather(self, values: np.ndarray) -> np.ndarray:
        """Back from the layout of the blocks to one number per row of X."""
        flat = values.reshape(-1)[: self.n]
        if self.tree is None:
            return flat
        out = np.empty_like(flat)
        _scatter(flat, self.tree.order, out)
        return out


def read_only(X: PointRows) -> Points:
    """X in C order, typed read-only, so that compiled loops exist in one version."""
    view = np.ascontiguousarray(X).view()
    view.flags.writeable = False
    return view


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Zeros from the start of a cache line on: a vector then never lies in two of them."""
    room = np.zeros(math.prod(shape) + LINE)
    start = -(room.ctypes.data // room.itemsize) % LINE
    return room[start : start + math.prod(shape)].reshape(shape)


def queries(Q: Points) -> Points:
    """Queries as rows, padded to whole strips like the blocks."""
    q, d = Q.shape
    if padded_dimension(d) == d:
        return np.ascontiguousarray(Q)
    out = np.zeros((q, padded_dimension(d)))
    out[:, :d] = Q
    return out


@entry(EXACT_MATH)
def _scatter(values, order, out):
    """out[order[i]] = values[i]: NumPy would make a wider copy of the order first."""
    for i in range(len(values)):
        out[order[i]] = values[i]


@entry(EXACT_MATH)
def _fill(X, order, points, start, stop):
    """points[b, t, j] = X[order[b·width + j], t] for blocks start..stop."""
    B = points.shape[2]
    for b in range(start, stop):
        last = min(B, len(order) - b * B)
        for j in range(last):
            row = order[b * B + j]
            for t in range(X.shape[1]):
                points[b, t, j] = X[row, t]

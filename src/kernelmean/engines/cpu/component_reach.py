"""Which points matter to an atom: cells so far from it that float64 cannot see them are left out.

The points lie in tree order, so that cells of 64 have small boxes. By Jensen's inequality the sum
of an atom is at least A = Σ mass · exp(−mean exponent) over the cells, and the mean of the exponent
‖F(x − c)‖² over a cell is that at the cell's mean plus at most ‖F‖² times the mean squared distance
from it. Masses add up to 1, so that the cells where every exponent is at least −log(LOST·A) amount
to LOST·A at most.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import elementary, threads
from kernelmean.compiled.compiling import compile_function, part
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines.cpu.blocks import CELL, Blocks, width
from kernelmean.engines.cpu.bounding_boxes import ROUNDING
from kernelmean.engines.cpu.component_loops import exponent
from kernelmean.engines.cpu.truncated_sums import (
    LEAST_VALUES,
    LOST,
    PROBE,
    WORTHWHILE,
    cell_moments,
)
from kernelmean.kernels import SpreadKind

LEAST = 1e-290  # a bound A below this says nothing: it may have lost terms to underflow
SHARED = 64  # atoms whose bounds are found together

# (piece of the blocks, piece of the atoms) -> (blocks, atoms, 2): the first cell of each block that
# matters to each atom, and the one after the last
Reach: TypeAlias = Callable[[slice, slice], NDArray[np.uint8]]


def every_cell(blocks: Blocks, atoms: int) -> Reach:
    """Nothing is left out."""

    def cells(piece: slice, some: slice) -> NDArray[np.uint8]:
        shape = (len(blocks.points[piece]), len(range(*some.indices(atoms))), 2)
        found = np.zeros(shape, dtype=np.uint8)
        found[:, :, 1] = blocks.shape[1] // CELL
        return found

    return cells


def cells_that_matter(
    blocks: Blocks,
    w: Matrix,
    kind: SpreadKind,
    centers: Points,
    factors: Matrix,
    lost: float,
    count: int,
) -> Reach:
    """What is left out is ``lost`` · LOST of the sum at most; nothing, where little would be.

    Asks for weights w ≥ 0 with Σw = 1, in the layout of the blocks.
    """
    everything = every_cell(blocks, len(centers))
    if blocks.tree is None or blocks.n * len(centers) < LEAST_VALUES:
        return everything
    levels = _levels(blocks, w, kind, centers, factors, count) - np.log(lost)
    loop = _within(blocks.d, kind)
    lower, upper = blocks.cells

    def cells(piece: slice, some: slice) -> NDArray[np.uint8]:
        own = (centers[some], factors[some], levels[some])
        found = np.zeros((len(lower[piece]), len(own[0]), 2), dtype=np.uint8)
        loop(lower[piece], upper[piece], *(np.ascontiguousarray(a) for a in own), found)
        return found

    probed = cells(slice(None), slice(None, None, max(1, len(centers) // PROBE)))
    share = np.mean(probed[:, :, 1] - probed[:, :, 0]) * CELL / blocks.shape[1]
    return cells if share <= WORTHWHILE else everything


def _levels(
    blocks: Blocks, w: Matrix, kind: SpreadKind, centers: Points, factors: Matrix, count: int
) -> Vector:
    """−log(LOST·A) of every atom; inf where A says nothing."""
    X = blocks.points.reshape(len(w), blocks.d, -1, CELL)
    moments = cell_moments(X, w.reshape(len(w), -1, CELL), count)
    at_least = np.zeros(len(centers))
    pieces = [slice(a, a + SHARED) for a in range(0, len(centers), SHARED)]
    loop = _lower_bounds(blocks.d, kind)
    widest = _squared_norms(factors, blocks.d)
    tasks = [(moments, centers[a], factors[a], widest[a], at_least[a]) for a in pieces]
    threads.run(loop, tasks, count)
    known = at_least > LEAST
    found: Vector = np.full(len(centers), np.inf)
    found[known] = -np.log(LOST * at_least[known])
    return found


def _squared_norms(factors: Matrix, d: int) -> Vector:
    """At least ‖F‖² of each atom: the rate itself, or the sum of squares of a matrix."""
    norms: Vector = (
        factors[:, 0] if factors.shape[1] < d * d or d == 1 else (factors**2).sum(axis=1)
    )
    return np.ascontiguousarray(norms)


@functools.lru_cache(maxsize=64)
def _lower_bounds(d: int, kind: SpreadKind) -> Loop:
    """out_a ← Σ mass exp(−‖F_a(mean − c_a)‖² − ‖F_a‖² · mean squared distance) over the cells."""
    exponent_at = exponent(d, kind)
    exp = elementary.exp
    cells = width(d) // CELL

    def lower_bounds_loop(moments, C, factors, widest, out):
        for a in range(len(C)):
            total = 0.0
            for b in range(len(moments)):
                means = moments[b, 1:]
                for cell in range(cells):
                    inner = widest[a] * moments[b, d + 1, cell]
                    total += moments[b, 0, cell] * exp(
                        -inner - exponent_at(means, C[a], factors[a], cell)
                    )
            out[a] = total

    signature = types.void(read(3), read(2), read(2), read(1), write(1))
    return compile_function(lower_bounds_loop, signature, (kind, d))


def _least_radial(d: int) -> Any:
    """rate times the squared distance to the nearest point of each box of a block."""
    cells = width(d) // CELL

    def least_radial(lower, upper, c, factor, least):
        for cell in range(cells):
            s = 0.0
            for t in range(d):
                gap = max(lower[t, cell] - c[t], c[t] - upper[t, cell], 0.0)
                s += gap * gap
            least[cell] = ROUNDING * factor[0] * s

    return part()(least_radial)


def _least_triangular(d: int) -> Any:
    """(‖F(m − c)‖ − ‖|F|h‖)² or 0, for boxes with the middle m and the half widths h."""
    cells = width(d) // CELL

    def least_triangular(lower, upper, c, factor, least):
        for cell in range(cells):
            to_middle = 0.0
            radius = 0.0
            for s in range(d):
                y = 0.0
                r = 0.0
                for t in range(s, d):
                    f = 0.5 * factor[s * d + t]
                    y += f * ((lower[t, cell] - c[t]) + (upper[t, cell] - c[t]))
                    r += abs(f) * (upper[t, cell] - lower[t, cell])
                to_middle += y * y
                radius += r * r
            gap = ROUNDING * np.sqrt(to_middle) - np.sqrt(radius) / ROUNDING
            least[cell] = gap * gap if gap > 0.0 else 0.0

    return part()(least_triangular)


@functools.lru_cache(maxsize=64)
def _within(d: int, kind: SpreadKind) -> Loop:
    """The first and last cell of each block with an exponent below the level of each atom."""
    exponents_of = _least_radial(d) if kind == "scalar" else _least_triangular(d)
    cells = width(d) // CELL

    def cells_within_loop(lower, upper, C, factors, levels, found):
        least = np.empty(cells)
        for b in range(len(lower)):
            for a in range(len(C)):
                exponents_of(lower[b], upper[b], C[a], factors[a], least)
                start = 0
                stop = cells
                while start < cells and not least[start] < levels[a]:
                    start += 1
                while stop > start and not least[stop - 1] < levels[a]:
                    stop -= 1
                found[b, a, 0] = start
                found[b, a, 1] = stop

    out = types.Array(types.uint8, 3, "C")
    signature = types.void(read(3), read(3), read(2), read(2), read(1), out)
    return compile_function(cells_within_loop, signature, (kind, d))

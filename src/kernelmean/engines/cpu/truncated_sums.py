"""Narrow kernels: sums that leave out what float64 cannot see.

Points lie in tree order, so blocks, and cells of 64 points within them, have small boxes. For each
query the boxes bound the sum of absolute terms from below, A ≤ Σ|w|g, and what lies beyond a
distance from above; cells beyond the distance at which that is LOST·A are left out. Blocks come
first and queries second, so that what a block needs is made once for many queries.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import radial, threads
from kernelmean.compiled.compiling import entry, part
from kernelmean.compiled.radial import CompiledRadial, kept
from kernelmean.compiled.signatures import NUMBERS, Loop, read, write
from kernelmean.engines.cpu import box_expansion as expansion
from kernelmean.engines.cpu import gaussian
from kernelmean.engines.cpu.blocks import CELL, Blocks, width
from kernelmean.engines.cpu.bounding_boxes import (
    BOXES,
    box_parts,
    direct_sum,
    sums_over_blocks,
    within,
)
from kernelmean.engines.cpu.loops import compile_for
from kernelmean.kernels import RadialFunction

LOST = 2.0**-51  # of the sum of absolute terms, at most
DOUBLINGS = 16  # of the least value that may be left out, tried at most
FARTHEST = 1e300  # squared distance to a cell without points
NEAR = 1e-1  # blocks that may reach this part of the largest value enter A cell by cell
BISECTIONS = 40  # for the distance at which g comes down to a level
LEAST_VALUES = (
    1e8  # kernel values; fewer take less time than looking, and than compiling what looks
)
FEWEST_BLOCKS = 16  # fewer are not worth looking at one by one
WORTHWHILE = 0.7  # share of the points above which the full sum is as fast
PROBE = 16  # queries that tell whether leaving out pays
STRIP = 64  # queries whose cuts are found together
TILE = 4096  # queries that share what is made once per block
PIECES = 32  # into which the blocks are cut, for threads


def kernel_sum(
    blocks: Blocks, radial_function: RadialFunction, rows: Points, w: Matrix, count: int
) -> Vector | None:
    """f_i = Σ_j w_j g(‖q_i − x_j‖²) over the cells that matter; None where the full sum is as fast.

    Asks for three traits: g must be decreasing; convexity sharpens the bounds, and an exponential
    is summed with fewer operations.
    """
    if blocks.tree is None or not radial_function.traits.decreasing or len(w) < FEWEST_BLOCKS:
        return None
    if blocks.n * len(rows) < LEAST_VALUES or not w.any():
        return None
    X = blocks.points.reshape(len(w), blocks.d, -1, CELL)
    v = w.reshape(len(w), -1, CELL)
    moments = cell_moments(X, v, count)
    _, share = _cuts(
        blocks, radial_function, moments, rows[:: max(1, len(rows) // PROBE)][:PROBE], 1
    )
    if share > WORTHWHILE:
        return None
    cuts, _ = _cuts(blocks, radial_function, moments, rows, count)
    compiled, numbers = radial.compiled(radial_function)
    if radial_function.exponential:
        loop = gaussian.sums_over_cells(compiled, blocks.d, expansion.pays(blocks.d, len(rows)))
    else:
        loop = _sums_over_cells(compiled, blocks.d)
    size = -(-len(w) // PIECES)
    pieces = [slice(b, b + size) for b in range(0, len(w), size)]
    parts = np.zeros((len(pieces), len(rows)))

    def add(p: int, i: slice) -> None:
        b = pieces[p]
        columns = np.ascontiguousarray(rows[i].T)
        lower, upper = (np.ascontiguousarray(box[:, b]) for box in blocks.boxes)
        boxes = lower, upper, blocks.cells[0][b], blocks.cells[1][b]
        loop(X[b], v[b], *boxes, columns, np.ascontiguousarray(cuts[:, i]), *numbers, parts[p, i])

    tiles = [slice(i, i + TILE) for i in range(0, len(rows), TILE)]
    threads.run(add, list(product(range(len(pieces)), tiles)), count)
    total: Vector = parts[0]
    for part_sum in parts[1:]:
        total += part_sum
    return total


def _cuts(
    blocks: Blocks,
    radial_function: RadialFunction,
    moments: NDArray[np.float64],
    rows: Points,
    count: int,
) -> tuple[Matrix, float]:
    """(1 + tiers, q) squared distances, per query, and the share of the blocks within the first."""
    compiled, numbers = radial.compiled(radial_function)
    find = _find_cuts(compiled, blocks.d, radial_function.traits.convex)
    weight = moments[:, 0].sum(axis=1)
    strips = [slice(i, i + STRIP) for i in range(0, len(rows), STRIP)]
    cuts = [np.empty((1 + len(gaussian.SHARES), len(rows[i]))) for i in strips]
    shares = np.zeros((len(strips), 1))
    tasks = [
        (
            *blocks.boxes,
            *blocks.cells,
            moments,
            weight,
            np.ascontiguousarray(rows[i]),
            *numbers,
            own,
            share,
        )
        for i, own, share in zip(strips, cuts, shares, strict=True)
    ]
    threads.run(find, tasks, count)
    return np.concatenate(cuts, axis=1), float(shares.sum()) / len(rows)


def cell_moments(X: NDArray[np.float64], w: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """(blocks, 1 + d + 1, cells): share of Σ|w|, mean and mean squared distance from the mean,
    weighted by |w|.
    """
    moments = np.empty((len(X), X.shape[1] + 2, X.shape[2]))
    threads.run(_add_moments, [(X[b], w[b], moments[b]) for b in threads.pieces(len(X))], count)
    moments[:, 0] /= moments[:, 0].sum()
    return moments


@entry()
def _add_moments(X, w, moments):
    for b in range(len(X)):
        for c in range(X.shape[2]):
            v = np.abs(w[b, c])
            total = 0.0
            square = 0.0
            for j in range(CELL):
                total += v[j]
            for t in range(X.shape[1]):
                x = X[b, t, c]
                mean = 0.0
                for j in range(CELL):
                    mean += v[j] * x[j]
                mean = mean / total if total > 0.0 else 0.0
                for j in range(CELL):
                    square += v[j] * (x[j] - mean) * (x[j] - mean)
                moments[b, 1 + t, c] = mean
            moments[b, 0, c] = total
            moments[b, -1, c] = square / total if total > 0.0 else 0.0


@part()
def _loss(weight, most, least, level):
    """Σ_b mass_b min(g(nearest point of b), level) over the blocks b that reach as low as that."""
    total = 0.0
    for b in range(len(weight)):
        total += weight[b] * min(most[b], level) if least[b] <= level else 0.0
    return total


@part()
def _level(weight, most, least, at_least):
    """The largest of LOST·A·2^k below which all cells may be left out."""
    level = LOST * at_least
    for _ in range(DOUBLINGS):
        if _loss(weight, most, least, 2.0 * level) > LOST * at_least:
            break
        level *= 2.0
    return level


def _distance_of(g: Any) -> Any:
    @part()
    def distance_of(level, high, rate, shape, table):
        """The squared distance at which g has come down to a level, rounded up; inf if beyond
        ``high``.
        """
        low = 0.0
        middle = high
        end = np.inf
        for _ in range(BISECTIONS):
            if g(middle, rate, shape, table) > level:
                low = middle
            else:
                end = middle
            middle = 0.5 * (low + min(end, high))
        return end

    return distance_of


def _near_block(g: Any, d: int, convex: bool) -> Any:
    cells = width(d) // CELL

    @part()
    def near_block(lower, upper, moments, q, rate, shape, table):
        """A lower bound of Σ|w|g over the cells of one block."""
        total = 0.0
        for c in range(cells):
            mean = moments[d + 1, c]
            far = 0.0
            for t in range(d):
                z = moments[1 + t, c] - q[t]
                reach = max(upper[t, c] - q[t], q[t] - lower[t, c])
                mean += z * z
                far += reach * reach
            total += moments[0, c] * g(mean if convex else min(far, FARTHEST), rate, shape, table)
        return total

    return near_block


@kept(64)
def _find_cuts(compiled: CompiledRadial, d: int, convex: bool) -> Loop:
    """Squared distances from which on cells are left out, and from which on less than full
    precision will do.

    A ≤ Σ|w|g is the sum of mass · g over cells near the query, g at the mean squared distance of
    the cell where g is declared convex in r² (Jensen), else at its farthest point, and over the
    other blocks at theirs. If all cells of value at most ``level`` are left
    out, what is lost is at most Σ_b mass_b min(g(nearest point of b), level) over the blocks b that
    reach as low as that. The level is the largest of LOST·A·2^k for which this is at most LOST·A.
    """
    g = compiled.value
    distances = box_parts(d).block_distances
    shares = gaussian.SHARES
    distance_of = _distance_of(g)
    near_block = _near_block(g, d, convex)

    def find_cuts_loop(
        lower, upper, cell_lower, cell_upper, moments, weight, Q, rate, shape, table, cuts, share
    ):
        blocks = len(moments)
        squared = np.empty((2, blocks))
        value = np.empty((2, blocks))
        for i in range(len(Q)):
            distances(lower, upper, Q[i], squared[0], squared[1])
            for side in range(2):
                for b in range(blocks):
                    value[side, b] = g(squared[side, b], rate, shape, table)
            most = value[0]
            least = value[1]
            top = 0.0
            high = 0.0
            at_least = 0.0
            for b in range(blocks):
                top = max(top, most[b])
                high = max(high, squared[1, b])
            for b in range(blocks):
                if most[b] < NEAR * top:
                    at_least += weight[b] * least[b]
                else:
                    at_least += near_block(
                        cell_lower[b], cell_upper[b], moments[b], Q[i], rate, shape, table
                    )
            cuts[0, i] = distance_of(
                _level(weight, most, least, at_least), high, rate, shape, table
            )
            for k in range(len(shares)):
                cuts[1 + k, i] = distance_of(at_least * shares[k], high, rate, shape, table)
            for b in range(blocks):
                share[0] += (squared[0, b] < cuts[0, i]) / blocks

    signature = types.void(*BOXES, read(3), read(1), read(2), *NUMBERS, write(2), write(1))
    return compile_for(find_cuts_loop, signature, compiled, d, convex)


def _add_block(compiled: CompiledRadial, d: int) -> Any:
    cells = width(d) // CELL
    gaps = box_parts(d).gaps
    cell_sum = direct_sum(d, compiled.value)

    @part()
    def add_block(X, w, b, boxes, seen, count, numbers, scratch):
        rate, shape, table = numbers
        sums, zero, some = scratch
        for a in range(count):
            sums[a] = 0.0
        for c in range(cells):
            gaps(boxes.cell_lower[b], boxes.cell_upper[b], c, seen.Q, count, seen.near)
            m = within(seen.near, zero, seen.cuts[0], count, some)
            cell_sum(X, w, c, seen.Q, some, m, rate, shape, table, sums)
        for a in range(count):
            seen.out[seen.found[a]] += sums[a]

    return add_block


@part()
def _reserve(q):
    return np.empty(q), np.zeros(q), np.empty(q + 1, np.int64)


@kept(64)
def _sums_over_cells(compiled: CompiledRadial, d: int) -> Loop:
    """out_i += Σ_j w_j g(‖q_i − x_j‖²) over the cells within the reach of each query."""
    return sums_over_blocks(
        d, _reserve, _add_block(compiled, d), None if compiled.name is None else (compiled.name, d)
    )

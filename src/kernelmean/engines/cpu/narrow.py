"""Narrow kernels: sums that leave out what float64 cannot see.

For each query the boxes of the cells, 64 points each, bound the sum from below, A ≤ Σ|w|g, and each cell's part from
above. Cells are left out, least first, while all that they could add stays below 2⁻⁵³A: half a unit in the last place of
the sum of absolute terms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numba import types
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines.cpu import radial, threads
from kernelmean.engines.cpu.blocks import CELL, Blocks, width
from kernelmean.engines.cpu.compiling import part
from kernelmean.engines.cpu.loops import CHUNK, NUMBERS, TILE, Loop, compile_for, read, write
from kernelmean.engines.cpu.radial import CompiledRadial
from kernelmean.kernels import RadialFunction

LOST = 2.0**-53
LEVELS = 12  # thresholds tried: 2⁻⁵³A times 1, 4, 16, …
NEAR = 1e-4  # blocks with g above this at their nearest point make up A
ROUNDING = 1.0 - 2.0**-48  # box distances, rounded, stay below those of the points
FEWEST_BLOCKS = 16  # fewer are not worth looking at one by one
WORTHWHILE = 0.7  # share of the points, above which the full sum is as fast
PROBE = 64

Runs = NDArray[np.uint8]  # (q, blocks, 2): the first and the last cell, plus one, that matter
Finder = Callable[[Points], Runs]


def finder(blocks: Blocks, radial_function: RadialFunction, rows: Points, w: Matrix) -> Finder | None:
    """A function that tells which cells matter to which queries, where a probe says that this pays; else None."""
    if blocks.tree is None or len(blocks.points) < FEWEST_BLOCKS or not radial_function.decreasing:
        return None
    size = w if w.min() >= 0.0 else np.abs(w)
    total = float(size.sum())
    if total <= 0.0:
        return None
    compiled, numbers = radial.compiled(radial_function)
    loop, boxes, cells = _find_runs(compiled, blocks.d), blocks.boxes, blocks.cells
    mass = size.reshape(len(w), -1, CELL).sum(axis=2) / total

    def find(Q: Points) -> Runs:
        runs = np.empty((len(Q), len(mass), 2), dtype=np.uint8)
        loop(*boxes, *cells, mass, Q, *numbers, runs)
        return runs

    runs = find(np.ascontiguousarray(rows[:: max(1, len(rows) // PROBE)][:PROBE])).astype(np.float64)
    share = (runs[:, :, 1] - runs[:, :, 0]).mean() * CELL / blocks.shape[1]
    return find if share < WORTHWHILE else None


def kernel_sum(blocks: Blocks, radial_function: RadialFunction, find: Finder, rows: Points, w: Matrix, count: int) -> Vector:
    """f_i = Σ_j w_j g(‖q_i − x_j‖²) over the cells that matter."""
    compiled, numbers = radial.compiled(radial_function)
    loop = _run_sums(compiled, blocks.d)
    out = np.zeros(len(rows))

    def add(i: slice) -> None:
        loop(blocks.points, w, rows[i], *numbers, find(rows[i]), out[i])

    threads.run(add, [(slice(i, i + TILE),) for i in range(0, len(rows), TILE)], count)
    return out


@functools.lru_cache(maxsize=64)
def _find_runs(compiled: CompiledRadial, d: int) -> Loop:
    """The run of cells of each block that matters to each query."""
    g, cells = compiled.value, width(d) // CELL

    @part()
    def block_distances(lower, upper, q, closest, farthest):
        """Squared distances from q to the nearest and the farthest point of each block's box."""
        for b in range(len(closest)):
            closest[b], farthest[b] = 0.0, 0.0
        for t in range(d):
            low, high, x = lower[t], upper[t], q[t]
            for b in range(len(closest)):
                gap = max(low[b] - x, x - high[b], 0.0)
                reach = max(high[b] - x, x - low[b])
                closest[b] += gap * gap
                farthest[b] += reach * reach

    @part()
    def cell_values(lower, upper, q, rate, shape, table, most, least):
        """g at the nearest and at the farthest point of the box of each cell of one block."""
        for c in range(cells):
            near, far = 0.0, 0.0
            for t in range(d):
                gap = max(lower[t, c] - q[t], q[t] - upper[t, c], 0.0)
                reach = max(upper[t, c] - q[t], q[t] - lower[t, c])
                near += gap * gap
                far += reach * reach
            most[c] = g(near * ROUNDING, rate, shape, table)
            least[c] = g(far, rate, shape, table)

    def find_runs_loop(lower, upper, cell_lower, cell_upper, mass, Q, rate, shape, table, runs):
        blocks = len(mass)
        closest, farthest = np.empty(blocks), np.empty(blocks)
        most, least = np.empty((blocks, cells)), np.empty(cells)
        left_out = np.empty(LEVELS)
        for i in range(len(Q)):
            block_distances(lower, upper, Q[i], closest, farthest)
            at_least = 0.0
            for b in range(blocks):
                closest[b] = g(closest[b] * ROUNDING, rate, shape, table)
            for b in range(blocks):
                if closest[b] > NEAR:
                    cell_values(cell_lower[b], cell_upper[b], Q[i], rate, shape, table, most[b], least)
                    for c in range(cells):
                        at_least += mass[b, c] * least[c]
            allowed = LOST * at_least
            left_out[:] = 0.0
            for b in range(blocks):
                if closest[b] <= allowed:
                    for c in range(cells):
                        left_out[0] += mass[b, c] * closest[b]
                elif closest[b] <= NEAR:
                    cell_values(cell_lower[b], cell_upper[b], Q[i], rate, shape, table, most[b], least)
                    for c in range(cells):
                        level, k = allowed, 0
                        while most[b, c] > level and k < LEVELS:
                            level, k = 4.0 * level, k + 1
                        if k < LEVELS:
                            left_out[k] += mass[b, c] * most[b, c]
            level, total = allowed, left_out[0]
            for k in range(1, LEVELS):
                total += left_out[k]
                if total > allowed:
                    break
                level = allowed * 4.0**k
            for b in range(blocks):
                first, last = cells, 0
                if closest[b] > allowed:
                    for c in range(cells):
                        if most[b, c] > level:
                            first = min(first, c)
                            last = c + 1
                runs[i, b, 0], runs[i, b, 1] = min(first, last), last

    signature = types.void(read(2), read(2), read(3), read(3), read(2), read(2), *NUMBERS, types.Array(types.uint8, 3, "C"))
    return compile_for(find_runs_loop, signature, compiled, d)


@functools.lru_cache(maxsize=64)
def _run_sums(compiled: CompiledRadial, d: int) -> Loop:
    """out_i += Σ_j w_j g(‖q_i − x_j‖²) over the runs of each query."""
    g = compiled.value

    @part()
    def sum_over_run(block, v, q, first, last, rate, shape, table):
        total = 0.0
        for j in range(np.uint64(first), np.uint64(last)):  # unsigned: an index that might be negative is not contiguous
            s = 0.0
            for t in range(d):
                z = block[t, j] - q[t]
                s += z * z
            total += v[j] * g(s, rate, shape, table)
        return total

    def run_sums_loop(X, w, Q, rate, shape, table, runs, out):
        for chunk in range(0, len(X), CHUNK):
            for i in range(len(Q)):
                partial = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    first, last = CELL * np.int64(runs[i, b, 0]), CELL * np.int64(runs[i, b, 1])
                    if last > first:
                        partial += sum_over_run(X[b], w[b], Q[i], first, last, rate, shape, table)
                out[i] += partial

    runs = types.Array(types.uint8, 3, "C", readonly=True)
    signature = types.void(read(3), read(2), read(2), *NUMBERS, runs, write(1))
    return compile_for(run_sums_loop, signature, compiled, d)

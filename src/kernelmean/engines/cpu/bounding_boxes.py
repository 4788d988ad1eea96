"""Which queries come how near to which boxes: parts of the loops over narrow kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from kernelmean.compiled.compiling import compile_function, part, shared
from kernelmean.compiled.signatures import NUMBERS, Loop, read, write
from kernelmean.engines.cpu.blocks import CELL
from kernelmean.engines.cpu.loops import CHUNK

ROUNDING = 1.0 - 2.0**-48  # box distances, rounded, stay below those of the points
BOXES = (
    read(2),
    read(2),
    read(3),
    read(3),
)  # of blocks, (d, blocks), and of cells, (blocks, d, cells): lower, upper


class Boxes(NamedTuple):
    """Of blocks and of cells."""

    lower: Any
    upper: Any
    cell_lower: Any
    cell_upper: Any


class Seen(NamedTuple):
    """The queries that a block matters to, side by side; ``found`` are their places in ``out``."""

    Q: Any  # (d, ·)
    cuts: Any  # (tiers, ·)
    found: Any
    near: Any  # for their distances to a cell
    out: Any


class BoxParts(NamedTuple):
    """Compiled parts for one dimension."""

    block_distances: Any
    gaps: Any
    take: Any


@shared(64)
def box_parts(d: int) -> BoxParts:
    @part()
    def block_distances(lower, upper, q, closest, farthest):
        """Squared distances from q to the nearest and the farthest point of each block's box."""
        for b in range(len(closest)):
            closest[b] = 0.0
            farthest[b] = 0.0
        for t in range(d):
            low = lower[t]
            high = upper[t]
            x = q[t]
            for b in range(len(closest)):
                gap = max(low[b] - x, x - high[b], 0.0)
                reach = max(high[b] - x, x - low[b])
                closest[b] += ROUNDING * gap * gap
                farthest[b] += reach * reach

    @part()
    def gaps(lower, upper, c, columns, count, near):
        """Squared distances from the first queries to the nearest point of box c."""
        for i in range(count):
            s = 0.0
            for t in range(d):
                gap = max(lower[t, c] - columns[t, i], columns[t, i] - upper[t, c], 0.0)
                s += gap * gap
            near[i] = ROUNDING * s

    @part()
    def take(columns, cuts, found, count, own, own_cuts):
        """The queries found, side by side, with their cuts."""
        for t in range(d):
            for a in range(count):
                own[t, a] = columns[t, found[a]]
        for k in range(len(cuts)):
            for a in range(count):
                own_cuts[k, a] = cuts[k, found[a]]

    return BoxParts(block_distances, gaps, take)


@part()
def within(near, lowest, highest, count, found):
    """The queries of which lowest ≤ near < highest; how many."""
    m = 0
    for i in range(count):
        found[m] = i
        m += (near[i] >= lowest[i]) & (near[i] < highest[i])
    return m


def direct_sum(d: int, g: Any) -> Any:
    """sums_a += Σ_j w_j g(‖q_a − x_j‖²) over cell c, for the queries in a list."""

    @part()
    def cell_sum(X, w, c, Q, found, count, rate, shape, table, sums):
        for a in range(count):
            i = found[a]
            total = 0.0
            for j in range(CELL):
                s = 0.0
                for t in range(d):
                    z = X[t, c, j] - Q[t, i]
                    s += z * z
                total += w[c, j] * g(s, rate, shape, table)
            sums[i] += total

    return cell_sum


def sums_over_blocks(
    d: int, reserve: Any, add_block: Any, constants: tuple[object, ...] | None
) -> Loop:
    """out_i += the sums over the blocks within the reach of query i, chunk by chunk.

    ``add_block(X, w, b, boxes, seen, count, numbers, scratch)`` adds block b for ``count`` queries
    seen, in what ``reserve(q)`` has made for q of them.
    """
    parts = box_parts(d)
    gaps = parts.gaps
    take = parts.take

    def sums_over_blocks_loop(
        X, w, lower, upper, cell_lower, cell_upper, columns, cuts, rate, shape, table, out
    ):
        q = len(out)
        near = np.empty(q)
        zero = np.zeros(q)
        partial = np.empty(q)
        found = np.empty(q + 1, np.int64)
        seen = Seen(np.empty((d, q)), np.empty((len(cuts), q)), found, near, partial)
        boxes = Boxes(lower, upper, cell_lower, cell_upper)
        numbers = (rate, shape, table)
        scratch = reserve(q)
        for chunk in range(0, len(X), CHUNK):
            for i in range(q):
                partial[i] = 0.0
            for b in range(chunk, min(chunk + CHUNK, len(X))):
                gaps(lower, upper, b, columns, q, near)
                count = within(near, zero, cuts[0], q, found)
                if count > 0:
                    take(columns, cuts, found, count, seen.Q, seen.cuts)
                    add_block(X[b], w[b], b, boxes, seen, count, numbers, scratch)
            for i in range(q):
                out[i] += partial[i]

    signature = types.void(read(4), read(3), *BOXES, read(2), read(2), *NUMBERS, write(1))
    return compile_function(sums_over_blocks_loop, signature, constants)

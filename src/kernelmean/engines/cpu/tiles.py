"""Squared distances of a tile of queries to the points of a block, summed in coordinate order.

In few coordinates a block stays in the fastest cache, and queries come one by one. In many it does
not: there a strip of the coordinates of a block, 4 KiB, meets all queries of the tile before the
next strip is fetched, and three queries share each number that is loaded. The sums of the tile wait
in the cache meanwhile. A query gets the same bits alone, in a group, and in any tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelmean.compiled.compiling import part
from kernelmean.engines.cpu.blocks import LINE, STRIP, UNROLLED, width

GROUP = 3  # queries whose strips, 24 coordinates in all, fill the registers
GROUPS = 22  # whose sums of a block, 33 KiB, stay in the fastest cache
TILE = GROUPS * GROUP  # queries that share a block while it is in cache


class Distances(NamedTuple):
    """What a loop calls to come by r² of the queries of a tile and the points of a block.

    ``reserve(coordinates)`` makes the scratch; ``gather(Q, first, last, scratch)`` takes a tile in;
    ``meet(block, Q, first, last, scratch)`` does what is done for all of it at once;
    ``row(block, q, i, scratch)`` is the row of its i-th query, for the loop to write on.
    """

    reserve: Any
    gather: Any
    meet: Any
    row: Any


def distances(d: int, fastmath: set[str]) -> Distances:
    """Query by query in few coordinates, by tiles in many."""
    return _query_by_query(d, fastmath) if d <= UNROLLED else _by_tiles(d, fastmath)


def distance_step(d: int, fastmath: set[str], cut: bool = False) -> Any:
    """r2_j ← ‖x_j − q‖² for the points of one block, added in coordinate order; in few coordinates
    it may be cut short.
    """
    B = 0 if cut and d <= UNROLLED else width(d)

    def unrolled(block, q, r2):
        for j in range(B or len(r2)):
            s = 0.0
            for t in range(d):
                z = block[t, j] - q[t]
                s += z * z
            r2[j] = s

    def in_strips(block, q, r2):
        for j in range(B):
            r2[j] = 0.0
        for start in range(0, len(q), STRIP):
            strip = block[start : start + STRIP]
            p = q[start : start + STRIP]
            for j in range(B):
                s = r2[j]
                for t in range(STRIP):
                    z = strip[t, j] - p[t]
                    s += z * z
                r2[j] = s

    return part(fastmath)(unrolled if d <= UNROLLED else in_strips)


def dimension_key(d: int) -> int:
    """Dimensions that share a compiled loop share a key."""
    return d if d <= UNROLLED else UNROLLED + 1


def _query_by_query(d: int, fastmath: set[str]) -> Distances:
    B = width(d)
    squared_distances = distance_step(d, fastmath)

    def reserve(coordinates):
        return np.empty(B)

    def gather(Q, first, last, r2):
        pass

    def meet(block, Q, first, last, r2):
        pass

    def row(block, q, i, r2):
        squared_distances(block, q, r2)
        return r2

    return Distances(*(part(fastmath)(step) for step in (reserve, gather, meet, row)))


def _by_tiles(d: int, fastmath: set[str]) -> Distances:
    B = width(d)
    aligned = _aligned()
    group_step = _group_step(B, fastmath)
    squared_distances = distance_step(d, fastmath)

    def reserve(coordinates):
        r2 = aligned(TILE * B).reshape(TILE, B)
        P = aligned(TILE * coordinates)
        return r2, P.reshape(coordinates // STRIP, GROUPS, GROUP * STRIP)

    def gather(Q, first, last, scratch):
        """The whole groups of the tile, strip by strip: what meets a strip lies together."""
        P = scratch[1]
        for k in range(len(P)):
            for g in range((last - first) // GROUP):
                for i in range(GROUP):
                    for t in range(STRIP):
                        P[k, g, i * STRIP + t] = Q[first + g * GROUP + i, k * STRIP + t]

    def meet(block, Q, first, last, scratch):
        rows, P = scratch
        grouped = (last - first) // GROUP
        if grouped > 0:
            r2 = rows.reshape(GROUPS, GROUP * B)
            strips = block.reshape(len(P), STRIP * B)
            for g in range(grouped):
                for j in range(GROUP * B):
                    r2[g, j] = 0.0
            for k in range(len(P)):
                for g in range(grouped):
                    group_step(strips[k], P[k, g], r2[g])
        for i in range(grouped * GROUP, last - first):
            squared_distances(block, Q[first + i], rows[i])

    def row(block, q, i, scratch):
        return scratch[0][i]

    return Distances(*(part(fastmath)(step) for step in (reserve, gather, meet, row)))


def _aligned() -> Any:
    @part()
    def aligned(count):
        """Room for so many numbers from the start of a cache line on."""
        room = np.empty(count + LINE)
        start = -(room.ctypes.data // 8) % LINE
        return room[start : start + count]

    return aligned


def _group_step(B: int, fastmath: set[str]) -> Any:
    def group_step(x, p, r2):
        """r2 ← r2 + Σ_t (x_t − p_t)² over one strip, three queries at once: flat arrays, one index,
        so that the compiler sees that nothing overlaps.
        """
        for j in range(B):
            s0 = r2[j]
            s1 = r2[B + j]
            s2 = r2[2 * B + j]
            for t in range(STRIP):
                z0 = x[t * B + j] - p[t]
                s0 += z0 * z0
                z1 = x[t * B + j] - p[STRIP + t]
                s1 += z1 * z1
                z2 = x[t * B + j] - p[2 * STRIP + t]
                s2 += z2 * z2
            r2[j] = s0
            r2[B + j] = s1
            r2[2 * B + j] = s2

    return part(fastmath)(group_step)

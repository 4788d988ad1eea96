"""Which queries come how near to which boxes: parts of the loops over narrow kernels."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from kernelmean.engines.cpu.blocks import CELL
from kernelmean.engines.cpu.compiling import part
from kernelmean.engines.cpu.loops import read

ROUNDING = 1.0 - 2.0**-48  # box distances, rounded, stay below those of the points
BOXES = (read(2), read(2), read(3), read(3))  # of blocks, (d, blocks), and of cells, (blocks, d, cells): lower, upper


class BoxParts(NamedTuple):
    """Compiled parts for one dimension."""

    block_distances: Any
    gaps: Any
    take: Any


@functools.lru_cache(maxsize=64)
def box_parts(d: int) -> BoxParts:
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
            i, total = found[a], 0.0
            for j in range(CELL):
                s = 0.0
                for t in range(d):
                    z = X[t, c, j] - Q[t, i]
                    s += z * z
                total += w[c, j] * g(s, rate, shape, table)
            sums[i] += total

    return cell_sum

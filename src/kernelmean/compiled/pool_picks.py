"""Farthest-first among a pool of points, as long as the pool can tell."""

from __future__ import annotations

import numpy as np

from kernelmean.compiled.compiling import EXACT_MATH, entry, part

THINNED = 16  # picks after which points that can no longer be picked are left behind


@entry(EXACT_MATH)
def pick(pool, rows, squares):
    """Fill ``rows`` with the next centres while the best of the pool beats (bound, rival); how
    many.

    Beats: farther, or as far with a lower row, which is the order of the sequential loop. Points
    below the bound are left behind every few picks: distances only fall, so they cannot be picked.
    """
    live = np.arange(len(pool.rows))
    points = pool.points.copy()
    nearest = pool.nearest.copy()
    sums = np.empty(len(pool.rows))
    size = len(pool.rows)
    found = len(rows)
    for k in range(len(rows)):
        if k % THINNED == 0:
            size = _thin(pool.bound, live, points, nearest, size, pool.nearest)
        j = 0
        for i in range(1, size):
            if nearest[i] > nearest[j]:
                j = i
        far = nearest[j] if size else 0.0
        if (
            far <= 0.0
            or far < pool.bound
            or (far == pool.bound and pool.rows[live[j]] > pool.rival)
        ):
            found = k
            break
        rows[k] = pool.rows[live[j]]
        squares[k] = far
        for i in range(size):
            sums[i] = 0.0
        for t in range(len(points)):
            c = points[t, j]
            for i in range(size):
                g = points[t, i] - c
                sums[i] += g * g
        for i in range(size):
            nearest[i] = sums[i] if sums[i] < nearest[i] else nearest[i]
    _thin(pool.bound, live, points, nearest, size, pool.nearest)
    return found


@part(EXACT_MATH)
def _thin(bound, live, points, nearest, size, everyone):
    """Move what is at least as far as the bound to the front, in order, and write all distances
    back; how many.
    """
    kept = 0
    for i in range(size):
        everyone[live[i]] = nearest[i]
        live[kept] = live[i]
        nearest[kept] = nearest[i]
        for t in range(len(points)):
            points[t, kept] = points[t, i]
        kept += nearest[i] >= bound
    return kept

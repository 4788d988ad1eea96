"""Farthest-first among a pool of points in NumPy, as long as the pool can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Vector
from kernelmean._work import compiling_pays
from kernelmean.engines.optional_protocols import Pool

STEPS = 3.0  # of NumPy, for a coordinate of a point


def pick(pool: Pool, rows: NDArray[np.int64], squares: Vector) -> int:
    """Fill ``rows`` with the next centres while the best of the pool beats (bound, rival).

    Beats: farther, or as far with a lower row, which is the order of the sequential loop. Returned
    is how many there are; ``pool.nearest`` hears of them. In a compiled loop where that pays.
    """
    if not compiling_pays(STEPS * len(rows) * pool.points.size):
        return plain_pick(pool, rows, squares)
    from kernelmean.compiled.pool_picks import pick as compiled_pick

    found: int = compiled_pick(pool, rows, squares)
    return found


def plain_pick(pool: Pool, rows: NDArray[np.int64], squares: Vector) -> int:
    """:func:`pick` in NumPy, to the bit: coordinate by coordinate."""
    for k in range(len(rows)):
        j = int(np.argmax(pool.nearest)) if len(pool.nearest) else -1
        if j < 0 or pool.nearest[j] <= 0.0 or not _beats(pool, j):
            return k
        rows[k] = pool.rows[j]
        squares[k] = pool.nearest[j]
        sums = np.zeros(len(pool.rows))
        for own in pool.points:
            gaps = own - own[j]
            gaps *= gaps
            sums += gaps
        np.minimum(pool.nearest, sums, out=pool.nearest)
    return len(rows)


def _beats(pool: Pool, j: int) -> bool:
    far = pool.nearest[j]
    return bool(far > pool.bound or (far == pool.bound and pool.rows[j] <= pool.rival))

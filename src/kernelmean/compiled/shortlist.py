"""Picks from a shortlist of candidates, one by one: a few hundred numbers each time, which NumPy's
calls would outweigh.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import types

from kernelmean.compiled import elementary
from kernelmean.compiled import gains as scores
from kernelmean.compiled.compiling import compile_function, part
from kernelmean.compiled.signatures import Loop, read, write

FLOOR = scores.FLOOR
NEVER = scores.NEVER


@functools.lru_cache(maxsize=1)
def score() -> Any:
    """The gain of one candidate, −inf at the floor."""
    free = part()(scores.free_gain)
    unit_sum = part()(scores.unit_sum_gain)
    sqrt = elementary.sqrt
    where = part()(lambda condition, a, b: a if condition else b)

    def of_one(r, u, square, wy, w2, constrained):
        if square <= FLOOR:
            return NEVER
        return unit_sum(r, u, square, wy, w2, sqrt, where) if constrained else free(r, square)

    return part()(of_one)


@functools.lru_cache(maxsize=1)
def shortlisted() -> Loop:
    """Positions of the best picks, and their number; v = G_j/√G_jj for the residual Gram matrix G.

    ``left`` are r, u and P² of the listed candidates, ``sums`` Σwy and Σw² of the centres so far;
    both are used up. Ends where ``outside``, (r, u, P²) of the best candidate that is not listed,
    may be better. It is scored anew after each pick, with the new sums: with weights that sum to
    one, a pick lowers all scores.
    """
    gain = score()

    def shortlisted_loop(G, left, sums, outside, constrained, chosen):
        size = left.shape[1]
        rows = np.empty((len(chosen), size))
        for count in range(len(chosen)):
            best = NEVER
            j = -1
            for i in range(size):
                value = gain(left[0, i], left[1, i], left[2, i], sums[0], sums[1], constrained)
                if value > best:
                    best = value
                    j = i
            if j < 0 or (
                count
                and best < gain(outside[0], outside[1], outside[2], sums[0], sums[1], constrained)
            ):
                return count
            P = math.sqrt(left[2, j])
            y = left[0, j] / P
            w = left[1, j] / P
            for i in range(size):
                rows[count, i] = G[j, i]
            for c in range(count):
                share = rows[c, j]
                for i in range(size):
                    rows[count, i] -= share * rows[c, i]
            for i in range(size):
                v = rows[count, i] / P
                rows[count, i] = v
                left[0, i] -= y * v
                left[1, i] -= w * v
                left[2, i] -= v * v
            sums[0] += w * y
            sums[1] += w * w
            left[2, j] = 0.0
            chosen[count] = j
        return len(chosen)

    signature = types.int64(
        read(2), write(2), write(1), read(1), types.boolean, types.Array(types.int64, 1, "C")
    )
    return compile_function(shortlisted_loop, signature, ())

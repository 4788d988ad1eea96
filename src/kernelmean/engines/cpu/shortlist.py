"""Picks from a shortlist of candidates, one by one: a few hundred numbers each time, which NumPy's calls would outweigh."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numba import types

from kernelmean.engines import scores
from kernelmean.engines.cpu import elementary
from kernelmean.engines.cpu.compiling import compile_function, part
from kernelmean.engines.cpu.loops import Loop, read, write

FLOOR = scores.FLOOR


@functools.lru_cache(maxsize=1)
def score() -> Any:
    """The gain of one candidate, −inf at the floor."""
    free, unit_sum = part()(scores.free_gain), part()(scores.unit_sum_gain)
    sqrt, where = elementary.sqrt, part()(lambda condition, a, b: a if condition else b)

    def of_one(r, u, square, sums, constrained):
        if square <= FLOOR:
            return -np.inf
        return unit_sum(r, u, square, sums[1], sums[2], sqrt, where) if constrained else free(r, square)

    return part()(of_one)


@functools.lru_cache(maxsize=1)
def shortlisted() -> Loop:
    """Positions of the best picks, and their number; v = G_j/√G_jj for the residual Gram matrix G.

    Ends where ``outside``, (r, u, P²) of the best candidate that is not listed, may be better. It is scored anew after each
    pick, with the new sums: with weights that sum to one, a pick lowers all scores.
    """
    gain = score()

    def shortlisted_loop(G, left, sums, outside, constrained, chosen):
        r, u, squares = left[0], left[1], left[2]
        rows = np.empty((len(chosen), len(r)))
        for count in range(len(chosen)):
            best, j = -np.inf, -1
            for i in range(len(r)):
                value = gain(r[i], u[i], squares[i], sums, constrained)
                if value > best:
                    best, j = value, i
            if j < 0 or (count and best < gain(outside[0], outside[1], outside[2], sums, constrained)):
                return count
            v, P = rows[count], math.sqrt(squares[j])
            v[:] = G[j]
            for c in range(count):
                share = rows[c, j]
                for i in range(len(v)):
                    v[i] -= share * rows[c, i]
            y, w = r[j] / P, u[j] / P
            for i in range(len(v)):
                v[i] /= P
                r[i] -= y * v[i]
                u[i] -= w * v[i]
                squares[i] -= v[i] * v[i]
            sums[0] += y * y
            sums[1] += w * y
            sums[2] += w * w
            squares[j] = 0.0
            chosen[count] = j
        return len(chosen)

    signature = types.int64(read(2), write(2), write(1), read(1), types.boolean, types.Array(types.int64, 1, "C"))
    return compile_function(shortlisted_loop, signature, ())

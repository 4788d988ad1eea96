"""Compiled loops over atoms with a variance each: blocks of atoms, and every atom its own rate.

exp(−rate_a ‖q − c_a‖²) in the place of one rate for all costs one more number read per pair; the
rest is as in the loops over points. The height of an atom is in its weight.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import SAFE_MATH, compile_function, part
from kernelmean.compiled.radial import FUSED
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines.cpu.blocks import CELL, UNROLLED, width
from kernelmean.engines.cpu.loops import CHUNK
from kernelmean.engines.cpu.shifts import PULL, STEP, VALUE
from kernelmean.engines.cpu.tiles import TILE, dimension_key, distance_step, distances


def _block_sum(d: int, length: int) -> Any:
    """Σ_a v_a exp(−rate_a ‖q − c_a‖²) over ``length`` atoms of a block, or over all where that is
    0; in few coordinates in one step, beyond by way of a buffer.
    """
    exp = elementary.exp
    squared_distances = distance_step(d, SAFE_MATH)

    def in_one_step(block, v, rate, q, r2):
        total = 0.0
        for j in range(length or len(v)):
            s = 0.0
            for t in range(d):
                z = block[t, j] - q[t]
                s += z * z
            total += v[j] * exp(-(rate[j] * s))
        return total

    def in_two_steps(block, v, rate, q, r2):
        squared_distances(block, q, r2)
        total = 0.0
        for j in range(len(r2)):
            total += v[j] * exp(-(rate[j] * r2[j]))
        return total

    return part()(in_one_step if d <= FUSED else in_two_steps)


@functools.lru_cache(maxsize=64)
def kernel_sum(d: int) -> Loop:
    """out_i += Σ_a v_a exp(−rate_a ‖q_i − c_a‖²); in few coordinates the blocks may be cut
    short.
    """
    if d > UNROLLED:
        return _kernel_sum_by_tiles(d)
    B = width(d)
    sum_over_block = _block_sum(d, B)
    sum_over_short_block = _block_sum(d, 0)

    def atom_kernel_sum_loop(C, v, rates, Q, out):
        r2 = np.empty(B)
        partial = np.empty(TILE)
        whole = C.shape[2] == B
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            for chunk in range(0, len(C), CHUNK):
                for i in range(TILE):
                    partial[i] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(C))):
                    if whole:
                        for i in range(first, last):
                            partial[i - first] += sum_over_block(C[b], v[b], rates[b], Q[i], r2)
                    else:
                        for i in range(first, last):
                            partial[i - first] += sum_over_short_block(
                                C[b], v[b], rates[b], Q[i], r2
                            )
                for i in range(first, last):
                    out[i] += partial[i - first]

    signature = types.void(read(3), read(2), read(2), read(2), write(1))
    return compile_function(atom_kernel_sum_loop, signature, (dimension_key(d),))


def _kernel_sum_by_tiles(d: int) -> Loop:
    """The same in many coordinates, where the distances of a tile are found together."""
    B = width(d)
    exp = elementary.exp
    reserve, gather, meet, row = distances(d, SAFE_MATH)

    def atom_kernel_sum_loop(C, v, rates, Q, out):
        scratch = reserve(Q.shape[1])
        partial = np.empty(TILE)
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for chunk in range(0, len(C), CHUNK):
                for i in range(TILE):
                    partial[i] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(C))):
                    meet(C[b], Q, first, last, scratch)
                    w = v[b]
                    rate = rates[b]
                    for i in range(first, last):
                        r2 = row(C[b], Q[i], i - first, scratch)
                        total = 0.0
                        for j in range(B):
                            total += w[j] * exp(-(rate[j] * r2[j]))
                        partial[i - first] += total
                for i in range(first, last):
                    out[i] += partial[i - first]

    signature = types.void(read(3), read(2), read(2), read(2), write(1))
    return compile_function(atom_kernel_sum_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def kernel_sum_columns(d: int) -> Loop:
    """out_ic += Σ_a V_ac exp(−rate_a ‖q_i − c_a‖²): the exponential is computed once for all
    columns.
    """
    B = width(d)
    reserve, gather, meet, row = distances(d, SAFE_MATH)
    exp = elementary.exp

    def atom_kernel_sum_columns_loop(C, V, rates, Q, out):
        scratch = reserve(Q.shape[1])
        partial = np.empty((TILE, V.shape[1]))
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for chunk in range(0, len(C), CHUNK):
                for i in range(TILE):
                    for c in range(partial.shape[1]):
                        partial[i, c] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(C))):
                    rate = rates[b]
                    meet(C[b], Q, first, last, scratch)
                    for i in range(first, last):
                        r2 = row(C[b], Q[i], i - first, scratch)
                        for j in range(B):
                            r2[j] = exp(-(rate[j] * r2[j]))
                        for c in range(V.shape[1]):
                            v = V[b, c]
                            total = 0.0
                            for j in range(B):
                                total += v[j] * r2[j]
                            partial[i - first, c] += total
                for i in range(first, last):
                    for c in range(out.shape[1]):
                        out[i, c] += partial[i - first, c]

    signature = types.void(read(3), read(3), read(2), read(2), write(2))
    return compile_function(atom_kernel_sum_columns_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def log_kernel_sum(d: int) -> Loop:
    """(peak_i, total_i) such that log Σ_a v_a exp(−rate_a ‖q_i − c_a‖²) = peak_i + log total_i, the
    peak raised as larger terms appear.
    """
    B = width(d)
    reserve, gather, meet, row = distances(d, SAFE_MATH)
    exp = elementary.exp

    def atom_log_kernel_sum_loop(C, log_v, rates, Q, peak, total):
        scratch = reserve(Q.shape[1])
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for b in range(len(C)):
                v = log_v[b]
                rate = rates[b]
                meet(C[b], Q, first, last, scratch)
                for i in range(first, last):
                    terms = row(C[b], Q[i], i - first, scratch)
                    highest = -np.inf
                    for j in range(B):
                        terms[j] = v[j] - rate[j] * terms[j]
                        highest = max(highest, terms[j])
                    if highest == -np.inf:
                        continue
                    if highest > peak[i]:
                        total[i] *= exp(peak[i] - highest)
                        peak[i] = highest
                    level = peak[i]
                    s = 0.0
                    for j in range(B):
                        s += exp(terms[j] - level)
                    total[i] += s

    signature = types.void(read(3), read(2), read(2), read(2), write(1), write(1))
    return compile_function(atom_log_kernel_sum_loop, signature, (dimension_key(d),))


@functools.lru_cache(maxsize=64)
def shift(d: int) -> Loop:
    """peak_i and sums_i relative to it: Σ vg, Σ vψ and Σ vψ(c − q), ψ = g · rate_a/rate.

    Columns as in the loop over points; none of them is at a kink.
    """
    B = width(d)
    reserve, gather, meet, row = distances(d, SAFE_MATH)
    exp = elementary.exp

    def atom_shift_loop(C, log_v, rates, live, Q, rate, peak, total):
        scratch = reserve(Q.shape[1])
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for b in range(len(C)):
                block = C[b]
                v = log_v[b]
                own = rates[b]
                m = min(B, -(-(live - b * B) // CELL) * CELL)  # cells of padding alone are left out
                meet(block, Q, first, last, scratch)
                for i in range(first, last):
                    q = Q[i]
                    out = total[i]
                    terms = row(block, q, i - first, scratch)
                    highest = -np.inf
                    for j in range(m):
                        terms[j] = v[j] - own[j] * terms[j]
                        highest = max(highest, terms[j])
                    if highest == -np.inf:
                        continue
                    if highest > peak[i]:
                        scale = exp(peak[i] - highest)
                        for t in range(len(out)):
                            out[t] *= scale
                        peak[i] = highest
                    level = peak[i]
                    value = 0.0
                    pull = 0.0
                    for j in range(m):
                        e = exp(terms[j] - level)
                        value += e
                        terms[j] = e * (own[j] / rate)
                        pull += terms[j]
                    out[VALUE] += value
                    out[PULL] += pull
                    for t in range(len(q)):
                        x = block[t]
                        o = q[t]
                        s = 0.0
                        for j in range(m):
                            s += terms[j] * (x[j] - o)
                        out[STEP + t] += s

    signature = types.void(
        read(3), read(2), read(2), types.int64, read(2), types.float64, write(1), write(2)
    )
    return compile_function(atom_shift_loop, signature, (dimension_key(d),))

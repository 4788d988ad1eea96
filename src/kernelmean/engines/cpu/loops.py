"""Compiled loops over blocks: arrays in, arrays out, no flags. Each is made for one dimension and
one radial.

A query passes over a block in two steps: squared distances into a buffer that stays in the fastest
cache, then the radial and the sum. Block sums are added up within chunks, and chunks in order, so
that n = 10⁷ terms lose no digit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numba import types

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import EXACT_MATH, SAFE_MATH, compile_function, part
from kernelmean.compiled.radial import CompiledRadial, kept
from kernelmean.compiled.signatures import NUMBERS, Loop, read, write
from kernelmean.engines.cpu.blocks import UNROLLED, width
from kernelmean.engines.cpu.tiles import TILE, dimension_key, distance_step, distances

CHUNK = 64  # blocks


@kept(256)
def block_sum(radial: CompiledRadial, d: int) -> Any:
    """Σ_j v_j g(‖q − x_j‖²) over one block; in few coordinates in one step, beyond by way of a
    buffer.
    """
    B = width(d)
    whole = radial.whole
    g = radial.rest
    squared_distances = distance_step(d, SAFE_MATH)

    def in_two_steps(block, v, q, rate, shape, table, r2):
        squared_distances(block, q, r2)
        whole(r2, rate, shape, table)
        total = 0.0
        for j in range(B):
            total += v[j] * g(r2[j], rate, shape, table)
        return total

    return fused_sum(radial, d, B) if d <= radial.fused else part()(in_two_steps)


def short_block_sum(radial: CompiledRadial, d: int) -> Any:
    """The same over a block that was cut short."""
    return (
        fused_sum(radial, d, 0) if d <= radial.fused else block_sum(radial, d)
    )  # blocks are narrow there, and never cut


@kept(256)
def fused_sum(radial: CompiledRadial, d: int, length: int) -> Any:
    """The same in one step over ``length`` points, or over all of a block where that is 0.

    A length known to the compiler is a twentieth faster.
    """
    g = radial.value
    whole = radial.whole
    rest = radial.rest
    squared_distances = distance_step(d, SAFE_MATH, cut=True)

    def in_one_step(block, v, q, rate, shape, table, r2):
        total = 0.0
        for j in range(length or len(v)):
            s = 0.0
            for t in range(d):
                z = block[t, j] - q[t]
                s += z * z
            total += v[j] * g(s, rate, shape, table)
        return total

    def in_steps(block, v, q, rate, shape, table, r2):
        terms = r2[: len(v)]
        squared_distances(block, q, terms)
        whole(terms, rate, shape, table)
        total = 0.0
        for j in range(len(v)):
            total += v[j] * rest(terms[j], rate, shape, table)
        return total

    return part()(in_steps if radial.in_steps else in_one_step)


@kept(256)
def kernel_sum(radial: CompiledRadial, d: int) -> Loop:
    """out_i += Σ_j w_j g(‖q_i − x_j‖²); in few coordinates the blocks may be cut short."""
    if d > UNROLLED:
        return _kernel_sum_by_tiles(radial, d)
    B = width(d)
    sum_over_block = block_sum(radial, d)
    sum_over_short_block = short_block_sum(radial, d)

    def kernel_sum_loop(X, w, Q, rate, shape, table, out):
        r2 = np.empty(B)
        partial = np.empty(TILE)
        whole = X.shape[2] == B
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    partial[i] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    if whole:
                        for i in range(first, last):
                            partial[i - first] += sum_over_block(
                                X[b], w[b], Q[i], rate, shape, table, r2
                            )
                    else:
                        for i in range(first, last):
                            partial[i - first] += sum_over_short_block(
                                X[b], w[b], Q[i], rate, shape, table, r2
                            )
                for i in range(first, last):
                    out[i] += partial[i - first]

    signature = types.void(read(3), read(2), read(2), *NUMBERS, write(1))
    return compile_for(kernel_sum_loop, signature, radial, d)


def _kernel_sum_by_tiles(radial: CompiledRadial, d: int) -> Loop:
    """The same in many coordinates, where the distances of a tile are found together."""
    B = width(d)
    whole = radial.whole
    g = radial.rest
    reserve, gather, meet, row = distances(d, SAFE_MATH)

    def kernel_sum_loop(X, w, Q, rate, shape, table, out):
        scratch = reserve(Q.shape[1])
        partial = np.empty(TILE)
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    partial[i] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    meet(X[b], Q, first, last, scratch)
                    v = w[b]
                    for i in range(first, last):
                        r2 = row(X[b], Q[i], i - first, scratch)
                        whole(r2, rate, shape, table)
                        total = 0.0
                        for j in range(B):
                            total += v[j] * g(r2[j], rate, shape, table)
                        partial[i - first] += total
                for i in range(first, last):
                    out[i] += partial[i - first]

    signature = types.void(read(3), read(2), read(2), *NUMBERS, write(1))
    return compile_for(kernel_sum_loop, signature, radial, d)


@kept(256)
def kernel_sum_columns(radial: CompiledRadial, d: int) -> Loop:
    """out_ic += Σ_j W_jc g(‖q_i − x_j‖²): g is computed once for all columns."""
    B = width(d)
    whole = radial.whole
    g = radial.rest
    reserve, gather, meet, row = distances(d, SAFE_MATH)

    def kernel_sum_columns_loop(X, W, Q, rate, shape, table, out):
        scratch = reserve(Q.shape[1])
        partial = np.empty((TILE, W.shape[1]))
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    for c in range(partial.shape[1]):
                        partial[i, c] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    block = X[b]
                    meet(block, Q, first, last, scratch)
                    for i in range(first, last):
                        r2 = row(block, Q[i], i - first, scratch)
                        whole(r2, rate, shape, table)
                        for j in range(B):
                            r2[j] = g(r2[j], rate, shape, table)
                        for c in range(W.shape[1]):
                            v = W[b, c]
                            total = 0.0
                            for j in range(B):
                                total += v[j] * r2[j]
                            partial[i - first, c] += total
                for i in range(first, last):
                    for c in range(out.shape[1]):
                        out[i, c] += partial[i - first, c]

    signature = types.void(read(3), read(3), read(2), *NUMBERS, write(2))
    return compile_for(kernel_sum_columns_loop, signature, radial, d)


@kept(256)
def kernel_moments(radial: CompiledRadial, d: int) -> Loop:
    """out_i += Σ_j w_j g(‖q_i − x_j‖²)(1, x_j − q_i): differences from the query, so that a far
    origin costs no digits.
    """
    B = width(d)
    whole = radial.whole
    g = radial.rest
    reserve, gather, meet, row = distances(d, SAFE_MATH)

    def kernel_moments_loop(X, w, Q, rate, shape, table, out):
        scratch = reserve(Q.shape[1])
        partial = np.empty((TILE, out.shape[1]))
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    for c in range(partial.shape[1]):
                        partial[i, c] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    block = X[b]
                    v = w[b]
                    meet(block, Q, first, last, scratch)
                    for i in range(first, last):
                        terms = row(block, Q[i], i - first, scratch)
                        whole(terms, rate, shape, table)
                        total = 0.0
                        for j in range(B):
                            terms[j] = v[j] * g(terms[j], rate, shape, table)
                            total += terms[j]
                        partial[i - first, 0] += total
                        for t in range(out.shape[1] - 1):
                            x = block[t]
                            q = Q[i, t]
                            total = 0.0
                            for j in range(B):
                                total += terms[j] * (x[j] - q)
                            partial[i - first, 1 + t] += total
                for i in range(first, last):
                    for c in range(out.shape[1]):
                        out[i, c] += partial[i - first, c]

    signature = types.void(read(3), read(2), read(2), *NUMBERS, write(2))
    return compile_for(kernel_moments_loop, signature, radial, d)


@kept(256)
def log_kernel_sum(radial: CompiledRadial, d: int) -> Loop:
    """(peak_i, total_i) such that log Σ_j w_j g_ij = peak_i + log total_i, the peak raised as
    larger terms appear.
    """
    B = width(d)
    whole = radial.whole
    log_g = radial.log_rest
    reserve, gather, meet, row = distances(d, SAFE_MATH)
    exp = elementary.exp

    def log_kernel_sum_loop(X, log_w, Q, rate, shape, table, peak, total):
        scratch = reserve(Q.shape[1])
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for b in range(len(X)):
                block = X[b]
                v = log_w[b]
                meet(block, Q, first, last, scratch)
                for i in range(first, last):
                    terms = row(block, Q[i], i - first, scratch)
                    whole(terms, rate, shape, table)
                    highest = -np.inf
                    for j in range(B):
                        terms[j] = v[j] + log_g(terms[j], rate, shape, table)
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

    signature = types.void(read(3), read(2), read(2), *NUMBERS, write(1), write(1))
    return compile_for(log_kernel_sum_loop, signature, radial, d)


@functools.lru_cache(maxsize=64)
def fourier_sum(B: int) -> Loop:
    """out_m += Σ_j w_j (cos, sin)(ω_m·(x_j − origin))."""
    cos_sin = elementary.cos_sin

    def fourier_sum_loop(X, w, frequencies, origin, out):
        phase = np.empty(B)
        for b in range(len(X)):
            for m in range(len(frequencies)):
                for j in range(B):
                    phase[j] = 0.0
                for t in range(frequencies.shape[1]):
                    omega = frequencies[m, t]
                    o = origin[t]
                    x = X[b, t]
                    for j in range(B):
                        phase[j] += omega * (x[j] - o)
                c = 0.0
                s = 0.0
                v = w[b]
                for j in range(B):
                    cosine, sine = cos_sin(phase[j])
                    c += v[j] * cosine
                    s += v[j] * sine
                out[m, 0] += c
                out[m, 1] += s

    signature = types.void(read(3), read(2), read(2), read(1), write(2))
    return compile_function(fourier_sum_loop, signature, (B,))


@functools.lru_cache(maxsize=64)
def nearest(d: int) -> Loop:
    """D²_j and the label of the nearest of some more centres, the lowest label on ties."""
    B = width(d)
    reserve, gather, meet, row = distances(d, EXACT_MATH)

    def in_few_coordinates(X, centers, first_label, squared, labels):
        for b in range(len(X)):
            block = X[b]
            known = squared[b]
            own = labels[b]
            for a in range(len(centers)):
                center = centers[a]
                for j in range(B):
                    s = 0.0
                    for t in range(d):
                        z = block[t, j] - center[t]
                        s += z * z
                    closer = s < known[j]
                    own[j] = first_label + a if closer else own[j]
                    known[j] = s if closer else known[j]

    def by_tiles(X, centers, first_label, squared, labels):
        scratch = reserve(centers.shape[1])
        for first in range(0, len(centers), TILE):
            last = min(first + TILE, len(centers))
            gather(centers, first, last, scratch)
            for b in range(len(X)):
                known = squared[b]
                own = labels[b]
                meet(X[b], centers, first, last, scratch)
                for a in range(first, last):
                    r2 = row(X[b], centers[a], a - first, scratch)
                    for j in range(B):
                        s = r2[j]
                        closer = s < known[j]
                        own[j] = first_label + a if closer else own[j]
                        known[j] = s if closer else known[j]

    labels = types.Array(types.int64, 2, "C")
    signature = types.void(read(3), read(2), types.int64, write(2), labels)
    loop = in_few_coordinates if d <= UNROLLED else by_tiles
    return compile_function(loop, signature, (dimension_key(d),), EXACT_MATH)


def compile_for(
    loop: Callable[..., None],
    signature: Any,
    radial: CompiledRadial,
    d: int,
    *constants: Hashable,
) -> Loop:
    """The loop compiled for one radial function, one dimension and what else it closes over."""
    key = None if radial.name is None else (radial.name, dimension_key(d), *constants)
    return compile_function(loop, signature, key)

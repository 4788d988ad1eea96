"""Compiled loops that pass atoms, each with its own factor F_a, over blocks of points.

The exponent of atom a at a point x is ‖F_a(x − c_a)‖², F_a upper triangular or a multiple of the
unit matrix. Points of a block are side by side, so that a number of F_a serves all of them. The
points are a sample, over which sums run, or queries, each of which has a sum of its own.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import types

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import compile_function, part
from kernelmean.compiled.radial import FUSED
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines.cpu.blocks import CELL, STRIP, UNROLLED, width
from kernelmean.engines.cpu.loops import CHUNK
from kernelmean.engines.cpu.tiles import TILE, dimension_key
from kernelmean.kernels import SpreadKind

# Numbers that a loop which writes may read per point. The compiler looks whether they overlap with
# what is written, and gives up on vectors where there are more.
MOST_READ = 44
# (blocks, atoms, 2): the first cell of a block within the reach of an atom, and the one after the
# last
REACH = types.Array(types.uint8, 3, "C", readonly=True)


def _radial_exponent(d: int) -> Any:
    """rate ‖x_j − c‖² of one point; ``factor`` is (1,)."""

    def radial_exponent(block, c, factor, j):
        s = 0.0
        for t in range(d):
            z = block[t, j] - c[t]
            s += z * z
        return factor[0] * s

    return part()(radial_exponent)


def _triangular_exponent(d: int, row: int, last: int) -> Any:
    """Σ (F(x_j − c))_s² over row ≤ s < last of one point; ``factor`` has the rows of F end to end.

    Row by row, so that each loop has a length known to the compiler.
    """

    def last_row(block, c, factor, j):
        y = 0.0
        for t in range(row, d):
            y += factor[row * d + t] * (block[t, j] - c[t])
        return y * y

    if row == last - 1:
        return part()(last_row)
    further_rows = _triangular_exponent(d, row + 1, last)

    def this_row(block, c, factor, j):
        y = 0.0
        for t in range(row, d):
            y += factor[row * d + t] * (block[t, j] - c[t])
        return y * y + further_rows(block, c, factor, j)

    return part()(this_row)


def _rows_together(d: int, row: int) -> int:
    """The row up to which one loop takes rows of F, from a row on."""
    last = row + 1
    read_by_all = 2 * (d - row)  # of points and centres
    while last < d and read_by_all + sum(d - s for s in range(row, last + 1)) < MOST_READ:
        last += 1
    return last


def _triangular_passes(d: int, row: int = 0) -> Any:
    """out_j ← ‖F(x − c)‖² in few coordinates, by some rows of F after the other."""
    last = _rows_together(d, row)
    some_rows = _triangular_exponent(d, row, last)

    def first_pass(block, c, factor, start, length, out):
        for j in range(length):
            out[j] = some_rows(block, c, factor, start + np.uint64(j))

    def later_pass(block, c, factor, start, length, out):
        for j in range(length):
            out[j] += some_rows(block, c, factor, start + np.uint64(j))

    this_pass = part()(later_pass if row else first_pass)
    if last == d:
        return this_pass
    further_passes = _triangular_passes(d, last)

    def every_pass(block, c, factor, start, length, out):
        this_pass(block, c, factor, start, length, out)
        further_passes(block, c, factor, start, length, out)

    return part()(every_pass)


def _triangular_exponents(block, c, factor, start, length, out):
    """‖F(x_j − c)‖² of some points of a block in many coordinates, which are added in strips."""
    d = len(c)
    offsets = np.empty((d, length))
    for t in range(d):
        for j in range(length):
            offsets[t, j] = block[t, start + np.uint64(j)] - c[t]
    y = np.empty(length)
    for j in range(length):
        out[j] = 0.0
    for s in range(d):
        for j in range(length):
            y[j] = 0.0
        row = factor[s * d : (s + 1) * d]
        for first in range(s // STRIP * STRIP, d, STRIP):
            strip = offsets[first : first + STRIP]
            own = row[first : first + STRIP]
            for j in range(length):
                total = y[j]
                for t in range(STRIP):
                    total += own[t] * strip[t, j]
                y[j] = total
        for j in range(length):
            out[j] += y[j] * y[j]


def _radial_exponents(block, c, factor, start, length, out):
    """rate ‖x_j − c‖² of some points of a block in many coordinates."""
    for j in range(length):
        out[j] = 0.0
    for first in range(0, len(c), STRIP):
        strip = block[first : first + STRIP]
        p = c[first : first + STRIP]
        for j in range(length):
            s = out[j]
            for t in range(STRIP):
                z = strip[t, start + np.uint64(j)] - p[t]
                s += z * z
            out[j] = s
    for j in range(length):
        out[j] *= factor[0]


def exponent(d: int, kind: SpreadKind) -> Any:
    """‖F(x_j − c)‖² of one point, in few coordinates."""
    return _radial_exponent(d) if kind == "scalar" else _triangular_exponent(d, 0, d)


def exponents(d: int, kind: SpreadKind) -> Any:
    """out_j ← ‖F(x − c)‖² for the points x = start + j of one block, j < length.

    ``start`` is unsigned: a place that might be negative would not vectorise.
    """
    if d > UNROLLED:
        return part()(_radial_exponents if kind == "scalar" else _triangular_exponents)
    if kind == "full":
        return _triangular_passes(d)
    exponent_at = exponent(d, kind)

    def unrolled(block, c, factor, start, length, out):
        for j in range(length):
            out[j] = exponent_at(block, c, factor, start + np.uint64(j))

    return part()(unrolled)


def _run_sum(d: int, kind: SpreadKind) -> Any:
    """Σ_j w_j exp(−‖F(x_j − c)‖²) over ``length`` points of a block from ``start`` on; in few
    coordinates in one step, beyond by way of a buffer.
    """
    return _sum_in_one_step(d, kind) if d <= FUSED else _sum_in_two_steps(d, kind)


def _sum_in_one_step(d: int, kind: SpreadKind) -> Any:
    exp = elementary.exp
    exponent_at = exponent(d, kind)

    def in_one_step(block, w, c, factor, start, length, terms):
        total = 0.0
        for j in range(length):
            place = start + np.uint64(j)
            total += w[place] * exp(-exponent_at(block, c, factor, place))
        return total

    return part()(in_one_step)


def _sum_in_two_steps(d: int, kind: SpreadKind) -> Any:
    exp = elementary.exp
    fill = exponents(d, kind)

    def in_two_steps(block, w, c, factor, start, length, terms):
        fill(block, c, factor, start, length, terms)
        total = 0.0
        for j in range(length):
            total += w[start + np.uint64(j)] * exp(-terms[j])
        return total

    return part()(in_two_steps)


@functools.lru_cache(maxsize=64)
def sums(d: int, kind: SpreadKind) -> Loop:
    """out_a += Σ_j w_j exp(−‖F_a(x_j − c_a)‖²) over the cells of each block within reach."""
    B = width(d)
    run_sum = _run_sum(d, kind)

    def component_sums_loop(X, w, reach, C, factors, out):
        terms = np.empty(B)
        partial = np.empty(TILE)
        for first in range(0, len(C), TILE):
            last = min(first + TILE, len(C))
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    partial[i] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    for a in range(first, last):
                        start = np.uint64(reach[b, a, 0]) * np.uint64(CELL)
                        length = (np.int64(reach[b, a, 1]) - np.int64(reach[b, a, 0])) * CELL
                        if length > 0:
                            partial[a - first] += run_sum(
                                X[b], w[b], C[a], factors[a], start, length, terms
                            )
                for a in range(first, last):
                    out[a] += partial[a - first]

    signature = types.void(read(3), read(2), REACH, read(2), read(2), write(1))
    return compile_function(component_sums_loop, signature, (kind, dimension_key(d)))


def _add_moments(kind: SpreadKind) -> Any:
    """out += Σ_j terms_j (1, u, ‖u‖² or the products u_s u_t, s ≤ t), u = x − c at the points x =
    start + j.
    """

    def with_norms(block, c, terms, start, length, d, y, out):
        norm = 0.0
        for t in range(d):
            x = block[t]
            o = c[t]
            first = 0.0
            second = 0.0
            for j in range(length):
                z = x[start + np.uint64(j)] - o
                first += terms[j] * z
                second += terms[j] * z * z
            out[1 + t] += first
            norm += second
        out[1 + d] += norm

    def with_products(block, c, terms, start, length, d, y, out):
        for s in range(d):
            x = block[s]
            o = c[s]
            first = 0.0
            for j in range(length):
                y[j] = terms[j] * (x[start + np.uint64(j)] - o)
                first += y[j]
            out[1 + s] += first
            for t in range(s, d):
                x = block[t]
                o = c[t]
                second = 0.0
                for j in range(length):
                    second += y[j] * (x[start + np.uint64(j)] - o)
                out[1 + d + s * d + t] += second

    return part()(with_norms if kind == "scalar" else with_products)


@functools.lru_cache(maxsize=64)
def moments(d: int, kind: SpreadKind) -> Loop:
    """out_a += Σ_j w_j exp(−‖F_a(x_j − c_a)‖²)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a; of uuᵀ the upper
    half.
    """
    B = width(d)
    fill = exponents(d, kind)
    add = _add_moments(kind)
    exp = elementary.exp

    def component_moments_loop(X, w, reach, C, factors, dimension, out):
        terms = np.empty(B)
        y = np.empty(B)
        partial = np.empty((TILE, out.shape[1]))
        for first in range(0, len(C), TILE):
            last = min(first + TILE, len(C))
            for chunk in range(0, len(X), CHUNK):
                for i in range(TILE):
                    for c in range(partial.shape[1]):
                        partial[i, c] = 0.0
                for b in range(chunk, min(chunk + CHUNK, len(X))):
                    v = w[b]
                    for a in range(first, last):
                        start = np.uint64(reach[b, a, 0]) * np.uint64(CELL)
                        length = (np.int64(reach[b, a, 1]) - np.int64(reach[b, a, 0])) * CELL
                        if length <= 0:
                            continue
                        own = partial[a - first]
                        fill(X[b], C[a], factors[a], start, length, terms)
                        total = 0.0
                        for j in range(length):
                            terms[j] = v[start + np.uint64(j)] * exp(-terms[j])
                            total += terms[j]
                        own[0] += total
                        add(X[b], C[a], terms, start, length, dimension, y, own)
                for a in range(first, last):
                    for c in range(out.shape[1]):
                        out[a, c] += partial[a - first, c]

    signature = types.void(read(3), read(2), REACH, read(2), read(2), types.int64, write(2))
    return compile_function(component_moments_loop, signature, (kind, dimension_key(d)))

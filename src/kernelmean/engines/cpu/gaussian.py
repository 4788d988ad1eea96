"""Sums of narrow exponentials exp(−rate r²), fewer operations a term the farther the cell.

About the middle c of a block, with u = q − c and v = x − c,

Σ_j w_j exp(−rate ‖q − x_j‖²) = exp(−rate ‖u‖²) Σ_j w'_j 2^(u'·v_j), w'_j = w_j exp(−rate ‖v_j‖²),
u' = (2 rate / log 2) u.

The w' serve every query. 2^t is a polynomial of degree p on |t| ≤ ½ times a power of two; its
relative error is at most about 4 (log(2)/4)^(p+1)/(p+1)!, as tested: 2e-14 for FINE and 3e-9 for
COARSE. A cell with g ≤ SHARES[k]·A at its nearest point is computed to that degree; the masses of
the cells add up to 1, so all of them together lose at most 2⁻⁷·2e-14 + 2⁻²⁴·3e-9 < 3.4e-16 of A,
and rounding in them counts for 2⁻⁷ at most. Compact blocks are left to their moments where that is
cheaper.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from kernelmean.compiled import elementary
from kernelmean.compiled.compiling import ORDERED_MATH, part
from kernelmean.compiled.elementary import LOG2_E, MAGIC
from kernelmean.compiled.radial import CompiledRadial
from kernelmean.compiled.signatures import Loop
from kernelmean.engines.cpu.blocks import CELL, width
from kernelmean.engines.cpu.bounding_boxes import box_parts, direct_sum, sums_over_blocks
from kernelmean.engines.cpu.box_expansion import served_by_moments, served_by_none

FINE = 9  # degree of the polynomial for 2^t in cells that matter little
COARSE = 6  # the same in cells that matter less
SHARES = (2.0**-7, 2.0**-24)  # of A: values of g from which on FINE, and COARSE, do
WIDEST = 100.0  # rate ‖v‖² of a block, beyond which exponents cancel too many digits
FARTHEST = 250.0  # rate ‖u‖² of a query, the same


def power_of_two(degree: int) -> Any:
    """2^t, by interpolation of 2^r at the Chebyshev nodes of |r| ≤ ½."""
    fit = np.polynomial.Chebyshev.interpolate(np.exp2, degree, domain=[-0.5, 0.5])
    coefficients = np.ascontiguousarray(fit.convert(kind=np.polynomial.Polynomial).coef[::-1])

    @part(ORDERED_MATH)
    def power(t):
        shifted = t + MAGIC
        r = t - (shifted - MAGIC)
        p = coefficients[0]
        for k in range(1, degree + 1):
            p = p * r + coefficients[k]
        bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
        return np.int64(bits).view(np.float64)

    return power


def _factored_sum(d: int, degree: int) -> Any:
    """sums_a += Σ_j w'_j 2^(u'_a·v_j) over cell c, for the queries in a list."""
    power = power_of_two(degree)

    @part()
    def factored_sum(V, v, c, U, found, count, sums):
        for a in range(count):
            i = found[a]
            total = 0.0
            for j in range(CELL):
                s = 0.0
                for t in range(d):
                    s += U[t, i] * V[t, c, j]
                total += v[c, j] * power(s)
            sums[i] += total

    return factored_sum


def _split_points(d: int) -> Any:
    cells = width(d) // CELL
    exp = elementary.exp

    @part()
    def split_points(X, w, middle, rate, V, v):
        """V = X − middle and v = w exp(−rate ‖V‖²); zero where w is, as in the padding."""
        for c in range(cells):
            for j in range(CELL):
                s = 0.0
                for t in range(d):
                    z = X[t, c, j] - middle[t] if w[c, j] != 0.0 else 0.0
                    V[t, c, j] = z
                    s += z * z
                v[c, j] = w[c, j] * exp(-rate * s)

    return split_points


def _split_queries(d: int) -> Any:
    exp = elementary.exp

    @part()
    def split_queries(Q, middle, rate, count, U, factor, cuts):
        """U = u' and factor = exp(−rate ‖u‖²); too far queries take no part."""
        for a in range(count):
            s = 0.0
            for t in range(d):
                z = Q[t, a] - middle[t]
                U[t, a] = 2.0 * LOG2_E * rate * z
                s += z * z
            factor[a] = exp(-rate * s)
            cuts[1, a] = cuts[1, a] if rate * s < FARTHEST else np.inf

    return split_queries


def _split(d: int) -> Any:
    """Points and queries about the middle of block b; in a block too wide for that, every cell
    needs every digit.
    """
    split_points = _split_points(d)
    split_queries = _split_queries(d)

    @part()
    def split(X, w, b, boxes, seen, count, rate, scratch):
        span = 0.0
        for t in range(d):
            scratch.middle[t] = 0.5 * (boxes.lower[t, b] + boxes.upper[t, b])
            span += (0.5 * (boxes.upper[t, b] - boxes.lower[t, b])) ** 2
        if rate * span < WIDEST:
            split_points(X, w, scratch.middle, rate, scratch.V, scratch.v)
            split_queries(seen.Q, scratch.middle, rate, count, scratch.U, scratch.factor, seen.cuts)
        else:
            for a in range(count):
                seen.cuts[1, a] = np.inf
                scratch.factor[a] = 0.0

    return split


@part()
def _sort(near, cuts, count, kind, lists, sizes):
    """The queries by what the cell needs: 3 every digit, 2 fewer, 1 fewer still, 0 nothing."""
    for a in range(count):
        seen = 1 if near[a] < cuts[0, a] else 0
        finer = 2 if near[a] < cuts[2, a] else 1
        kind[a] = seen * (3 if near[a] < cuts[1, a] else finer)
    for k in range(4):
        sizes[k] = 0
    for a in range(count):
        own = np.uint64(kind[a])
        lists[own, np.uint64(sizes[own])] = a
        sizes[own] += 1


class PointCloud(NamedTuple):
    """What one block is split into, for up to q queries."""

    V: Any  # (d, cells, CELL)
    v: Any  # (cells, CELL)
    middle: Any  # (d,)
    U: Any  # (d, q)
    factor: Any  # (q,)
    sums: Any  # (q,)
    far_sums: Any  # (q,)
    kind: Any  # (q,)
    lists: Any  # (4, q)
    sizes: Any  # (4,)


def _reserve(d: int) -> Any:
    cells = width(d) // CELL

    @part()
    def reserve(q):
        V = np.empty((d, cells, CELL))
        v = np.empty((cells, CELL))
        middle = np.empty(d)
        U = np.empty((d, q))
        factor = np.empty(q)
        sums = np.empty(q)
        far_sums = np.empty(q)
        kind = np.empty(q, np.int64)
        lists = np.empty((4, q), np.int64)
        sizes = np.empty(4, np.int64)
        return PointCloud(V, v, middle, U, factor, sums, far_sums, kind, lists, sizes)

    return reserve


def _add_block(g: Any, d: int, moments: bool) -> Any:
    cells = width(d) // CELL
    gaps = box_parts(d).gaps
    cell_sum = direct_sum(d, g)
    split = _split(d)
    serve = served_by_moments(d) if moments else served_by_none
    fine_sum = _factored_sum(d, FINE)
    coarse_sum = _factored_sum(d, COARSE)

    @part()
    def add_block(X, w, b, boxes, seen, count, numbers, scratch):
        rate, shape, table = numbers
        count = serve(X, w, b, boxes, seen, count, rate)
        if count == 0:
            return
        split(X, w, b, boxes, seen, count, rate, scratch)
        sums = scratch.sums
        far_sums = scratch.far_sums
        lists = scratch.lists
        sizes = scratch.sizes
        for a in range(count):
            sums[a] = 0.0
            far_sums[a] = 0.0
        for c in range(cells):
            gaps(boxes.cell_lower[b], boxes.cell_upper[b], c, seen.Q, count, seen.near)
            _sort(seen.near, seen.cuts, count, scratch.kind, lists, sizes)
            cell_sum(X, w, c, seen.Q, lists[3], sizes[3], rate, shape, table, sums)
            fine_sum(scratch.V, scratch.v, c, scratch.U, lists[2], sizes[2], far_sums)
            coarse_sum(scratch.V, scratch.v, c, scratch.U, lists[1], sizes[1], far_sums)
        for a in range(count):
            seen.out[seen.found[a]] += sums[a] + scratch.factor[a] * far_sums[a]

    return add_block


@functools.lru_cache(maxsize=64)
def sums_over_cells(radial: CompiledRadial, d: int, moments: bool) -> Loop:
    """out_i += Σ_j w_j exp(−rate ‖q_i − x_j‖²) over the cells within the reach of each query; the
    radial is that exponential.
    """
    add_block = _add_block(radial.value, d, moments)
    return sums_over_blocks(d, _reserve(d), add_block, (radial.name, "factored", d, moments))

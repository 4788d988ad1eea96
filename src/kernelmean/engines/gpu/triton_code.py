"""What Triton compiles: plain loops over columns of points, lanes along the points.

A program holds a few queries in registers and streams over the points; each lane keeps its own
sums, in float32 for at most RUN terms and in float64 beyond, and lanes meet once, at the end.
Nothing is masked: arrays come padded. Names in capitals that are not parameters (VALUE, LOG_VALUE)
are bound when the radial is known.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

from kernelmean.engines.gpu.triton_distances import (
    MIRRORED,
    OF_QUERIES,
    TRIANGLES,
    careful_squares,
    mirrored_squares,
    own_coordinates,
    shortened,
    squares,
    triangle_squares,
)

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def exp2_single(t):
    """2^t by the special function unit, to 2 ulp; below 2⁻¹²⁶ zero."""
    return tl.inline_asm_elementwise(
        "ex2.approx.ftz.f32 $0, $1;", "=f,f", [t], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def half_power(t):
    """2^(−t); the sign costs nothing inside."""
    text: tl.constexpr = "{ .reg .f32 m; neg.f32 m, $1; ex2.approx.ftz.f32 $0, m; }"
    return tl.inline_asm_elementwise(text, "=f,f", [t], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def exp_single(t):
    return exp2_single(t * LOG2E)


@triton.jit
def fabs(t):
    return tl.abs(t)


@triton.jit
def table_log(s, per_step, table, cells):
    """A quintic in the fraction of a cell of u = log(1 + √s); beyond the last cell a line."""
    x = libdevice.log1p(tl.sqrt(s)) * per_step
    inside = tl.minimum(x, cells.to(x.dtype))
    cell = tl.minimum(inside.to(tl.int32), cells - 1)
    f = inside - cell.to(x.dtype)
    at = table + 6 * cell
    c1 = tl.load(at + 1)
    c2 = tl.load(at + 2)
    c3 = tl.load(at + 3)
    c4 = tl.load(at + 4)
    c5 = tl.load(at + 5)
    slope = c1 + 2.0 * c2 + 3.0 * c3 + 4.0 * c4 + 5.0 * c5
    inner = tl.load(at) + f * (c1 + f * (c2 + f * (c3 + f * (c4 + f * c5))))
    return inner + tl.where(x > inside, (x - inside) * slope, 0.0 * f)


def formula_value(r2, rate, shape, table, cells):
    return FUNCTION(rate * r2, shape)


def binary_value(r2, rate, shape, table, cells):
    """A Gaussian in units in which it is 2^(−r²)."""
    return half_power(r2)


def table_value(r2, rate, shape, table, cells):
    return EXP(table_log(rate * r2, shape, table, cells))


def table_log_value(r2, rate, shape, table, cells):
    return table_log(rate * r2, shape, table, cells)


def plain_term(r2, w, shift, rate, shape, table, cells):
    """w g."""
    return w[None, :] * VALUE(r2, rate, shape, table, cells)


def shifted_term(r2, w, shift, rate, shape, table, cells):
    """exp(log w + log g − shift)."""
    return EXP((LOG_VALUE(r2, rate, shape, table, cells) - shift[:, None]) + w[None, :])


def kernel_sums(X, XR, W, Q, QR, F, shift, out, sizes, stride, w_stride, q_stride, f_stride,
                n, per, d, numbers, table, cells,
                D: tl.constexpr, C: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr,
                RUN: tl.constexpr, FACTORS: tl.constexpr,
                UNROLL: tl.constexpr, CAREFUL: tl.constexpr, TRACK: tl.constexpr):  # fmt: skip
    """out[split, c, i] = Σ_j term over the points of one split; sizes[split, :, c, i] = Σ|term| and
    Σ|term| r².
    """
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    start = tl.program_id(1) * per
    stop = tl.minimum(start + per, n)
    stride = stride.to(tl.int64)
    w_stride = w_stride.to(tl.int64)
    q_stride = q_stride.to(tl.int64)
    rate = tl.load(numbers)
    shape = tl.load(numbers + 1)
    held = own_coordinates(Q, q_stride, rows, D)
    held_rest = own_coordinates(QR, q_stride, rows, D if CAREFUL else 0)
    level = tl.load(shift + rows)
    f_stride = f_stride.to(tl.int64)
    own = tl.load(F + rows) if FACTORS == OF_QUERIES else level
    zeros = ()
    totals = ()
    for _ in tl.static_range(C):
        zeros = zeros + (tl.zeros((BQ, BX), X.dtype.element_ty),)
        totals = totals + (tl.zeros((BQ, BX), tl.float64),)
    size = zeros
    far = zeros
    for first in range(start, stop, BX * RUN):
        parts = zeros
        for run in tl.range(
            first, tl.minimum(first + BX * RUN, stop), BX, loop_unroll_factor=UNROLL
        ):
            cols = run + tl.arange(0, BX)
            if CAREFUL:
                r2 = careful_squares(
                    X, XR, Q, QR, held, held_rest, stride, q_stride, cols, rows, d, D, BQ, BX
                )
            elif FACTORS == TRIANGLES:
                r2 = triangle_squares(X, F, held, stride, f_stride, cols, D, BQ, BX)
            elif FACTORS == MIRRORED:
                r2 = mirrored_squares(X, F, held, stride, cols, D, BQ, BX)
            else:
                r2 = squares(X, Q, held, stride, q_stride, cols, rows, d, D, BQ, BX)
            r2 = shortened(r2, F, cols, own, FACTORS)
            grown = ()
            larger = ()
            farther = ()
            for c in tl.static_range(C):
                w = tl.load(W + c * w_stride + cols)
                term = TERM(r2, w, level, rate, shape, table, cells)
                grown = grown + (parts[c] + term,)
                if TRACK:
                    larger = larger + (size[c] + tl.abs(term),)
                    farther = farther + (far[c] + tl.abs(term) * r2,)
            parts = grown
            if TRACK:
                size = larger
                far = farther
        added = ()
        for c in tl.static_range(C):
            added = added + (totals[c] + parts[c].to(tl.float64),)
        totals = added
    base = out + tl.program_id(1) * C * q_stride + rows
    for c in tl.static_range(C):
        tl.store(base + c * q_stride, tl.sum(totals[c], 1))
    if TRACK:
        base = sizes + tl.program_id(1) * 2 * C * q_stride + rows
        for c in tl.static_range(C):
            tl.store(base + c * q_stride, tl.sum(size[c].to(tl.float64), 1))
            tl.store(base + (C + c) * q_stride, tl.sum(far[c].to(tl.float64), 1))


def kernel_pulls(X, W, Q, F, shift, out, stride, q_stride, n, per, d, axis, numbers, table, cells,
                 D: tl.constexpr, C: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr,
                 FACTORS: tl.constexpr):  # fmt: skip
    """out[split, c, i] = Σ_j term · (x_j − q_i) in C coordinates from ``axis`` on, over the points
    of one split; float64.
    """
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    start = tl.program_id(1) * per
    stride = stride.to(tl.int64)
    q_stride = q_stride.to(tl.int64)
    rate = tl.load(numbers)
    shape = tl.load(numbers + 1)
    held = own_coordinates(Q, q_stride, rows, D)
    level = tl.load(shift + rows)
    own = tl.load(F + rows) if FACTORS == OF_QUERIES else level
    totals = ()
    for _ in tl.static_range(C):
        totals = totals + (tl.zeros((BQ, BX), tl.float64),)
    for first in range(start, tl.minimum(start + per, n), BX):
        cols = first + tl.arange(0, BX)
        r2 = squares(X, Q, held, stride, q_stride, cols, rows, d, D, BQ, BX)
        r2 = shortened(r2, F, cols, own, FACTORS)
        g = TERM(r2, tl.load(W + cols), level, rate, shape, table, cells)
        grown = ()
        for c in tl.static_range(C):
            t = tl.minimum(axis + c, d - 1)
            z = tl.load(X + t * stride + cols)[None, :] - tl.load(Q + t * q_stride + rows)[:, None]
            grown = grown + (totals[c] + g * z,)
        totals = grown
    base = out + tl.program_id(1) * C * q_stride + rows
    for c in tl.static_range(C):
        tl.store(base + c * q_stride, tl.sum(totals[c], 1))


def log_peaks(X, W, Q, F, out, stride, q_stride, f_stride, n, per, d, numbers, table, cells,
              D: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr,
              FACTORS: tl.constexpr):  # fmt: skip
    """out[split, i] = max_j log w_j + log g over the points of one split."""
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    start = tl.program_id(1) * per
    stride = stride.to(tl.int64)
    q_stride = q_stride.to(tl.int64)
    rate = tl.load(numbers)
    shape = tl.load(numbers + 1)
    held = own_coordinates(Q, q_stride, rows, D)
    f_stride = f_stride.to(tl.int64)
    top = tl.full((BQ, BX), float("-inf"), X.dtype.element_ty)
    for first in range(start, tl.minimum(start + per, n), BX):
        cols = first + tl.arange(0, BX)
        if FACTORS == TRIANGLES:
            r2 = triangle_squares(X, F, held, stride, f_stride, cols, D, BQ, BX)
        else:
            r2 = squares(X, Q, held, stride, q_stride, cols, rows, d, D, BQ, BX)
        r2 = shortened(r2, F, cols, rows, FACTORS)
        top = tl.maximum(top, LOG_VALUE(r2, rate, shape, table, cells) + tl.load(W + cols)[None, :])
    tl.store(out + tl.program_id(1) * q_stride + rows, tl.max(top, 1))


def dot_sums(X, XX, W, Q, QQ, F, out, stride, q_stride, n, per, d, numbers, table, cells,
             BQ: tl.constexpr, BX: tl.constexpr, BD: tl.constexpr,
             FACTORS: tl.constexpr):  # fmt: skip
    """out[split, i] = Σ_j w_j g(|q|² + |x|² − 2q·x): products on tensor cores, each of three TF32
    parts.
    """
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    start = tl.program_id(1) * per
    stride = stride.to(tl.int64)
    q_stride = q_stride.to(tl.int64)
    rate = tl.load(numbers)
    shape = tl.load(numbers + 1)
    coordinates = tl.arange(0, BD)
    qq = tl.load(QQ + rows)
    total = tl.zeros((BQ,), tl.float64)
    for first in range(start, tl.minimum(start + per, n), BX):
        cols = first + tl.arange(0, BX)
        product = tl.zeros((BQ, BX), tl.float32)
        for t in range(0, d, BD):
            at = t + coordinates
            y = tl.load(Q + at[None, :] * q_stride + rows[:, None], mask=at[None, :] < d, other=0.0)
            x = tl.load(X + at[:, None] * stride + cols[None, :], mask=at[:, None] < d, other=0.0)
            product = tl.dot(y, x, product, input_precision="tf32x3")
        r2 = tl.maximum(qq[:, None] + tl.load(XX + cols)[None, :] - 2.0 * product, 0.0)
        r2 = shortened(r2, F, cols, rows, FACTORS)
        g = VALUE(r2, rate, shape, table, cells)
        total += tl.sum((tl.load(W + cols)[None, :] * g).to(tl.float64), 1)
    tl.store(out + tl.program_id(1) * q_stride + rows, total)


@triton.jit
def fourier_sums(
    X, W, F, origin, out, stride, f_stride, n, per, d, BM: tl.constexpr, BX: tl.constexpr
):
    """out[split, (cos, sin), m] = Σ_j w_j (cos, sin)(ω_m·(x_j − origin))."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    start = tl.program_id(1) * per
    stride = stride.to(tl.int64)
    f_stride = f_stride.to(tl.int64)
    cosines = tl.zeros((BM, BX), tl.float64)
    sines = tl.zeros((BM, BX), tl.float64)
    for first in range(start, tl.minimum(start + per, n), BX):
        cols = first + tl.arange(0, BX)
        phase = tl.zeros((BM, BX), tl.float64)
        for t in range(0, d):
            x = tl.load(X + t * stride + cols) - tl.load(origin + t)
            phase += tl.load(F + t * f_stride + rows)[:, None] * x[None, :]
        w = tl.load(W + cols)[None, :]
        cosines += w * libdevice.cos(phase)
        sines += w * libdevice.sin(phase)
    base = out + tl.program_id(1) * 2 * f_stride + rows
    tl.store(base, tl.sum(cosines, 1))
    tl.store(base + f_stride, tl.sum(sines, 1))

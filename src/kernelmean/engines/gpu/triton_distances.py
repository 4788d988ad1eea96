"""Squared distances of a tile of queries and a tile of points, as Triton compiles them.

Atoms have factors F: numbers F² that shorten a squared distance, one for each point or for each
query; numbers F of points that come as −F c; or upper triangular matrices, one for each point.
"""

from __future__ import annotations

import triton
import triton.language as tl

AT_ONCE = tl.constexpr(32)  # squares added before their sum is
# what FACTORS may be: of points without a width there are none
NO_FACTORS = tl.constexpr(0)
OF_POINTS = tl.constexpr(1)
OF_QUERIES = tl.constexpr(2)
TRIANGLES = tl.constexpr(3)
MIRRORED = tl.constexpr(4)


@triton.jit
def own_coordinates(Q, stride, rows, D: tl.constexpr):
    """The queries of a program, held in registers; in high dimension they are read as they are
    needed.
    """
    held = ()
    for t in tl.static_range(D):
        held = held + (tl.load(Q + t * stride + rows),)
    return held


@triton.jit
def squares(
    X, Q, held, stride, q_stride, cols, rows, d, D: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr
):
    """(BQ, BX) squared distances; where D < 0 by sums of AT_ONCE squares, so that a thousand of
    them round no worse.
    """
    r2 = tl.zeros((BQ, BX), X.dtype.element_ty)
    if D > 0:
        for t in tl.static_range(D):
            z = tl.load(X + t * stride + cols)[None, :] - held[t][:, None]
            r2 += z * z
    elif D == 0:
        for t in tl.range(0, d, loop_unroll_factor=4):
            z = tl.load(X + t * stride + cols)[None, :] - tl.load(Q + t * q_stride + rows)[:, None]
            r2 += z * z
    else:
        for first in range(0, d, AT_ONCE):
            part = tl.zeros((BQ, BX), X.dtype.element_ty)
            for t in tl.range(first, tl.minimum(first + AT_ONCE, d), loop_unroll_factor=4):
                z = (
                    tl.load(X + t * stride + cols)[None, :]
                    - tl.load(Q + t * q_stride + rows)[:, None]
                )
                part += z * z
            r2 += part
    return r2


@triton.jit
def careful_squares(X, XR, Q, QR, held, held_rest, stride, q_stride, cols, rows, d,
                    D: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr):  # fmt: skip
    """From coordinates in two parts, Σ(z + e)² = Σz² + Σe(2z + e): the first sum is exact below 32,
    the second small.
    """
    r2 = tl.zeros((BQ, BX), X.dtype.element_ty)
    small = tl.zeros((BQ, BX), X.dtype.element_ty)
    if D > 0:
        for t in tl.static_range(D):
            z = tl.load(X + t * stride + cols)[None, :] - held[t][:, None]
            e = tl.load(XR + t * stride + cols)[None, :] - held_rest[t][:, None]
            r2 += z * z
            small += e * (2.0 * z + e)
    else:
        for t in tl.range(0, d, loop_unroll_factor=4):
            z = tl.load(X + t * stride + cols)[None, :] - tl.load(Q + t * q_stride + rows)[:, None]
            e = (
                tl.load(XR + t * stride + cols)[None, :]
                - tl.load(QR + t * q_stride + rows)[:, None]
            )
            r2 += z * z
            small += e * (2.0 * z + e)
    return tl.maximum(r2 + small, 0.0)


@triton.jit
def mirrored_squares(X, F, held, stride, cols,
                     D: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr):  # fmt: skip
    """F_j² ‖c_j − q_i‖² of points that come as −F_j c_j: as many operations as without factors.

    The multiply-add is written out, since the bound of the error needs its product unrounded.
    """
    f = tl.load(F + cols)[None, :]
    r2 = tl.zeros((BQ, BX), X.dtype.element_ty)
    for t in tl.static_range(D):
        z = tl.fma(held[t][:, None], f, tl.load(X + t * stride + cols)[None, :])
        r2 += z * z
    return r2


@triton.jit
def triangle_squares(X, F, held, stride, f_stride, cols,
                     D: tl.constexpr, BQ: tl.constexpr, BX: tl.constexpr):  # fmt: skip
    """‖F_j(x_j − q_i)‖²; F by its rows from the diagonal on, D(D + 1)/2 numbers of each point."""
    z = ()
    for t in tl.static_range(D):
        z = z + (tl.load(X + t * stride + cols)[None, :] - held[t][:, None],)
    r2 = tl.zeros((BQ, BX), X.dtype.element_ty)
    for i in tl.static_range(D):
        y = tl.zeros((BQ, BX), X.dtype.element_ty)
        for j in tl.static_range(D):
            if j >= i:
                at = F + (i * D - i * (i + 1) // 2 + j) * f_stride
                y += tl.load(at + cols)[None, :] * z[j]
        r2 += y * y
    return r2


@triton.jit
def shortened(r2, F, cols, own, FACTORS: tl.constexpr):
    """Squared distances times the numbers F² of points, or of queries."""
    if FACTORS == OF_POINTS:
        r2 = r2 * tl.load(F + cols)[None, :]
    if FACTORS == OF_QUERIES:
        r2 = r2 * own[:, None]
    return r2

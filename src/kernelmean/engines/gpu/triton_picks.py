"""What Triton compiles for selection: nearest centres and farthest-first, in float64 and unfused,
as the host computes.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["centers", "first_label"])
def lower(X, C, near, labels, peaks, stride, centers, first_label, d,
          D: tl.constexpr, LABELS: tl.constexpr, BP: tl.constexpr):  # fmt: skip
    """near_i ← min(near_i, ‖x_i − c‖²) over the centres, in coordinate order and unfused; the
    largest of the block.
    """
    cols = tl.program_id(0) * BP + tl.arange(0, BP)
    stride = stride.to(tl.int64)
    closest = tl.load(near + cols)
    own = tl.zeros((BP,), tl.int32)
    if LABELS:
        own = tl.load(labels + cols)
    held = ()
    for t in tl.static_range(D):
        held = held + (tl.load(X + t * stride + cols),)
    for a in range(0, centers):
        r2 = tl.zeros((BP,), tl.float64)
        if D > 0:
            for t in tl.static_range(D):
                z = held[t] - tl.load(C + a * D + t)
                r2 = r2 + z * z
        else:
            for t in tl.range(0, d, loop_unroll_factor=8):
                z = tl.load(X + t * stride + cols) - tl.load(C + a * d + t)
                r2 = r2 + z * z
        if LABELS:
            own = tl.where(r2 < closest, first_label + a, own)
        closest = tl.minimum(closest, r2)
    tl.store(near + cols, closest)
    if LABELS:
        tl.store(labels + cols, own)
    tl.store(peaks + tl.program_id(0), tl.max(closest, 0))


@triton.jit(do_not_specialize=["most"])
def pick(
    P,
    near,
    rows,
    bound,
    rival,
    picked,
    squared,
    found,
    most,
    d,
    D: tl.constexpr,
    POOL: tl.constexpr,
):
    """Farthest-first among the pool while its best beats (bound, rival); one program, no return to
    the host.
    """
    lanes = tl.arange(0, POOL)
    held = ()
    for t in tl.static_range(D):
        held = held + (tl.load(P + t * POOL + lanes),)
    closest = tl.load(near + lanes)
    limit = tl.load(bound)
    level = tl.load(rival)
    count = 0
    going = most > 0
    while going:
        far, j = tl.max(closest, 0, return_indices=True, return_indices_tie_break_left=True)
        row = tl.load(rows + j)
        going = (far > 0.0) & ((far > limit) | ((far == limit) & (row < level)))
        if going:
            tl.store(picked + count, row)
            tl.store(squared + count, far)
            count += 1
            r2 = tl.zeros((POOL,), tl.float64)
            if D > 0:
                for t in tl.static_range(D):
                    z = held[t] - tl.load(P + t * POOL + j)
                    r2 = r2 + z * z
            else:
                for t in range(0, d):
                    z = tl.load(P + t * POOL + lanes) - tl.load(P + t * POOL + j)
                    r2 = r2 + z * z
            closest = tl.minimum(closest, r2)
            going = count < most
    tl.store(near + lanes, closest)
    tl.store(found, count)

"""The loops on a CUDA device: which program, in tiles of which size, over how many splits of the
points.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from kernelmean.engines.gpu import torch_loops
from kernelmean.engines.gpu import triton_code as code
from kernelmean.engines.gpu import triton_picks as picks
from kernelmean.engines.gpu.arrays import PADDING, Rest, Tensor
from kernelmean.engines.gpu.plan import UNROLLED, Factors, Plan
from kernelmean.engines.gpu.triton_binding import bound_loop
from kernelmean.engines.gpu.triton_distances import (
    MIRRORED,
    NO_FACTORS,
    OF_POINTS,
    OF_QUERIES,
    TRIANGLES,
)

LONG = 128  # coordinates from which float32 squares are added in parts
RESIDENT = (
    1 << 23
)  # bytes of points that all programs work on at a time: a second-level cache holds them
OUTPUTS = 1 << 25  # sums that may be kept apart for that
PROGRAMS = 4096  # about as many as fill any device, whatever its size: results do not depend on it
PULLS = 4  # coordinates per launch of kernel_pulls
RUN = 64  # float32 terms a lane adds before it turns to float64
LOWERED = PADDING  # points per program when distances are lowered
EXACT = {"enable_fp_fusion": False}  # bit for bit what the host computes


class Tile(NamedTuple):
    """Queries and points per program."""

    queries: int
    points: int
    warps: int
    unroll: int = 1  # points per lane and step: loads of the next run ahead


def tile(d: int, columns: int, double: bool, heavy: bool = False) -> Tile:
    """What registers hold: the coordinates of the queries and, for each pair of a lane, a sum for
    every column.

    The best of those tried on a Hopper chip: few queries and many runs ahead beat many queries,
    most of all from d = 8 on. ``heavy`` loops keep coordinates in two parts or further sums.
    """
    if d > UNROLLED:
        return Tile(4, 128, 4) if columns > 1 or double or heavy else Tile(16, 256, 8)
    if columns > 1:
        return Tile(4, 128, 4)
    return Tile(4, 128, 4, 4) if double else Tile(8, 128, 4, 4 if heavy and d > 8 else 8)


def kernel_sums(
    plan: Plan,
    X: Tensor,
    n: int,
    W: Tensor,
    Q: Tensor,
    shift: Tensor | None = None,
    rest: Rest | None = None,
) -> Tensor:
    """(c, q): Σ_j W_cj g, or Σ_j exp(W_cj + log g − shift_i) where a shift is given; ``rest``:
    coordinates in two parts.
    """
    return _sums((X, W, Q), plan, n, shift, rest, track=False)[0]


def tracked_sums(
    plan: Plan,
    X: Tensor,
    n: int,
    W: Tensor,
    Q: Tensor,
    shift: Tensor | None = None,
    rest: Rest | None = None,
) -> tuple[Tensor, Tensor]:
    """:func:`kernel_sums`, and with it (2, c, q): Σ|term| and Σ|term| r²."""
    return _sums((X, W, Q), plan, n, shift, rest, track=True)


def _sums(
    arrays: tuple[Tensor, Tensor, Tensor],
    plan: Plan,
    n: int,
    shift: Tensor | None,
    rest: Rest | None,
    track: bool,
) -> tuple[Tensor, Tensor]:
    X, W, Q = arrays
    double = X.dtype == torch.float64
    d = len(X)
    c = len(W)
    q = Q.shape[1]
    if _too_many(plan, d):
        return torch_loops.tracked_sums(plan, X, n, W, Q, shift, rest)
    widths = _widths(plan, X)
    size = tile(d, c, double, track or rest is not None)
    if widths.kind == TRIANGLES.value:
        size = size._replace(unroll=1)
    kernel, rate = bound_loop("kernel_sums", plan, double, shift is not None)
    column = X.element_size() * (c + widths.numbers + d * (1 if rest is None else 2))
    splits, per = _splits(q // size.queries, n, size.points, column, (3 if track else 1) * c * q)
    out = torch.empty((splits, c, q), dtype=torch.float64, device=X.device)
    sizes = torch.empty((splits, 2, c, q), dtype=torch.float64, device=X.device) if track else out
    left = (X, Q) if rest is None else rest
    kernel[(q // size.queries, splits)](
        *(X, left[0], W, Q, left[1], widths.F, Q if shift is None else shift, out, sizes),
        *(X.stride(0), W.stride(0), q, widths.stride),
        *(_whole(n, size.points), per, d, _numbers(rate, plan, X), _table(plan, X), plan.cells),
        D=d if d <= UNROLLED else 0 if double or d <= LONG else -1,
        C=c, BQ=size.queries, BX=size.points, RUN=RUN, FACTORS=widths.kind,
        UNROLL=size.unroll, CAREFUL=rest is not None, TRACK=track, num_warps=size.warps,
    )  # fmt: skip
    return out.sum(dim=0), sizes.sum(dim=0)


def kernel_pulls(
    plan: Plan, X: Tensor, n: int, w: Tensor, Q: Tensor, shift: Tensor | None = None
) -> Tensor:
    """(d, q): the terms of kernel_sums times x_j − q_i in float64, some coordinates per launch."""
    d = len(X)
    q = Q.shape[1]
    kernel, rate = bound_loop("kernel_pulls", plan, True, shift is not None)
    splits, per = _splits(q // 4, n, 128)
    widths = _widths(plan, X)
    pulls = torch.empty((_whole(d, PULLS), q), dtype=torch.float64, device=X.device)
    for axis in range(0, d, PULLS):
        out = torch.empty((splits, PULLS, q), dtype=torch.float64, device=X.device)
        kernel[(q // 4, splits)](
            *(X, w, Q, widths.F, Q if shift is None else shift, out, X.stride(0), q),
            *(_whole(n, 128), per, d, axis),
            *(_numbers(rate, plan, X), _table(plan, X), plan.cells),
            D=d if d <= UNROLLED else 0, C=PULLS, BQ=4, BX=128, FACTORS=widths.kind, num_warps=4,
        )  # fmt: skip
        torch.sum(out, dim=0, out=pulls[axis : axis + PULLS])
    return pulls[:d]


def dot_sums(
    plan: Plan, X: Tensor, n: int, W: Tensor, Q: Tensor, norms: tuple[Tensor, Tensor]
) -> Tensor:
    """(1, q): Σ_j w_j g by matrix products, for float32 in high dimension."""
    d = len(X)
    q = Q.shape[1]
    kernel, rate = bound_loop("dot_sums", plan, False, False)
    widths = _widths(plan, X)
    splits, per = _splits(q // 64, n, 128)
    out = torch.empty((splits, q), dtype=torch.float64, device=X.device)
    kernel[(q // 64, splits)](
        *(X, norms[0], W, Q, norms[1], widths.F, out, X.stride(0), q, _whole(n, 128), per, d),
        *(_numbers(rate, plan, X), _table(plan, X), plan.cells),
        BQ=64, BX=128, BD=32, FACTORS=widths.kind, num_warps=4,
    )  # fmt: skip
    return out.sum(dim=0)[None]


def log_peaks(plan: Plan, X: Tensor, n: int, log_w: Tensor, Q: Tensor) -> Tensor:
    """(q,): max_j log w_j + log g."""
    double = X.dtype == torch.float64
    d = len(X)
    q = Q.shape[1]
    if _too_many(plan, d):
        return torch_loops.log_peaks(plan, X, n, log_w, Q)
    widths = _widths(plan, X)
    size = tile(d, 1, double)
    kernel, rate = bound_loop("log_peaks", plan, double, True)
    splits, per = _splits(q // size.queries, n, size.points)
    out = torch.empty((splits, q), dtype=X.dtype, device=X.device)
    kernel[(q // size.queries, splits)](
        *(X, log_w, Q, widths.F, out, X.stride(0), q, widths.stride),
        *(_whole(n, size.points), per, d),
        *(_numbers(rate, plan, X), _table(plan, X), plan.cells),
        D=d if d <= UNROLLED else 0, BQ=size.queries, BX=size.points, FACTORS=widths.kind,
        num_warps=size.warps,
    )  # fmt: skip
    return out.amax(dim=0)


def fourier_sums(X: Tensor, n: int, w: Tensor, frequencies: Tensor, origin: Tensor) -> Tensor:
    """(2, M): Σ_j w_j (cos, sin)(ω·(x_j − origin)) in float64."""
    d, m = frequencies.shape
    splits, per = _splits(m // 4, n, 128)
    out = torch.empty((splits, 2, m), dtype=torch.float64, device=X.device)
    code.fourier_sums[(m // 4, splits)](
        *(X, w, frequencies, origin, out, X.stride(0), m, _whole(n, 128), per, d),
        BM=4,
        BX=128,
        num_warps=4,
    )
    return out.sum(dim=0)


def lower(
    X: Tensor, centers: Tensor, near: Tensor, labels: Tensor | None = None, first_label: int = 0
) -> Tensor:
    """near ← min(near, ‖x − c‖²) over the rows of ``centers``, with their labels; the largest of
    each block.
    """
    d = len(X)
    blocks = X.shape[1] // LOWERED
    peaks = torch.empty(blocks, dtype=torch.float64, device=X.device)
    picks.lower[(blocks,)](
        *(X, centers, near, near if labels is None else labels, peaks, X.stride(0)),
        *(len(centers), first_label, d),
        D=d if d <= UNROLLED else 0, LABELS=labels is not None, BP=LOWERED, num_warps=4, **EXACT,
    )  # fmt: skip
    return peaks


def pick(
    P: Tensor, near: Tensor, rows: Tensor, bar: tuple[Tensor, Tensor], most: int
) -> tuple[Tensor, Tensor]:
    """Rows and squared radii of the next centres among the pool; ``near`` is lowered by them."""
    d, pool = P.shape
    picked = torch.empty(most, dtype=torch.int64, device=P.device)
    squared = torch.empty(most, dtype=torch.float64, device=P.device)
    found = torch.empty(1, dtype=torch.int32, device=P.device)
    picks.pick[(1,)](
        *(P, near, rows, *bar, picked, squared, found, most, d),
        D=d if d <= 8 else 0, POOL=pool, num_warps=min(32, max(4, pool // 128)), **EXACT,
    )  # fmt: skip
    count = int(found)
    return picked[:count], squared[:count]


class Widths(NamedTuple):
    """The factors of atoms as the programs take them."""

    F: Tensor
    kind: int  # which of the kinds that the programs know
    stride: int
    numbers: int  # of each point


def _widths(plan: Plan, X: Tensor) -> Widths:
    """Numbers as they are; of matrices the upper triangles, in columns like the points."""
    if plan.factors is None:
        return Widths(X, NO_FACTORS.value, X.stride(0), 0)
    F = plan.factors.values
    if not plan.factors.full:
        return Widths(F, _kind(plan.factors), len(F), 0 if plan.factors.of_queries else 1)
    row, column = torch.triu_indices(len(X), len(X), device=X.device)
    triangles = torch.zeros((len(row), X.shape[1]), dtype=X.dtype, device=X.device)
    triangles[:, : len(F)] = F[:, row, column].T
    return Widths(triangles, TRIANGLES.value, triangles.stride(0), len(row))


def _kind(numbers: Factors) -> int:
    """Which of the kinds of numbers."""
    if numbers.mirrored:
        return int(MIRRORED.value)
    return int(OF_QUERIES.value if numbers.of_queries else OF_POINTS.value)


def _too_many(plan: Plan, d: int) -> bool:
    """Whether the differences that matrices are multiplied by do not stay in registers."""
    return plan.factors is not None and plan.factors.full and d > UNROLLED


def _splits(
    tiles: int, n: int, points: int, bytes_each: int = 0, outputs: int = 1
) -> tuple[int, int]:
    """How many programs share the points, and the points of each: decided by sizes alone."""
    blocks = -(-n // points)
    resident = min(-(-n * bytes_each // RESIDENT), OUTPUTS // outputs)
    share = -(-blocks // max(1, min(max(PROGRAMS // max(tiles, 1), resident), blocks // 8)))
    return -(-blocks // share), share * points


def _whole(n: int, points: int) -> int:
    return -(-n // points) * points


def _numbers(rate: float, plan: Plan, X: Tensor) -> Tensor:
    """Rate and shape in the precision of the points: an argument would become float32."""
    return torch.tensor([rate, plan.shape], dtype=X.dtype).to(X.device)


def _table(plan: Plan, X: Tensor) -> Tensor:
    return X if plan.table is None else plan.table

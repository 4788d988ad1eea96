"""Which loop runs over which blocks on which thread: fixed pieces, added in order, the same for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import radial, threads
from kernelmean.compiled.signatures import Loop
from kernelmean.engines.cpu import loops
from kernelmean.engines.cpu import truncated_sums as narrow
from kernelmean.engines.cpu.blocks import CELL, Blocks, queries
from kernelmean.engines.cpu.tiles import TILE
from kernelmean.kernels import RadialFunction

TASK = (
    2**18
    # kernel values per piece of work: a few tenths of a millisecond, many times what handing it
    # over takes
)
FEW_QUERIES = 1024  # below this, threads share the points instead of the queries
FREQUENCIES = 256
LEAST = 1e-280  # of max(1, Σw): a sum above it has lost nothing to underflow


def kernel_sum(
    blocks: Blocks, radial_function: RadialFunction, Q: Points, W: Matrix, count: int
) -> Matrix:
    """f_ic = Σ_j W_jc g(‖q_i − x_j‖²); W is (n,) or (n, c)."""
    if W.ndim == 2:
        return _columns_sum(blocks, radial_function, Q, W, count)
    rows = queries(Q)
    if (
        value := narrow.kernel_sum(blocks, radial_function, rows, blocks.spread(W), count)
    ) is not None:
        return value
    return _every_term(blocks, radial_function, rows, W, count)


def _every_term(
    blocks: Blocks, radial_function: RadialFunction, rows: Points, w: Vector, count: int
) -> Vector:
    """Σ_j w_j g(‖q_i − x_j‖²), no term left out."""
    compiled, numbers = radial.compiled(radial_function)
    loop = loops.kernel_sum(compiled, blocks.d)
    spread = blocks.spread(w)
    if _by_chunk(blocks, rows):
        chunks = _chunks(blocks)
        parts = np.zeros((len(chunks), len(rows)))
        tasks = [
            (blocks.points[c], spread[c], rows, *numbers, part)
            for c, part in zip(chunks, parts, strict=True)
        ]
        threads.run(loop, tasks, count)
        return ordered_sum(parts)
    out = np.zeros(len(rows))
    for points, weights in (
        without_padding(blocks, spread) if blocks.d <= compiled.fused else [(blocks.points, spread)]
    ):
        tasks = [
            (points, weights, rows[i], *numbers, out[i]) for i in _query_pieces(len(rows), blocks.n)
        ]
        threads.run(loop, tasks, count)
    return out


def without_padding(blocks: Blocks, *numbers: Matrix) -> Iterator[tuple[NDArray[np.float64], ...]]:
    """The full blocks, and the last one cut to the cells that hold points; each with its numbers,
    one per point.
    """
    full, live = divmod(blocks.n, blocks.shape[1])
    if full:
        yield blocks.points[:full], *(own[:full] for own in numbers)
    if live:
        kept = -(-live // CELL) * CELL
        yield (
            np.ascontiguousarray(blocks.points[full:, :, :kept]),
            *(np.ascontiguousarray(own[full:, :kept]) for own in numbers),
        )


def _columns_sum(
    blocks: Blocks, radial_function: RadialFunction, Q: Points, W: Matrix, count: int
) -> Matrix:
    """Several columns of weights at the cost of little more than one."""
    compiled, numbers = radial.compiled(radial_function)
    return _rows_of_sums(
        blocks,
        loops.kernel_sum_columns(compiled, blocks.d),
        blocks.spread_columns(W),
        Q,
        numbers,
        np.zeros((len(Q), W.shape[1])),
        count,
    )


def kernel_moments(
    blocks: Blocks, radial_function: RadialFunction, Q: Points, w: Vector, count: int
) -> Matrix:
    """(q, 1 + d): Σ_j w_j g(‖q_i − x_j‖²)(1, x_j − q_i)."""
    compiled, numbers = radial.compiled(radial_function)
    out = np.zeros((len(Q), 1 + blocks.d))
    return _rows_of_sums(
        blocks, loops.kernel_moments(compiled, blocks.d), blocks.spread(w), Q, numbers, out, count
    )


def _rows_of_sums(
    blocks: Blocks,
    loop: Loop,
    spread: Matrix,
    Q: Points,
    numbers: tuple[float, float, Matrix],
    out: Matrix,
    count: int,
) -> Matrix:
    """out_i += one row of sums per query, by a loop that takes one piece of the points or of the
    queries.
    """
    rows = queries(Q)
    if _by_chunk(blocks, rows):
        chunks = _chunks(blocks)
        parts = np.zeros((len(chunks), *out.shape))
        tasks = [
            (blocks.points[c], spread[c], rows, *numbers, part)
            for c, part in zip(chunks, parts, strict=True)
        ]
        threads.run(loop, tasks, count)
        return ordered_sum(parts)
    tasks = [
        (blocks.points, spread, rows[i], *numbers, out[i]) for i in _query_pieces(len(Q), blocks.n)
    ]
    threads.run(loop, tasks, count)
    return out


def log_kernel_sum(
    blocks: Blocks, radial_function: RadialFunction, Q: Points, w: Vector, count: int
) -> Vector:
    """log Σ_j w_j g(‖q_i − x_j‖²): the logarithm of the plain sum, two to three times faster,
    unless it is near underflow.
    """
    rows = queries(Q)
    plain = _every_term(blocks, radial_function, rows, w, count)
    with np.errstate(divide="ignore"):
        value: Vector = np.log(plain)
    far = np.flatnonzero(plain < LEAST * max(1.0, w.sum()))
    if len(far):
        value[far] = _in_the_log_domain(blocks, radial_function, rows[far], w, count)
    return value


def _in_the_log_domain(
    blocks: Blocks, radial_function: RadialFunction, rows: Points, w: Vector, count: int
) -> Vector:
    """The same, without underflow."""
    compiled, numbers = radial.compiled(radial_function)
    loop = loops.log_kernel_sum(compiled, blocks.d)
    with np.errstate(divide="ignore"):
        log_w = blocks.spread(np.log(w), padding=-np.inf)
    pieces, across = shares(blocks, rows)
    peak = np.full((len(pieces), len(rows)), -np.inf)
    total = np.zeros((len(pieces), len(rows)))
    tasks = [
        (blocks.points[piece], log_w[piece], rows[i], *numbers, peak[c, i], total[c, i])
        for c, piece in enumerate(pieces)
        for i in across
    ]
    threads.run(loop, tasks, count)
    return joined_logs(peak, total)


def joined_logs(peak: Matrix, total: Matrix) -> Vector:
    """log Σ_c total_c exp(peak_c) over the pieces c of the points."""
    top = peak.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted = np.where(total > 0.0, total * np.exp(peak - top), 0.0)
        value: Vector = top + np.log(ordered_sum(shifted))
    return value


def quadratic(blocks: Blocks, radial_function: RadialFunction, w: Vector, count: int) -> float:
    """Σ_ij w_i w_j g(‖x_i − x_j‖²) over half of the pairs: each chunk with itself, and twice with
    the later ones.
    """
    compiled, numbers = radial.compiled(radial_function)
    loop = loops.kernel_sum(compiled, blocks.d)
    spread = blocks.spread(w)
    chunks = _chunks(blocks)
    parts = np.zeros(len(chunks))

    def add(c: int) -> None:
        own = chunks[c]
        later = slice(chunks[c].stop, None)
        rows = np.ascontiguousarray(blocks.points[own].transpose(0, 2, 1)).reshape(
            -1, blocks.points.shape[1]
        )
        weights = spread[own].reshape(-1)
        inner = np.zeros(len(rows))
        outer = np.zeros(len(rows))
        loop(blocks.points[own], spread[own], rows, *numbers, inner)
        loop(blocks.points[later], spread[later], rows, *numbers, outer)
        parts[c] = np.sum(weights * inner) + 2.0 * np.sum(
            weights * outer
        )  # not by BLAS, whose threads change bits

    threads.run(add, [(c,) for c in range(len(chunks))], count)
    return float(np.sum(parts))


def fourier_sum(
    blocks: Blocks, frequencies: Points, origin: Vector, w: Vector, count: int
) -> Matrix:
    """(M, 2): Σ_j w_j cos ω·(x_j − origin) and the same with sin."""
    loop = loops.fourier_sum(blocks.shape[1])
    spread = blocks.spread(w)
    shift = np.zeros(blocks.points.shape[1])
    shift[: blocks.d] = origin
    rows = queries(frequencies)
    parts = np.zeros((len(_chunks(blocks)), len(rows), 2))
    tasks = [
        (blocks.points[c], spread[c], rows[m : m + FREQUENCIES], shift, part[m : m + FREQUENCIES])
        for c, part in zip(_chunks(blocks), parts, strict=True)
        for m in range(0, len(rows), FREQUENCIES)
    ]
    threads.run(loop, tasks, count)
    return ordered_sum(parts)


def shares(blocks: Blocks, rows: Points) -> tuple[list[slice], list[slice]]:
    """Pieces of the points, and of the queries, that threads work on; one of the two is whole."""
    if _by_chunk(blocks, rows):
        return _chunks(blocks), [slice(None)]
    return [slice(None)], _query_pieces(len(rows), blocks.n)


def _by_chunk(blocks: Blocks, rows: Points) -> bool:
    """Few queries: threads share the points. Decided by sizes alone, so that results do not depend
    on threads.
    """
    return len(rows) < FEW_QUERIES and len(blocks.points) > loops.CHUNK


def _chunks(blocks: Blocks) -> list[slice]:
    return [slice(b, b + loops.CHUNK) for b in range(0, len(blocks.points), loops.CHUNK)]


def _query_pieces(q: int, n: int) -> list[slice]:
    size = max(1, TASK // (n * TILE)) * TILE
    return [slice(i, i + size) for i in range(0, q, size)]


def ordered_sum(parts: Matrix) -> Matrix:
    """Parts added in their order."""
    total: Matrix = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total

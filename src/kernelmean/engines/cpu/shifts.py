"""One step of mean shift: density, pull and direction of every query in one pass over the blocks,
in the log domain.

Weights are relative to the largest term met so far, which is raised as larger ones appear; so a
query far from every point still moves towards the nearest, where the plain quotient would be 0/0.
Steps are sums of differences x_j − q, so that a far origin costs no digits.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import types
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.compiled import elementary, radial, threads
from kernelmean.compiled.compiling import SAFE_MATH, compile_function
from kernelmean.compiled.radial import CompiledDecay
from kernelmean.compiled.signatures import Loop, read, write
from kernelmean.engines import Shift
from kernelmean.engines.cpu import sums
from kernelmean.engines.cpu.blocks import CELL, Blocks, padded_dimension, queries, width
from kernelmean.engines.cpu.tiles import TILE, dimension_key, distances
from kernelmean.kernels import Formula

VALUE = 0  # columns of the sums; from STEP on, one per coordinate
PULL = 1  # columns of the sums; from STEP on, one per coordinate
HELD = 2  # columns of the sums; from STEP on, one per coordinate
STEP = 3  # columns of the sums; from STEP on, one per coordinate


def shift(blocks: Blocks, decay: Formula, Q: Points, w: Vector, count: int) -> Shift:
    """Shift of every query; threads share the points where queries are few, else the queries."""
    loop = _shift_loop(radial.compiled_decay(decay), blocks.d)
    with np.errstate(divide="ignore"):
        log_w = blocks.spread(np.log(w), padding=-np.inf)
    rows = queries(Q)
    pieces, across = sums.shares(blocks, rows)
    peak = np.full((len(pieces), len(Q)), -np.inf)
    totals = np.zeros((len(pieces), len(Q), STEP + padded_dimension(blocks.d)))
    tasks = [
        (
            blocks.points[piece],
            log_w[piece],
            live(blocks, piece),
            rows[i],
            decay.rate,
            decay.shape,
            peak[c, i],
            totals[c, i],
        )
        for c, piece in enumerate(pieces)
        for i in across
    ]
    threads.run(loop, tasks, count)
    return quotients(peak, totals, blocks.d)


def live(blocks: Blocks, piece: slice) -> int:
    """Points of a piece that are not padding."""
    start, stop, _ = piece.indices(blocks.shape[0])
    return min(blocks.n, stop * blocks.shape[1]) - start * blocks.shape[1]


def quotients(peak: NDArray[np.float64], totals: NDArray[np.float64], d: int) -> Shift:
    """Sums of all pieces on one level, and their quotients."""
    top = peak.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(np.isneginf(peak), 0.0, np.exp(peak - top))
        total = sums.ordered_sum(totals * scale[:, :, None])
        step = np.where(
            total[:, PULL, None] > 0.0, total[:, STEP : STEP + d] / total[:, PULL, None], 0.0
        )
        logs = np.log(total[:, :STEP]) + np.where(np.isneginf(top), 0.0, top)[:, None]
    return Shift(logs[:, VALUE], logs[:, PULL], logs[:, HELD], step)


@functools.lru_cache(maxsize=256)
def _shift_loop(decay: CompiledDecay, d: int) -> Loop:
    """peak_i and sums_i relative to it: Σ wφ, Σ wψ, Σ wφ at a kink, Σ wψ(x − q)."""
    B = width(d)
    log_phi = decay.log_phi
    ratio = decay.ratio
    kink = decay.kink
    reserve, gather, meet, row = distances(d, SAFE_MATH)
    exp = elementary.exp

    def shift_loop(X, log_w, live, Q, rate, shape, peak, total):
        scratch = reserve(Q.shape[1])
        terms = np.empty(B)
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for b in range(len(X)):
                block = X[b]
                v = log_w[b]
                m = min(B, -(-(live - b * B) // CELL) * CELL)  # cells of padding alone are left out
                meet(block, Q, first, last, scratch)
                for i in range(first, last):
                    q = Q[i]
                    out = total[i]
                    r2 = row(block, q, i - first, scratch)
                    highest = -np.inf
                    for j in range(m):
                        r2[j] *= rate
                        terms[j] = v[j] + log_phi(r2[j], shape)
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
                    held = 0.0
                    for j in range(m):
                        e = exp(terms[j] - level)
                        f = ratio(r2[j], shape)
                        value += e
                        terms[j] = e * f
                        pull += terms[j]
                        if kink:
                            held += e if r2[j] == 0.0 else 0.0
                    out[VALUE] += value
                    out[PULL] += pull
                    out[HELD] += held
                    for t in range(len(q)):
                        x = block[t]
                        o = q[t]
                        s = 0.0
                        for j in range(m):
                            s += terms[j] * (x[j] - o)
                        out[STEP + t] += s

    signature = types.void(
        read(3), read(2), types.int64, read(2), types.float64, types.float64, write(1), write(2)
    )
    return compile_function(shift_loop, signature, (decay.name, dimension_key(d)))

"""Evidence along streams of features in NumPy: many blocks at a time, streams side by side.

It says what the loops of :mod:`kernelmean.compiled.window_scan` say, which are worth compiling for
long streams only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.compiled.window_evidence import BLOCK, KEPT, Judge
from kernelmean.monitoring.window_sums import (
    Evidence,
    evidence_of,
    grown_by,
    in_order,
    keep,
    pair_sums,
    picked_pair_sums,
    squares_of,
)

TOGETHER = 2**19  # sums of windows that are in memory at once: those of a level fit into a cache


def scan(
    Z: Matrix,
    seen: int,
    current: Vector,
    blocks: NDArray[np.float64],
    judge: Judge,
    threshold: float,
    evidence: Vector,
    found: IntVector,
) -> int:
    """Add rows of features until the evidence reaches the threshold; how many were added.

    ``seen`` are the rows before. ``current`` (the block that is not complete) and ``blocks`` are
    the state, which moves on. ``evidence`` gets that of each row that completes a block, and
    ``found`` the window and the component of the last of these. No bit depends on how rows are cut
    into batches.
    """
    step = BLOCK * max(1, TOGETHER // (KEPT * Z.shape[1]))
    for start in range(0, len(Z), step):
        rows = Z[start : start + step]
        used = _scan_some(
            rows, seen + start, current, blocks, judge, threshold, evidence[start:], found
        )
        if used < len(rows) or evidence[start + used - 1] >= threshold:
            return start + used
    return len(Z)


def _scan_some(
    Z: Matrix,
    seen: int,
    current: Vector,
    blocks: NDArray[np.float64],
    judge: Judge,
    threshold: float,
    evidence: Vector,
    found: IntVector,
) -> int:
    """:func:`scan` of a few rows."""
    before = seen // BLOCK
    waiting = seen % BLOCK
    rows = np.concatenate([current[None], Z]) if waiting else Z
    pairs = pair_sums(rows)
    complete = pairs.shape[2]
    used = len(Z)
    if complete:
        levels = grown_by(in_order(blocks, before), before, pairs)
        seen_blocks = np.array([before])
        positive = evidence_of(levels, seen_blocks, judge)
        best = positive.largest(len(judge.bonus), 1, complete)[:, 0]
        component = best.argmax(axis=0)
        largest = best[component, np.arange(complete)]
        reached = np.flatnonzero(largest >= threshold)
        if len(reached):
            complete = int(reached[0]) + 1
            used = BLOCK * complete - waiting
            levels = grown_by(in_order(blocks, before), before, pairs[:, :, :complete])
        evidence[BLOCK - 1 - waiting : used : BLOCK] = largest[:complete]
        found[1] = component[complete - 1]
        found[0] = _first_window(positive, complete - 1, int(found[1]))
        keep(blocks, levels, before + complete)
    current[:] = rows[BLOCK * complete : waiting + used].sum(axis=0)
    return used


def _first_window(positive: Evidence, at: int, component: int) -> int:
    """The first of the windows with the largest evidence at a block; 0 where there is none."""
    own = np.flatnonzero((positive.at == at) & (positive.component == component))
    if not len(own):
        return 0
    values = positive.value[own]
    return int(positive.window[own[values == values.max()]].min())


def component_evidence(table: Matrix, rows: IntVector, judge: Judge, levels: int) -> Matrix:
    """Evidence of each component along streams of table rows.

    ``rows`` is (streams, rows of each); the result is (components, streams, blocks), of streams
    that have windows of so many levels.
    """
    S, n = rows.shape
    features = np.ascontiguousarray(table.T)
    out = np.zeros((len(judge.bonus), S, n // BLOCK))
    kept = [np.zeros((len(features), S, KEPT)) for _ in range(levels)]
    step = _step(levels, len(features) * S)
    for start in range(0, n, step):
        pairs = picked_pair_sums(features, rows[:, start : start + step])
        before = start // BLOCK
        grown = grown_by(kept, before, pairs)
        stop = before + pairs.shape[2]
        found = evidence_of(grown, np.full(S, before), judge)
        out[:, :, before:stop] = found.largest(len(judge.bonus), S, stop - before)
        kept = [own[:, :, -KEPT:] for own in grown]
    return out


@dataclass(eq=False)
class _Stream:
    """Runs one after another over the rows of one stream."""

    rows: IntVector
    offsets: Matrix
    levels: Vector
    runs: list[IntVector]  # when each level was reached, in rows of the run; 0 where it was not
    at: int = 0  # rows of all runs so far
    seen: int = 0  # rows of the last run so far

    @property
    def blocks(self) -> int:
        """How many blocks are left."""
        return (len(self.rows) - self.at) // BLOCK

    def following(self, step: int) -> IntVector:
        """The next rows, filled up behind the last."""
        found = self.rows[self.at : self.at + step]
        return found if len(found) == step else np.resize(found, step)

    def take(self, course: Vector) -> bool:
        """Follow the evidence of the next blocks; whether a run ended, which voids the rest."""
        course = course[: self.blocks]
        if course.max() < self.levels[0]:
            return self._go_on(len(course), ended=False)
        first = np.searchsorted(np.maximum.accumulate(course), self.levels)
        new = (first < len(course)) & (self.runs[-1] == 0)
        self.runs[-1][new] = self.seen + BLOCK * (first[new] + 1)
        ended = bool(first[-1] < len(course))
        return self._go_on(int(first[-1]) + 1 if ended else len(course), ended)

    def _go_on(self, blocks: int, ended: bool) -> bool:
        self.at += BLOCK * blocks
        self.seen += BLOCK * blocks
        if ended:
            self.runs.append(np.zeros_like(self.runs[-1]))
            self.seen = 0
        return ended

    @property
    def offset(self) -> Vector:
        """That of the last run."""
        found: Vector = self.offsets[(len(self.runs) - 1) % len(self.offsets)]
        return found


def first_passages(
    table: Matrix,
    rows: IntVector,
    offsets: NDArray[np.float64],
    levels: Vector,
    judge: Judge,
    depth: int,
) -> list[tuple[IntVector, int]]:
    """When the evidence first reaches each of some ascending levels, in one run after another.

    A run takes the next of the given rows of the table, (streams, rows of each), each less the
    run's offset, and ends with the highest level; ``offsets`` are (streams, number, R). Returned
    are, of every stream, how many rows of its runs were seen before, (runs, levels), 0 where rows
    ran out, and the rows of the last run, which is unfinished.
    """
    features = np.ascontiguousarray(table.T)
    none = np.zeros(len(levels), dtype=np.intp)
    streams = [
        _Stream(own, shifts, levels, [none.copy()])
        for own, shifts in zip(rows, offsets, strict=True)
    ]
    kept = [np.zeros((len(features), len(streams), KEPT)) for _ in range(depth)]
    step = _step(depth, len(features) * len(streams))
    while lasting := [s for s, own in enumerate(streams) if own.blocks]:
        some = [streams[s] for s in lasting]
        shifts = np.stack([own.offset for own in some], axis=1)[:, :, None]
        pairs = picked_pair_sums(features, np.stack([own.following(step) for own in some]), shifts)
        # Every run has seen whole blocks of the highest level, so that all levels go on alike.
        grown = grown_by([old[:, lasting] for old in kept], 0, pairs)
        before = np.array([own.seen // BLOCK for own in some])
        found = evidence_of(grown, before, judge)
        best = found.largest(len(judge.bonus), len(some), step // BLOCK).max(axis=0)
        fresh = [s for s, own, course in zip(lasting, some, best, strict=True) if own.take(course)]
        for old, new in zip(kept, grown, strict=True):
            old[:, lasting] = new[:, :, -KEPT:]
            old[:, fresh] = 0.0
    return [(np.stack(own.runs), own.seen + len(own.rows) - own.at) for own in streams]


def component_roots(table: Matrix, rows: IntVector, judge: Judge) -> Matrix:
    """q_c^⅓ of the components for sums over windows of table rows, one window per row of ``rows``.

    The result is (windows, components). Only the groups of the judge are used.
    """
    from scipy.sparse import csr_array

    many, length = rows.shape
    ends = np.arange(0, rows.size + 1, length)
    chosen = csr_array((np.ones(rows.size), rows.reshape(-1), ends), shape=(many, len(table)))
    total = np.ascontiguousarray((chosen @ table).T)
    squares = squares_of(total[None, :, None], judge)[0, :, 0]
    roots: Matrix = np.cbrt(squares / length).T
    return roots


def _step(levels: int, width: int) -> int:
    """Rows at a time: whole blocks of the highest level."""
    largest = BLOCK << (levels - 1)
    return largest * max(1, BLOCK * TOGETHER // (KEPT * width * largest))

"""Compiled loops over a stream of features: what :mod:`kernelmean.monitoring.plain_scan` says in
NumPy, row by row.

Written with loops over numbers only: an expression of arrays takes Numba seconds to compile, most
of them for the words of an error that cannot happen.
"""

from __future__ import annotations

import math

import numpy as np

from kernelmean.compiled.compiling import entry, part
from kernelmean.compiled.window_evidence import (
    BLOCK,
    HIGHER_WINDOWS,
    KEPT,
    LEAST_BLOCKS,
    LOWEST_WINDOWS,
)

LARGE_Z = 30.0  # beyond, the tail by its expansion, which does not underflow
LOG_10 = math.log(10.0)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF = math.sqrt(0.5)


@part()
def log_tail(z):
    """−log₁₀ Φ̄(z)."""
    if z > LARGE_Z:
        # Φ̄(z) = φ(z)/z · (1 − 1/z² + 3/z⁴ − …)
        s = 1.0 / (z * z)
        tail = -0.5 * z * z - HALF_LOG_TWO_PI - math.log(z) + math.log1p(s * (3.0 * s - 1.0))
    else:
        tail = math.log(0.5 * math.erfc(z * ROOT_HALF))
    return -tail / LOG_10


@part()
def largest_squares(total, judge, squares):
    """max ‖S_g‖²/|g| over the groups g of each component."""
    for c in range(len(squares)):
        squares[c] = 0.0
    for g in range(len(judge.component)):
        first = judge.starts[g]
        last = judge.starts[g + 1]
        square = 0.0
        for i in range(first, last):
            square += total[i] * total[i]
        square /= last - first
        if square > squares[judge.component[g]]:
            squares[judge.component[g]] = square


@part()
def _judge_level(level, blocks, complete, judge, total, squares, best, window):
    """Raise ``best`` (components,) to the evidence of the windows that end with a new block.

    ``window`` gets which window has it.
    """
    least = LEAST_BLOCKS if level == 0 else KEPT - HIGHER_WINDOWS + 1
    for j in range(len(total)):
        total[j] = 0.0
    for many in range(1, min(KEPT, complete) + 1):
        slot = (complete - many) % KEPT
        for j in range(len(total)):
            total[j] += blocks[level, slot, j]
        if many < least:
            continue
        own = many - least
        if level > 0:
            own += LOWEST_WINDOWS + HIGHER_WINDOWS * (level - 1)
        if own >= len(judge.centers):
            break
        rows = many * (BLOCK << level)
        largest_squares(total, judge, squares)
        for c in range(len(squares)):
            if squares[c] <= judge.limits[own, c]:
                continue
            z = (np.cbrt(squares[c] / rows) - judge.centers[own, c]) / judge.scales[own, c]
            evidence = math.log10(rows) + log_tail(z) + judge.bonus[c]
            if evidence > best[c]:
                best[c] = evidence
                window[c] = own


@part()
def _complete_block(seen, current, blocks, judge, total, squares, best, window):
    """Pass the block of the latest rows on to all levels it completes, and judge their windows.

    ``best`` gets the largest evidence of each component, at least 0, and ``window`` where it is, or
    the first where it is 0; returned is the component with the largest.
    """
    for c in range(len(best)):
        best[c] = 0.0
        window[c] = 0
    for level in range(len(blocks)):
        size = BLOCK << level
        if seen % size:
            break
        complete = seen // size
        slot = (complete - 1) % KEPT
        if level == 0:
            for j in range(len(current)):
                blocks[0, slot, j] = current[j]
                current[j] = 0.0
        else:
            older = (seen // (size // 2) - 2) % KEPT
            newer = (seen // (size // 2) - 1) % KEPT
            for j in range(len(current)):
                blocks[level, slot, j] = blocks[level - 1, older, j] + blocks[level - 1, newer, j]
        _judge_level(level, blocks, complete, judge, total, squares, best, window)
    largest = 0
    for c in range(len(best)):
        if best[c] > best[largest]:
            largest = c
    return largest


@entry()
def scan(Z, seen, current, blocks, judge, threshold, evidence, found):
    """Add rows of features until the evidence reaches the threshold; how many were added.

    ``seen`` are the rows before. ``current`` (the block that is not complete) and ``blocks`` are
    the state, which moves on. ``evidence`` gets that of each row that completes a block, and
    ``found`` the window and the component of the last of these.
    """
    total = np.empty(Z.shape[1])
    squares = np.empty(len(judge.bonus))
    best = np.empty(len(judge.bonus))
    window = np.zeros(len(judge.bonus), dtype=np.int64)
    for i in range(len(Z)):
        for j in range(Z.shape[1]):
            current[j] += Z[i, j]
        seen += 1
        if seen % BLOCK:
            continue
        c = _complete_block(seen, current, blocks, judge, total, squares, best, window)
        evidence[i] = best[c]
        found[0] = window[c]
        found[1] = c
        if evidence[i] >= threshold:
            return i + 1
    return len(Z)


@entry()
def component_evidence(table, rows, judge, blocks, out):
    """Evidence of each component along a stream of table rows: ``out`` is (blocks, components)."""
    total = np.empty(table.shape[1])
    current = np.zeros(table.shape[1])
    squares = np.empty(len(judge.bonus))
    window = np.zeros(len(judge.bonus), dtype=np.int64)
    for i in range(len(rows)):
        for j in range(table.shape[1]):
            current[j] += table[rows[i], j]
        if (i + 1) % BLOCK == 0:
            _complete_block(i + 1, current, blocks, judge, total, squares, out[i // BLOCK], window)


@entry()
def first_passages(table, rows, offsets, levels, judge, blocks, times):
    """When the evidence first reaches each of some ascending levels, in one run after another.

    A run takes the next of the given rows of the table, each less the run's offset, and ends with
    the highest level. ``times`` (runs, levels) gets how many rows were seen, 0 where the rows ran
    out before; returned are the number of runs, the last of them unfinished, and its rows.
    """
    total = np.empty(table.shape[1])
    current = np.zeros(table.shape[1])
    squares = np.empty(len(judge.bonus))
    best = np.empty(len(judge.bonus))
    window = np.zeros(len(judge.bonus), dtype=np.int64)
    run = 0
    seen = 0
    reached = 0
    for i in range(len(rows)):
        own = run % len(offsets)
        for j in range(table.shape[1]):
            current[j] += table[rows[i], j] - offsets[own, j]
        seen += 1
        if seen % BLOCK:
            continue
        c = _complete_block(seen, current, blocks, judge, total, squares, best, window)
        while reached < len(levels) and best[c] >= levels[reached]:
            times[run, reached] = seen
            reached += 1
        if reached == len(levels):
            run += 1
            seen = 0
            reached = 0
            if run == len(times):
                break
    return run, seen


@entry()
def component_roots(table, rows, judge, out):
    """q_c^⅓ of the components for sums over windows of table rows, one window per row of ``rows``.

    ``out`` is (windows, components). Only the groups of the judge are used.
    """
    total = np.empty(table.shape[1])
    for s in range(len(rows)):
        for j in range(table.shape[1]):
            total[j] = 0.0
        for i in range(rows.shape[1]):
            for j in range(table.shape[1]):
                total[j] += table[rows[s, i], j]
        largest_squares(total, judge, out[s])
        for c in range(out.shape[1]):
            out[s, c] = np.cbrt(out[s, c] / rows.shape[1])

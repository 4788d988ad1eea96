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
def _squares_of_windows(blocks, complete, judge, squares):
    """The same for sums S of the latest 2, 3, …, KEPT blocks, (KEPT − 1, components).

    All in one pass, by direct sums, in which nothing but the blocks is read from memory: windows of
    more blocks than there are mean nothing.
    """
    b1 = blocks[(complete - 1) % KEPT]
    b2 = blocks[(complete - 2) % KEPT]
    b3 = blocks[(complete - 3) % KEPT]
    b4 = blocks[(complete - 4) % KEPT]
    b5 = blocks[(complete - 5) % KEPT]
    b6 = blocks[(complete - 6) % KEPT]
    b7 = blocks[(complete - 7) % KEPT]
    b8 = blocks[(complete - 8) % KEPT]
    for many in range(len(squares)):
        for c in range(squares.shape[1]):
            squares[many, c] = 0.0
    for g in range(len(judge.component)):
        s2 = s3 = s4 = s5 = s6 = s7 = s8 = 0.0
        for i in range(judge.starts[g], judge.starts[g + 1]):
            total = b1[i] + b2[i]
            s2 += total * total
            total += b3[i]
            s3 += total * total
            total += b4[i]
            s4 += total * total
            total += b5[i]
            s5 += total * total
            total += b6[i]
            s6 += total * total
            total += b7[i]
            s7 += total * total
            total += b8[i]
            s8 += total * total
        size = judge.starts[g + 1] - judge.starts[g]
        c = judge.component[g]
        for many, square in enumerate((s2, s3, s4, s5, s6, s7, s8)):
            squares[many, c] = max(squares[many, c], square / size)


@part()
def _judge_level(level, blocks, complete, judge, squares, best, window):
    """Raise ``best`` (components,) to the evidence of the windows that end with a new block.

    ``window`` gets which window has it.
    """
    least = LEAST_BLOCKS if level == 0 else KEPT - HIGHER_WINDOWS + 1
    first = 0 if level == 0 else LOWEST_WINDOWS + HIGHER_WINDOWS * (level - 1)
    _squares_of_windows(blocks[level], complete, judge, squares)
    for many in range(least, min(KEPT, complete) + 1):
        own = first + many - least
        if own >= len(judge.centers):
            break
        rows = many * (BLOCK << level)
        for c in range(squares.shape[1]):
            square = squares[many - LEAST_BLOCKS, c]
            if square <= judge.limits[own, c]:
                continue
            z = (np.cbrt(square / rows) - judge.centers[own, c]) / judge.scales[own, c]
            evidence = math.log10(rows) + log_tail(z) + judge.bonus[c]
            if evidence > best[c]:
                best[c] = evidence
                window[c] = own


@part()
def _complete_block(seen, current, blocks, judge, squares, best, window):
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
        _judge_level(level, blocks, complete, judge, squares, best, window)
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
    squares = np.empty((KEPT - 1, len(judge.bonus)))
    best = np.empty(len(judge.bonus))
    window = np.zeros(len(judge.bonus), dtype=np.int64)
    for i in range(len(Z)):
        for j in range(Z.shape[1]):
            current[j] += Z[i, j]
        seen += 1
        if seen % BLOCK:
            continue
        c = _complete_block(seen, current, blocks, judge, squares, best, window)
        evidence[i] = best[c]
        found[0] = window[c]
        found[1] = c
        if evidence[i] >= threshold:
            return i + 1
    return len(Z)


@entry()
def first_passages(table, rows, offsets, levels, judge, blocks, times, courses):
    """When the evidence first reaches each of some ascending levels, in one run after another.

    A run takes the next of the given rows of the table, each less the run's offset, and ends with
    the highest level. ``times`` (runs, levels) gets how many rows were seen, 0 where the rows ran
    out before; returned are the number of runs, the last of them unfinished, and its rows.
    ``courses`` (blocks, components) gets the evidence of the components, unless it has no rows.
    """
    current = np.zeros(table.shape[1])
    squares = np.empty((KEPT - 1, len(judge.bonus)))
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
        c = _complete_block(seen, current, blocks, judge, squares, best, window)
        if len(courses):
            for own in range(len(best)):
                courses[i // BLOCK, own] = best[own]
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

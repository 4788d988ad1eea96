"""Sums of features over the latest rows, for windows of many lengths at once.

Rows are added up in blocks of BLOCK; two blocks make one of the next level, as in a binary counter.
Each level keeps its latest eight blocks, so that windows of five to eight blocks of every level
(and of two to four of the lowest) are known whenever a block is complete: the memory is that of a
few blocks per level, and nothing is ever subtracted, so that no rounding accumulates.

The sum S of a window of w rows is judged group by group of its features, each of which is centred
and scaled before:

    q_g = ‖S_g‖² / (w·|g|),  q_c = max q_g over the groups of component c,
    z_c = (q_c^⅓ − center)/scale,
    evidence = max over windows and components of log₁₀ w − log₁₀ Φ̄(z_c) + bonus_c,

where Φ̄ is the upper tail of the normal distribution (Wilson and Hilferty: cube roots of quadratic
forms are nearly normal) and the logarithm of w makes windows of all lengths exceed a level equally
often, since a long window is a new one only every w rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.compiled.compiling import entry, part

BLOCK = 2  # rows
KEPT = 8  # blocks of each level
LEAST_BLOCKS = 2  # of a window of the lowest level
LOWEST_WINDOWS = KEPT - LEAST_BLOCKS + 1  # of two to eight blocks
HIGHER_WINDOWS = 4  # of every other level: five to eight blocks
LARGE_Z = 30.0  # beyond, the tail by its expansion, which does not underflow
LOG_10 = math.log(10.0)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF = math.sqrt(0.5)


class Judge(NamedTuple):
    """How sums over windows become evidence."""

    starts: IntVector  # (groups + 1,) where each group of features begins
    component: IntVector  # (groups,) to which each belongs
    centers: Matrix  # (windows, components)
    scales: Matrix  # (windows, components)
    bonus: Vector  # (components,)
    limits: Matrix  # (windows, components): ‖S‖²/|g| up to which the evidence is not positive


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
    squares[:] = 0.0
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
    total[:] = 0.0
    for many in range(1, min(KEPT, complete) + 1):
        total += blocks[level, (complete - many) % KEPT]
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

    ``best`` gets the largest evidence of each component, at least 0, and ``window`` where it is;
    returned is the component with the largest.
    """
    best[:] = 0.0
    for level in range(len(blocks)):
        size = BLOCK << level
        if seen % size:
            break
        complete = seen // size
        slot = (complete - 1) % KEPT
        if level == 0:
            blocks[0, slot] = current
        else:
            older = (seen // (size // 2) - 2) % KEPT
            newer = (seen // (size // 2) - 1) % KEPT
            blocks[level, slot] = blocks[level - 1, older] + blocks[level - 1, newer]
        _judge_level(level, blocks, complete, judge, total, squares, best, window)
    current[:] = 0.0
    return best.argmax()


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
        current += table[rows[i]]
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
        row = table[rows[i]]
        offset = offsets[run % len(offsets)]
        for j in range(table.shape[1]):
            current[j] += row[j] - offset[j]
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
        total[:] = 0.0
        for i in range(rows.shape[1]):
            total += table[rows[s, i]]
        largest_squares(total, judge, out[s])
        for c in range(out.shape[1]):
            out[s, c] = np.cbrt(out[s, c] / rows.shape[1])


@entry()
def suffix_squares(Z, first, last, out):
    """‖sum of the latest ℓ rows‖²/ℓ of the features first, …, last − 1, for ℓ = 1, 2, …"""
    total = np.zeros(last - first)
    for back in range(len(Z)):
        square = 0.0
        for j in range(last - first):
            total[j] += Z[len(Z) - 1 - back, first + j]
            square += total[j] * total[j]
        out[back] = square / (back + 1)

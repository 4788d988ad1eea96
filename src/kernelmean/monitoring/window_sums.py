"""Sums of features over windows in NumPy, and the evidence in them.

Features lie in rows here, and blocks beside one another, so that every step is one operation on
many numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.compiled.window_evidence import (
    BLOCK,
    HIGHER_WINDOWS,
    KEPT,
    LEAST_BLOCKS,
    LOWEST_WINDOWS,
    Judge,
)

LOG_10 = math.log(10.0)

Blocks: TypeAlias = NDArray[np.float64]  # (R, streams, blocks), the oldest first


class Evidence(NamedTuple):
    """Whatever evidence is positive, in the order of the windows."""

    value: Vector
    window: IntVector
    component: IntVector
    stream: IntVector
    at: IntVector  # with which of the new blocks of the lowest level the window ends

    def largest(self, components: int, streams: int, blocks: int) -> NDArray[np.float64]:
        """(components, streams, blocks): the largest evidence at every block, 0 where none is."""
        best = np.zeros((components, streams, blocks))
        np.maximum.at(best, (self.component, self.stream, self.at), self.value)
        return best


def pair_sums(rows: Matrix) -> Blocks:
    """Sums of every two of (n, R) rows of one stream."""
    even = len(rows) // BLOCK * BLOCK
    return np.ascontiguousarray((rows[0:even:BLOCK] + rows[1:even:BLOCK]).T[:, None])


def picked_pair_sums(
    features: Matrix, rows: IntVector, offsets: NDArray[np.float64] | float = 0.0
) -> Blocks:
    """Sums of every two of the rows (streams, n) of a table, each less an offset."""
    even = rows.shape[1] // BLOCK * BLOCK
    first = np.take(features, rows[:, 0:even:BLOCK], axis=1)
    first -= offsets
    second = np.take(features, rows[:, 1:even:BLOCK], axis=1)
    second -= offsets
    first += second
    return first


def in_order(blocks: NDArray[np.float64], before: int) -> list[Blocks]:
    """The blocks of each level from where compiled loops keep them, the latest last."""
    orders = [((before >> level) + np.arange(KEPT)) % KEPT for level in range(len(blocks))]
    return [own[order].T[:, None] for own, order in zip(blocks, orders, strict=True)]


def keep(blocks: NDArray[np.float64], levels: list[Blocks], after: int) -> None:
    """Put the latest blocks of each level back to where compiled loops keep them."""
    for level, own in enumerate(levels):
        order = ((after >> level) + np.arange(KEPT)) % KEPT
        blocks[level, order] = own[:, 0, -KEPT:].T


def grown_by(kept: list[Blocks], before: int, pairs: Blocks) -> list[Blocks]:
    """The blocks of every level: KEPT from before, and those that new ones of the lowest complete.

    ``before`` says how many of the lowest there were; of several streams, whether odd.
    """
    found: list[Blocks] = []
    new = pairs
    for level, old in enumerate(kept):
        found.append(np.concatenate([old, new], axis=2))
        halves = found[-1][:, :, KEPT - (before >> level) % 2 :]
        even = halves.shape[2] // 2 * 2
        new = halves[:, :, 0:even:2] + halves[:, :, 1:even:2]
    return found


def evidence_of(levels: list[Blocks], before: IntVector, judge: Judge) -> Evidence:
    """All positive evidence of the windows that end with new blocks.

    ``before`` (streams,) says how many blocks of the lowest level each stream had.
    """
    found = []
    for level, blocks in enumerate(levels):
        if blocks.shape[2] > KEPT:
            found.append(_evidence_of_level(level, blocks, before, judge))
    return Evidence._make(np.concatenate(parts) for parts in zip(*found, strict=True))


def _evidence_of_level(level: int, blocks: Blocks, before: IntVector, judge: Judge) -> Evidence:
    least = LEAST_BLOCKS if level == 0 else KEPT - HIGHER_WINDOWS + 1
    first = 0 if level == 0 else LOWEST_WINDOWS + HIGHER_WINDOWS * (level - 1)
    many = np.arange(least, KEPT + 1)[: len(judge.centers) - first]
    squares = squares_of(_window_sums(blocks, many), judge)[..., 1:]
    complete = before >> level
    ends = complete[:, None] + np.arange(1, squares.shape[3] + 1)
    larger = squares > judge.limits[first : first + len(many), :, None, None]
    if complete.min() < KEPT:
        larger &= (many[:, None, None] <= ends)[:, None]
    w, c, s, t = np.unravel_index(np.flatnonzero(larger), larger.shape)
    rows = many[w] * (BLOCK << level)
    window = first + w
    z = np.cbrt(squares[w, c, s, t] / rows) - judge.centers[window, c]
    z /= judge.scales[window, c]
    value = np.log10(rows) - log_ndtr(-z) / LOG_10 + judge.bonus[c]
    at = (ends[s, t] << level) - before[s] - 1
    positive = value > 0.0
    return Evidence._make(own[positive] for own in (value, window, c, s, at))


def _window_sums(blocks: Blocks, many: IntVector) -> NDArray[np.float64]:
    """(windows, R, streams, ends): sums of so many blocks up to each end.

    Ends are the last block from before and every new one: with at least two of them NumPy adds
    up features in one order, however many there are.
    """
    ends = blocks.shape[2] - KEPT + 1
    out = np.empty((len(many), *blocks.shape[:2], ends))
    total = blocks[:, :, KEPT - 1 :]
    for count in range(2, int(many[-1]) + 1):
        older = blocks[:, :, KEPT - count : KEPT - count + ends]
        target = out[max(count - int(many[0]), 0)]
        total = np.add(total, older, out=target)
    return out


def squares_of(sums: NDArray[np.float64], judge: Judge) -> NDArray[np.float64]:
    """(windows, components, streams, ends): max ‖S_g‖²/|g| over the groups g of each component.

    ``sums`` (windows, R, streams, ends) are used up.
    """
    np.multiply(sums, sums, out=sums)
    shape = (len(sums), len(judge.bonus), *sums.shape[2:])
    largest = np.zeros(shape)
    for g, c in enumerate(judge.component):
        start, stop = judge.starts[g : g + 2]
        own = sums[:, start:stop].sum(axis=1) / (stop - start)
        np.maximum(largest[:, c], own, out=largest[:, c])
    return largest

"""The windows that are looked at, and what has been added up of the latest rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.compiled.window_evidence import (
    BLOCK,
    HIGHER_WINDOWS,
    KEPT,
    LEAST_BLOCKS,
    LOWEST_WINDOWS,
    Judge,
)
from kernelmean.monitoring import plain_scan

LEAST_WINDOW = BLOCK * LEAST_BLOCKS


def judged_by(
    starts: IntVector, component: IntVector, centers: Matrix, scales: Matrix, bonus: Vector
) -> Judge:
    """With the limits that follow from the rest, so that few windows need more than a square."""
    rows = all_lengths(len(centers))[:, None]
    # The z of log₁₀ w − log₁₀ Φ̄(z) + bonus = 0, and the ‖S‖²/|g| of this z.
    z = -ndtri(np.minimum(10.0**bonus * rows, 1.0))
    limits = rows * np.maximum(centers + z * scales, 0.0) ** 3
    return Judge(starts, component, centers, scales, bonus, np.where(z > -np.inf, limits, -np.inf))


def above(judge: Judge, evidence: float) -> Judge:
    """The same for evidence that is larger; the windows of less need only a square."""
    higher = judged_by(*judge[:4], judge.bonus - evidence)
    return judge._replace(limits=higher.limits)


def longest(judge: Judge) -> int:
    """Rows of the longest window."""
    return int(all_lengths(len(judge.centers))[-1])


def levels(judge: Judge) -> int:
    """How many levels of blocks the windows of a judge need."""
    return 1 + max(0, -(-(len(judge.centers) - LOWEST_WINDOWS) // HIGHER_WINDOWS))


def empty_blocks(judge: Judge) -> NDArray[np.float64]:
    """Sums of the blocks of every level, before any row."""
    return np.zeros((levels(judge), KEPT, int(judge.starts[-1])))


def lengths(longest: int) -> IntVector:
    """Rows of the windows that are looked at: 4, 6, 8, …, 16, 20, 24, 28, 32, 40, 48 and so on."""
    many = LOWEST_WINDOWS
    while all_lengths(many)[-1] < longest:
        many += HIGHER_WINDOWS
    found = all_lengths(many)
    return found[found <= max(longest, LEAST_WINDOW)]


def all_lengths(many: int) -> IntVector:
    """Rows of the first so many windows."""
    found = [BLOCK * blocks for blocks in range(LEAST_BLOCKS, KEPT + 1)]
    while len(found) < many:
        found += [2 * rows for rows in found[-HIGHER_WINDOWS:]]
    return np.array(found[:many], dtype=np.int64)


def _scan(compiled: bool) -> Callable[..., int]:
    if not compiled:
        return plain_scan.scan
    from kernelmean.compiled import window_scan

    scan: Callable[..., int] = window_scan.scan
    return scan


class Found(NamedTuple):
    """What came of some rows."""

    used: int  # rows that were added, up to the one at which the threshold was reached
    evidence: Vector  # (used,): at rows that complete a block, −inf at others
    window: int  # number of the window with the largest evidence at the last of these
    component: int
    alarmed: bool  # whether the threshold was reached


@dataclass(eq=False)
class Windows:
    """Sums of features over the latest rows; they move on with each row."""

    seen: int
    current: Vector  # (R,) sum of the block that is not complete
    blocks: NDArray[np.float64]  # (levels, KEPT, R)

    @classmethod
    def empty(cls, judge: Judge) -> Windows:
        """Before any row."""
        return cls(0, np.zeros(int(judge.starts[-1])), empty_blocks(judge))

    def add(self, Z: Matrix, judge: Judge, threshold: float, compiled: bool) -> Found:
        """Add rows of features until the evidence reaches the threshold."""
        evidence = np.full(len(Z), -np.inf)
        found = np.zeros(2, dtype=np.int64)
        used = _scan(compiled)(
            np.ascontiguousarray(Z),
            self.seen,
            self.current,
            self.blocks,
            judge,
            threshold,
            evidence,
            found,
        )
        self.seen += used
        alarmed = used > 0 and bool(evidence[used - 1] >= threshold)
        return Found(used, evidence[:used], int(found[0]), int(found[1]), alarmed)

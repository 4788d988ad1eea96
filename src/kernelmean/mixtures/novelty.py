"""What no component stands for: gross outliers, and rows that are like none that were seen.

The next row may be unlike all n before it. A few wide components of the weight of one point say so:
the tails of a density are not empty, and a row beyond all others costs less. Rows that lie far out
of all proportion, if they are few, belong there too: no component is spent on them, and none is
blown up by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from kernelmean._types import Vector
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.protocols import Mixture
from kernelmean.mixtures.rows import Rows

M = TypeVar("M", bound=Mixture)

FIRST_WIDTH = 8.0  # of the narrowest wide component, in widths of the columns
STEP = 8.0  # from one of them to the next
GROSS_WIDTHS = 50.0  # from the median, beyond which a row is out of all proportion
MOST_GROSS = 0.01  # of the points; with more, they are no accident


@dataclass(frozen=True, eq=False)
class Novelty(Generic[M]):
    """Wide components, and their share of the weight."""

    mixture: M
    share: float

    def beside(self, mixtures: Sequence[M], shares: Vector) -> tuple[list[M], Vector]:
        """Mixtures with these components beside them, and the shares of all."""
        return [*mixtures, self.mixture], np.append((1.0 - self.share) * shares, self.share)


def without_gross(rows: Rows, widths: Vector) -> Rows:
    """The rows about the origin, without those few that lie out of all proportion."""
    outside = (np.abs(rows.points) > GROSS_WIDTHS * widths).any(axis=1)
    if rows.masses[outside].sum() > MOST_GROSS * rows.size or outside.all():
        return rows
    return rows[np.flatnonzero(~outside)]


def novelty(
    rows: Rows, kept: Rows, widths: Vector, floor: Vector, kind: SpreadKind
) -> Novelty[Gaussians]:
    """Components about the origin, each eight times as wide as the one before.

    They reach beyond the outermost of all rows, and have the mass of those that were not kept and
    of one row more.
    """
    scales = wide_scales(float((np.abs(rows.points) / widths).max()))
    count = len(scales)
    variances = scales[:, None] ** 2 * widths**2 + floor
    d = rows.dimension
    covariances = variances.mean(axis=1) if kind == "scalar" else variances[:, None] * np.eye(d)
    wide = Gaussians(np.full(count, 1.0 / count), np.zeros((count, d)), covariances)
    return Novelty(wide, share_of_novelty(rows, kept))


def wide_scales(farthest: float) -> Vector:
    """Their widths in widths of the columns, up to beyond the farthest row."""
    count = 2 + max(0, int(np.ceil(np.log(max(farthest, 1.0) / FIRST_WIDTH) / np.log(STEP))))
    return np.asarray(FIRST_WIDTH * STEP ** np.arange(count), dtype=np.float64)


def share_of_novelty(rows: Rows, kept: Rows) -> float:
    """Of the weight: that of the rows that were not kept, and of one row more."""
    return (rows.size - kept.size + 1.0) / (rows.size + 1.0)

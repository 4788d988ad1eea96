"""The rows that a mixture is fitted to, and how they are divided to judge it by others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines import PointCloud

FOLDS = 5
MAX_ROWS_ALL_FOLDS = 2000  # with more, one fifth judges what the others fit; with fewer, each does


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with the number of points that each stands for."""

    points: Points
    masses: Vector

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, some: IntVector) -> Rows:
        return Rows(self.points[some], self.masses[some])

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return int(self.points.shape[1])

    @property
    def size(self) -> float:
        """The number of points that they stand for."""
        return float(self.masses.sum())

    def about(self, origin: Vector) -> Rows:
        """The same rows with another origin."""
        return Rows(self.points - origin, self.masses)

    def folds(
        self, rng: np.random.Generator, continuous: int | None = None
    ) -> list[tuple[IntVector, IntVector]]:
        """Pairs of rows to fit on and rows to judge by; equal rows have to do both.

        Only the first so many columns are ``continuous``, and tell which rows are copies.
        """
        # Copies of a row stay together: one that judges its own copies would praise what is narrow.
        # A level of categories is no narrower than its probability, which its copies do judge.
        if continuous == 0:
            of_row = np.arange(len(self))
        else:
            of_row = np.unique(self.points[:, :continuous], axis=0, return_inverse=True)[1]
        distinct = int(of_row.max()) + 1
        if distinct == 1:
            everything = np.arange(len(self))
            return [(everything, everything)]
        fold = np.empty(distinct, dtype=np.intp)
        folds = min(FOLDS, distinct)
        fold[rng.permutation(distinct)] = np.arange(distinct) % folds
        number = fold[of_row.reshape(-1)]
        tried = folds if len(self) <= MAX_ROWS_ALL_FOLDS else 1
        return [(np.flatnonzero(number != f), np.flatnonzero(number == f)) for f in range(tried)]


def drawn(cloud: PointCloud, weights: Vector | None, most: int, rng: np.random.Generator) -> Rows:
    """Every row of a cloud, or ``most`` of them, as :func:`evenly_spread` chooses."""
    chosen, masses = evenly_spread(cloud, weights, most, rng)
    return Rows(cloud.rows(chosen), masses)


def evenly_spread(
    cloud: PointCloud, weights: Vector | None, most: int, rng: np.random.Generator
) -> tuple[IntVector, Vector]:
    """Every row of a cloud, or ``most`` of them spread evenly over the weight, and their masses.

    Integer weights are repeated rows, to the last bit; other weights are masses. ``weights`` are
    those of the cloud's rows.
    """
    size = cloud.summary.size
    if weights is not None and not cloud.summary.counted and cloud.summary.count <= most:
        return np.arange(cloud.summary.count), weights * (size / weights.sum())
    count = int(size) if cloud.summary.counted and size <= most else most
    offsets = np.full(count, 0.5) if count == size else rng.random(count)
    chosen = cloud.locate((np.arange(count) + offsets) / count)
    return chosen, np.full(len(chosen), size / count)

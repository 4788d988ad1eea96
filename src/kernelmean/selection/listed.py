"""Distinct rows from a stream: random draws, D² sampling, rows given by the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from kernelmean import engines
from kernelmean._types import IntVector, Points
from kernelmean.coefficients.sources import Batch
from kernelmean.engines import Distances, PointCloud
from kernelmean.selection.base import first_row

DRAWS_PER_BATCH = 256  # rows drawn by weight at a time
MIN_BATCHES = 64  # batches before rows that were never drawn are taken in order, and
ROWS_PER_BATCH = 16  # one more batch for so many rows
D2_BATCH_SHARE = 8  # one in so many of the draws so far is the size of the next batch of D² draws


class Listed:
    """Distinct points from a stream of rows; equal points count once."""

    def __init__(self, name: str, cloud: PointCloud, batches: Iterable[IntVector]) -> None:
        self.name = name
        self._cloud = cloud
        self._rows = distinct_rows(cloud, batches)

    def take(self, m: int) -> Batch:
        """The next m rows of the stream."""
        taken = np.fromiter(islice(self._rows, m), dtype=np.intp)
        return Batch(self._cloud.rows(taken), taken)

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centres."""
        return self._cloud.nearest(centers).distances()


def distinct_rows(
    cloud: PointCloud, batches: Iterable[IntVector], seen: set[bytes] | None = None
) -> Iterator[int]:
    """The rows of the batches in order, without those whose point came before.

    ``seen`` are the points of earlier calls; those of this one are added.
    """
    seen = set() if seen is None else seen
    for batch in batches:
        points = cloud.rows(batch) + 0.0  # −0 and 0 are one point
        for i, key in zip(batch.tolist(), _bytes_of_rows(points), strict=True):
            if key not in seen:
                seen.add(key)
                yield i


def _bytes_of_rows(points: Points) -> list[bytes]:
    """The bytes of each row, all at once."""
    row = np.dtype((np.void, points.itemsize * points.shape[1]))
    rows: list[bytes] = np.ascontiguousarray(points).view(row)[:, 0].tolist()
    return rows


def draws_by_weight(cloud: PointCloud, rng: np.random.Generator) -> Iterator[IntVector]:
    """Rows drawn by cumulative weight, many times over; then the rows never drawn, in order.

    Nothing here depends on the number of rows, so that integer weights draw as repeated rows do.
    """
    for _ in range(MIN_BATCHES + int(cloud.summary.size) // ROWS_PER_BATCH):
        yield cloud.locate(rng.random(DRAWS_PER_BATCH))
    yield np.arange(cloud.summary.count)


def d2_draws(cloud: PointCloud, rng: np.random.Generator) -> Iterator[IntVector]:
    """D² sampling, the start of k-means++.

    Each next point is drawn with probability ∝ weight × squared distance to the earlier ones.
    """
    j: int | None = first_row(cloud, rng)
    nearest: engines.Nearest | None = None
    while j is not None:
        row = np.array([j])
        yield row
        if nearest is None:
            nearest = cloud.nearest(cloud.rows(row))
        else:
            nearest.add(cloud.rows(row))
        j = nearest.distances().draw(float(rng.random()))


def d2_batches(cloud: PointCloud, rng: np.random.Generator) -> Iterator[IntVector]:
    """D² sampling by the batch, as in k-means‖.

    As many rows as an eighth of the draws so far are drawn before distances are lowered.
    """
    batch = np.array([first_row(cloud, rng)])
    drawn = 1
    nearest = cloud.nearest(cloud.rows(batch))
    while len(batch):
        yield batch
        if drawn > 1:
            nearest.add(cloud.rows(batch))
        wanted = max(1, drawn // D2_BATCH_SHARE)
        batch = np.unique(nearest.distances().draws(rng.random(wanted)))
        drawn += wanted  # draws, not rows: copies of a row count as the row drawn again

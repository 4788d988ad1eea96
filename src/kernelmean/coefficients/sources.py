"""What hands out centres, and what is known of them: every selection is such a source."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import IntVector, Points, StopReason, Vector
from kernelmean.engines import Distances


class Batch(NamedTuple):
    """The next few centres of a source."""

    points: Points
    indices: IntVector | None  # None off the data
    kappa: Vector | None = None  # κ of these centres, where the source has summed it already
    ended: StopReason = "distinct"  # why there are fewer than asked for, where there are


class Source(Protocol):
    """Hands out distinct centres in selection order."""

    name: str

    def take(self, m: int) -> Batch:
        """The next m centres; fewer when there are no more worth having."""

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to ``centers``, a prefix of what was taken."""


def picking_radii(points: Points) -> Vector:
    """Distance of each centre to the earlier ones; inf for the first."""
    radii = np.full(len(points), np.inf)
    for start in range(0, len(points), 256):  # a few rows at a time: no k × k matrix for k numbers
        rows = points[start : start + 256]
        squared = cdist(rows, points[: start + len(rows)], "sqeuclidean")
        earlier = np.arange(squared.shape[1]) < start + np.arange(len(rows))[:, None]
        radii[start : start + 256] = np.sqrt(squared.min(axis=1, where=earlier, initial=np.inf))
    return radii

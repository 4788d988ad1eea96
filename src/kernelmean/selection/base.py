"""What every selection is: a source that can be asked for more centres, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import IntVector, Points, StopReason, Vector
from kernelmean.engines import Distances, Engine, Room
from kernelmean.kernels import RadialFunction


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


@dataclass(frozen=True)
class Task:
    """The fit that a source is to serve."""

    room: Room
    engine: Engine
    radial: RadialFunction
    limit: int  # most centres
    fixed: bool  # exactly that many, not as many as it takes
    unit_sum: bool  # weights that sum to one and are not negative, not any weights
    density: bool  # a density that is judged by its likelihood, so that its tails count
    streams: Streams

    @lazy
    def kappa(self) -> Vector:
        """κ of every row, for samples so small that all are candidates: summed once for all selections that try them."""
        return self.room.kernel_sum(self.radial, self.room.rows(np.arange(self.room.summary.count)))


def first_row(room: Room, rng: np.random.Generator) -> int:
    """One row, drawn by cumulative weight."""
    return int(room.locate(rng.random(1))[0])


def first_center(room: Room, streams: Streams) -> int:
    """Where the traversal that hands out centres begins: the same row for every selection that makes one."""
    return first_row(room, streams.of("first centre"))


def picking_radii(points: Points) -> Vector:
    """Distance of each centre to the earlier ones; inf for the first."""
    radii = np.full(len(points), np.inf)
    for start in range(0, len(points), 256):  # a few rows at a time: no k × k matrix for k numbers
        rows = points[start : start + 256]
        squared = cdist(rows, points[: start + len(rows)], "sqeuclidean")
        earlier = np.arange(squared.shape[1]) < start + np.arange(len(rows))[:, None]
        radii[start : start + 256] = np.sqrt(squared.min(axis=1, where=earlier, initial=np.inf))
    return radii

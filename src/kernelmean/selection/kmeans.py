"""Lloyd's centroids: centres off the data."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines import Distances, Room
from kernelmean.selection.base import Batch
from kernelmean.selection.listed import Listed, d2_draws

LLOYD_ITERATIONS = 20


class Centroids:
    """Given centroids, heaviest first."""

    name = "kmeans"

    def __init__(self, room: Room, points: Points, kappa: Vector | None = None) -> None:
        self._room, self._points, self._kappa, self._taken = room, points, kappa, 0

    def take(self, m: int) -> Batch:
        """The next m centroids."""
        some = slice(self._taken, self._taken + m)
        self._taken = min(self._taken + m, len(self._points))
        return Batch(self._points[some], None, None if self._kappa is None else self._kappa[some])

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centroids."""
        return self._room.nearest(centers).distances()


class KMeans(Centroids):
    """Lloyd's centroids of all points from a k-means++ start."""

    def __init__(self, room: Room, k: int, rng: np.random.Generator) -> None:
        super().__init__(room, lloyd(room, Listed("kmeans++", room, d2_draws(room, rng)).take(k).points))


def lloyd(room: Room, centers: Points, iterations: int = LLOYD_ITERATIONS) -> Points:
    """c ← mean of the points nearest to c, again and again; the heaviest centroid first."""
    for _ in range(iterations):
        moved = room.nearest(centers).means()
        if np.array_equal(moved, centers):
            break
        centers = moved
    masses = np.round(room.nearest(centers).masses(), 12)  # equal masses stay equal, however their sums are rounded
    order: IntVector = np.argsort(-masses, kind="stable")
    return centers[order]

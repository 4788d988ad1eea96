"""Lloyd's centroids: centres off the data."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.coefficients.sources import Batch
from kernelmean.engines import Distances, PointCloud
from kernelmean.selection.listed import Listed, d2_draws

LLOYD_ITERATIONS = 20  # of selection="kmeans"
MASS_DIGITS = (
    12  # digits of a cell's mass that count, so that equal masses stay equal however summed
)


class OffData:
    """Points given in order, which are no rows of the sample."""

    def __init__(
        self, name: str, cloud: PointCloud, points: Points, kappa: Vector | None = None
    ) -> None:
        self.name = name
        self._cloud = cloud
        self._points = points
        self._kappa = kappa
        self._taken = 0

    def take(self, m: int) -> Batch:
        """The next m points."""
        some = slice(self._taken, self._taken + m)
        self._taken = min(self._taken + m, len(self._points))
        return Batch(self._points[some], None, None if self._kappa is None else self._kappa[some])

    def distances(self, centers: Points) -> Distances:
        """Distances of all points of the sample to these."""
        return self._cloud.nearest(centers).distances()


def kmeans(cloud: PointCloud, k: int, rng: np.random.Generator) -> OffData:
    """Lloyd's centroids of all points from a k-means++ start."""
    return OffData(
        "kmeans",
        cloud,
        lloyd(cloud, Listed("kmeans++", cloud, d2_draws(cloud, rng)).take(k).points),
    )


def lloyd(cloud: PointCloud, centers: Points, iterations: int = LLOYD_ITERATIONS) -> Points:
    """Lloyd's iteration c ← mean of the points nearest to c; the heaviest centroid comes first."""
    for _ in range(iterations):
        moved = cloud.nearest(centers).means()
        if np.array_equal(moved, centers):
            break
        centers = moved
    masses = np.round(cloud.nearest(centers).masses(), MASS_DIGITS)
    order: IntVector = np.argsort(-masses, kind="stable")
    return centers[order]

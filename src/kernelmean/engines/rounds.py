"""Farthest-first traversal in rounds, seen from one part of the points: hear of centres, and offer
the farthest points.

Whoever holds the offers of all parts picks among them as long as the best beats every point that
was not offered (farther, or as far with a lower row): these picks are exactly those of the
sequential loop, ties included.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.engines.arrays import Distances


class Pool(NamedTuple):
    """The points of largest distance; every other point ranks at or below (bound, rival)."""

    rows: NDArray[np.int64]  # (p,) ascending
    points: Points  # (d, p)
    nearest: Vector  # (p,) squared distance to the nearest centre, picks of this pool included
    bound: float  # no point outside is farther than this (squared); −1 where none is outside
    rival: int  # the lowest row outside that is as far; n if none


class Frontier(Protocol):
    """Squared distances of a point cloud's points to centres that come from anywhere."""

    def meet(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties."""

    def distances(self) -> Distances:
        """The squared distances, behind reductions."""


def farthest(X: Any, nearest: Vector, m: int) -> Pool:
    """The m farthest points, lower rows first on ties, and the best point outside."""
    n = len(nearest)
    bound = -1.0
    rival = n
    rows = np.arange(n, dtype=np.int64)
    if n > m:
        bound = float(np.partition(nearest, n - m)[n - m])
        above = np.flatnonzero(nearest > bound)
        level = np.flatnonzero(nearest == bound)
        left = m - len(above)
        rows = np.sort(np.concatenate([above, level[:left]])).astype(np.int64)
        if len(level) > left:
            rival = int(level[left])
        # Else every other point is strictly nearer than the last one offered, which may itself
        # still be picked.
    return Pool(rows, np.ascontiguousarray(X[rows].T), nearest[rows], bound, rival)


class CloudFrontier:
    """The frontier of any point cloud, by its nearest centres; ``squared`` are the distances to centres
    met before.
    """

    def __init__(self, cloud: Any, p: Vector, squared: Vector) -> None:
        self._cloud = cloud
        self._p = p
        self._squared = squared

    def meet(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        np.minimum(
            self._squared, self._cloud.nearest(centers).distances().values(), out=self._squared
        )

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance."""
        n = len(self._squared)
        pool = farthest(np.empty((n, 0)), self._squared, m)
        return pool._replace(points=np.ascontiguousarray(self._cloud.rows(pool.rows).T))

    def distances(self) -> Distances:
        """The squared distances, behind reductions."""
        return Distances(self._squared, self._p)

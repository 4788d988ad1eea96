"""Farthest-first traversal in rounds: pick from a pool, then let all points hear of the picks.

The points of largest distance form a pool. While the best of the pool beats every point outside
(farther, or as far with a lower row), it is the next centre, and only the pool needs to hear of it:
these picks are exactly those of the sequential loop, ties included. Then all distances are lowered
by the picks at once, and a new pool is offered. Who holds the distances and the pool (a tree, a
filter by matrix products, a device, many parts) is a :class:`DistanceHolder`; the loop is here.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.engines.distances import ArrayDistances
from kernelmean.engines.optional_protocols import Pool
from kernelmean.engines.protocols import Picks, PointCloud, PointRows


class DistanceHolder(Protocol):
    """Keeps the distances of all points, and a pool of the farthest.

    The first centre has been heard of before the first question.
    """

    def capacity(self) -> int:
        """How many more centres may be picked before all points must hear of them."""

    def pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres and their squared distances, as far as the pool can tell; return
        how many. They wait until the next update.
        """

    def exhausted(self) -> bool:
        """Whether, after a pick, every distinct point is known to be a centre."""

    def update(self) -> None:
        """Lower all distances by the centres that wait, and offer a new pool."""


class FarthestFirst:
    """Farthest-first order from row ``first`` (Gonzalez 1985), asked for piece by piece."""

    def __init__(self, holder: DistanceHolder, first: int) -> None:
        self._holder = holder
        self._first = first
        self._taken = 0

    def take(self, m: int) -> Picks:
        """The next m centres (the radius of the first is infinite); fewer once none is left."""
        rows = np.empty(m, np.int64)
        squares = np.empty(m)
        done = 0
        if self._taken == 0 and m > 0:
            rows[0] = self._first
            squares[0] = np.inf
            done = 1
        while done < m:
            wanted = min(m - done, self._holder.capacity())
            found = self._holder.pick(rows[done : done + wanted], squares[done : done + wanted])
            done += found
            if self._holder.exhausted():
                break
            if done < m and (found < wanted or self._holder.capacity() == 0):
                self._holder.update()
        self._taken += done
        return Picks(rows[:done].astype(np.intp), np.sqrt(squares[:done]))


def farthest(X: PointRows, nearest: Vector, m: int) -> Pool:
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


class CloudOffers:
    """The farthest points of any point cloud, by its nearest centres.

    ``squared`` are the distances to the centres heard of before, and ``p`` the weights.
    """

    def __init__(self, cloud: PointCloud, p: Vector, squared: Vector) -> None:
        self._cloud = cloud
        self._p = p
        self._squared = squared

    def update(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        lowered = self._cloud.nearest(centers).distances().values()
        np.minimum(self._squared, lowered, out=self._squared)

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties."""
        n = len(self._squared)
        pool = farthest(np.empty((n, 0)), self._squared, m)
        points = np.ascontiguousarray(self._cloud.rows(pool.rows).T)
        return pool._replace(points=points)

    def distances(self) -> ArrayDistances:
        """The squared distances, behind reductions."""
        return ArrayDistances(self._squared, self._p)

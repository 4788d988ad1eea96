"""Exact farthest-first traversal on a device: a pool per round, one pass over the points per batch
of centres.

The points of largest distance form a pool. While the best of the pool beats every point outside
(farther, or as far with a lower row), it is the next centre, and only the pool needs to hear of it;
one program picks them all. Then all points meet the batch in one pass that lowers their distances
and keeps the largest of each block, from which the next pool is found. Distances are float64 sums
of squared differences in coordinate order, unfused: bit for bit those of the other engines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.engines import Picks
from kernelmean.engines.gpu.arrays import Tensor, to_device
from kernelmean.engines.gpu.double import loops
from kernelmean.engines.gpu.points import DeviceDistances, DeviceSample
from kernelmean.engines.rounds import FarthestFirst
from kernelmean.kernels import Spreads

POOL = 4096  # points among which the next centres are sought, in low dimension
SMALL_POOL = 1024  # where their coordinates do not fit registers
BLOCKS = 2048  # blocks that are searched for them
BATCH = 2048  # most centres per pass


class DevicePool(NamedTuple):
    """The farthest points; every other point ranks at or below (bound, rival)."""

    rows: Tensor  # (p,) ascending; n where there is no point
    points: Tensor  # (d, p)
    near: Tensor  # (p,) squared distance to the nearest centre, picks of this pool included
    bound: Tensor  # no point outside is farther than this (squared)
    rival: Tensor  # the lowest row outside that is as far


class Traversal:
    """Farthest-first order from row ``first``.  Time O(nkd), memory 8 bytes a point beside the
    columns.
    """

    def __init__(self, sample: DeviceSample, first: int) -> None:
        self._p = sample.p
        self._holder = DeviceHolder(sample, first)
        self._rounds = FarthestFirst(self._holder, first)

    def take(self, m: int) -> Picks:
        """The next m centres; fewer when every distinct point is a centre."""
        return self._rounds.take(m)

    def distances(self) -> DeviceDistances:
        """Each point's squared distance to the centres taken so far."""
        return DeviceDistances(self._holder.squared_distances(), self._p)


class DeviceHolder:
    """Distances and pool of a traversal on the device; only rows and radii of picks leave it."""

    def __init__(self, sample: DeviceSample, first: int) -> None:
        self._X = sample.columns
        self._n = len(sample.X)
        self._loops = loops(sample.X.device)
        self._near = boundless(self._X, self._n)
        self._waiting = [torch.tensor([first], device=self._X.device)]
        self._tied = False  # whether the pool holds the ties of the best alone
        self.update()

    def squared_distances(self) -> Tensor:
        """min_c ‖x_i − c‖² over the centres taken so far."""
        if self._waiting:
            self.update()
        return self._near[: self._n].clone()

    def capacity(self) -> int:
        """As many as one program picks; more may wait while the pool goes on."""
        return BATCH

    def pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres while the best of the pool beats every point outside."""
        pool = self._pool
        found, squared = self._loops.pick(
            pool.points, pool.near, pool.rows, (pool.bound, pool.rival), len(rows)
        )
        if len(found):
            self._waiting.append(found)
            rows[: len(found)] = found.cpu().numpy()
            squares[: len(found)] = squared.cpu().numpy()
        return len(found)

    def exhausted(self) -> bool:
        """Whether not even the ties of the best had a next centre."""
        return self._tied and not self._waiting

    def update(self) -> None:
        """Lower all distances by the centres that wait, and find a new pool; without any that wait,
        the farthest points are more than a pool holds, and the lowest rows of them are the pool.
        """
        if not self._waiting:
            self._tied = True
            self._pool = self._tied_pool()
            return
        centers = self._X[:, torch.cat(self._waiting)].T.contiguous()
        peaks = self._loops.lower(self._X, centers, self._near)
        self._waiting = []
        self._tied = False
        self._pool = self._farthest(peaks)

    def _farthest(self, peaks: Tensor) -> DevicePool:
        """The farthest points: all that are farther than the best of the blocks not searched, as
        far as the pool goes.
        """
        size = self._pool_size
        blocks = min(BLOCKS, len(peaks))
        best = torch.topk(peaks, min(blocks + 1, len(peaks)))
        nothing = torch.tensor(-1.0, dtype=torch.float64, device=peaks.device)
        bound = best.values[blocks] if len(peaks) > blocks else nothing
        searched = best.indices[:blocks]
        near = self._near.reshape(len(peaks), -1)[searched]
        rows = searched[:, None] * near.shape[1] + torch.arange(near.shape[1], device=near.device)
        top = torch.topk(near.flatten(), min(size + 1, near.numel()))
        bound = torch.maximum(bound, top.values[size]) if near.numel() > size else bound
        inside = top.values[:size] > bound
        chosen = torch.where(inside, rows.flatten()[top.indices[:size]], self._n)
        return self._pool_of(chosen, bound, torch.zeros((), dtype=torch.int64, device=near.device))

    def _tied_pool(self) -> DevicePool:
        """Where more points share the largest distance than a pool holds: their lowest rows."""
        bound = self._near.max()
        level = torch.nonzero(self._near == bound)[: self._pool_size + 1, 0]
        rival = (
            level[-1]
            if len(level) > self._pool_size
            else torch.tensor(self._n, device=bound.device)
        )
        return self._pool_of(level[: self._pool_size], bound, rival)

    def _pool_of(self, chosen: Tensor, bound: Tensor, rival: Tensor) -> DevicePool:
        rows = torch.full((self._pool_size,), self._n, dtype=torch.int64, device=chosen.device)
        rows[: len(chosen)] = chosen
        rows = rows.sort().values
        at = rows.clamp(max=self._n - 1)
        near = torch.where(rows < self._n, self._near[at], -1.0)
        return DevicePool(rows, self._X[:, at].contiguous(), near, bound, rival)

    @property
    def _pool_size(self) -> int:
        return POOL if len(self._X) <= 8 else SMALL_POOL


class Nearest:
    """Each point's nearest centre, the lowest on ties."""

    def __init__(self, sample: DeviceSample, centers: Points) -> None:
        self._sample = sample
        self._X = sample.columns
        self._n = len(sample.X)
        self._near = boundless(self._X, self._n)
        self._labels = torch.zeros(self._X.shape[1], dtype=torch.int32, device=self._X.device)
        self._centers = to_device(centers[:0], self._X.device)
        self.add(centers)

    def add(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        more = to_device(centers, self._X.device).to(torch.float64).contiguous()
        loops(self._X.device).lower(self._X, more, self._near, self._labels, len(self._centers))
        self._centers = torch.cat([self._centers, more])

    def distances(self) -> DeviceDistances:
        """The squared distances, behind reductions."""
        return DeviceDistances(self._near[: self._n].clone(), self._sample.p)

    def masses(self) -> Vector:
        """Σ of p over the points of each centre."""
        return self._sample.group_masses(self._labels[: self._n], len(self._centers))

    def means(self) -> Points:
        """Weighted mean of the points of each centre; the centre itself where there are none."""
        return self._sample.group_means(self._labels[: self._n], self._centers)

    def variances(self) -> Vector:
        """Mean squared distance of these points to their mean, over d; 0 where there are none."""
        return self._sample.group_variances(self._labels[: self._n], self._centers)

    def covariances(self) -> Spreads:
        """(k, d, d): covariance of these points about their mean; 0 where there are none."""
        return self._sample.group_covariances(self._labels[: self._n], self._centers)


def boundless(X: Tensor, n: int) -> Tensor:
    """Before the first centre every point is infinitely far; padding is never far."""
    near = torch.full((X.shape[1],), torch.inf, dtype=torch.float64, device=X.device)
    near[n:] = -1.0
    return near

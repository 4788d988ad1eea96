"""Farthest-first traversal and nearest centres, one pass over the blocks per centre."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.engines import Picks
from kernelmean.engines.cpu import loops, threads
from kernelmean.engines.cpu.blocks import Blocks, queries
from kernelmean.engines.sample import Distances, Sample

PASS = 2**18  # coordinates per piece of work in one pass


class Traversal:
    """Exact farthest-first traversal: index for index the naive loop, ties included."""

    def __init__(self, blocks: Blocks, sample: Sample, first: int, count: int) -> None:
        self._blocks, self._sample, self._next, self._count = blocks, sample, first, count
        self._radius = np.inf
        self._squared = np.where(blocks.live, np.inf, -1.0)  # padding is never the farthest
        self._highest = np.empty(len(blocks.points))
        self._loop = loops.lower(blocks.d)

    def take(self, m: int) -> Picks:
        """The next m centres; fewer when every distinct point is a centre."""
        indices: list[int] = []
        radii: list[float] = []
        while len(indices) < m and self._radius > 0.0:
            indices.append(self._next)
            radii.append(self._radius)
            self._lower(self._sample.rows(np.array([self._next])))
        return Picks(np.array(indices, dtype=np.intp), np.array(radii))

    def distances(self) -> Distances:
        """Each point's squared distance to the centres taken so far."""
        return Distances(self._blocks.gather(self._squared), self._sample.p)

    def _lower(self, center: Points) -> None:
        X, c = self._blocks.points, queries(center)[0]
        tasks = [(X[s], c, self._squared[s], self._highest[s]) for s in _pass_pieces(self._blocks)]
        threads.run(self._loop, tasks, self._count)
        block = int(np.argmax(self._highest))
        j = int(np.argmax(self._squared[block]))
        self._next = block * self._squared.shape[1] + j
        self._radius = float(np.sqrt(self._squared[block, j]))


class Nearest:
    """Each point's nearest centre, the lowest on ties."""

    def __init__(self, blocks: Blocks, sample: Sample, centers: Points, count: int) -> None:
        self._blocks, self._sample, self._count = blocks, sample, count
        self._squared = np.full(blocks.shape, np.inf)
        self._labels: NDArray[np.int64] = np.zeros(blocks.shape, dtype=np.int64)
        self._centers = centers[:0]
        self.add(centers)

    def add(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        X, C, known = self._blocks.points, queries(centers), len(self._centers)
        tasks = [(X[s], C, known, self._squared[s], self._labels[s]) for s in _pass_pieces(self._blocks)]
        threads.run(loops.nearest(self._blocks.d), tasks, self._count)
        self._centers = np.concatenate([self._centers, centers])

    def distances(self) -> Distances:
        """The squared distances, behind reductions."""
        return Distances(self._blocks.gather(self._squared), self._sample.p)

    def masses(self) -> Vector:
        """Σ of p over the points of each centre."""
        return self._sample.group_masses(self._flat_labels(), len(self._centers))

    def means(self) -> Points:
        """Weighted mean of the points of each centre; the centre itself where there are none."""
        return self._sample.group_means(self._flat_labels(), self._centers)

    def _flat_labels(self) -> NDArray[np.int64]:
        return self._labels.reshape(-1)[: self._blocks.n]


def _pass_pieces(blocks: Blocks) -> list[slice]:
    size = max(1, PASS // (blocks.points.shape[1] * blocks.points.shape[2]))
    return [slice(b, b + size) for b in range(0, len(blocks.points), size)]

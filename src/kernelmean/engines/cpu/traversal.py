"""Farthest-first traversal by the faster of two methods, and nearest centres."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Points, Vector
from kernelmean._work import compiling_pays
from kernelmean.compiled import threads
from kernelmean.engines import Picks
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.engines.cpu import group_moments, loops, neighbours
from kernelmean.engines.cpu.blocks import Blocks, queries, read_only
from kernelmean.engines.cpu.distance_filter import FilterHolder
from kernelmean.engines.cpu.tree_traversal import TreeHolder
from kernelmean.engines.distances import ArrayDistances
from kernelmean.engines.rounds import FarthestFirst
from kernelmean.kernels import Spreads

PASS = 2**18  # coordinates per piece of work in one pass, which is bound by memory for
TOGETHER = 8  # centres or fewer


class Traversal:
    """Exact farthest-first traversal: index for index the naive loop, ties included."""

    def __init__(self, blocks: Blocks, sample: WeightedPoints, first: int, count: int) -> None:
        self._p = sample.p
        X = read_only(sample.X)
        self._holder: TreeHolder | FilterHolder
        if blocks.tree is not None:
            self._holder = TreeHolder(blocks, X, first, count)
        else:
            self._holder = FilterHolder(X, first, count)
        self._rounds = FarthestFirst(self._holder, first)

    def take(self, m: int) -> Picks:
        """The next m centres; fewer when every distinct point is a centre."""
        return self._rounds.take(m)

    def distances(self) -> ArrayDistances:
        """Each point's squared distance to the centres taken so far."""
        return ArrayDistances(self._holder.squared_distances(), self._p)


class Nearest:
    """Each point's nearest centre, the lowest on ties."""

    def __init__(self, blocks: Blocks, sample: WeightedPoints, centers: Points, count: int) -> None:
        self._blocks = blocks
        self._sample = sample
        self._count = count
        self._squared = np.full(blocks.shape, np.inf)
        self._labels: NDArray[np.int64] = np.zeros(blocks.shape, dtype=np.int64)
        self._centers = centers[:0]
        self._means: Points | None = None
        self.add(centers)

    def add(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        X = self._blocks.points
        C = queries(centers)
        known = len(self._centers)
        pieces = _pass_pieces(self._blocks, len(centers))
        if self._blocks.tree is not None and neighbours.worthwhile(
            self._blocks.n, self._blocks.d, len(centers)
        ):
            boxes = [self._boxes(s) for s in pieces]
            loop = neighbours.nearest(self._blocks.d)
            tasks = [
                (X[s], *boxes[i], C, known, self._squared[s], self._labels[s])
                for i, s in enumerate(pieces)
            ]
            threads.run(loop, tasks, self._count)
        else:
            plain = [(X[s], C, known, self._squared[s], self._labels[s]) for s in pieces]
            threads.run(loops.nearest(self._blocks.d), plain, self._count)
        self._centers = np.concatenate([self._centers, centers])
        self._means = None

    def distances(self) -> ArrayDistances:
        """The squared distances, behind reductions."""
        return ArrayDistances(self._blocks.gather(self._squared), self._sample.p)

    def masses(self) -> Vector:
        """Σ of p over the points of each centre."""
        return self._sample.group_masses(self._flat_labels(), len(self._centers))

    def means(self) -> Points:
        """Weighted mean of the points of each centre; the centre itself where there are none."""
        if self._means is None:
            self._means = self._sample.group_means(self._flat_labels(), self._centers)
        return self._means.copy()

    def variances(self) -> Vector:
        """Mean squared distance of these points to their mean, over d; 0 where there are none."""
        return self._sample.group_variances(self._flat_labels(), self.means())

    def covariances(self) -> Spreads:
        """(k, d, d): covariance of these points about their mean; 0 where there are none."""
        if not compiling_pays(float(self._sample.X.shape[1]) * self._blocks.points.size):
            return self._sample.group_covariances(self._flat_labels(), self.means())
        w = self._blocks.spread(self._sample.p)
        labels = self._labels.reshape(-1)[: self._blocks.n]
        return group_moments.covariances(self._blocks, w, labels, self.means(), self._count)

    def _boxes(self, piece: slice) -> tuple[Points, ...]:
        """Boxes of the cells (blocks, d, cells), then of the blocks (d, blocks): lower and upper
        sides.
        """
        sides = [side[piece] for side in self._blocks.cells]
        return *sides, *(np.ascontiguousarray(side[:, piece]) for side in self._blocks.boxes)

    def _flat_labels(self) -> IntVector:
        labels: IntVector = self._blocks.gather(self._labels)
        return labels


def _pass_pieces(blocks: Blocks, centers: int) -> list[slice]:
    size = max(
        1, PASS // (blocks.points.shape[1] * blocks.points.shape[2] * -(-centers // TOGETHER))
    )
    return [slice(b, b + size) for b in range(0, len(blocks.points), size)]

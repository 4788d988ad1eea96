"""Distances to centres from anywhere, and the farthest points: a tree in low dimension, matrix
products else.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.engines.cpu.blocks import Blocks, read_only
from kernelmean.engines.cpu.distance_filter import DistanceFilter
from kernelmean.engines.cpu.tree_traversal import FRESH, GrownTree
from kernelmean.engines.distances import ArrayDistances
from kernelmean.engines.optional_protocols import Pool
from kernelmean.engines.rounds import farthest


class TreeOffers:
    """Kept from round to round: a node whose box lies farther from a centre than its farthest point
    is from some other centre has nothing to learn.
    """

    def __init__(self, blocks: Blocks, sample: WeightedPoints, count: int) -> None:
        self._sample = sample
        self._tree = GrownTree(blocks, count)
        self._distances: ArrayDistances | None = None  # from the first question to the next centres

    def update(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        self._distances = None
        for start in range(0, len(centers), FRESH):
            self._tree.update(np.ascontiguousarray(centers[start : start + FRESH]))

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties."""
        return self._tree.farthest(m)

    def distances(self) -> ArrayDistances:
        """The squared distances, behind reductions."""
        if self._distances is None:
            bounds = self._tree.bounds
            order = self._tree.tree_arrays.order
            self._distances = ArrayDistances(
                bounds.nearest, self._sample.p, order, float(bounds.peak[1])
            )
        return self._distances


class FilterOffers:
    """Writes to ``squared``, the distances to the centres heard of before, so that it can be made
    anew whenever X is at hand.
    """

    def __init__(self, sample: WeightedPoints, squared: Vector, count: int) -> None:
        self._p = sample.p
        self._filter = DistanceFilter(read_only(sample.X), squared, count)

    def update(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        self._filter.update(np.ascontiguousarray(centers))

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties."""
        return farthest(self._filter.X, self._filter.nearest, m)

    def distances(self) -> ArrayDistances:
        """The squared distances, behind reductions."""
        return ArrayDistances(self._filter.nearest, self._p)

"""Distances of all pairs of samples, in an order that puts the near ones side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from kernelmean._types import IntVector, Matrix

MAX_ORDERED = 600  # samples up to which leaves are ordered optimally, in O(N³) time
MAX_NAMED = 40  # names that find room beside the distances


class DistanceMap(NamedTuple):
    """Distances of all pairs, in an order in which samples alike stand side by side."""

    names: list[str]  # (N,) in that order
    distances: Matrix  # (N, N) in that order
    order: IntVector  # (N,) the rows of the matrix that was given


def distance_map(
    distances: Matrix, names: Sequence[str], order: IntVector | None = None
) -> DistanceMap:
    """Distances in the order given, by default in that of a clustering."""
    rows = clustered_order(distances) if order is None else order
    return DistanceMap([names[i] for i in rows], distances[np.ix_(rows, rows)], rows)


def clustered_order(D: Matrix) -> IntVector:
    """Leaves of average linkage, turned so that neighbours are near (Bar-Joseph et al. 2001).  Time
    O(N³), memory O(N²).
    """
    if len(D) < 3:
        return np.arange(len(D))
    condensed = squareform(D, checks=False)
    tree = linkage(condensed, method="average")
    if len(D) <= MAX_ORDERED:
        tree = optimal_leaf_ordering(tree, condensed)
    order: IntVector = leaves_list(tree).astype(np.intp)
    return order

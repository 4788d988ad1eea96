"""Single linkage at one radius: points belong together if a chain of short steps joins them.

A short step is no longer than the radius. A grid makes it cheap: points that share a cell belong
together without looking, since a cell is half a radius wide from corner to corner. One point stands
for each cell; where two of these are too far apart to join but their cells might not be, the points
themselves decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from kernelmean._types import IntVector, Points, Vector

BLOCK_ROWS = 16384  # put into cells at a time
BLOCK_PAIRS = 2**20  # of cells looked at a time


class Links(NamedTuple):
    """Points in cells, cells in groups."""

    cells: IntVector  # (n,) the cell of each point
    firsts: IntVector  # (m,) the first point of each cell
    groups: IntVector  # (m,) the group of each cell, numbered by first appearance


def link(Y: Points, radius: float) -> Links:
    """The connected components of the graph ‖y_i − y_j‖ ≤ radius.

    Near-linear time where points crowd, memory O(n).
    """
    cells, firsts = _in_cells(Y, radius / (2.0 * math.sqrt(Y.shape[1])))
    groups: IntVector = np.arange(len(firsts))
    for pairs, _ in _near_pairs(Y[firsts], radius):
        groups = _joined(groups, pairs)
        if not groups.any():  # all are one
            return Links(cells, firsts, groups)
    spread = _spreads(Y, cells, firsts)
    for pairs, distances in _near_pairs(Y[firsts], radius + 2.0 * float(spread.max())):
        apart = groups[pairs[:, 0]] != groups[pairs[:, 1]]
        open_still = (
            apart & (distances > radius) & (distances - spread[pairs].sum(axis=1) <= radius)
        )
        groups = _joined(groups, _close_cells(Y, cells, pairs[open_still], radius))
    return Links(cells, firsts, by_appearance(groups))


def _near_pairs(P: Points, reach: float) -> Iterator[tuple[IntVector, Vector]]:
    """Pairs of points within reach, and their distances, a bounded number at a time."""
    tree = cKDTree(P)
    counts = np.cumsum(tree.query_ball_point(P, reach, return_length=True))
    cuts = np.unique(np.searchsorted(counts, np.arange(0, counts[-1] + BLOCK_PAIRS, BLOCK_PAIRS)))
    for start, stop in pairwise([*cuts[cuts < len(P)], len(P)]):
        found = cKDTree(P[start:stop]).sparse_distance_matrix(tree, reach, output_type="ndarray")
        pairs = np.stack([found["i"] + start, found["j"]], axis=1)
        later = pairs[:, 0] < pairs[:, 1]
        yield pairs[later], found["v"][later]


def _in_cells(Y: Points, side: float) -> tuple[IntVector, IntVector]:
    """Cell of each point, numbered by first appearance, and the first point of each cell."""
    cells = np.empty(len(Y), dtype=np.intp)
    table = dict[bytes, int]()
    firsts = list[int]()
    row = np.dtype((np.void, Y.itemsize * Y.shape[1]))
    for start in range(0, len(Y), BLOCK_ROWS):
        # No −0, whose bytes differ.
        corners = np.floor((Y[start : start + BLOCK_ROWS] - Y[0]) / side) + 0.0
        keys, first, inverse = np.unique(
            corners.view(row).ravel(), return_index=True, return_inverse=True
        )
        numbers = np.empty(len(keys), dtype=np.intp)
        for position in np.argsort(first):
            key = keys[position].tobytes()
            if key not in table:
                table[key] = len(table)
                firsts.append(start + int(first[position]))
            numbers[position] = table[key]
        cells[start : start + BLOCK_ROWS] = numbers[inverse]
    return cells, np.array(firsts, dtype=np.intp)


def _spreads(Y: Points, cells: IntVector, firsts: IntVector) -> Vector:
    """The largest distance of a cell's points to the first of them."""
    spread = np.zeros(len(firsts))
    for start in range(0, len(Y), BLOCK_ROWS):
        own = cells[start : start + BLOCK_ROWS]
        np.maximum.at(
            spread, own, np.linalg.norm(Y[start : start + BLOCK_ROWS] - Y[firsts[own]], axis=1)
        )
    return spread


def _close_cells(Y: Points, cells: IntVector, pairs: IntVector, radius: float) -> IntVector:
    """Those pairs of cells that hold two points within the radius."""
    if not len(pairs):
        return pairs
    members = {c: Y[np.flatnonzero(cells == c)] for c in np.unique(pairs)}
    gaps = [
        np.min(cKDTree(members[b]).query(members[a], distance_upper_bound=2.0 * radius)[0])
        for a, b in pairs
    ]
    close: IntVector = pairs[np.array(gaps) <= radius]
    return close


def _joined(groups: IntVector, pairs: IntVector) -> IntVector:
    """Groups after the cells of each pair have become one."""
    if not len(pairs):
        return groups
    m = len(groups)
    graph = coo_array(
        (np.ones(len(pairs), dtype=np.int8), (groups[pairs[:, 0]], groups[pairs[:, 1]])),
        shape=(m, m),
    )
    labels: IntVector = connected_components(graph, directed=False)[1].astype(np.intp)
    return labels[groups]


def by_appearance(groups: IntVector) -> IntVector:
    """The same groups, numbered in the order in which they appear."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]

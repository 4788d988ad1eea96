"""Single linkage at one radius: points belong together if a chain of steps no longer than the radius joins them.

A grid makes it cheap: points that share a cell belong together without looking, since a cell is half a radius wide from
corner to corner. One point stands for each cell; where two of these are too far apart to join but their cells might
not be, the points themselves decide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from kernelmean._types import IntVector, Points

ROWS = 16384  # looked at together


class Links(NamedTuple):
    """Points in cells, cells in groups."""

    cells: IntVector  # (n,) the cell of each point
    firsts: IntVector  # (m,) the first point of each cell
    groups: IntVector  # (m,) the group of each cell, numbered by first appearance


def link(Y: Points, radius: float) -> Links:
    """The connected components of the graph ‖y_i − y_j‖ ≤ radius; near-linear where points crowd, as end points do."""
    cells, firsts = _in_cells(Y, radius / (2.0 * math.sqrt(Y.shape[1])))
    tree = cKDTree(Y[firsts])
    pairs = tree.query_pairs(2.0 * radius, output_type="ndarray")  # cells further apart hold no pair within the radius
    distances = np.linalg.norm(Y[firsts[pairs[:, 0]]] - Y[firsts[pairs[:, 1]]], axis=1)
    sure = distances <= radius
    groups = _components(pairs[sure], len(firsts))
    open_pairs = pairs[~sure]
    open_pairs = open_pairs[groups[open_pairs[:, 0]] != groups[open_pairs[:, 1]]]
    joined = _close_cells(Y, cells, open_pairs, radius)
    return Links(cells, firsts, _by_appearance(_components(np.concatenate([pairs[sure], joined]), len(firsts))))


def _in_cells(Y: Points, side: float) -> tuple[IntVector, IntVector]:
    """Cell of each point, numbered by first appearance, and the first point of each cell."""
    cells, table, firsts = np.empty(len(Y), dtype=np.intp), dict[bytes, int](), list[int]()
    row = np.dtype((np.void, Y.itemsize * Y.shape[1]))
    for start in range(0, len(Y), ROWS):
        corners = np.floor((Y[start : start + ROWS] - Y[0]) / side) + 0.0  # no −0, whose bytes differ
        keys, first, inverse = np.unique(corners.view(row).ravel(), return_index=True, return_inverse=True)
        numbers = np.empty(len(keys), dtype=np.intp)
        for position in np.argsort(first):
            key = keys[position].tobytes()
            if key not in table:
                table[key] = len(table)
                firsts.append(start + int(first[position]))
            numbers[position] = table[key]
        cells[start : start + ROWS] = numbers[inverse]
    return cells, np.array(firsts, dtype=np.intp)


def _close_cells(Y: Points, cells: IntVector, pairs: IntVector, radius: float) -> IntVector:
    """Those pairs of cells that hold two points within the radius."""
    if not len(pairs):
        return pairs
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(cells.max() + 2))
    trees = {c: cKDTree(Y[order[starts[c] : starts[c + 1]]]) for c in np.unique(pairs)}
    gaps = [np.min(trees[b].query(trees[a].data, distance_upper_bound=2.0 * radius)[0]) for a, b in pairs]
    close: IntVector = pairs[np.array(gaps) <= radius]
    return close


def _components(pairs: IntVector, m: int) -> IntVector:
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(m, m))
    labels: IntVector = connected_components(graph, directed=False)[1].astype(np.intp)
    return labels


def _by_appearance(groups: IntVector) -> IntVector:
    """The same groups, numbered in the order in which they appear."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]

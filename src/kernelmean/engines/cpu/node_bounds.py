"""Upper bounds on the distances of the points of a kd-tree's nodes to the centres.

The bound of a node is the largest squared distance from its points to the centres it has been
updated with: never less than the truth. A centre that lies farther from the node's box than the
bound cannot lower it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.compiled.compiling import EXACT_MATH, entry, part

DEEPEST = 64  # levels of a tree


class TreeArrays(NamedTuple):
    """The points in tree order and the boxes of the nodes; empty boxes are [+inf, −inf]."""

    points: NDArray[np.float64]  # (blocks, d, width)
    order: NDArray[np.integer]  # (n,) rows of X
    starts: NDArray[np.int64]  # (leaves + 1,)
    lower: Points  # (2·leaves, d)
    upper: Points  # (2·leaves, d)
    axes: tuple[int, ...]  # 0..d−1; a tuple, so that each d has compiled loops of its own


class NodeBounds(NamedTuple):
    """What each node believes of its farthest point."""

    nearest: Vector  # (n,) squared distance to the nearest centre seen, in tree order
    peak: Vector  # (2·leaves,) the largest of them below the node; −1 where it is empty
    row: NDArray[np.int64]  # (2·leaves,) the lowest row of X that attains it
    leaf: NDArray[np.int32]  # (2·leaves,) the leaf that holds this row
    seen: NDArray[np.int32]  # (leaves,) how many of the fresh centres the leaf has seen


@entry(EXACT_MATH)
def catch_up(tree_arrays, bounds, fresh, root):
    """Let all leaves below ``root`` see the fresh centres, depth first.

    listed[depth] holds the centres that may still matter to the current node.
    """
    listed = np.empty((DEEPEST, len(fresh)), np.int64)
    counts = np.empty(DEEPEST, np.int64)
    for j in range(len(fresh)):  # a slice assignment would take a second longer to compile
        listed[0, j] = j
    counts[0] = len(fresh)
    v = root
    depth = 0
    while True:
        kept = _keep(
            tree_arrays, bounds, fresh, listed[depth, : counts[depth]], v, listed[depth + 1]
        )
        if kept and v < len(bounds.seen):
            v = 2 * v
            depth = depth + 1
            counts[depth] = kept
            continue
        if kept:
            update_leaf(tree_arrays, bounds, fresh, listed[depth + 1, :kept], v)
        while v != root and v % 2 == 1:
            v = v // 2
            depth = depth - 1
            update_parent(bounds, v)
        if v == root:
            return
        v += 1


@entry(EXACT_MATH)
def update_ancestors(bounds, last):
    """Renew the bounds of nodes last, last − 1, …, 1 from their children."""
    for v in range(last, 0, -1):
        update_parent(bounds, v)


@part(EXACT_MATH)
def _keep(tree_arrays, bounds, fresh, listed, v, kept):
    """Keep the listed centres nearer to the box of node v than the node's claim; how many."""
    count = 0
    for j in listed:
        kept[count] = j
        count += _gap(tree_arrays, v, fresh[j]) < bounds.peak[v]
    return count


@part(EXACT_MATH)
def update_leaf(tree_arrays, bounds, fresh, listed, v):
    """Let leaf node v see the listed fresh centres; whether that changed its claim."""
    leaf = v - len(bounds.seen)
    first = tree_arrays.starts[leaf]
    stop = tree_arrays.starts[leaf + 1]
    nearest = bounds.nearest[first:stop]
    changed = False
    for j in listed:
        if j >= bounds.seen[leaf] and _gap(tree_arrays, v, fresh[j]) < bounds.peak[v]:
            _lower_leaf(tree_arrays, fresh[j], first, nearest)
            bounds.peak[v] = _largest(nearest)
            changed = True
    bounds.seen[leaf] = len(fresh)
    if changed:
        bounds.row[v] = _lowest_row(tree_arrays.order[first:stop], nearest, bounds.peak[v])
    return changed


@part(EXACT_MATH)
def update_parent(bounds, v):
    """The bound of node v is the larger of its children's; the lower row on ties."""
    left = 2 * v
    right = 2 * v + 1
    tie = bounds.peak[left] == bounds.peak[right]
    child = (
        left
        if bounds.peak[left] > bounds.peak[right] or (tie and bounds.row[left] < bounds.row[right])
        else right
    )
    bounds.peak[v] = bounds.peak[child]
    bounds.row[v] = bounds.row[child]
    bounds.leaf[v] = bounds.leaf[child]


@part(EXACT_MATH)
def _gap(tree_arrays, v, c):
    """Squared distance from c to the box of node v; never above the rounded ‖x − c‖² of a point x
    in it.

    Rounding is monotone and both are summed in coordinate order, so the comparison needs no slack.
    """
    s = 0.0
    for t in range(len(tree_arrays.axes)):
        below = tree_arrays.lower[v, t] - c[t]
        beyond = c[t] - tree_arrays.upper[v, t]
        g = below if below > beyond else beyond
        g = g if g > 0.0 else 0.0
        s += g * g
    return s


@part(EXACT_MATH)
def _lower_leaf(tree_arrays, c, first, nearest):
    """nearest_i ← min(nearest_i, ‖x_i − c‖²) for the points of a leaf, which may lie in several
    blocks.
    """
    B = tree_arrays.points.shape[2]
    done = 0
    while done < len(nearest):
        position = first + done
        j = position % B
        size = min(B - j, len(nearest) - done)
        _lower_squares(
            tree_arrays.axes, tree_arrays.points[position // B], j, c, nearest[done : done + size]
        )
        done += size


@part(EXACT_MATH)
def _lower_squares(axes, block, first, c, nearest):
    """nearest_i ← min(nearest_i, ‖x_i − c‖²) for points of a block from ``first`` on, summed in
    coordinate order.
    """
    for i in range(len(nearest)):
        s = 0.0
        for t in range(len(axes)):
            g = (
                block[t, np.uint64(first) + np.uint64(i)] - c[t]
            )  # unsigned: else the compiler gathers
            s += g * g
        nearest[i] = s if s < nearest[i] else nearest[i]


@part(EXACT_MATH)
def _largest(squares):
    """max squares_i. Squares are ordered as their bits are, and only integer maxima vectorise."""
    top = np.int64(0)
    for i in range(len(squares)):
        bits = np.float64(squares[i]).view(np.int64)
        top = bits if bits > top else top
    return np.int64(top).view(np.float64)


@part(EXACT_MATH)
def _lowest_row(rows, nearest, value):
    """The lowest row with nearest_i = value, without a branch per point."""
    lowest = np.int64(2**62)
    for i in range(len(nearest)):
        row = np.int64(rows[i]) if nearest[i] == value else np.int64(2**62)
        lowest = row if row < lowest else lowest
    return lowest

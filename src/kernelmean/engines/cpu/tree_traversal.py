"""Exact farthest-first traversal in low dimension: a kd-tree that knows its farthest point.

Every leaf has an upper bound: the largest squared distance from its points to the centres it has
been updated with. A leaf that lags behind can only have too large a bound, so the leaf of the
largest bound is updated, until that bound is exact: its point is the next centre. Every few hundred
centres the whole tree is updated, subtree by subtree on all threads; a centre farther from a node's
box than the node's bound cannot lower it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import EXACT_MATH, entry, part
from kernelmean.engines.cpu.blocks import Blocks
from kernelmean.engines.cpu.node_bounds import (
    NodeBounds,
    TreeArrays,
    catch_up,
    update_ancestors,
    update_leaf,
    update_parent,
)
from kernelmean.engines.optional_protocols import Pool
from kernelmean.engines.rounds import farthest

MERGED = 8  # leaves of the tree that make one leaf here: about 512 points
FRESH = 256  # most centres a leaf may lag behind
# bits of a distance that are dropped where it is only counted: 256 classes from a value to its
# double,
MANTISSA = 44
CLASSES = 1 << 12  # over sixteen doublings below the largest
PATIENCE = 2  # leaf updates per leaf before the whole tree catches up
SUBTREE_LEVEL = 5  # the tree catches up in 2**SUBTREE_LEVEL pieces, whatever the number of threads


class TreeHolder:
    """Distances of a traversal of the points from row ``first``; the tree itself is the pool.

    Memory 8 bytes a point, beside the blocks.
    """

    def __init__(self, blocks: Blocks, X: Points, first: int, count: int) -> None:
        self._X = X
        self._grown = GrownTree(blocks, count)
        self._fresh = np.empty((FRESH, blocks.d))
        self._fresh[0] = X[first]
        self._waiting = 1
        self.update()

    def squared_distances(self) -> Vector:
        """min_c ‖x_i − c‖² over the centres taken so far, in the order of X."""
        self.update()
        return self._grown.squared_distances()

    def capacity(self) -> int:
        """As many as a leaf may lag behind."""
        return FRESH - self._waiting

    def pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres, until it is time for all threads to help."""
        tree = self._grown
        found: int = _pick(
            self._X, tree.tree_arrays, tree.bounds, self._fresh, self._waiting, rows, squares
        )
        self._waiting += found
        return found

    def exhausted(self) -> bool:
        """Whether the farthest point is a centre."""
        return bool(self._grown.bounds.peak[1] <= 0.0)

    def update(self) -> None:
        """Let every leaf see every fresh centre."""
        self._grown.update(self._fresh[: self._waiting])
        self._waiting = 0


class GrownTree:
    """The tree with what its nodes claim; every leaf has seen every centre that it was told."""

    def __init__(self, blocks: Blocks, count: int) -> None:
        self._count = count
        self.tree_arrays = _tree_arrays(blocks, count)
        self.bounds = _boundless_claims(self.tree_arrays)

    def update(self, fresh: Points) -> None:
        """Let every leaf see the centres that it has not seen."""
        leaves = len(self.bounds.seen)
        top = min(1 << SUBTREE_LEVEL, leaves)
        threads.run(
            catch_up,
            [(self.tree_arrays, self.bounds, fresh, v) for v in range(top, 2 * top)],
            self._count,
        )
        update_ancestors(self.bounds, top - 1)
        self.bounds.seen[:] = 0

    def squared_distances(self) -> Vector:
        """min_c ‖x_i − c‖² over the centres met, in the order of X."""
        squares = np.empty(len(self.tree_arrays.order))
        squares[self.tree_arrays.order] = self.bounds.nearest
        return squares

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties; only leaves that claim as much
        are looked into.
        """
        order = self.tree_arrays.order
        n = len(self.tree_arrays.order)
        peaks = self.bounds.peak[len(self.bounds.seen) :]
        falling = np.argsort(peaks)[::-1]
        bits = self.bounds.nearest.view(np.int64)
        level, found = _level(
            self.tree_arrays.starts,
            bits,
            peaks.view(np.int64),
            falling,
            np.zeros(CLASSES, np.int64),
            m,
        )
        places = np.empty(found, np.int64)
        _collect(
            self.tree_arrays.starts,
            bits,
            np.flatnonzero(peaks.view(np.int64) >= level),
            level,
            places,
        )
        places = places[np.argsort(order[places])]
        pool = farthest(np.empty((found, 0)), self.bounds.nearest[places], m)
        kept = places[pool.rows]
        bound = pool.bound
        rival = int(order[places[pool.rival]]) if pool.rival < found else n
        if found == m < n:  # all that was found is kept, and whatever was not is nearer
            bound = float(np.int64(level - 1).view(np.float64))
            rival = 0
        return Pool(order[kept].astype(np.int64), self._points(kept), pool.nearest, bound, rival)

    def _points(self, places: NDArray[np.int64]) -> Points:
        """(d, p): the points at these places of the tree order."""
        blocks = self.tree_arrays.points
        width = self.tree_arrays.points.shape[2]
        return np.ascontiguousarray(
            blocks[places // width, : len(self.tree_arrays.axes), places % width].T
        )


def _tree_arrays(blocks: Blocks, count: int) -> TreeArrays:
    """Boxes of all nodes, from the leaves up."""
    assert blocks.tree is not None
    order = blocks.tree.order
    starts = blocks.tree.starts
    starts = np.ascontiguousarray(starts[:: min(MERGED, len(starts) - 1)])
    leaves = len(starts) - 1
    d = blocks.d
    lower = np.full((2 * leaves, d), np.inf)
    upper = np.full((2 * leaves, d), -np.inf)
    tree_arrays = TreeArrays(blocks.points, order, starts, lower, upper, tuple(range(d)))
    threads.run(
        _measure_boxes, [(tree_arrays, p.start, p.stop) for p in threads.pieces(leaves)], count
    )
    level = leaves
    while level > 1:
        nodes = slice(level // 2, level)
        children = slice(level, 2 * level)
        lower[nodes] = lower[children].reshape(-1, 2, d).min(axis=1)
        upper[nodes] = upper[children].reshape(-1, 2, d).max(axis=1)
        level //= 2
    return tree_arrays


def _boundless_claims(tree_arrays: TreeArrays) -> NodeBounds:
    """Before the first centre every point is infinitely far; empty nodes claim −1."""
    n = len(tree_arrays.order)
    leaves = len(tree_arrays.starts) - 1
    peak = np.where(np.isfinite(tree_arrays.lower[:, 0]), np.inf, -1.0)
    leaf = np.zeros(2 * leaves, np.int32)
    leaf[leaves:] = np.arange(leaves)
    return NodeBounds(
        np.full(n, np.inf), peak, np.full(2 * leaves, n), leaf, np.zeros(leaves, np.int32)
    )


@entry(EXACT_MATH)
def _measure_boxes(tree_arrays, start, stop):
    """Bound the points of leaves start..stop."""
    leaves = len(tree_arrays.starts) - 1
    B = tree_arrays.points.shape[2]
    for leaf in range(start, stop):
        for position in range(tree_arrays.starts[leaf], tree_arrays.starts[leaf + 1]):
            block = position // B
            j = position % B
            for t in range(len(tree_arrays.axes)):
                x = tree_arrays.points[block, t, j]
                tree_arrays.lower[leaves + leaf, t] = min(tree_arrays.lower[leaves + leaf, t], x)
                tree_arrays.upper[leaves + leaf, t] = max(tree_arrays.upper[leaves + leaf, t], x)


@entry(EXACT_MATH)
def _level(starts, bits, tops, falling, counts, m):
    """The bits of a distance that m points reach, and hardly more; how many do. ``falling`` are the
    leaves by what they claim.

    Distances are counted by class, which is enough: squares are ordered as their bits are. All
    points where fewer than m do.
    """
    last = len(counts) - 1
    total = 0
    most = tops[falling[0]] >> MANTISSA
    for leaf in falling:
        if (
            min(most - (tops[leaf] >> MANTISSA), len(counts) - 1) > last
        ):  # the last class has no end
            break
        for i in range(starts[leaf], starts[leaf + 1]):
            c = min(most - (bits[i] >> MANTISSA), len(counts) - 1)
            if c <= last:
                counts[c] += 1
                total += 1
        while last > 0 and total - counts[last] >= m:
            total -= counts[last]
            last -= 1
    return ((most - last) << MANTISSA if last < len(counts) - 1 else np.int64(0)), total


@entry(EXACT_MATH)
def _collect(starts, bits, leaves, level, places):
    """Where in these leaves distances are at least so large."""
    count = 0
    for leaf in leaves:
        for i in range(starts[leaf], starts[leaf + 1]):
            if bits[i] >= level:
                places[count] = i
                count += 1


@entry(EXACT_MATH)
def _pick(X, tree_arrays, bounds, fresh, waiting, rows, squares):
    """Fill ``rows`` with the next centres and append them to fresh[:waiting]; how many were found.

    Stops early when no distinct point is left, or when so many leaves had to be updated one by one
    that it is time for all threads to help.
    """
    patience = PATIENCE * len(bounds.seen)
    for k in range(len(rows)):
        patience -= _find_farthest(tree_arrays, bounds, fresh[: waiting + k])
        if bounds.peak[1] <= 0.0 or (k > 0 and patience < 0):
            return k
        rows[k] = bounds.row[1]
        squares[k] = bounds.peak[1]
        for t in range(X.shape[1]):
            fresh[waiting + k, t] = X[rows[k], t]
    return len(rows)


@part(EXACT_MATH)
def _find_farthest(tree_arrays, bounds, fresh):
    """Update the leaf of the largest bound until the root's is exact, and count the updates."""
    updates = 0
    everyone = np.empty(len(fresh), np.int64)
    for j in range(len(fresh)):  # np.arange would take longer to compile
        everyone[j] = j
    while bounds.seen[bounds.leaf[1]] < len(fresh):
        v = bounds.leaf[1] + len(bounds.seen)
        if update_leaf(tree_arrays, bounds, fresh, everyone, v):
            updates += 1
            while v > 1:
                v >>= 1
                update_parent(bounds, v)
    return updates

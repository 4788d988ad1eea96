"""Points in kd-tree order: a complete binary tree whose leaves are runs of consecutive points.

Near points lie near in memory, so a block of them has a small box: traversals skip what cannot
change, and narrow kernels skip what float64 cannot see. The order steers speed only; every result
is independent of it but for rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points
from kernelmean.compiled import threads
from kernelmean.compiled.compiling import EXACT_MATH, entry, part

# points, about: finer than what a traversal or a block needs, so that any run of points is compact
LEAF = 64
SAMPLE_PER_LEAF = 4  # pivots are medians of this many sampled points per leaf
STRIP = 1024  # rows dropped down the tree together


class Tree(NamedTuple):
    """Nodes are numbered as in a heap: root 1, children 2v, 2v + 1; leaf l is node leaves + l."""

    order: NDArray[np.integer]  # (n,) rows of X in tree order
    starts: NDArray[np.int64]  # (leaves + 1,) where each leaf begins in that order


def levels(n: int) -> int:
    """Depth of the tree for n points."""
    return max(0, round(math.log2(n / LEAF)))


def plant(X: Points, count: int) -> Tree:
    """Sort the rows of X into leaves by a stable counting sort in O(n·levels), 8 bytes a point."""
    n = len(X)
    depth = levels(len(X))
    leaves = 1 << depth
    # The sample steers the speed, never the result, so its seed is fixed.
    sample = X[np.random.default_rng(0).integers(n, size=leaves * SAMPLE_PER_LEAF)]
    axes = np.empty(leaves, np.int32)
    pivots = np.empty(leaves)
    # What is compiled makes no arrays and no tuples: that would take it longer to compile.
    scratch = np.empty((2, 2 * leaves), np.int64), np.empty(len(sample))
    _split_sample(sample, axes, pivots, *scratch)
    leaf_of = np.empty(n, np.int32)
    pieces = threads.pieces(n)
    counts = np.zeros((len(pieces), leaves), np.int64)
    threads.run(
        _drop,
        [
            (X, axes, pivots, leaf_of, c, p.start, p.stop)
            for c, p in zip(counts, pieces, strict=True)
        ],
        count,
    )
    ends = np.cumsum(counts.T).reshape(leaves, len(pieces)).T
    order: NDArray[np.integer] = np.empty(n, row_type(n))
    cursors = np.ascontiguousarray(ends - counts)
    threads.run(
        _place,
        [(leaf_of, c, order, p.start, p.stop) for c, p in zip(cursors, pieces, strict=True)],
        count,
    )
    return Tree(order, np.concatenate([[0], ends[-1]]))


def row_type(n: int) -> type[np.integer]:
    """The smallest type that numbers n rows."""
    return np.int32 if n < 2**31 else np.int64


@entry(EXACT_MATH)
def _split_sample(sample, axes, pivots, ends, values):
    """Axis and pivot of every inner node: the rows of its sample below the pivot go left."""
    ends[0, 1] = 0
    ends[1, 1] = len(sample)
    for v in range(1, len(axes)):
        start = ends[0, v]
        stop = ends[1, v]
        rows = sample[start:stop]
        axis = _widest(rows)
        pivot = _median(rows, axis, values)
        below = _move_front(rows, axis, pivot)
        if below == 0:  # ties
            pivot = _next_larger(rows, axis, pivot)
            below = _move_front(rows, axis, pivot)
        axes[v] = axis
        pivots[v] = pivot
        ends[0, 2 * v] = start
        ends[1, 2 * v] = start + below
        ends[0, 2 * v + 1] = start + below
        ends[1, 2 * v + 1] = stop


@part(EXACT_MATH)
def _widest(rows):
    """The axis along which the rows spread most."""
    axis = 0
    width = -1.0
    for t in range(rows.shape[1]):
        low = np.inf
        high = -np.inf
        for i in range(len(rows)):
            low = min(low, rows[i, t])
            high = max(high, rows[i, t])
        if high - low > width:
            axis = t
            width = high - low
    return axis


@part(EXACT_MATH)
def _median(rows, axis, values):
    """The median of a column (Hoare's quickselect, in ``values``); inf if there are no rows."""
    for i in range(len(rows)):
        values[i] = rows[i, axis]
    rank = len(rows) // 2
    first = 0
    last = len(rows) - 1
    while first < last:
        pivot = values[rank]
        i = first
        j = last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                x = values[i]
                values[i] = values[j]
                values[j] = x
                i += 1
                j -= 1
        if j < rank:
            first = i
        if i > rank:
            last = j
    return values[rank] if len(rows) else np.inf


@part(EXACT_MATH)
def _next_larger(rows, axis, pivot):
    """The next larger value of a column, so that columns full of zeros still split; inf where there
    is none.
    """
    larger = np.inf
    for i in range(len(rows)):
        x = rows[i, axis]
        larger = x if pivot < x < larger else larger
    return larger


@part(EXACT_MATH)
def _move_front(rows, axis, pivot):
    """Move the rows with coordinate below the pivot to the front; how many."""
    count = 0
    for i in range(len(rows)):
        if rows[i, axis] < pivot:
            for t in range(rows.shape[1]):
                x = rows[i, t]
                rows[i, t] = rows[count, t]
                rows[count, t] = x
            count += 1
    return count


@entry(EXACT_MATH)
def _drop(X, axes, pivots, leaf_of, counts, start, stop):
    """Drop rows start..stop down the tree and count how many land in each leaf.

    A strip of rows takes each step together: the steps of one row wait for one another.
    """
    leaves = len(axes)
    for first in range(start, stop, STRIP):
        rows = X[first : min(first + STRIP, stop)]
        nodes = leaf_of[first : min(first + STRIP, stop)]
        for i in range(len(nodes)):
            nodes[i] = 1
        width = 1
        while width < leaves:
            for i in range(len(nodes)):
                v = nodes[i]
                nodes[i] = 2 * v + (rows[i, axes[v]] >= pivots[v])
            width *= 2
        for i in range(len(nodes)):
            nodes[i] -= leaves
            counts[nodes[i]] += 1


@entry(EXACT_MATH)
def _place(leaf_of, cursors, order, start, stop):
    """Write rows start..stop to the next free seats of their leaves, in ascending order."""
    for i in range(start, stop):
        order[cursors[leaf_of[i]]] = i
        cursors[leaf_of[i]] += 1

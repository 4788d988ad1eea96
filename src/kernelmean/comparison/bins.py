"""Rows in bins of equal size, and the permutations of the bins.

Under the null hypothesis the rows of A and B are exchangeable, and so are bins that are drawn at
random from either: permuting them costs far less than permuting rows. Rows that fill no bin stay in
their sample in every permutation, so that no row is lost and the level stays exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.linalg.factor import product

SMALLER_SHARE = 4  # the smaller sample has at least bins/4 bins, however much larger the other
MAX_BINS_FACTOR = 8  # more than so many times ``bins`` are not permuted
BLOCK_PERMUTATIONS = 4096  # computed at a time


class Bins(NamedTuple):
    """Rows of the pool in parts: bins of A, then those of B, then what is left of either."""

    parts: list[IntVector]  # ascending rows of the pool
    counts: tuple[int, int]  # bins of A and of B, which are permuted
    size: int  # rows in a bin
    rest: tuple[bool, ...]  # of the parts that are not permuted: whether they are A's

    def masses(self, weights: Vector | None) -> Vector:
        """Total weight of each part."""
        if weights is None:
            return np.array([float(len(part)) for part in self.parts])
        return np.array([float(weights[part].sum()) for part in self.parts])


def cut(order: IntVector, first: int, bins: int, rng: np.random.Generator) -> Bins:
    """Bins of equal size from both samples; rows below ``first`` of the pool are A's.

    Of the sizes that give ``bins`` to twice as many bins, it is one that leaves few rows over.
    """
    # Drawn anew: in the order of the pool, whose first rows are the centres, the first bins would
    # hold them all.
    rows = [order[rng.permutation(np.flatnonzero(own))] for own in (order < first, order >= first)]
    n = (len(rows[0]), len(rows[1]))
    m = bin_size(n[0], n[1], bins)
    smaller = min(n) // m
    most = MAX_BINS_FACTOR * bins
    a, b = (min(count // m, max(most - smaller, smaller)) for count in n)
    parts = [
        own[i * m : (i + 1) * m]
        for own, count in zip(rows, (a, b), strict=True)
        for i in range(count)
    ]
    left = {True: rows[0][a * m :], False: rows[1][b * m :]}
    kept = [(own, part) for own, part in left.items() if len(part)]
    everything = [np.sort(part) for part in [*parts, *(part for _, part in kept)]]
    return Bins(everything, (a, b), m, tuple(own for own, _ in kept))


def bin_size(first: int, second: int, bins: int) -> int:
    """The bin size with fewest rows left over; the largest of equals.

    Sizes run from half of to all of what ``bins`` bins would hold.
    """
    most = min((first + second) // bins, min(first, second) // max(1, bins // SMALLER_SHARE))
    sizes = np.arange(max(most, 1), max(most, 1) // 2, -1)
    return int(sizes[np.argmin(first % sizes + second % sizes)])


def signs(bins: Bins, masses: Vector, draws: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """v of the parts, as rows: as observed, then of each permutation.

    All permutations are taken where ``draws`` would suffice for them.
    """
    count = sum(bins.counts)
    chosen = bins.counts[0]
    observed = np.arange(count) < chosen
    total = math.comb(count, chosen)
    if total <= draws + 1:
        # The first is what was observed.
        subsets = np.array(list(combinations(range(count), chosen)))
        in_first = np.zeros((total, count), dtype=bool)
        np.put_along_axis(in_first, subsets, True, axis=1)
        yield _as_signs(bins, masses, in_first)
        return
    yield _as_signs(bins, masses, observed[None])
    for start in range(0, draws, BLOCK_PERMUTATIONS):
        shape = min(BLOCK_PERMUTATIONS, draws - start), count
        permuted = rng.permuted(np.broadcast_to(observed, shape), axis=1)
        yield _as_signs(bins, masses, permuted)


def _as_signs(bins: Bins, masses: Vector, in_first: NDArray[np.bool_]) -> Matrix:
    """v_b = W_b/ΣW over A for the parts in A, −W_b/ΣW over B for those in B: Σv = 0."""
    rest = np.tile(np.array(bins.rest, dtype=bool), (len(in_first), 1))
    inside = np.concatenate([in_first, rest], axis=1)
    of_first = np.where(inside, masses, 0.0)
    of_second = np.where(inside, 0.0, masses)
    V: Matrix = of_first / of_first.sum(axis=1, keepdims=True)
    V -= of_second / of_second.sum(axis=1, keepdims=True)
    return V


def squares(G: Matrix, V: Matrix) -> Vector:
    """vᵀGv for each row of V; never negative."""
    found: Vector = np.maximum(np.sum(product(V, G) * V, axis=1), 0.0)
    return found

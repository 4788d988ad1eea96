"""Cells of two pooled samples, blind to which sample a row is from, and a tree that joins them.

Why a count in a cell can be tested although the cell was found on the same rows: given where the
pooled rows lie, each row at x is from A with probability n_A p_A(x)/(n_A p_A(x) + n_B p_B(x)),
independently of the others but for the fixed totals. Where p_A = p_B that is n_A/N, whatever x. The
cells and their tree are read from the positions alone: rows are sorted by their coordinates before
anything is drawn from them, so that not even their order tells a sample. Given the positions, then,
the rows of A in a place of m rows where both densities agree are m draws without replacement from N
rows of which n_A are of A, however the place was chosen: a hypergeometric count, and its test keeps
its level. Numbers of rows in a place may choose which places are tested for the same reason. Where
the samples differ elsewhere, the counts of all places that agree move a little together, since the
totals are fixed: how often claims are false then is measured, not proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from kernelmean._random import Streams
from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.loaded import LoadedSample
from kernelmean.selection.kmeans import lloyd
from kernelmean.selection.listed import Listed, d2_batches

MOST_ROWS = 40_000  # of both samples together, on which cells are found and described
ROWS_PER_CELL = 30  # pooled rows for samples of one size; the tree joins cells to larger places
MOST_CELLS = 1000
LLOYD_ITERATIONS = 10
BLOCK_ROWS = 4096  # whose distances to all centres are looked at together


class Pool(NamedTuple):
    """Rows of both samples, in an order that does not tell which is whose."""

    mapped: Points  # in the coordinates of the kernel
    points: Points  # the same rows in the data's units
    masses: Vector  # rows that each stands for
    side: IntVector  # 0 for rows of the first sample, 1 for others: to describe, not to cut by


@dataclass(frozen=True, eq=False)
class Tree:
    """Places: k cells, and the unions that k − 1 merges of two places make of them.

    Places 0 to k − 1 are the cells, place k + i is made by merge i, and the last one is everything.
    """

    merges: IntVector  # (k − 1, 2)

    @property
    def cells(self) -> int:
        """k."""
        return len(self.merges) + 1

    def sums(self, values: Vector) -> Vector:
        """Σ over the cells of each place, for (k,) values: (2k − 1,)."""
        totals = np.concatenate([values, np.zeros(len(self.merges))])
        for place, (left, right) in enumerate(self.merges, start=self.cells):
            totals[place] = totals[left] + totals[right]
        return totals

    def cells_of(self, place: int) -> IntVector:
        """The cells of a place, ascending."""
        found = [node for node in self.below(place) if node < self.cells]
        return np.sort(np.array(found, dtype=np.intp))

    def below(self, place: int) -> Iterator[int]:
        """A place and all places within it."""
        waiting = [place]
        while waiting:
            node = waiting.pop()
            yield node
            if node >= self.cells:
                waiting.extend(int(child) for child in self.merges[node - self.cells])


def draw_pool(first: LoadedSample, second: LoadedSample, streams: Streams) -> Pool:
    """Every row of both samples, or :data:`MOST_ROWS` of them, as many of each as its size says.

    Integer weights repeat a row; other weights are masses, and rows are drawn by them.
    """
    sizes = first.cloud.summary.size, second.cloud.summary.size
    share = min(1.0, MOST_ROWS / sum(sizes))
    parts = [
        _drawn(data, max(1, round(share * size)), streams.of("region rows", side))
        for side, (data, size) in enumerate(zip((first, second), sizes, strict=True))
    ]
    mapped, points, masses = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((masses, *mapped.T))
    side = np.repeat([0, 1], [len(part[0]) for part in parts])
    return Pool(mapped[order], points[order], masses[order], side[order])


def find_centers(first: LoadedSample, second: LoadedSample, pool: Pool, streams: Streams) -> Points:
    """Centres of k-means cells of the pool, each nearest to some of its rows."""
    cloud = first.engine.load(pool.mapped, pool.masses)
    k = _number_of_cells(first.cloud.summary.size, second.cloud.summary.size)
    seeds = Listed("kmeans++", cloud, d2_batches(cloud, streams.of("region cells"))).take(k)
    centers = lloyd(cloud, seeds.points, LLOYD_ITERATIONS)
    return centers[np.unique(two_nearest(pool.mapped, centers)[:, 0])]


def join_cells(centers: Points) -> Tree:
    """Ward's tree of the centres: each merge adds least to the squares within places."""
    if len(centers) == 1:
        return Tree(np.empty((0, 2), dtype=np.intp))
    return Tree(linkage(centers, "ward")[:, :2].astype(np.intp))


def two_nearest(points: Points, centers: Points) -> IntVector:
    """(n, 2): the nearest and the second nearest centre, the lowest on ties; twice a single one."""
    if len(centers) == 1:
        return np.zeros((len(points), 2), dtype=np.intp)
    origin = centers.mean(axis=0)  # so that products keep the digits of differences
    inner = centers - origin
    starts = range(0, len(points), BLOCK_ROWS)
    blocks = [_two_nearest(points[s : s + BLOCK_ROWS] - origin, inner) for s in starts]
    return np.concatenate([np.empty((0, 2), dtype=np.intp), *blocks])


def adjacent(nearest: IntVector, k: int) -> NDArray[np.bool_]:
    """(k, k): whether a row has one cell as its nearest and the other as its second (Martinetz)."""
    beside = np.zeros((k, k), dtype=np.bool_)
    beside[nearest[:, 0], nearest[:, 1]] = True
    return beside | beside.T


def _number_of_cells(first: float, second: float) -> int:
    """Fewer cells where one sample is much smaller: a place that it does not reach tells little."""
    total = first + second
    # N_h = 4 n_A n_B / N, which is N for equal sizes; k = √(N N_h) / rows in a cell
    evened = 4.0 * first * second / total
    return int(np.clip(round(np.sqrt(total * evened) / ROWS_PER_CELL), 1, MOST_CELLS))


def _drawn(data: LoadedSample, count: int, rng: np.random.Generator) -> tuple[Points, ...]:
    """Rows in both coordinates, and how many rows each stands for."""
    summary = data.cloud.summary
    if summary.counted or summary.count > count:
        whole = summary.counted and count == summary.size
        offsets = np.full(count, 0.5) if whole else rng.random(count)
        rows = data.cloud.locate((np.arange(count) + offsets) / count)
        masses = np.full(count, summary.size / count)
    else:
        assert data.sample.weights is not None  # else the rows were counted
        rows = np.arange(summary.count)
        masses = data.sample.weights * (summary.size / data.sample.weights.sum())
    return data.cloud.rows(rows), data.sample.sample.rows(rows), masses


def _two_nearest(points: Points, centers: Points) -> IntVector:
    """By products of matrices first; differences then decide between the two."""
    # ‖x − c‖² = ‖c‖² − 2⟨x, c⟩ + ‖x‖², of which the last does not matter
    gaps = (centers**2).sum(axis=1) - 2.0 * (points @ centers.T)
    rows = np.arange(len(points))
    nearest = np.empty((len(points), 2), dtype=np.intp)
    for rank in range(2):
        nearest[:, rank] = gaps.argmin(axis=1)
        gaps[rows, nearest[:, rank]] = np.inf
    nearest.sort(axis=1)
    squared = ((points[:, None] - centers[nearest]) ** 2).sum(axis=2)
    swapped = squared[:, 1] < squared[:, 0]
    nearest[swapped] = nearest[swapped, ::-1]
    return nearest

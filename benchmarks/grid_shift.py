"""Mean shift on a grid of cells as wide as the bandwidth, from two papers: MeanShift++ (Jang and
Jiang, CVPR 2021) and GridShift (Kumar, Ajani, Das and Mallipeddi, CVPR 2022).

Both move points to the mean of all points in their cell and the cells that touch it, 3^d in all,
and file them anew. MeanShift++ moves every point until none moves; GridShift moves cells with
their means and counts, joins cells that arrive in one, and ends when a round joins none. Points of
one cell move alike from the first round on, so the two differ only in cost and in when they end.

Here neighbours are looked for among the occupied cells, not among all 3^d, so that the cost is
not exponential in d; the means are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

THRESHOLD = 1e-4  # MeanShift++ ends where all points together move by less, as its authors' code
MOST_ROUNDS = 300  # neither paper has a bound; the sets here need a few dozen
LARGEST = 2**14 - 1  # differences of such numbers are still of 16 bits, which are quick to compare
PAIRS = 500_000  # of cells that are compared at once: what fits a cache


class Cells(NamedTuple):
    """Occupied cells: place on the grid, number of points, and the sum of their positions."""

    places: np.ndarray
    counts: np.ndarray
    sums: np.ndarray

    @property
    def means(self) -> np.ndarray:
        return self.sums / self.counts[:, None]

    def around(self) -> np.ndarray:
        """For each cell the mean of all points in it and the cells that touch it."""
        means = np.empty_like(self.sums)
        block = max(1, PAIRS // len(self.places))
        for start in range(0, len(self.places), block):
            rows = slice(start, start + block)
            near = np.ones((len(self.places[rows]), len(self.places)), dtype=bool)
            for mine, all_cells in zip(self.places[rows].T, self.places.T, strict=True):
                near &= np.abs(mine[:, None] - all_cells) <= 1
            weights = near.astype(float)
            means[rows] = (weights @ self.sums) / (weights @ self.counts)[:, None]
        return means


def file(Y: np.ndarray, counts: np.ndarray, bandwidth: float) -> tuple[Cells, np.ndarray]:
    """The cells of points that stand for several each, and the cell of each point."""
    grid = np.floor(Y / bandwidth)
    if np.abs(grid).max() > LARGEST:
        raise ValueError(f"the grid has more than {LARGEST} cells from its origin along an axis")
    places, cell = np.unique(grid.astype(np.int16), axis=0, return_inverse=True)
    cell = cell.ravel()
    totals = np.bincount(cell, counts)
    sums = np.stack([np.bincount(cell, counts * column) for column in Y.T], axis=1)
    return Cells(places, totals, sums), cell


def mean_shift_pp(X: np.ndarray, bandwidth: float) -> np.ndarray:
    """Labels by MeanShift++: points that end in one place are a cluster."""
    Y, once = X, np.ones(len(X))
    for _ in range(MOST_ROUNDS):
        cells, cell = file(Y, once, bandwidth)
        moved = cells.around()[cell]
        still = np.linalg.norm(moved - Y) <= THRESHOLD
        Y = moved
        if still:
            break
    return np.unique(Y, axis=0, return_inverse=True)[1].ravel()


def grid_shift(X: np.ndarray, bandwidth: float) -> np.ndarray:
    """Labels by GridShift: points that end in one cell are a cluster."""
    cells, labels = file(X, np.ones(len(X)), bandwidth)
    for _ in range(MOST_ROUNDS):
        before = len(cells.places)
        cells, joined = file(cells.around(), cells.counts, bandwidth)
        labels = joined[labels]
        if len(cells.places) == before:
            break
    return labels

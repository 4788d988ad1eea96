"""Mean shift with neighbours by locality-sensitive hashing: the baseline of the paper's mean-shift
experiment.

E2LSH (Datar, Immorlica, Indyk & Mirrokni 2004): each of a few tables files a point under the
integers ⌊(a·x + b)/width⌋ of its random projections. The five nearest of the points filed with x
are its neighbours, and x moves to their mean under the kernel's weights. The paper gives three
tables and five neighbours; width and projections are chosen here.
"""

from __future__ import annotations

import numpy as np

TABLES = 3
NEIGHBORS = 5
PROJECTIONS = 10
WIDTH = 4.0  # bandwidths
MOST = 2000  # points of one bucket that are looked at, spread over it


class Tables:
    """Points filed by their hashes."""

    def __init__(self, X: np.ndarray, width: float, rng: np.random.Generator) -> None:
        self.X, self.width = X, width
        self.directions = rng.normal(size=(TABLES, X.shape[1], PROJECTIONS))
        self.offsets = rng.uniform(0, width, (TABLES, PROJECTIONS))
        self.mixing = rng.integers(1, 2**62, PROJECTIONS, dtype=np.int64) | 1
        self.files = []
        for table in range(TABLES):
            codes = self.codes(table, X)
            order = np.argsort(codes, kind="stable")
            self.files.append((codes[order], order))

    def codes(self, table: int, Q: np.ndarray) -> np.ndarray:
        """One number per point for its PROJECTIONS integers."""
        cells = np.floor((Q @ self.directions[table] + self.offsets[table]) / self.width).astype(
            np.int64
        )
        return (cells * self.mixing).sum(axis=1)  # wraps around, as a hash may

    def neighbors(self, Q: np.ndarray) -> list[np.ndarray]:
        """Rows of the (approximately) nearest points of each query; fewer, or none, where its
        buckets are empty.
        """
        found: list[list[np.ndarray]] = [[] for _ in Q]
        for table, (codes, order) in enumerate(self.files):
            own = self.codes(table, Q)
            for i, (a, b) in enumerate(
                zip(np.searchsorted(codes, own), np.searchsorted(codes, own, "right"), strict=True)
            ):
                found[i].append(order[a : b : max(1, (b - a) // MOST)])
        return [self.nearest(q, np.concatenate(parts)) for q, parts in zip(Q, found, strict=True)]

    def nearest(self, q: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        if len(candidates) == 0:
            return candidates
        most = TABLES * NEIGHBORS  # a point is filed once in each table
        if len(candidates) > most:
            distances = ((self.X[candidates] - q) ** 2).sum(axis=1)
            candidates = candidates[distances <= np.partition(distances, most - 1)[most - 1]]
        candidates = np.unique(candidates)
        distances = ((self.X[candidates] - q) ** 2).sum(axis=1)
        return candidates[np.argsort(distances, kind="stable")[:NEIGHBORS]]


def mean_shift(
    tables: Tables, starts: np.ndarray, bandwidth: float, tol: float, max_iter: int = 300
) -> tuple[np.ndarray, int]:
    """Ends of the starts, and the steps of the slowest."""
    Y, active = starts.copy(), np.arange(len(starts))
    for step in range(1, max_iter + 1):
        moved = np.array(
            [
                shifted(tables.X[rows], q, bandwidth)
                for q, rows in zip(Y[active], tables.neighbors(Y[active]), strict=True)
            ]
        )
        still = np.linalg.norm(moved - Y[active], axis=1) > tol * bandwidth
        Y[active] = moved
        active = active[still]
        if len(active) == 0:
            return Y, step
    return Y, max_iter


def shifted(near: np.ndarray, q: np.ndarray, bandwidth: float) -> np.ndarray:
    """Mean of the neighbours under Gaussian weights; the point itself where there are none."""
    if len(near) == 0:
        return q
    s = ((near - q) ** 2).sum(axis=1) / (2 * bandwidth**2)
    w = np.exp(s.min() - s)
    return w @ near / w.sum()

"""Distances to coordinates: shortest paths along a neighbour graph, and classical scaling.

New points are placed by the same formulas.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components, csgraph_from_dense, shortest_path

from kernelmean._types import EPS, IntVector, Matrix, Points, Vector


@dataclass(frozen=True)
class Configuration:
    """Coordinates whose distances are nearest to those given, in the sense of classical scaling."""

    coordinates: Points  # (N, m)
    eigenvalues: Vector  # (m,) λ ≥ 0, largest first
    mean_squares: Vector  # (N,) mean over j of d²_ij

    def place(self, D: Matrix) -> Points:
        """y_t = (1/2λ_t) Σ_i z_it (mean_j d²_ij − δ²_i), from distances δ of new points (M, N).

        Gower (1968); δ are the distances of the new points to the old.
        """
        inverse = np.divide(
            1.0, self.eigenvalues, out=np.zeros_like(self.eigenvalues), where=self.eigenvalues > 0
        )
        placed: Points = 0.5 * ((self.mean_squares - D**2) @ self.coordinates) * inverse
        return placed


@dataclass(frozen=True)
class Geodesics:
    """Lengths of shortest paths between neighbours."""

    matrix: Matrix  # (N, N)
    n_neighbors: int  # that were needed to connect all

    def extend(self, D: Matrix) -> Matrix:
        """(M, N) geodesics of new points: min_j δ_j + geodesic_ji over their nearest old ones j."""
        near = nearest(D, self.n_neighbors)
        through = np.take_along_axis(D, near, axis=1)[:, :, None] + self.matrix[near]
        shortest: Matrix = through.min(axis=1)
        return shortest


def classical_mds(D: Matrix, n_components: int) -> Configuration:
    """Classical scaling: B = −½ J D² J = Σ λ_t v_t v_tᵀ, z_t = √λ_t v_t for the largest λ_t.

    Torgerson (1952). Coordinates of eigenvalues that are not positive, to rounding, are 0. The sign
    makes the largest entry positive.
    """
    squares: Matrix = D**2
    means = squares.mean(axis=1)
    B = -0.5 * (squares - means[:, None] - means[None, :] + means.mean())
    values, vectors = np.linalg.eigh(B)
    count = min(n_components, len(D))
    values = values[::-1][:count]
    vectors = vectors[:, ::-1][:, :count]
    kept = np.where(values > len(D) * EPS * max(float(np.abs(values).max()), 0.0), values, 0.0)
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    coordinates = vectors * np.where(largest < 0, -1.0, 1.0) * np.sqrt(kept)
    missing = n_components - count
    return Configuration(
        np.pad(coordinates, ((0, 0), (0, missing))), np.pad(kept, (0, missing)), means
    )


def geodesics(D: Matrix, n_neighbors: int) -> Geodesics:
    """ISOMAP's distances: shortest paths in the graph that joins i and j if either is near.

    Tenenbaum et al. (2000). A graph in several parts is repaired by more neighbours, with a
    warning.
    """
    most = len(D) - 1
    wanted = min(n_neighbors, most)
    graph, parts = _graph(D, wanted)
    used = wanted
    first_parts = parts
    while parts > 1:
        used += 1
        graph, parts = _graph(D, used)
    if used > wanted:
        warnings.warn(
            f"with n_neighbors={wanted} the neighbour graph of the samples falls into "
            f"{first_parts} parts; "
            f"it was connected with {used} neighbours.",
            UserWarning,
            stacklevel=2,
        )
    lengths = shortest_path(csgraph_from_dense(graph, null_value=np.inf), directed=False)
    _warn_of_collapse(D, lengths)
    return Geodesics(lengths, used)


def _warn_of_collapse(D: Matrix, lengths: Matrix) -> None:
    """Divergences that chance took to 0 can join far samples by a chain of them."""
    lost = np.count_nonzero(np.triu((lengths <= 0) & (D > 0)))
    if lost:
        warnings.warn(
            f"{lost} pairs of samples at a positive distance are joined by paths of length 0 and "
            "fall on one point; "
            "embedding='mds', metric='mmd' or larger samples keep them apart.",
            UserWarning,
            stacklevel=3,
        )


def nearest(D: Matrix, count: int) -> IntVector:
    """(M, count) columns of the smallest entries of each row; the lowest column on ties."""
    return np.argsort(D, axis=1, kind="stable")[:, :count]


def _graph(D: Matrix, n_neighbors: int) -> tuple[Matrix, int]:
    """Edge lengths, inf where there is none, and the number of connected parts."""
    others = D.copy()
    np.fill_diagonal(others, np.inf)
    near = nearest(others, n_neighbors)
    joined = np.zeros(D.shape, dtype=bool)
    np.put_along_axis(joined, near, True, axis=1)
    joined |= joined.T
    return np.where(joined, D, np.inf), int(connected_components(joined, directed=False)[0])

"""Where EM begins: cells of centroids, or one component for each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures.expectation import common_covariance
from kernelmean.mixtures.gaussians import Gaussians, blocks
from kernelmean.mixtures.rows import Rows
from kernelmean.selection.kmeans import lloyd
from kernelmean.selection.listed import Listed, d2_batches

LLOYD_ITERATIONS = 10
# Bandwidths that are tried for one component per row, as multiples of Scott's.
FACTORS = 2.0 ** np.arange(-4.0, 2.25, 0.25)


def cells(
    cloud: PointCloud, size: float, k: int, kind: SpreadKind, rng: np.random.Generator
) -> Matrix:
    """(k, F) sums of features over the cells of k centroids; ``size`` points in all."""
    nearest = cloud.nearest(centroids(cloud, k, rng))
    shares = nearest.masses()
    kept = shares > 0.0
    masses = size * shares[kept]
    means = nearest.means()[kept]
    d = means.shape[1]
    if kind == "scalar":
        second = d * nearest.variances()[kept] + (means**2).sum(axis=1)
        squares = second[:, None]
    else:
        s, t = np.triu_indices(d)
        products = nearest.covariances()[kept] + means[:, :, None] * means[:, None, :]
        squares = products[:, s, t]
    ones = np.ones((len(means), 1))
    sums: Matrix = masses[:, None] * np.concatenate([squares, means, ones], axis=1)
    return sums


def centroids(cloud: PointCloud, k: int, rng: np.random.Generator) -> Points:
    """(k, d) or fewer, by Lloyd's iteration from a k-means++ start."""
    seeds = Listed("kmeans++", cloud, d2_batches(cloud, rng)).take(k).points
    return lloyd(cloud, seeds, LLOYD_ITERATIONS)


def nearest_sums(
    rows: Rows, seen: Points, centers: Points, width: int, features: Callable[[Points], Matrix]
) -> Matrix:
    """(k, F) sums of F = ``width`` features over the rows nearest to each centre that has any.

    ``seen`` are the rows as they are compared with centres.
    """
    sums = np.zeros((len(centers), width))
    for some in blocks(len(rows), sum(sums.shape)):
        points = rows.points[some]
        owner = np.zeros((len(centers), len(points)))
        nearest = cdist(seen[some], centers, "sqeuclidean").argmin(axis=1)
        owner[nearest, np.arange(len(points))] = rows.masses[some]
        sums += owner @ features(points).T
    found: Matrix = sums[sums[:, -1] > 0.0]
    return found


def each_row(rows: Rows, floor: Vector) -> Gaussians:
    """A component for each row, all with the covariance h²Σ + floor: a kernel density estimate.

    Σ is the covariance of the rows drawn towards its diagonal, h the bandwidth of most likelihood
    when each row is left out with its copies.
    """
    n = len(rows)
    d = rows.dimension
    w = rows.masses / rows.size
    V = common_covariance(rows) + np.diag(floor)
    whitened = np.linalg.solve(np.linalg.cholesky(V), rows.points.T).T
    squared = cdist(whitened, whitened, "sqeuclidean")
    least = np.where(squared > 0.0, squared, np.inf).min(axis=1)
    if not np.isfinite(least).any():
        return Gaussians(w, rows.points, np.broadcast_to(V, (n, d, d)).copy())
    farther = np.where(
        squared > 0.0, squared - np.where(least < np.inf, least, 0.0)[:, None], np.inf
    )
    scott = n ** (-1.0 / (d + 4))

    def left_out(h: float) -> float:
        """Σ_i w_i log Σ_j w_j φ_h(x_i − x_j), relative to the term of the nearest other row."""
        rate = 0.5 / h**2
        with np.errstate(divide="ignore"):
            logs = np.log(np.einsum("ij,j->i", np.exp(-rate * farther), w)) - rate * least
        return float(w @ np.where(np.isfinite(logs), logs, 0.0)) - d * float(np.log(h))

    h = max(FACTORS * scott, key=left_out)
    return Gaussians(w, rows.points, np.repeat((h**2 * V + np.diag(floor))[None], n, axis=0))

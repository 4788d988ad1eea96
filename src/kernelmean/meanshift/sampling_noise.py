"""How far the density at two places may differ by the chance of the sample alone.

The kernel density estimate at x is the mean of K(x − x_j) over n points, and its difference at two
places has the variance (mean of (K(p − x_j) − K(s − x_j))² − (f(p) − f(s))²)/n. The means are over
the atoms that stand for the points.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from kernelmean._types import Points, Vector
from kernelmean.kernels import Gaussian
from kernelmean.linalg.gram import gram
from kernelmean.mean.expansion import KernelMean

CELLS_PER_ROOT = 3.0  # cells, over the square root of the rows that they stand for
BLOCK_PLACES = 64  # whose kernel values at all centres are held at a time


def z_scores(mean: KernelMean, P: Points, S: Points) -> Vector:
    """(m,) (f(p) − f(s)) in its standard deviations, for pairs of places in kernel coordinates."""
    kernel = mean.kernel.formula(mean.dimension)
    f_p = mean.cloud.log_kernel_sum(kernel, P, mean.weights)
    f_s = mean.cloud.log_kernel_sum(kernel, S, mean.weights)
    # In units of f(p), because densities in many dimensions do not fit floats.
    difference = -np.expm1(np.minimum(f_s - f_p, 0.0))
    squares = _gaussian_squares if isinstance(mean.kernel, Gaussian) else _point_squares
    n = resolved_rows(mean)
    variance = (squares(mean, P, S, f_p) - difference**2) / n
    # Rounding may leave a variance of nothing where the two places are one.
    least = np.finfo(np.float64).eps / n
    found: Vector = difference / np.sqrt(np.maximum(variance, least))
    return found


def resolved_rows(mean: KernelMean) -> float:
    """The number of rows that the noise is of: n, but no more than k = 3√n cells are made for.

    Cells are no exact copy of their rows. With ever more rows to the same cells the noise would
    fall below the ripples that they make. Of few rows each is a cell.
    """
    return min(mean.n_points, max(float(mean.k), ((mean.k + 1) / CELLS_PER_ROOT) ** 2))


def log_variance(mean: KernelMean, X: Points) -> Vector:
    """(m,) the logarithm of the mean of K² over n: at most so far is the density off by chance."""
    if isinstance(mean.kernel, Gaussian):
        narrow = Gaussian(mean.kernel.length / np.sqrt(2.0)).formula(mean.dimension)
        squares = mean.cloud.log_kernel_sum(narrow, X, mean.weights)
    else:
        squares = _log_point_squares(mean, X)
    found: Vector = squares - np.log(resolved_rows(mean))
    return found


def _gaussian_squares(mean: KernelMean, P: Points, S: Points, unit: Vector) -> Vector:
    """The mean of (K_p − K_s)²: products of two Gaussians are Gaussians about their middle.

    K_p(x)·K_s(x) = exp(−‖p − s‖²/4σ²)·exp(−‖x − (p + s)/2‖²/σ²), in units of the peak of K.
    """
    sigma = mean.kernel.length
    narrow = Gaussian(sigma / np.sqrt(2.0)).formula(mean.dimension)

    def product(A: Points, B: Points) -> Vector:
        found = mean.cloud.log_kernel_sum(narrow, (A + B) / 2.0, mean.weights)
        apart = ((A - B) ** 2).sum(axis=1) / (4.0 * sigma**2)
        value: Vector = np.exp(found - apart - 2.0 * unit)
        return value

    return product(P, P) + product(S, S) - 2.0 * product(P, S)


def _log_point_squares(mean: KernelMean, X: Points) -> Vector:
    """log Σ w_a φ_a(x)², which no kernel underflows near a mode or a pass."""
    kernel = mean.kernel.formula(mean.dimension)
    with np.errstate(divide="ignore"):  # far from every centre the density itself is 0
        found = [
            logsumexp(2.0 * np.log(gram(kernel, some, mean.mapped_centers)), axis=1, b=mean.weights)
            for some in np.array_split(X, -(-len(X) // BLOCK_PLACES) or 1)
        ]
    return np.concatenate(found)


def _point_squares(mean: KernelMean, P: Points, S: Points, unit: Vector) -> Vector:
    """The same for any kernel, whose centres are points: one by one."""
    kernel = mean.kernel.formula(mean.dimension)
    found = np.empty(len(P))
    for start in range(0, len(P), BLOCK_PLACES):
        some = slice(start, start + BLOCK_PLACES)
        apart = gram(kernel, P[some], mean.mapped_centers)
        apart -= gram(kernel, S[some], mean.mapped_centers)
        found[some] = np.exp(-2.0 * unit[some]) * (apart**2 @ mean.weights)
    return found

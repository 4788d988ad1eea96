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
    # In units of f(p), because densities in many dimensions do not fit floats.
    unit = log_values(mean, P)
    difference = -np.expm1(np.minimum(log_values(mean, S) - unit, 0.0))

    def product(A: Points, B: Points) -> Vector:
        found: Vector = np.exp(_log_products(mean, A, B) - 2.0 * unit)
        return found

    # (K_p − K_s)² = K_p² + K_s² − 2 K_p K_s
    squares = product(P, P) + product(S, S) - 2.0 * product(P, S)
    n = resolved_rows(mean)
    variance = (squares - difference**2) / n
    # Rounding may leave a variance of nothing where the two places are one.
    least = np.finfo(np.float64).eps / n
    found: Vector = difference / np.sqrt(np.maximum(variance, least))
    return found


def log_values(mean: KernelMean, X: Points) -> Vector:
    """(m,) the logarithm of a density without its constants, in the coordinates of the kernel."""
    return mean.cloud.log_kernel_sum(mean.kernel.formula(mean.dimension), X, mean.weights)


def resolved_rows(mean: KernelMean) -> float:
    """The number of rows that the noise is of: n, but no more than k = 3√n cells are made for.

    Cells are no exact copy of their rows. With ever more rows to the same cells the noise would
    fall below the ripples that they make. Of few rows each is a cell.
    """
    return min(mean.n_points, max(float(mean.k), ((mean.k + 1) / CELLS_PER_ROOT) ** 2))


def log_variance(mean: KernelMean, X: Points) -> Vector:
    """(m,) the logarithm of the mean of K² over n: at most so far is the density off by chance."""
    found: Vector = _log_products(mean, X, X) - np.log(resolved_rows(mean))
    return found


def _log_products(mean: KernelMean, A: Points, B: Points) -> Vector:
    """(m,) the logarithm of the mean of K_a·K_b over the points, in units of the peak of K.

    A product of two Gaussians is a Gaussian about their middle: K_a(x)·K_b(x) =
    exp(−‖a − b‖²/4σ²)·exp(−‖x − (a + b)/2‖²/σ²). Centres of another kernel are points, and the mean
    is over them one by one.
    """
    if not isinstance(mean.kernel, Gaussian):
        return _log_point_products(mean, A, B)
    sigma = mean.kernel.length
    narrow = Gaussian(sigma / np.sqrt(2.0)).formula(mean.dimension)
    middle = mean.cloud.log_kernel_sum(narrow, (A + B) / 2.0, mean.weights)
    found: Vector = middle - ((A - B) ** 2).sum(axis=1) / (4.0 * sigma**2)
    return found


def _log_point_products(mean: KernelMean, A: Points, B: Points) -> Vector:
    kernel = mean.kernel.formula(mean.dimension)
    centers = mean.mapped_centers
    found = np.empty(len(A))
    for start in range(0, len(A), BLOCK_PLACES):
        some = slice(start, start + BLOCK_PLACES)
        with np.errstate(divide="ignore"):  # far from every centre the density itself is 0
            logs = [np.log(gram(kernel, places[some], centers)) for places in (A, B)]
        found[some] = logsumexp(logs[0] + logs[1], axis=1, b=mean.weights)
    return found

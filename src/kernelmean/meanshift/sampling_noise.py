"""How far the density at two places may differ by the chance of the sample alone.

The kernel density estimate at x is the mean of K(x − x_j) over n points, and its difference at two
places has the variance (mean of (K(p − x_j) − K(s − x_j))² − (f(p) − f(s))²)/n. The means are over
the atoms that stand for the points.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.kernels import Atoms, Gaussian
from kernelmean.linalg.gram import gram
from kernelmean.mean.expansion import KernelMean


def z_scores(mean: KernelMean, P: Points, S: Points) -> Vector:
    """(m,) (f(p) − f(s)) in its standard deviations, for pairs of places in kernel coordinates."""
    kernel = mean.kernel.formula(mean.dimension)
    f_p = mean.cloud.log_kernel_sum(kernel, P, mean.weights)
    f_s = mean.cloud.log_kernel_sum(kernel, S, mean.weights)
    # In units of f(p), because densities in many dimensions do not fit floats.
    difference = -np.expm1(np.minimum(f_s - f_p, 0.0))
    squares = _gaussian_squares if isinstance(mean.kernel, Gaussian) else _point_squares
    variance = (squares(mean, P, S, f_p) - difference**2) / mean.n_points
    # Rounding may leave a variance of nothing where the two places are one.
    least = np.finfo(np.float64).eps / mean.n_points
    found: Vector = difference / np.sqrt(np.maximum(variance, least))
    return found


def log_variance(mean: KernelMean, X: Points) -> Vector:
    """(m,) the logarithm of the mean of K² over n: at most so far is the density off by chance."""
    if isinstance(mean.kernel, Gaussian):
        narrow = Gaussian(mean.kernel.length / np.sqrt(2.0)).formula(mean.dimension)
        squares = mean.cloud.log_kernel_sum(narrow, X, mean.weights)
    else:
        values = gram(mean.kernel.formula(mean.dimension), X, Atoms(mean.mapped_centers))
        squares = np.log(values**2 @ mean.weights)
    found: Vector = squares - np.log(mean.n_points)
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


def _point_squares(mean: KernelMean, P: Points, S: Points, unit: Vector) -> Vector:
    """The same for any kernel, whose centres are points: one by one."""
    kernel = mean.kernel.formula(mean.dimension)
    centers = Atoms(mean.mapped_centers)
    apart = gram(kernel, P, centers) - gram(kernel, S, centers)
    found: Vector = np.exp(-2.0 * unit) * (apart**2 @ mean.weights)
    return found

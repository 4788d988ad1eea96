"""L2 inner products without a usable closed form: log-domain quadrature, tabulated.

Bessel and hypergeometric routines overflow or lose every digit at the parameters that matter here
(d ≥ 64, α ≥ 30); the trapezoid rule on the whole line converges exponentially for these integrands
and never leaves the log domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from kernelmean._types import Matrix, Vector

STEP = 1.0 / 512.0  # the width of a table's cell in u = log(1 + √s): then log g is within 1e-12
LAPLACIAN_REACH = 2000.0  # r/γ at a table's end: beyond, g is zero in float64 up to d = 2000 or so
STUDENT_REACH = 1e6  # r/2√β at a table's end: beyond, log g is straight in log r
# The largest α that is tabulated: it takes some √α nodes, and beyond φ is a Gaussian to six digits.
STUDENT_LARGEST = 1e6
MAX_NODES = 1 << 22  # numbers in memory while a table is made
ROWS_AT_ONCE = 1000  # values of a table that are computed together, at most


@lru_cache(maxsize=32)
def laplacian_table(d: int) -> Matrix:
    """Spline of log g/g(0) for the L2 product of two Laplacian densities, against log(1 + r/γ).

    Parameters
    ----------
    d : int
        Number of coordinates; −1 for the profile M_½ itself.

    Returns
    -------
    ndarray of shape (cells, 6)
        Coefficients as :class:`.Table` takes them.
    """
    return _spline(lambda t: laplacian_log_inner(t, d), LAPLACIAN_REACH, ROWS_AT_ONCE)


@lru_cache(maxsize=32)
def student_table(alpha: float, d: int) -> Matrix:
    """Spline of log g/g(0) for the L2 product of two Student densities, against log(1 + r/(2√β)).

    Parameters
    ----------
    alpha : float
        The exponent, greater than d/2.
    d : int
        Number of coordinates.

    Returns
    -------
    ndarray of shape (cells, 6)
        Coefficients as :class:`.Table` takes them.
    """
    rows = min(
        ROWS_AT_ONCE, max(1, MAX_NODES // len(_student_nodes(STUDENT_REACH**2, alpha, d)[0]))
    )
    return _spline(lambda t: student_log_inner(t**2, alpha, d), STUDENT_REACH, rows)


def laplacian_log_inner(t: Vector, d: int) -> Vector:
    """log g/g(0) of two Laplacian densities by quadrature.

    g/g(0) = Γ(ν)⁻¹ ∫ exp(νv − eᵛ − t²e⁻ᵛ/4) dv = t^ν K_ν(t) / (2^{ν−1} Γ(ν)),  ν = d/2 + 1.

    Parameters
    ----------
    t : ndarray of shape (q,)
        Distances r/γ.
    d : int
        Number of coordinates.

    Returns
    -------
    ndarray of shape (q,)
        log g/g(0).

    References
    ----------
    NIST Digital Library of Mathematical Functions, 10.32.10.
    """
    nu = d / 2 + 1
    curvature = np.sqrt(nu**2 + t**2)  # of the exponent at its peak e^v = (ν + curvature)/2
    h = np.minimum(0.2, 0.6 / np.sqrt(curvature))[:, None]
    v = np.log((nu + curvature) / 2)[:, None] + h * np.arange(-200, 61)
    exponent = nu * v - np.exp(v) - (t**2)[:, None] * np.exp(-v) / 4
    return _log_sum(exponent) + np.log(h[:, 0]) - math.lgamma(nu)


def student_log_inner(z: Vector, alpha: float, d: int) -> Vector:
    """log g/g(0) of two Student densities by quadrature.

    2F1(p, α; α+½; −z) = Γ(2α)/Γ(α)² ∫ t^α (1 + 4zt)^{−p} dv,  t = 1/(4cosh²(v/2)),  p = 2α − d/2.

    Parameters
    ----------
    z : ndarray of shape (q,)
        Squared distances r²/4β.
    alpha : float
        The exponent, greater than d/2.
    d : int
        Number of coordinates.

    Returns
    -------
    ndarray of shape (q,)
        log g/g(0).

    References
    ----------
    NIST Digital Library of Mathematical Functions, 15.6.1 and 15.8.
    """
    p = 2 * alpha - d / 2
    v, h = _student_nodes(float(z.max()), alpha, d)
    log_t = -v - 2 * np.log1p(np.exp(-v))  # log 1/(4cosh²(v/2)) without overflow
    exponent = alpha * log_t - p * np.log1p(4 * z[:, None] * np.exp(log_t))
    exponent[:, 1:] += math.log(2)  # even integrand: both half lines, the node v = 0 once
    return _log_sum(exponent) + math.log(h) + math.lgamma(2 * alpha) - 2 * math.lgamma(alpha)


def _student_nodes(z: float, alpha: float, d: int) -> tuple[Vector, float]:
    """Nodes v ≥ 0 and their distance h, for all values up to z."""
    h = 0.5 / math.sqrt(max(alpha, 2 * alpha - d / 2, 4.0))
    reach = math.log1p(4 * z) + 42 / alpha + 14 / math.sqrt(alpha)
    return h * np.arange(int(reach / h) + 2, dtype=np.float64), h


def _log_sum(exponent: Matrix) -> Vector:
    """log Σ exp over each row, without overflow."""
    peak = exponent.max(axis=1)
    total: Vector = peak + np.log(np.exp(exponent - peak[:, None]).sum(axis=1))
    return total


def _spline(log_inner: Callable[[Vector], Vector], reach: float, rows: int) -> Matrix:
    """Quintic spline through log g/g(0) at √s = e^u − 1, u = 0, STEP, … up to √s = reach."""
    from scipy.interpolate import make_interp_spline

    u = STEP * np.arange(int(math.log1p(reach) / STEP) + 2)
    values = np.concatenate(
        [log_inner(np.expm1(part)) for part in np.array_split(u, len(u) // rows + 1)]
    )
    spline = make_interp_spline(u / STEP, values - values[0], k=5)
    starts = np.arange(len(u) - 1.0)  # Taylor coefficients at the start of each cell
    coefficients = np.stack(
        [spline(starts, nu=power) / math.factorial(power) for power in range(6)], axis=1
    )
    coefficients.flags.writeable = False
    return coefficients

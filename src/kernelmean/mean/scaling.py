"""Anisotropy: a linear map of the data before an isotropic kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular
from scipy.special import ndtri

from kernelmean import _checks
from kernelmean._types import EPS, Matrix, Points, Vector
from kernelmean.engines import Summary, arrays

SCALES = (None, "auto", "std", "cov")
# Shares of the rows beyond each of two quantiles whose distance is a robust width, from the most
# robust on: a column that is constant but for few rows has a width by a later one only.
TAILS = (0.25, 0.1, 0.05, 0.01)


def resolve(scale: Any, summary: Summary) -> Matrix | None:
    """The matrix that a scale names: diag(1/width), an inverse Cholesky factor, or one's own.

    A width is robust or the standard deviation; the factor is that of the covariance.
    """
    if scale is None:
        return None
    if not isinstance(scale, str):
        return _checks.linear_map(scale, summary.dimension)
    named = _checks.choice(scale, "scale", SCALES)
    if named == "auto":
        return np.diag(1.0 / robust_widths(summary))
    if named == "std":
        return np.diag(1.0 / _positive_std(summary, "std"))
    return _whitening(summary)


def robust_widths(summary: Summary) -> Vector:
    """(d,) positive: the standard deviation of the normal whose middle half is as wide, per column.

    Few gross outliers change it little, and other units not at all. Where the middle half has no
    width, the middle 80, 90 or 98 % have it; then the standard deviation; a constant column has 1.
    """
    widths = np.zeros(summary.dimension)
    for tail in TAILS:
        # (x_{1−a} − x_a) / (Φ⁻¹(1 − a) − Φ⁻¹(a))
        found = summary.quantile_range(tail, 1.0 - tail) / (-2.0 * ndtri(tail))
        widths = np.where(_divides(widths), widths, found)
        if _divides(widths).all():
            return widths
    widths = np.where(_divides(widths), widths, summary.std)
    return np.where(_divides(widths), widths, 1.0)


def _divides(widths: Vector) -> NDArray[np.bool_]:
    """Whether a column can be divided by it: neither 0 nor NaN, nor so small that 1/w overflows."""
    return widths > 1.0 / np.finfo(np.float64).max


def apply(scale: Matrix | None, X: Points, origin: Vector) -> Points:
    """A(x − origin).

    Only differences matter to a radial kernel, and far from the origin they keep their digits.
    """
    return X if scale is None else arrays.mapped(X, scale, np.ravel(origin))


def undo(scale: Matrix | None, Y: Points, origin: Vector) -> Points:
    """A⁻¹y + origin."""
    if scale is None:
        return Y
    X: Points = np.linalg.solve(scale, Y.T).T + origin
    return X


def pull_back(scale: Matrix | None, gradient: Points) -> Points:
    """Gradients in y = Ax as gradients in x: Aᵀ∇."""
    return gradient if scale is None else gradient @ scale


def log_jacobian(scale: Matrix | None) -> float:
    """log |det A|."""
    return 0.0 if scale is None else float(np.linalg.slogdet(scale)[1])


def times_exp(values: Vector | float, log_factor: Vector | float) -> Vector:
    """values · e^{log_factor}, exact in the exponent.

    Neither factor need fit a float for the product to do.
    """
    if isinstance(log_factor, float) and log_factor == 0.0:
        return np.asarray(values)
    power = np.trunc(np.asarray(log_factor) / np.log(2.0))
    with np.errstate(over="ignore", under="ignore"):
        scaled: Vector = np.ldexp(
            np.asarray(values) * np.exp(log_factor - power * np.log(2.0)), power.astype(np.int64)
        )
    return scaled


def same(a: Matrix | None, b: Matrix | None) -> bool:
    """Whether two means measure distance alike."""
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and np.allclose(a.T @ a, b.T @ b, rtol=1e-12, atol=0.0)


def _positive_std(summary: Summary, scale: str) -> Vector:
    constant = np.flatnonzero(~(summary.std > 0))
    if len(constant):
        raise ValueError(
            f"scale={scale!r} needs columns that vary, but column {constant[0]} is constant; "
            "drop it."
        )
    return summary.std


def _whitening(summary: Summary) -> Matrix:
    sd = _positive_std(summary, "cov")
    correlation = summary.covariance / np.outer(sd, sd)
    # By its eigenvalues: a pivot of the factor is divided by earlier ones, and rounding with it.
    if not eigvalsh(correlation)[0] > 100 * len(sd) * EPS:
        raise ValueError(
            "scale='cov' needs a regular covariance, but some columns are linear combinations of "
            "others; "
            "drop them or use scale='std'."
        )
    L = cholesky(correlation, lower=True)
    whitening: Matrix = solve_triangular(L, np.diag(1.0 / sd), lower=True)
    return whitening

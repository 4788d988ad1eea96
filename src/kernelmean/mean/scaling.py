"""Anisotropy: a linear map of the data before an isotropic kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from kernelmean import _checks
from kernelmean._types import EPS, Matrix, Points, Vector
from kernelmean.engines import Summary, arrays

SCALES = (None, "std", "cov")


def resolve(scale: Any, summary: Summary) -> Matrix | None:
    """The matrix that a scale names: diag(1/sd), an inverse Cholesky factor, or one's own.

    The factor is that of the covariance.
    """
    if scale is None:
        return None
    if not isinstance(scale, str):
        return _checks.linear_map(scale, summary.dimension)
    if _checks.choice(scale, "scale", SCALES) == "std":
        return np.diag(1.0 / _positive_std(summary, "std"))
    return _whitening(summary)


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

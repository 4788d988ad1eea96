"""Conjugate gradients, as the paper used them."""

from __future__ import annotations

from kernelmean._types import Matrix, Vector


def conjugate_gradients(K: Matrix, kappa: Vector) -> Vector:
    """Kα = κ by conjugate gradients, to a relative residual of 1e-6 or for 20 iterations.

    These are MATLAB's defaults, as the paper used them. The diagonal of K is constant, so scaling
    by it would change nothing. Early stopping acts as a regulariser; for accuracy use the Cholesky
    factor.
    """
    from scipy.sparse.linalg import cg

    alpha, _ = cg(K, kappa, rtol=1e-6, atol=0.0, maxiter=20)
    solution: Vector = alpha
    return solution

"""The covariances of the centres of a mean: in the data, or as a linear map sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Vector
from kernelmean.kernels import Spreads

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean


def seen_from_kernel(mean: KernelMean, P: Matrix) -> Matrix:
    """PA⁻¹: the linear map P, (m, d), of the data as a map of the kernel's coordinates Ax."""
    if mean.scale is None:
        return P
    return np.asarray(np.linalg.solve(mean.scale.T, P.T).T, dtype=np.float64)


def covariances(spreads: Spreads, T: Matrix, variance: float = 0.0) -> NDArray[np.float64]:
    """(k, m, m): T(S_a + variance·I)Tᵀ, what T, (m, d), makes of every spread after a blur."""
    if spreads.ndim == 1:
        return (spreads + variance)[:, None, None] * (T @ T.T)
    seen = np.einsum("is,ast,jt->aij", T, spreads, T, optimize=True) + variance * (T @ T.T)
    symmetric: NDArray[np.float64] = 0.5 * (seen + np.swapaxes(seen, 1, 2))
    return symmetric


def deviations(covariances: NDArray[np.float64]) -> Vector:
    """(k,) standard deviations, over the directions of each covariance (k, m, m) on average."""
    found: Vector = np.sqrt(np.trace(covariances, axis1=1, axis2=2) / covariances.shape[1])
    return found


def without(covariances: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """V − σ²I, symmetric to the last bit, with no negative eigenvalue left by rounding.

    A coordinate on which no other leans is taken by itself: it may be all but even, of a variance
    beside which eigenvalues of the others would lose their digits.
    """
    if covariances.ndim == 1:
        return np.maximum(covariances - variance, 0.0)
    every = np.arange(covariances.shape[1])
    others = np.array(covariances)
    others[:, every, every] = 0.0
    alone = ~others.any(axis=2)
    own = covariances[:, every, every]
    others[:, every, every] = np.where(alone, variance, own)
    values, vectors = np.linalg.eigh(others)
    spreads = (vectors * np.maximum(values - variance, 0.0)[:, None, :]) @ np.swapaxes(
        vectors, 1, 2
    )
    spreads[alone] = 0.0
    np.swapaxes(spreads, 1, 2)[alone] = 0.0
    left = spreads[:, every, every]
    spreads[:, every, every] = np.where(alone, np.maximum(own - variance, 0.0), left)
    return np.asarray(0.5 * (spreads + np.swapaxes(spreads, 1, 2)))

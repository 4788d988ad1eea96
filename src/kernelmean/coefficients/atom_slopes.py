"""How the inner products of atoms with covariances change as an atom moves or widens.

With W = τ²I + S_a + S_b and w = W⁻¹(c_b − c_a), ∂K_ab/∂c_a = K_ab w, and ∂K_ab/∂S_a =
½K_ab(wwᵀ − W⁻¹).
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Matrix, Points, Vector
from kernelmean._work import compiling_pays
from kernelmean.kernels import Atoms, Spreads

NEGLIGIBLE = 1e-17  # of √(K_aa K_bb): products that cannot change the last digit of a sum
STEPS_OF_INVERSE = 1500.0  # of NumPy, for one small matrix, besides 5d³


def slopes(variance: float, atoms: Atoms, K: Matrix, alpha: Vector) -> tuple[Points, Spreads]:
    """Σ_b α_b ∂K_ab/∂c_a and Σ_b α_b ∂K_ab/∂S_a, for atoms with full spreads. Time O(k²d³)."""
    norms = np.sqrt(np.diagonal(K))
    weights = np.where(NEGLIGIBLE * np.outer(norms, norms) < K, K * alpha, 0.0)
    k, d = atoms.centers.shape
    if not compiling_pays(k * k * (STEPS_OF_INVERSE + 5.0 * d**3)):
        return plain_slopes(variance, atoms, weights)
    from kernelmean.compiled import atom_slopes

    return atom_slopes.slopes(variance, atoms, weights)


def plain_slopes(variance: float, atoms: Atoms, weights: Matrix) -> tuple[Points, Spreads]:
    """The same by NumPy, for weights α_b K_ab."""
    assert atoms.spreads is not None
    C = atoms.centers
    S = atoms.spreads
    of_centers = np.zeros(C.shape)
    of_spreads = np.zeros(S.shape)
    for a, row in enumerate(weights):
        b = np.flatnonzero(row)
        P = np.linalg.inv(variance * np.eye(C.shape[1]) + S[a] + S[b])
        w = np.einsum("bij,bj->bi", P, C[b] - C[a])
        of_centers[a] = row[b] @ w
        of_spreads[a] = 0.5 * ((row[b, None] * w).T @ w - np.einsum("b,bij->ij", row[b], P))
    return of_centers, of_spreads

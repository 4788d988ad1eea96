"""Valid probability weights: α ≥ 0, Σα = 1."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.linalg import LinAlgError

from kernelmean._types import Matrix, Vector
from kernelmean.linalg.factor import product

GAP_TOLERANCE = 1e-11  # relative Frank–Wolfe gap up to which a minimiser counts as certified


def project(v: Vector) -> Vector:
    """Euclidean projection onto the simplex (Duchi et al. 2008), as the paper has it.

    u = v sorted downwards, ρ = max{j : u_j > (Σ_{i≤j} u_i − 1)/j}, θ = (Σ_{i≤ρ} u_i − 1)/ρ, result
    max(v − θ, 0). It ignores K and can destroy the approximation as k grows: for reproduction only.
    """
    u = np.sort(v)[::-1]
    thresholds = (np.cumsum(u) - 1.0) / np.arange(1, len(u) + 1)
    rho = np.flatnonzero(u > thresholds)[-1]
    projected: Vector = np.maximum(v - thresholds[rho], 0.0)
    return projected


def minimise(L: Matrix, y: Vector, guess: Vector | None = None) -> Vector:
    """The exact minimiser of αᵀKα − 2κᵀα on the simplex, with K = LLᵀ and κ = Ly.

    It is certified by its Frank–Wolfe gap. It is found by an active set that starts near the
    answer, or at a ``guess`` on the simplex; where that ends without its certificate, by
    nonnegative least squares.
    """
    from kernelmean.linalg import active_set

    unit = _unit(L)
    if unit != 1.0:
        L = L / unit
        y = y / unit
    try:
        alpha = active_set.minimise(L, y, guess)
        if _relative_gap(L, y, alpha) <= GAP_TOLERANCE:
            return alpha
    except LinAlgError:  # a principal block of K that is singular to rounding although L exists
        pass
    alpha = nonnegative_least_squares(L, y)
    gap = _relative_gap(L, y, alpha)
    if gap > GAP_TOLERANCE:
        warnings.warn(
            f"the simplex weights are optimal only to a relative gap of {gap:.0e}.", stacklevel=2
        )
    return alpha


def _unit(L: Matrix) -> float:
    """The power of two next below the least norm √K_aa, which is one for points.

    In hundreds of dimensions atoms have norms of 1e-50 and less, and of different size; those of
    least norm carry the minimum, and tolerances are meant for numbers of order one.
    """
    least = float(np.sqrt(np.einsum("ij,ij->i", L, L).min()))
    return math.ldexp(1.0, math.frexp(least)[1] - 1) if least > 0.0 else 1.0


def nonnegative_least_squares(L: Matrix, y: Vector) -> Vector:
    """The same minimiser by one NNLS problem: slow for many centres, but independent.

    It does not rest on the active set. In the coordinates of the factor φ_a ↔ Lᵀe_a and Pz̄ ↔ y, so
    this is the point of least norm in the hull of the columns Lᵀe_a − y: minimise ‖[Lᵀ − y1ᵀ; 1ᵀ]β
    − (0,…,0,1)‖ over β ≥ 0, then α = β/Σβ.
    """
    from scipy.optimize import nnls

    k = len(y)
    A = np.concatenate([L.T - y[:, None], np.ones((1, k))])
    b = np.zeros(k + 1)
    b[-1] = 1.0
    beta, _ = nnls(A, b, maxiter=50 * k)
    alpha: Vector = beta / beta.sum()
    return alpha


def frank_wolfe_gap(L: Matrix, y: Vector, alpha: Vector) -> float:
    """αᵀs − min s, s = Kα − κ = L(Lᵀα − y): bounds the excess of half the objective."""
    s = product(L, product(L.T, alpha) - y)
    return float(alpha @ s - s.min())


def _relative_gap(L: Matrix, y: Vector, alpha: Vector) -> float:
    """The gap in units of ‖z‖² or ‖Pz̄‖², whichever is larger."""
    z = product(L.T, alpha)
    return frank_wolfe_gap(L, y, alpha) / max(float(z @ z), float(y @ y))

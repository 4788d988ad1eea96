"""Inner products of atoms with covariances in NumPy: one step of all factorisations at a time.

The same as :mod:`kernelmean.compiled.atoms`, which is worth compiling for many atoms or columns.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Matrix
from kernelmean._work import compiling_pays
from kernelmean.kernels import Atoms

STEPS_OF_CALL = 1000.0  # of NumPy, whatever it is asked for
TOGETHER = 2**19  # numbers of matrices that are in memory at a time: 4 MiB


def log_products(variance: float, A: Atoms, B: Atoms) -> Matrix:
    """log K_ab = −½ uᵀV⁻¹u − ½ log|V/τ²| for V = τ²I + S_a + S_b and u = c_a − c_b.

    In loops that are compiled where that pays. Time O(len(A)·len(B)·d³).
    """
    d = A.dimension
    rows = max(1, TOGETHER // max(1, len(B) * d * (d + 1) // 2))
    calls = -(-len(A) // rows) * d**3 / 3.0
    steps = len(A) * len(B) * (d * (d + 1) * (d + 5) / 2.0 + 20.0 * d)
    if compiling_pays(steps + STEPS_OF_CALL * calls):
        from kernelmean.compiled import atoms

        return atoms.log_products(variance, A, B)
    parts = [_some_products(variance, A[i : i + rows], B) for i in range(0, len(A), rows)]
    return np.concatenate(parts) if parts else np.empty((0, len(B)))


def _some_products(variance: float, A: Atoms, B: Atoms) -> Matrix:
    """By LDLᵀ of V/τ²: no pivot is less than 1, and none is let become so by rounding."""
    assert A.spreads is not None
    assert B.spreads is not None
    d = A.dimension
    u = [(a[:, None] - b) * variance**-0.5 for a, b in zip(A.centers.T, B.centers.T, strict=True)]
    V = {
        (r, s): (A.spreads[:, r, s, None] / variance + B.spreads[:, r, s] / variance)
        for r in range(d)
        for s in range(r + 1)
    }
    quadratic = np.zeros((len(A), len(B)))
    log_determinant = np.zeros_like(quadratic)
    for t in range(d):
        pivot = np.maximum(1.0 + V[t, t], 1.0)
        log_determinant += np.log(pivot)
        inverse = 1.0 / pivot
        quadratic += u[t] * u[t] * inverse
        for r in range(t + 1, d):
            ratio = V[r, t] * inverse
            u[r] -= ratio * u[t]
            for s in range(t + 1, r + 1):
                V[r, s] -= ratio * V[s, t]
    found: Matrix = -0.5 * (quadratic + log_determinant)
    return found

"""Inner products of kernels at points, and of kernel means over atoms: the entries of K."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import Matrix, Points, Vector
from kernelmean._work import compiling_pays
from kernelmean.kernels import Atoms, RadialFunction, Table
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.atom_products import log_products

STEPS_OF_TABLE = 30.0  # of NumPy, for a value
BLOCK_PRODUCTS = 2**20  # inner products that are held in memory at a time: 8 MiB


def gram(radial: RadialFunction, A: Points | Atoms, B: Points | Atoms) -> Matrix:
    """K_ab = g(‖a − b‖²), by direct differences: no digit lost far from the origin.

    Between atoms it is the mean of g over both: see :func:`log_gram`.
    """
    first = as_atoms(A)
    second = as_atoms(B)
    if first.spreads is not None or second.spreads is not None:
        return np.exp(log_gram(radial, first, second))
    squared = cdist(first.centers, second.centers, "sqeuclidean")
    if not (isinstance(radial, Table) and compiling_pays(STEPS_OF_TABLE * squared.size)):
        return radial(squared)
    from kernelmean.compiled.tables import look_up

    return look_up(radial, squared)


def log_gram(radial: RadialFunction, A: Atoms, B: Atoms) -> Matrix:
    """log ⟨atom a, atom b⟩ = −½uᵀV⁻¹u − ½ log|V/τ²|, V = τ²I + S_a + S_b, u = c_a − c_b.

    With scalar spreads V = (τ² + s_a² + s_b²)I.
    """
    if B.spreads is None and A.kind == "full":  # no matrix for every point
        return np.ascontiguousarray(A.blurred(variance(radial)).log_values(B.centers).T)
    if A.spreads is None and B.kind == "full":
        return B.blurred(variance(radial)).log_values(A.centers)
    if "full" in (A.kind, B.kind):
        return log_products(variance(radial), A.as_kind("full"), B.as_kind("full"))
    spreads = [part.as_kind("scalar").spreads for part in (A, B)]
    assert spreads[0] is not None
    assert spreads[1] is not None
    excess = (spreads[0][:, None] + spreads[1]) / variance(radial)  # V/τ² − 1
    squared = cdist(A.centers, B.centers, "sqeuclidean")
    log_det = np.log1p(excess)
    log_det *= 0.5 * A.dimension
    squared *= -radial.rate
    squared /= 1.0 + excess
    squared -= log_det
    return squared


def weighted_products(radial: RadialFunction, A: Atoms, B: Atoms, w: Vector) -> Vector:
    """Σ_b w_b ⟨atom a, atom b⟩ for every a, with a few rows of the matrix in memory at a time."""
    rows = max(1, BLOCK_PRODUCTS // max(1, len(B)))
    parts = [gram(radial, A[i : i + rows], B) @ w for i in range(0, len(A), rows)]
    return np.concatenate(parts) if parts else np.empty(0)


def log_total(
    radial: RadialFunction, A: Atoms, v: Vector, B: Atoms, w: Vector
) -> tuple[float, float]:
    """(m, ℓ) such that Σ_ab v_a w_b ⟨atom a, atom b⟩ = m·e^ℓ, by logarithms: nothing underflows."""
    rows = max(1, BLOCK_PRODUCTS // max(1, len(B)))
    total = 0.0
    level = -np.inf
    for i in range(0, len(A), rows):
        logs = log_gram(radial, A[i : i + rows], B)
        top = max(level, float(logs.max()))
        total *= np.exp(level - top) if total else 0.0
        total += float(v[i : i + rows] @ np.exp(logs - top) @ w)
        level = top
    return total, level


def squared_norms(radial: RadialFunction, atoms: Atoms) -> Vector:
    """K_aa, which is one for points and less for atoms: |I + 2S_a/τ²|^{−½}."""
    doubled = None if atoms.spreads is None else 2.0 * atoms.spreads
    if doubled is None:
        return np.ones(len(atoms))
    return np.exp(Atoms(atoms.centers, doubled).blurred(variance(radial)).log_heights)


def as_atoms(centers: Points | Atoms) -> Atoms:
    """Points as atoms without spreads; atoms as they are."""
    return centers if isinstance(centers, Atoms) else Atoms(centers)

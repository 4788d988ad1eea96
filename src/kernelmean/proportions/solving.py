"""From inner products to proportions: three ways to solve for a mixture of class means.

P₀ = Σ_c π_c P_c is sought from κ_c = ⟨z_c, P̂₀⟩, the mean over the test points of the values
z_c(x), and from what the training data says of the class means z_c. Everything is in units of g(0),
which cancels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Vector
from kernelmean.linalg import simplex

SOLVERS = ("qp", "paper", "moments")
# Squared distances of class means below this, in units of the largest norm, are no difference.
SINGULAR = 1e-10
# Pulls towards the least norm where the data does not decide; small beside what the data decides.
NULL_WEIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class System:
    """What the training data says of the C class means."""

    gram: Matrix  # (C, C) ⟨z_c, z_c′⟩
    # (C, C) M_cc′: mean of z_c over class c′, without a point's share in its own class mean
    moments: Matrix
    covariances: NDArray[np.float64]  # (C, C, C): [c′] is the covariance of column c′ of M

    @lazy
    def indistinct(self) -> Matrix:
        """(C, m): orthonormal v with Σv = 0 and Gv = 0, along which proportions cannot be told."""
        return undetermined(self.gram, np.empty((len(self.gram), 0)))

    @lazy
    def metric(self) -> Matrix:
        """G⁻¹, in which misfits of κ are measured; a ridge of SINGULAR where G is singular."""
        ridge = SINGULAR * float(np.max(np.diag(self.gram))) * np.eye(len(self.gram))
        return np.asarray(np.linalg.inv(self.gram + ridge), dtype=np.float64)

    @lazy
    def normal(self) -> Matrix:
        """MᵀG⁻¹M, the matrix of the moment equations Mπ = κ."""
        product = self.moments.T @ self.metric @ self.moments
        matrix: Matrix = 0.5 * (product + product.T)
        return matrix


def solve(system: System, kappa: Matrix, solver: str) -> Matrix:
    """(s, C) proportions for s rows of κ: π ≥ 0, Σπ = 1.

    ``"qp"``: argmin ‖P̂₀ − Σπ_c z_c‖² = πᵀGπ − 2κᵀπ on the simplex.
    ``"moments"``: E κ = Mπ whatever functions the z_c are, so argmin (Mπ − κ)ᵀG⁻¹(Mπ − κ) on the
    simplex: without the bias from norms ‖z_c‖² that contain each point's product with itself, and
    without that of sparsity. With M = G this is "qp". ``"paper"``: the linear system of
    :func:`linear_system`, then the Euclidean projection on the simplex.
    """
    if solver == "paper":
        return np.stack([simplex.project(row) for row in linear_system(system.gram, kappa)])
    if solver == "qp":
        return simplex_minimisers(system.gram, kappa, system.indistinct)
    return simplex_minimisers(
        system.normal, kappa @ system.metric @ system.moments, system.indistinct
    )


def linear_system(G: Matrix, kappa: Matrix) -> Matrix:
    """(s, C): Dπ = e, D_ij = ⟨z_i − z_N, z_j − z_N⟩, e_i = ⟨z_i − z_N, P̂₀ − z_N⟩, π_N = 1 − Σ.

    The solution is that of least norm if D is singular.
    """
    D = G[:-1, :-1] - G[:-1, -1:] - G[-1:, :-1] + G[-1, -1]
    e = kappa[:, :-1] - kappa[:, -1:] - G[:-1, -1] + G[-1, -1]
    largest = float(np.linalg.norm(D, 2))
    cutoff = min(SINGULAR * float(np.max(np.diag(G))) / largest, 1.0) if largest > 0.0 else None
    first = np.linalg.lstsq(D, e.T, rcond=cutoff)[0].T
    return np.column_stack([first, 1.0 - first.sum(axis=1)])


def undetermined(A: Matrix, known: Matrix) -> Matrix:
    """(C, m) orthonormal directions with Σv = 0 along which nothing is known.

    They are the known ones and, beside them, those in which A is zero to SINGULAR.
    """
    C, m = known.shape
    contrasts = np.linalg.qr(np.column_stack([np.ones(C), known]), mode="complete")[0][:, m + 1 :]
    values, vectors = np.linalg.eigh(contrasts.T @ A @ contrasts)
    flat = values <= SINGULAR * float(np.max(np.diag(A)))
    return np.column_stack([known, contrasts @ vectors[:, flat]])


def simplex_minimisers(A: Matrix, B: Matrix, known: Matrix) -> Matrix:
    """argmin πᵀAπ − 2bᵀπ on the simplex for every row b of B.

    It is of least norm along directions that A does not determine. Where the minimiser subject to
    Σπ = 1 alone is nonnegative it is the answer, for all rows at once; else by NNLS, which is
    quicker than an active set for a few classes.
    """
    C = len(A)
    unit = float(np.max(np.diag(A)))
    if not unit > 0.0:
        return np.full(B.shape, 1.0 / C)  # no value of any mean at any point: nothing is known
    null = undetermined(A, known)
    P = np.eye(C) - null @ null.T
    A = P @ (A / unit) @ P + NULL_WEIGHT * (null @ null.T)
    B = (B / unit) @ P
    found = _sum_to_one(A, B)
    infeasible = np.flatnonzero(found.min(axis=1) < 0.0)
    if len(infeasible):
        # On Σπ = 1 a multiple of 11ᵀ adds a constant; A is positive on Σv = 0, and with it
        # everywhere.
        L = np.asarray(np.linalg.cholesky(A + 1.0), dtype=np.float64)
        Y = np.linalg.solve(L, B[infeasible].T).T
        found[infeasible] = [simplex.nonnegative_least_squares(L, y) for y in Y]
    return found


def _sum_to_one(A: Matrix, B: Matrix) -> Matrix:
    """π = 1/C + Hu with H a basis of Σv = 0: HᵀAHu = Hᵀ(b − A1/C)."""
    C = len(A)
    H = helmert(C).T
    centre: Vector = np.full(C, 1.0 / C)
    u = np.linalg.solve(H.T @ A @ H, H.T @ (B - A @ centre).T)
    free: Matrix = centre + (H @ u).T
    return free

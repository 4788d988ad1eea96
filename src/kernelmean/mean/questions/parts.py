"""Parts of a Gaussian density are Gaussian densities again: marginals and conditionals.

Both keep the kernel: only the scale, the centres, the spreads and the weights change, so that
points stay points and round atoms stay round.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.kernels import Spreads
from kernelmean.mean.covariances import covariances, without
from kernelmean.mean.questions.mixture import Mixture, refuse_others

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean


FARTHEST = 1e100  # deviations: squares of more overflow


def marginal(mean: KernelMean, columns: IntVector) -> KernelMean:
    """The density of some columns, in the order given.

    With T the rows A⁻¹ of these columns, B the inverse Cholesky factor of TTᵀ and P = BT, PPᵀ = I:
    the scale becomes B, and a spread PSPᵀ. Time O(k·d²·m).
    """
    refuse_others(mean, "marginal")
    if mean.scale is None:
        scale = None
        P = np.eye(mean.dimension)[columns]
    else:
        T = np.linalg.inv(mean.scale)[columns]
        L = np.linalg.cholesky(T @ T.T)
        scale = solve_triangular(L, np.eye(len(columns)), lower=True)
        P = scale @ T
    spreads = mean.spreads
    if spreads is not None and spreads.ndim == 3:
        spreads = covariances(spreads, P)
    return replace(mean, centers=mean.centers[:, columns], scale=scale, spreads=spreads)


class Conditioned(NamedTuple):
    """A density where some columns have known values."""

    mean: KernelMean
    rows: IntVector  # which of the components it came from are left, of those of positive weight


def conditional(mean: KernelMean, given: IntVector, values: Vector) -> KernelMean:
    """The density of the other columns where some have known values."""
    return conditioned(mean, given, values).mean


def conditioned(
    mean: KernelMean, given: IntVector, values: Vector, log_factors: Vector | float = 0.0
) -> Conditioned:
    """The same, with the logarithms of factors of the weights of all components of positive weight.

    Component a of N(c, V) becomes N(c_f + V_fg V_gg⁻¹(x_g − c_g), V_ff − V_fg V_gg⁻¹ V_gf), and has
    the weight α_a N(x_g; c_g, V_gg). With B the factor BᵀB = (AᵀA)_ff as scale, the kernel alone
    has the same covariance as before, and Schur complements grow with V: so S ≥ 0 again.
    """
    mixture = Mixture.of(mean, "conditional")
    free = np.setdiff1d(np.arange(mean.dimension), given)
    offsets = values - mixture.means[:, given]
    if np.abs(offsets).max() > FARTHEST * mixture.deviations(given).min():
        raise ValueError(
            "the given values are so far from the density that nothing can be said of the other "
            "columns; give values nearer to the data."
        )
    scale: Matrix | None = None
    if mean.scale is not None:
        precision = (mean.scale.T @ mean.scale)[np.ix_(free, free)]
        scale = np.asarray(np.linalg.cholesky(precision).T, dtype=np.float64)
    if mixture.spreads.ndim == 1:
        log_heights, shifts = _alike(mixture, free, given, offsets)
        spreads: Spreads | None = None if mean.spreads is None else mixture.spreads
    else:
        log_heights, shifts, V = _each(mixture, free, given, offsets)
        spreads = without(
            covariances(V, np.eye(len(free)) if scale is None else scale), mixture.variance
        )
    weights = weights_of(np.log(mixture.weights) + log_heights + log_factors)
    live = np.flatnonzero(weights)
    part = replace(
        mean,
        centers=(mixture.means[:, free] + shifts)[live],
        weights=weights[live],
        scale=scale,
        spreads=None if spreads is None else spreads[live],
    )
    return Conditioned(part, live)


def _alike(
    mixture: Mixture, free: IntVector, given: IntVector, offsets: Points
) -> tuple[Vector, Points]:
    """Heights and shifts where every covariance is v_a·M: one regression serves all components."""
    M = mixture.T @ mixture.T.T
    L = np.linalg.cholesky(M[np.ix_(given, given)])
    z = solve_triangular(L, offsets.T, lower=True).T
    v = mixture.spreads + mixture.variance
    log_heights = -0.5 * (z**2).sum(axis=1) / v - 0.5 * len(given) * np.log(v)
    # M_fg M_gg⁻¹(x_g − c_g)
    back = solve_triangular(L.T, z.T, lower=False)
    return log_heights, (M[np.ix_(free, given)] @ back).T


def _each(
    mixture: Mixture, free: IntVector, given: IntVector, offsets: Points
) -> tuple[Vector, Points, NDArray[np.float64]]:
    """Heights, shifts and covariances, each component by its own regression."""
    V = mixture.covariances(np.concatenate([free, given]))
    m = len(free)
    L = np.linalg.cholesky(V[:, m:, m:])
    z = np.linalg.solve(L, offsets[:, :, None])[:, :, 0]
    W = np.linalg.solve(L, V[:, m:, :m])  # L⁻¹V_gf
    log_sizes = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    log_heights = -0.5 * (z**2).sum(axis=1) - log_sizes
    shifts = np.einsum("agf,ag->af", W, z)
    left = V[:, :m, :m] - np.swapaxes(W, 1, 2) @ W
    return log_heights, shifts, 0.5 * (left + np.swapaxes(left, 1, 2))


def weights_of(logs: Vector) -> Vector:
    """exp(logs), of sum one."""
    heights: Vector = np.exp(logs - logs.max())
    heights /= heights.sum()
    return heights


def completed(rows: Points, given: IntVector, values: Vector, d: int) -> Matrix:
    """Rows of the free columns, with the given values at their places."""
    whole = np.empty((len(rows), d))
    whole[:, given] = values
    whole[:, np.setdiff1d(np.arange(d), given)] = rows
    return whole


def log_with_missing(mean: KernelMean, X: Points) -> Vector:
    """log of the marginal density of what is known of each row; 0 where nothing is.

    Rows that miss the same columns are evaluated together.
    """
    found = np.zeros(len(X))
    patterns, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for number, missing in enumerate(patterns):
        rows = np.flatnonzero(np.ravel(which) == number)
        known = np.flatnonzero(~missing)
        if len(known) == mean.dimension:
            found[rows] = mean.log(X[rows])
        elif len(known):
            found[rows] = marginal(mean, known).log(X[np.ix_(rows, known)])
    return found

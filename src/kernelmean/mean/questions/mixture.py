"""A Gaussian density as the mixture that it is, in the coordinates of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.kernels import Spreads
from kernelmean.mean.covariances import covariances, seen_from_kernel

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean

SUM_SLACK = 1e-10  # by which Σα of a density may differ from 1, as much as log-densities then do
DIAGONAL = 1e-14  # of the diagonal: an entry beside it that is no more is rounding


@dataclass(frozen=True, eq=False)
class Mixture:
    """Σ_a α_a N(c_a, T(S_a + σ²I)Tᵀ), T = A⁻¹ with A the scale: components of positive weight."""

    weights: Vector  # (k,) of sum one
    means: Points  # (k, d)
    spreads: Spreads  # (k,) or (k, d, d), in the coordinates of the kernel
    T: Matrix  # (d, d)
    variance: float  # σ²

    @classmethod
    def of(cls, mean: KernelMean, question: str) -> Mixture:
        """The mixture behind a mean; a ValueError where it is none."""
        refuse_others(mean, question)
        live = np.flatnonzero(mean.weights)
        spreads = np.zeros(len(live)) if mean.spreads is None else mean.spreads[live]
        T = seen_from_kernel(mean, np.eye(mean.dimension))
        weights = mean.weights[live] / mean.weights.sum()
        return cls(weights, mean.centers[live], spreads, T, mean.kernel.length**2)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.means.shape[1])

    def covariances(self, columns: IntVector) -> NDArray[np.float64]:
        """(k, m, m): the covariances of some columns."""
        return covariances(self.spreads, self.T[columns], self.variance)

    def deviations(self, columns: IntVector) -> Points:
        """(k, m): the standard deviations of some columns, without their covariances."""
        T = self.T[columns]
        own = (T**2).sum(axis=1)
        if self.spreads.ndim == 1:
            return np.sqrt(np.outer(self.spreads + self.variance, own))
        seen = np.einsum("ts,asr,tr->at", T, self.spreads, T, optimize=True)
        found: Points = np.sqrt(seen + self.variance * own)
        return found

    def restricted(self, rows: IntVector) -> Mixture:
        """Some of the components, with the weights that they have."""
        return replace(
            self, weights=self.weights[rows], means=self.means[rows], spreads=self.spreads[rows]
        )

    def aligned(self, columns: IntVector) -> bool:
        """Whether the covariances of these columns are diagonal."""
        if len(columns) == 1:
            return True
        if self.spreads.ndim == 1:
            return _diagonal((self.T[columns] @ self.T[columns].T)[None])
        return _diagonal(self.covariances(columns))

    def expectation(self) -> Vector:
        """μ = Σ_a α_a c_a."""
        origin = self.means[0]  # keeps digits far from zero
        found: Vector = origin + self.weights @ (self.means - origin)
        return found

    def covariance(self) -> Matrix:
        """Σ_a α_a (V_a + (c_a − μ)(c_a − μ)ᵀ)."""
        offsets = self.means - self.expectation()
        mean_spread: Spreads = np.tensordot(self.weights, self.spreads, axes=1)[None]
        within = covariances(mean_spread, self.T, self.variance)[0]
        between: Matrix = (self.weights[:, None] * offsets).T @ offsets
        total: Matrix = within + 0.5 * (between + between.T)
        return total


def refuse_others(mean: KernelMean, question: str) -> None:
    """A ValueError for what is no mixture of Gaussian densities."""
    if not mean.kernel.traits.spreads:
        raise ValueError(
            f"{question} needs a Gaussian kernel, whose parts are Gaussians again, not "
            f"{mean.kernel}; fit with kernel='gaussian', or ask points drawn by sample()."
        )
    refuse_others_than_densities(mean, question)
    refuse_other_sums(mean, question)


def refuse_others_than_densities(mean: KernelMean, question: str) -> None:
    """A ValueError for a mean that may be negative, or is of kernels of another integral."""
    if not mean.is_density:
        raise ValueError(
            f"{question} needs a density, with nonnegative weights: fit with space='l2' and "
            "constraint='simplex', or use SparseKDE."
        )


def refuse_other_sums(mean: KernelMean, question: str) -> None:
    """A ValueError for a mean whose integral is not one."""
    if abs(float(mean.weights.sum()) - 1.0) > SUM_SLACK:
        raise ValueError(
            f"{question} needs weights that sum to one, and these sum to "
            f"{mean.weights.sum():.6g}: fit or refit with constraint='simplex'."
        )


def _diagonal(matrices: NDArray[np.float64]) -> bool:
    """Whether nothing but rounding stands beside the diagonal of (k, m, m) matrices."""
    sizes = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    correlations = np.abs(matrices) / (sizes[:, :, None] * sizes[:, None, :])
    correlations[:, np.arange(sizes.shape[1]), np.arange(sizes.shape[1])] = 0.0
    return bool(correlations.max() <= DIAGONAL)

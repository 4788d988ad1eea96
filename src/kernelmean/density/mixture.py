"""A Gaussian density as scikit-learn's Gaussian mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernelmean import _checks
from kernelmean._types import Vector
from kernelmean.mean.covariances import covariances, seen_from_kernel
from kernelmean.mean.expansion import AnyMean
from kernelmean.mean.questions.mixture import refuse_others
from kernelmean.mean.value import LEVELS

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture


def gaussian_mixture(density: AnyMean) -> GaussianMixture:
    """The mixture Σ_a α_a N(c_a, A⁻¹(S_a + σ²I)A⁻ᵀ) as a fitted estimator of scikit-learn.

    Centres of weight zero are left out. Time and memory O(k·d³) and O(k·d²).
    """
    from sklearn.mixture import GaussianMixture  # slow to import, and seldom needed

    mean = density.expansion
    refuse_others(mean, "a Gaussian mixture")
    live = np.flatnonzero(mean.weights)
    k = len(live)
    d = mean.dimension
    if not _checks.fits_in_memory(4 * k * d * d):
        raise ValueError(
            f"a mixture of {k} covariances of {d} × {d} numbers does not fit memory; fit the "
            "density with fewer centres."
        )
    T = seen_from_kernel(mean, np.eye(d))
    spreads = np.zeros(k) if mean.spreads is None else mean.spreads[live]
    mixture = GaussianMixture(n_components=k, covariance_type="full")
    mixture.weights_ = mean.weights[live] / mean.weights.sum()
    mixture.means_ = mean.centers[live]
    mixture.covariances_ = covariances(spreads, T, mean.kernel.length**2)
    roots = _inverse_roots(mixture.covariances_)
    mixture.precisions_cholesky_ = roots
    mixture.precisions_ = roots @ np.swapaxes(roots, 1, 2)
    mixture.converged_ = True
    mixture.n_iter_ = 0
    mixture.n_features_in_ = d
    return mixture


def mean_log_density(log_quantiles: Vector | None) -> float:
    """The mean log-density of the training points, from its quantiles; NaN where none are known."""
    if log_quantiles is None:
        return float("nan")
    return float(np.trapezoid(log_quantiles, LEVELS))


def _inverse_roots(covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k, d, d) upper triangular L⁻ᵀ for V = LLᵀ, as scikit-learn keeps them: V⁻¹ = L⁻ᵀL⁻¹."""
    unit = np.eye(covariances.shape[1])
    return np.stack(
        [solve_triangular(L, unit, lower=True).T for L in np.linalg.cholesky(covariances)]
    )

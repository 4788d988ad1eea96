"""The von Mises–Fisher distribution of unit vectors u ∈ R³: C(κ) exp(κ μᵀu), by area."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import exprel

from kernelmean._types import Points, Vector

Values = NDArray[np.float64]
LOG_4PI = float(np.log(4.0 * np.pi))
SMALL = 0.01  # κ, below which a series has more digits than the formula
LARGE = 20.0  # κ, above which coth κ is 1
NEWTON_STEPS = 8


def log_constant(kappa: Values) -> Values:
    """log C(κ) = log(κ/(4π sinh κ)) = −log 4π − κ − log((1 − e^{−2κ})/(2κ)), also for κ = 0."""
    found: Values = -LOG_4PI - kappa - np.log(exprel(-2.0 * kappa))
    return found


def mean_length(kappa: Values) -> Values:
    """A(κ) = coth κ − 1/κ, the length of the mean of u; κ/3 − κ³/45 + 2κ⁵/945 − … where small."""
    x = np.maximum(kappa, SMALL)
    series = kappa / 3.0 - kappa**3 / 45.0 + 2.0 * kappa**5 / 945.0
    return np.where(kappa < SMALL, series, 1.0 / np.tanh(x) - 1.0 / x)


def _slope(kappa: Values) -> Values:
    """A′(κ) = 1/κ² − 1/sinh² κ; 1/3 − κ²/15 + … where small."""
    x = np.clip(kappa, SMALL, LARGE)
    exact = 1.0 / x**2 - 1.0 / np.sinh(x) ** 2
    return np.where(kappa < SMALL, 1.0 / 3.0 - kappa**2 / 15.0, exact)


def concentrations(lengths: Values, most: float) -> Values:
    """κ with A(κ) = ρ for mean vectors of these lengths ρ, and at most ``most``.

    Newton's method from Banerjee's ρ(3 − ρ²)/(1 − ρ²) [1]_; for large κ it is 1/(1 − ρ).

    References
    ----------
    .. [1] A. Banerjee, I. S. Dhillon, J. Ghosh and S. Sra, "Clustering on the unit hypersphere
       using von Mises–Fisher distributions", Journal of Machine Learning Research 6, 2005.
    """
    rho = np.clip(lengths, 0.0, 1.0)
    missing = np.maximum(1.0 - rho, 1.0 / (2.0 * most))
    kappa = np.minimum(rho * (3.0 - rho**2) / (missing * (1.0 + rho)), LARGE)
    for _ in range(NEWTON_STEPS):
        kappa = np.clip(kappa - (mean_length(kappa) - rho) / _slope(kappa), 0.0, LARGE)
    return np.minimum(np.where(missing <= 1.0 / LARGE, 1.0 / missing, kappa), most)


def spread(vectors: Points, masses: Vector) -> float:
    """√((1 − |ū|²)/2): the standard deviation along each of two tangents, where it is small."""
    mean = masses @ vectors / masses.sum()
    return float(np.sqrt(0.5 * max(1.0 - mean @ mean, 0.0)))


def fitted(resultants: Values, masses: Vector, strength: float, most: float) -> Values:
    """(k, s, 3) κμ of each component, from its R = Σ r u and its N = Σ r.

    μ = R/|R|, and A(κ) = (|R| + ν·ρ)/(N + ν), where ρ = Σ_a |R_a|/n is what components have in
    common: for ν points, as with covariances.
    """
    if not resultants.size:
        return resultants
    lengths = np.linalg.norm(resultants, axis=2)
    common = lengths.sum(axis=0) / masses.sum()
    rho = (lengths + strength * common) / (masses + strength)[:, None]
    kappa = concentrations(rho, most)
    scale = np.divide(kappa, lengths, out=np.zeros_like(kappa), where=lengths > 0.0)
    found: Values = scale[:, :, None] * resultants
    return found

"""What a Gaussian in space leaves on the unit sphere.

At unit vectors u, N(u; c, vI) is a constant times exp(κ·u·c/|c|) with κ = |c|/v: the distribution
of von Mises and Fisher, once it is divided by its integral over the sphere,

    ∫ N(u; c, vI) du = (2πv)^{−3/2} · exp(−(1 − |c|)²/2v) · 2π(1 − e^{−2κ})/κ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.domains import Domain
from kernelmean.mean.expansion import KernelMean

LOG_2PI = float(np.log(2.0 * np.pi))
# Of a Gaussian in space about a unit vector: beyond, what it leaves on the sphere is even.
MOST_VARIANCE = 1e4


def in_space(
    directions: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(k, s) v ≥ ``least`` and (k, s, 3) c of the Gaussians that leave κμ on the spheres.

    They are N(c, vI) with |c|/v = κ and c along μ. Where κ is large, |c| is 1: the sphere then cuts
    the Gaussian amid, which keeps its digits.
    """
    kappa = np.linalg.norm(directions, axis=2)
    variances = np.clip(1.0 / np.maximum(kappa, 1.0 / MOST_VARIANCE), least, None)
    return variances, directions * variances[:, :, None]


def log_masses(mean: KernelMean, domain: Domain) -> Vector:
    """(k,): the logarithm of the mass that each centre of a mean has on all spheres together."""
    found = np.zeros(mean.k)
    for i in range(len(domain.spheres)):
        centers, variances = sphere_part(mean, domain, i)
        found += log_mass(np.linalg.norm(centers, axis=1), variances)
    return found


def sphere_part(mean: KernelMean, domain: Domain, i: int) -> tuple[Points, Vector]:
    """(k, 3) and (k,): the centres and the variances v of the i-th sphere's coordinates."""
    first = len(domain.lines) + 3 * i
    stretch = 1.0 if mean.scale is None else float(mean.scale[first, first])
    spreads: Vector | float = 0.0
    if mean.spreads is not None:
        spreads = mean.spreads if mean.spreads.ndim == 1 else mean.spreads[:, first, first]
    variances = np.broadcast_to((spreads + mean.kernel.length**2) / stretch**2, (mean.k,))
    return mean.centers[:, first : first + 3], np.asarray(variances)


def log_mass(lengths: Vector, variances: Vector) -> Vector:
    """log ∫ N(u; c, vI) du over the unit sphere, for |c| and v."""
    kappa = lengths / variances
    with np.errstate(divide="ignore", invalid="ignore"):
        # 2π(1 − e^{−2κ})/κ, which is 4π for κ → 0
        area = np.where(kappa > 1e-8, -np.expm1(-2.0 * kappa) / kappa, 2.0)
    found: Vector = (
        np.log(area)
        + LOG_2PI
        - 1.5 * (LOG_2PI + np.log(variances))
        - 0.5 * (1.0 - lengths) ** 2 / variances
    )
    return found


def log_density(mean: KernelMean, domain: Domain, i: int, u: Points) -> Vector:
    """(k,): the log-density of every centre at a place of the i-th sphere, a unit vector (1, 3)."""
    centers, variances = sphere_part(mean, domain, i)
    squared = ((centers - u) ** 2).sum(axis=1)
    # log N(u; c, vI) less the log of its mass
    log_peak = -1.5 * (LOG_2PI + np.log(variances))
    found: Vector = log_peak - 0.5 * squared / variances
    return found - log_mass(np.linalg.norm(centers, axis=1), variances)


def draw(centers: Points, variances: Vector, rng: np.random.Generator) -> Points:
    """(n, 3) unit vectors, one of each von Mises and Fisher distribution: exactly.

    The cosine w to the mean direction has the density κ·e^{κw}/(2 sinh κ), whose distribution
    function is inverted; about that direction the angle is uniform.
    """
    lengths = np.linalg.norm(centers, axis=1)
    kappa = lengths / variances
    share = rng.random(len(kappa))
    angle = 2.0 * np.pi * rng.random(len(kappa))
    with np.errstate(divide="ignore", invalid="ignore"):
        # w = 1 + log(s + (1 − s)e^{−2κ})/κ, which is 2s − 1 for κ → 0
        curved = 1.0 + np.log(share + (1.0 - share) * np.exp(-2.0 * kappa)) / kappa
        axes = centers / lengths[:, None]
    w = np.clip(np.where(kappa > 1e-8, curved, 2.0 * share - 1.0), -1.0, 1.0)
    axes = np.where(lengths[:, None] > 0.0, axes, np.array([0.0, 0.0, 1.0]))
    first, second = _across(axes)
    side = np.sqrt((1.0 - w) * (1.0 + w))
    around = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
    found: Points = w[:, None] * axes + side[:, None] * around
    return found


def _across(axes: Points) -> tuple[Points, Points]:
    """Two unit vectors that are orthogonal to each axis, and to one another."""
    least = np.abs(axes).argmin(axis=1)
    helper = np.zeros_like(axes)
    helper[np.arange(len(axes)), least] = 1.0
    first = np.cross(axes, helper)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return first, np.cross(axes, first)

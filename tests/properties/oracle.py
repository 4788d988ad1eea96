"""A kernel mean by its definition, all pairs and nothing clever: what every operation of the
library is compared with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, hyp2f1

import kernelmean as km
from tests import brute


def one_over_one_plus(s):
    """The profile of a kernel of the user's own."""
    return 1.0 / (1.0 + s)


def decay_of_one_over_one_plus(s):
    return 1.0 / (1.0 + s) ** 2


def profile(kernel: km.kernels.Kernel, d: int) -> brute.Profile:
    """φ(r²)/φ(0)."""
    if isinstance(kernel, km.Gaussian):
        return brute.gaussian(kernel.bandwidth)
    if isinstance(kernel, km.Laplacian):
        return brute.laplacian(kernel.scale)
    if isinstance(kernel, km.Radial):
        return lambda r2: one_over_one_plus(r2 / kernel.bandwidth**2)
    return brute.student(_exponent(kernel, d), kernel.beta)


def inner_profile(kernel: km.kernels.Kernel, d: int, space: str) -> brute.Profile:
    """g(r²)/g(0)."""
    if space == "rkhs":
        return profile(kernel, d)
    if isinstance(kernel, km.Gaussian):
        return brute.gaussian(math.sqrt(2) * kernel.bandwidth)
    if isinstance(kernel, km.Laplacian):
        return brute.laplacian_l2(kernel.scale, d)
    if isinstance(kernel, km.Cauchy):
        return brute.student((d + 1) / 2, 4 * kernel.beta)
    a, p = kernel.alpha, 2 * kernel.alpha - d / 2
    return lambda r2: hyp2f1(
        p, a, a + 0.5, -np.asarray(r2, dtype=float) / (4 * kernel.beta)
    )  # sound for small α only


def log_constant(kernel: km.kernels.Kernel, d: int) -> float:
    """log c of the density c·φ(r²)/φ(0)."""
    if isinstance(kernel, km.Gaussian):
        return -0.5 * d * math.log(2 * math.pi * kernel.bandwidth**2)
    if isinstance(kernel, km.Laplacian):
        return (
            -d * math.log(2 * kernel.scale)
            - 0.5 * (d - 1) * math.log(math.pi)
            - float(gammaln((d + 1) / 2))
        )
    alpha = _exponent(kernel, d)
    return float(gammaln(alpha) - gammaln(alpha - d / 2)) - 0.5 * d * math.log(
        math.pi * kernel.beta
    )


def log_peak(kernel: km.kernels.Kernel, d: int, space: str) -> float:
    """log g(0)."""
    if space == "rkhs":
        return 0.0
    if isinstance(kernel, km.Gaussian):
        return -0.5 * d * math.log(4 * math.pi * kernel.bandwidth**2)
    if isinstance(kernel, km.Laplacian):
        nu = d / 2 + 1
        top = (nu - 1) * math.log(2) + float(gammaln(nu) - gammaln(d + 1))
        return -d * math.log(2 * kernel.scale) - 0.5 * d * math.log(2 * math.pi) + top
    if isinstance(kernel, km.Cauchy):
        return log_constant(km.Cauchy(4 * kernel.beta), d)
    alpha = kernel.alpha
    volume = 0.5 * d * math.log(math.pi * kernel.beta)
    return (
        2 * log_constant(kernel, d)
        + volume
        + float(gammaln(2 * alpha - d / 2) - gammaln(2 * alpha))
    )


def _exponent(kernel: km.kernels.Kernel, d: int) -> float:
    return (d + 1) / 2 if isinstance(kernel, km.Cauchy) else kernel.alpha


@dataclass(frozen=True)
class Measure:
    """Σ_j w_j δ(x_j), any signs: what a mean stands for, or its own centres and weights."""

    points: np.ndarray
    weights: np.ndarray

    @classmethod
    def of_sample(cls, X: np.ndarray, sample_weight: np.ndarray | None) -> Measure:
        """The sample's own measure, without rows of weight zero."""
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return cls(X[w > 0], brute.normalised(w[w > 0]))

    def mapped(self, scale: np.ndarray | None) -> Measure:
        """In the coordinates of the kernel, with digits to spare: clouds may be far from the origin
        and from each other.
        """
        points = self.points.astype(np.longdouble)
        return Measure(
            points if scale is None else points @ scale.T.astype(np.longdouble),
            self.weights.astype(np.longdouble),
        )

    def __sub__(self, other: Measure) -> Measure:
        return Measure(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.weights, -other.weights]),
        )


@dataclass(frozen=True)
class Oracle:
    """The kernel, space and scale of a mean, as formulas."""

    kernel: km.kernels.Kernel
    space: str
    scale: np.ndarray | None
    d: int

    @classmethod
    def of(cls, mean) -> Oracle:
        return cls(mean.kernel, mean.space, mean.scale, mean.dimension)

    @property
    def log_jacobian(self) -> float:
        return (
            0.0
            if self.scale is None or self.space == "rkhs"
            else float(np.linalg.slogdet(self.scale)[1])
        )

    def values(self, measure: Measure, Q: np.ndarray) -> np.ndarray:
        """c·Σ_j w_j φ(q − x_j)."""
        constant = (
            0.0 if self.space == "rkhs" else log_constant(self.kernel, self.d) + self.log_jacobian
        )
        sums = self._sums(profile(self.kernel, self.d), measure, Q)
        return (math.exp(constant) * sums).astype(np.float64)

    def inner(self, first: Measure, second: Measure) -> float:
        """⟨f, f′⟩ in units of g(0)."""
        g = inner_profile(self.kernel, self.d, self.space)
        return float(first.weights.astype(np.longdouble) @ self._sums(g, second, first.points))

    @property
    def unit(self) -> float:
        """√g(0), with the Jacobian: what a distance in units of it is multiplied by."""
        return math.exp(0.5 * (log_peak(self.kernel, self.d, self.space) + self.log_jacobian))

    def kappa(self, target: Measure, centers: np.ndarray) -> np.ndarray:
        """κ_a = Σ_j w_j g(c_a − x_j)/g(0)."""
        return self._sums(inner_profile(self.kernel, self.d, self.space), target, centers).astype(
            np.float64
        )

    def cover(self, target: Measure, centers: np.ndarray) -> float:
        """Largest distance of a point to its nearest centre."""
        there, here = (
            Measure(points, np.zeros(len(points))).mapped(self.scale).points
            for points in (target.points, centers)
        )
        return float(np.sqrt(brute.squared_distances(there, here).min(axis=1).max()))

    def _sums(self, g: brute.Profile, measure: Measure, Q: np.ndarray) -> np.ndarray:
        """Σ_j w_j g(‖q − x_j‖²)."""
        here, there = measure.mapped(self.scale), Measure(Q, np.zeros(len(Q))).mapped(self.scale)
        return brute.gram(g, there.points, here.points) @ here.weights

"""Random points from a mean that is a density."""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.kernels import Cauchy, Gaussian, Kernel, Laplacian, Student
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, expansion_of


def draw(mean: AnyMean, size: int, rng: np.random.Generator) -> Points:
    """``size`` points from Σ_a α_a φ(·, c_a), α ≥ 0: a centre by its weight, then a step by the kernel. (size, d)."""
    expansion = expansion_of(mean)
    rows = rng.choice(expansion.k, size=size, p=expansion.weights / expansion.weights.sum())
    steps = _steps(expansion.kernel, size, expansion.dimension, rng)
    moved: Points = expansion.centers[rows] + scaling.undo(expansion.scale, steps, np.zeros(expansion.dimension))
    return moved


def _steps(kernel: Kernel, size: int, d: int, rng: np.random.Generator) -> Points:
    """Points from the density φ. All of them are Z·(radius factor), Z standard normal in R^d."""
    Z = rng.standard_normal((size, d))
    return Z * _factors(kernel, Z, rng)[:, None]


def _factors(kernel: Kernel, Z: Points, rng: np.random.Generator) -> Vector:
    size, d = Z.shape
    if isinstance(kernel, Gaussian):
        return np.full(size, kernel.bandwidth)
    if isinstance(kernel, Laplacian):
        # φ ∝ e^{−r/γ}: the radius is Gamma(d) in units of γ, the direction uniform.
        radii: Vector = kernel.scale * rng.gamma(d, size=size) / np.linalg.norm(Z, axis=1)
        return radii
    if isinstance(kernel, (Student, Cauchy)):
        kernel.log_density_constant(d)  # says so where there is no density
        # φ ∝ (1 + r²/β)^{−α}: multivariate t with 2α − d degrees of freedom, √β·Z/√χ²_{2α−d}.
        roots: Vector = np.sqrt(kernel.beta / rng.chisquare(2 * kernel.exponent(d) - d, size))
        return roots
    raise ValueError(f"no sampler is known for the kernel {kernel.name!r}; give points drawn from the density instead.")

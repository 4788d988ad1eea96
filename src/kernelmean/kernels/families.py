"""Gaussian, Laplacian, Student, Cauchy: profile, density constant, L2 product and spectrum in
closed form or by table.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels import quadrature, radials
from kernelmean.kernels.base import Kernel
from kernelmean.kernels.radials import Formula, RadialFunction, Slope, Table

LOG2 = math.log(2.0)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """φ(r) = c exp(−r²/2σ²), c = (2π)^{−d/2} σ^{−d}.

    ``bandwidth`` is σ > 0.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Gaussian(2.0).profile(4.0, 2).round(4)
    np.float64(0.6065)
    """

    bandwidth: float
    name: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        _checks.length(self.bandwidth, "bandwidth")

    @property
    def length(self) -> float:
        return self.bandwidth

    def formula(self, d: int) -> Formula:
        return Formula(radials.log_gaussian, 0.5 / self.bandwidth**2)

    def decay(self, d: int) -> Formula:
        return replace(self.formula(d), factor=radials.gaussian_decay, decreasing=False)

    def log_density_constant(self, d: int) -> float:
        return -d * (math.log(self.bandwidth) + 0.5 * math.log(2 * math.pi))

    def l2_radial(self, d: int) -> Formula:
        """φ_σ∗φ_σ = φ_{√2σ}."""
        return Formula(radials.log_gaussian, 0.25 / self.bandwidth**2)

    def l2_log_peak(self, d: int) -> float:
        """log (4πσ²)^{−d/2}."""
        return -0.5 * d * math.log(4 * math.pi * self.bandwidth**2)

    def slope(self, d: int, space: Space) -> Slope:
        """−dg/ds = g."""
        g = self.radial(d, space)
        return Slope(g.rate, g)

    def cross(self, other: Kernel, d: int, space: Space) -> tuple[RadialFunction, float]:
        """φ_σ₁∗φ_σ₂ = φ_σ, σ² = σ₁² + σ₂²."""
        if space == "rkhs" or not isinstance(other, Gaussian) or self == other:
            return super().cross(other, d, space)
        wide = Gaussian(math.hypot(self.bandwidth, other.bandwidth))
        return wide.formula(d), wide.log_density_constant(d)

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        """ω = Z/σ; in L2 the Gaussian of √2σ."""
        return np.full(size, 1.0 / (self.bandwidth * (1.0 if space == "rkhs" else math.sqrt(2.0))))

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        """σZ."""
        return self.bandwidth * rng.normal(size=(size, d))

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, bandwidth=bandwidth)

    def matching(self, sigma: float, d: int) -> Self:
        return replace(self, bandwidth=sigma)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """φ(r) = c exp(−r/γ), c = 1/(γ^d 2^d π^{(d−1)/2} Γ((d+1)/2)).

    ``scale`` is γ > 0.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Laplacian(2.0).profile(4.0, 2).round(4)
    np.float64(0.3679)
    """

    scale: float
    name: ClassVar[str] = "laplacian"

    def __post_init__(self) -> None:
        _checks.length(self.scale, "scale")

    @property
    def length(self) -> float:
        return self.scale

    def formula(self, d: int) -> Formula:
        return Formula(radials.log_laplacian, self.scale**-2)

    def decay(self, d: int) -> Formula:
        return replace(self.formula(d), factor=radials.laplacian_decay, decreasing=False)

    def log_density_constant(self, d: int) -> float:
        return (
            -d * math.log(2 * self.scale)
            - 0.5 * (d - 1) * math.log(math.pi)
            - math.lgamma((d + 1) / 2)
        )

    def l2_radial(self, d: int) -> Table:
        """Matérn: g ∝ t^ν K_ν(t), t = r/γ, ν = d/2 + 1."""
        return Table(quadrature.laplacian_table(d), quadrature.STEP, self.scale**-2)

    def l2_log_peak(self, d: int) -> float:
        """log γ^{−d} 2^{−d} (2π)^{−d/2} 2^{ν−1} Γ(ν)/Γ(d+1)."""
        log_scale = -d * math.log(2 * self.scale) - 0.5 * d * math.log(2 * math.pi)
        return log_scale + 0.5 * d * LOG2 + math.lgamma(d / 2 + 1) - math.lgamma(d + 1)

    def slope(self, d: int, space: Space) -> Slope:
        """L2: d(t^ν K_ν)/dt = −t^ν K_{ν−1}, so −dg/ds = M_{ν−1}/4(ν−1), M_ν = t^ν K_ν/(2^{ν−1}
        Γ(ν)), M_½ = e^{−t}.
        """
        rate = self.scale**-2
        if space == "rkhs":
            return Slope(rate, self.decay(d))
        if d == 1:
            return Slope(rate / 2, Formula(radials.log_laplacian, rate))
        return Slope(
            rate / (2 * d), Table(quadrature.laplacian_table(d - 2), quadrature.STEP, rate)
        )

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        """ω = Z/(γ√χ²_m), m = 1 in the RKHS, d + 2 in L2."""
        scales: Vector = 1.0 / (
            self.scale * np.sqrt(rng.chisquare(1 if space == "rkhs" else d + 2, size))
        )
        return scales

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        """A uniform direction, at a distance from Gamma(d) of scale γ."""
        Z = rng.normal(size=(size, d))
        points: Points = Z * (rng.gamma(d, self.scale, size) / np.linalg.norm(Z, axis=1))[:, None]
        return points

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, scale=bandwidth)

    def matching(self, sigma: float, d: int) -> Self:
        """γ = σ√(2/ln 2)."""
        return replace(self, scale=sigma * math.sqrt(2 / LOG2))


class _StudentFamily(Kernel):
    """φ(r) = c (1 + r²/β)^{−α}, c = Γ(α)/(Γ(α−d/2)(πβ)^{d/2}); a density needs α > d/2."""

    beta: float

    @abstractmethod
    def exponent(self, d: int) -> float:
        """α in d dimensions."""

    @property
    def length(self) -> float:
        return math.sqrt(self.beta)

    def formula(self, d: int) -> Formula:
        return Formula(radials.log_student, 1.0 / self.beta, self.exponent(d))

    def decay(self, d: int) -> Formula:
        return replace(self.formula(d), factor=radials.student_decay, decreasing=False)

    def profile_slope(self, d: int) -> Slope:
        """−dφ/ds = α(1 + s)^{−α−1}, without the factor that ``decay`` carries."""
        alpha = self.exponent(d)
        return Slope(alpha / self.beta, Formula(radials.log_student, 1.0 / self.beta, alpha + 1))

    def log_density_constant(self, d: int) -> float:
        alpha = self.exponent(d)
        if alpha <= d / 2:
            raise ValueError(
                f"{self} has no integral in {d} dimensions: a density, and space='l2', need "
                f"alpha > {d / 2:g}; "
                "space='rkhs' works with any alpha."
            )
        return (
            math.lgamma(alpha)
            - math.lgamma(alpha - d / 2)
            - 0.5 * d * math.log(math.pi * self.beta)
        )

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        """RKHS: ω = Z√(2τ/β), τ ~ Gamma(α).  L2: ω = Z√(2S·B(1−B)/β), S ~ Gamma(2α−d/2), B ~
        Beta(α,α).
        """
        alpha = self.exponent(d)
        if space == "rkhs":
            return np.sqrt(2 * rng.gamma(alpha, size=size) / self.beta)
        b = rng.beta(alpha, alpha, size)
        scales: Vector = np.sqrt(
            2 * rng.gamma(2 * alpha - d / 2, size=size) * b * (1 - b) / self.beta
        )
        return scales

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        """√β Z/√χ²_ν, ν = 2α − d: a multivariate t."""
        self.log_density_constant(d)
        Z = rng.normal(size=(size, d))
        points: Points = (
            Z * np.sqrt(self.beta / rng.chisquare(2 * self.exponent(d) - d, size))[:, None]
        )
        return points


@dataclass(frozen=True)
class Student(_StudentFamily):
    """φ(r) = c (1 + r²/β)^{−α}, c = Γ(α)/(Γ(α−d/2)(πβ)^{d/2}); a density needs α > d/2.

    ``alpha`` is α > 0, ``beta`` β > 0.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Student(3.0, 4.0).profile(4.0, 2).round(4)
    np.float64(0.125)
    """

    alpha: float
    beta: float
    name: ClassVar[str] = "student"

    def __post_init__(self) -> None:
        _checks.number(self.alpha, "alpha", above=0.0)
        _checks.length(self.beta, "beta")

    def exponent(self, d: int) -> float:
        return self.alpha

    def l2_radial(self, d: int) -> Table:
        """2F1(2α−d/2, α; α+½; −r²/4β)."""
        self._refuse_gaussian()
        self.log_density_constant(d)
        return Table(quadrature.student_table(self.alpha, d), quadrature.STEP, 0.25 / self.beta)

    def l2_log_peak(self, d: int) -> float:
        """log c² (πβ)^{d/2} Γ(2α−d/2)/Γ(2α)."""
        self._refuse_gaussian()
        volume = 0.5 * d * math.log(math.pi * self.beta)
        return (
            2 * self.log_density_constant(d)
            + volume
            + math.lgamma(2 * self.alpha - d / 2)
            - math.lgamma(2 * self.alpha)
        )

    def slope(self, d: int, space: Space) -> Slope:
        """L2: −dg/dz = pα/(α+½) · 2F1(p+1, α+1; α+3/2; −z), p = 2α − d/2: g of α + 1 in d + 2
        dimensions.
        """
        if space == "rkhs":
            return self.profile_slope(d)
        self._refuse_gaussian()
        self.log_density_constant(d)
        rate = 0.25 / self.beta
        factor = (2 * self.alpha - d / 2) * self.alpha / (self.alpha + 0.5)
        return Slope(
            factor * rate,
            Table(quadrature.student_table(self.alpha + 1, d + 2), quadrature.STEP, rate),
        )

    def _refuse_gaussian(self) -> None:
        """φ → c exp(−αr²/β) as α → ∞."""
        if self.alpha > quadrature.STUDENT_LARGEST:
            raise ValueError(
                "space='l2' takes a Student kernel with alpha up to "
                f"{quadrature.STUDENT_LARGEST:g}, got {self.alpha:g}; "
                "it is a Gaussian to six digits: "
                f"km.Gaussian({math.sqrt(self.beta / self.alpha / 2):.6g})."
            )

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, beta=bandwidth**2)

    def matching(self, sigma: float, d: int) -> Self:
        """√β = σ√(2 ln 2/(2^{1/α} − 1))."""
        return replace(self, beta=_student_beta(sigma, self.alpha))


@dataclass(frozen=True)
class Cauchy(_StudentFamily):
    """Student with α = (d+1)/2: the multivariate Cauchy density of scale √β.

    ``beta`` is β > 0.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Cauchy(4.0).profile(4.0, 2).round(4)
    np.float64(0.3536)
    """

    beta: float
    name: ClassVar[str] = "cauchy"

    def __post_init__(self) -> None:
        _checks.length(self.beta, "beta")

    def exponent(self, d: int) -> float:
        return (d + 1) / 2

    def l2_radial(self, d: int) -> Formula:
        """φ_β∗φ_β = φ_{4β}: the scales √β add (the paper prints 2β)."""
        return Cauchy(4 * self.beta).formula(d)

    def l2_log_peak(self, d: int) -> float:
        return Cauchy(4 * self.beta).log_density_constant(d)

    def slope(self, d: int, space: Space) -> Slope:
        """That of φ_{4β} in L2."""
        return self.profile_slope(d) if space == "rkhs" else Cauchy(4 * self.beta).profile_slope(d)

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, beta=bandwidth**2)

    def matching(self, sigma: float, d: int) -> Self:
        """√β = σ√(2 ln 2/(2^{1/α} − 1))."""
        return replace(self, beta=_student_beta(sigma, self.exponent(d)))


def _student_beta(sigma: float, alpha: float) -> float:
    return 2 * LOG2 * sigma**2 / math.expm1(LOG2 / alpha)

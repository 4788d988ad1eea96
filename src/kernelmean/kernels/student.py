"""Student and Cauchy kernels: powers of 1 + r²/β."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels import quadrature, radials
from kernelmean.kernels.base import LOG2, Kernel
from kernelmean.kernels.radials import Formula, RadialDensity, Slope, Table
from kernelmean.kernels.traits import GAUSSIAN_MIXTURE, KernelTraits

POWER = replace(GAUSSIAN_MIXTURE, power=True)  # traits of (1 + s)^{−α}


class _StudentFamily(Kernel):
    """φ(r) = c (1 + r²/β)^{−α}, c = Γ(α)/(Γ(α−d/2)(πβ)^{d/2}); a density needs α > d/2."""

    beta: float

    @abstractmethod
    def exponent(self, d: int) -> float:
        """The exponent of the profile.

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        float
            α in d dimensions.
        """

    @property
    def length(self) -> float:
        """√β, in units of the data."""
        return math.sqrt(self.beta)

    def formula(self, d: int) -> Formula:
        return self._power(self.exponent(d))

    def decay(self, d: int) -> Formula:
        # −dφ/ds = φ·α/(1 + s)
        return self.formula(d).times(radials.student_decay)

    def profile_slope(self, d: int) -> Slope:
        """−dφ/d(r²) = (α/β)(1 + s)^{−α−1}, without the factor that ``decay`` carries.

        Parameters
        ----------
        d : int
            Number of coordinates.

        Returns
        -------
        Slope
            α/β, and the profile of exponent α + 1.
        """
        alpha = self.exponent(d)
        return Slope(alpha / self.beta, self._power(alpha + 1))

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
        alpha = self.exponent(d)
        if space == "rkhs":  # ω = Z√(2τ/β), τ ~ Gamma(α)
            return np.sqrt(2 * rng.gamma(alpha, size=size) / self.beta)
        # ω = Z√(2S·B(1−B)/β), S ~ Gamma(2α−d/2), B ~ Beta(α,α)
        b = rng.beta(alpha, alpha, size)
        scales: Vector = np.sqrt(
            2 * rng.gamma(2 * alpha - d / 2, size=size) * b * (1 - b) / self.beta
        )
        return scales

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        # √β Z/√χ²_ν, ν = 2α − d: a multivariate t
        self.log_density_constant(d)
        Z = rng.normal(size=(size, d))
        points: Points = (
            Z * np.sqrt(self.beta / rng.chisquare(2 * self.exponent(d) - d, size))[:, None]
        )
        return points

    def _power(self, alpha: float) -> Formula:
        """(1 + r²/β)^{−α}."""
        return Formula(radials.log_student, 1.0 / self.beta, alpha, traits=POWER)


@dataclass(frozen=True, repr=False)
class Student(_StudentFamily):
    """The Student kernel φ(r) = c (1 + r²/β)^{−α}, c = Γ(α)/(Γ(α−d/2)(πβ)^{d/2}).

    For heavy tails. It is a density, and has an inner product in L2, where α > d/2.

    Parameters
    ----------
    alpha : float
        α > 0, how fast the tails fall.
    beta : float
        β > 0, in squared units of the data.

    Attributes
    ----------
    name : str
        "student".
    traits : KernelTraits
        φ is a power of 1 + s; its marginals are Student kernels again.

    See Also
    --------
    kernelmean.Cauchy : The one whose convolutions are in the family.

    Notes
    -----
    φ∗φ ∝ 2F1(2α − d/2, α; α + ½; −r²/4β) [1]_. A marginal in m of d dimensions has the exponent
    α − (d − m)/2 and the same β.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions, §15.6, integral representations of 2F1.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Student(3.0, 4.0).profile(4.0, 2).round(4)
    np.float64(0.125)
    """

    alpha: float
    beta: float
    name: ClassVar[str] = "student"
    traits: ClassVar[KernelTraits] = KernelTraits(
        profile=POWER, reliable_slope=True, closed_marginals=True
    )

    def __post_init__(self) -> None:
        _checks.number(self.alpha, "alpha", above=0.0)
        _checks.length(self.beta, "beta")

    def exponent(self, d: int) -> float:
        return self.alpha

    def l2_radial(self, d: int) -> Table:
        # 2F1(2α−d/2, α; α+½; −r²/4β)
        self._refuse_gaussian()
        self.log_density_constant(d)
        return self._product(self.alpha, d)

    def l2_log_peak(self, d: int) -> float:
        # log c² (πβ)^{d/2} Γ(2α−d/2)/Γ(2α)
        self._refuse_gaussian()
        volume = 0.5 * d * math.log(math.pi * self.beta)
        return (
            2 * self.log_density_constant(d)
            + volume
            + math.lgamma(2 * self.alpha - d / 2)
            - math.lgamma(2 * self.alpha)
        )

    def slope(self, d: int, space: Space) -> Slope:
        if space == "rkhs":
            return self.profile_slope(d)
        self._refuse_gaussian()
        self.log_density_constant(d)
        # −dg/dz = pα/(α+½) · 2F1(p+1, α+1; α+3/2; −z), p = 2α − d/2: g of α + 1 in d + 2 dimensions
        rate = 0.25 / self.beta
        factor = (2 * self.alpha - d / 2) * self.alpha / (self.alpha + 0.5)
        return Slope(factor * rate, self._product(self.alpha + 1, d + 2))

    def _product(self, alpha: float, d: int) -> Table:
        """2F1(2α−d/2, α; α+½; −z), z = r²/4β."""
        table = quadrature.student_table(alpha, d)
        return Table(table, quadrature.STEP, 0.25 / self.beta, GAUSSIAN_MIXTURE)

    def _marginal(self, d: int, m: int) -> RadialDensity:
        """The exponent α − (d − m)/2, the same β."""
        kernel = Student(self.alpha - (d - m) / 2, self.beta)
        return RadialDensity(kernel.formula(m), kernel.log_density_constant(m))

    def _refuse_gaussian(self) -> None:
        """Refuse an exponent too large to tabulate: φ → c exp(−αr²/β) as α → ∞."""
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
        # √β = σ√(2 ln 2/(2^{1/α} − 1))
        return replace(self, beta=_student_beta(sigma, self.alpha))


@dataclass(frozen=True, repr=False)
class Cauchy(_StudentFamily):
    """The Cauchy kernel: Student with α = (d+1)/2, the multivariate Cauchy density of scale √β.

    Parameters
    ----------
    beta : float
        β > 0, in squared units of the data.

    Attributes
    ----------
    name : str
        "cauchy".
    traits : KernelTraits
        φ is a power of 1 + s; marginals and convolutions are Cauchy again.

    See Also
    --------
    kernelmean.Student : Any other exponent.

    Notes
    -----
    In a convolution scales add, φ_β∗φ_β′ = φ_β″ with √β″ = √β + √β′, so φ_β∗φ_β = φ_{4β}.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Cauchy(4.0).profile(4.0, 2).round(4)
    np.float64(0.3536)
    """

    beta: float
    name: ClassVar[str] = "cauchy"
    traits: ClassVar[KernelTraits] = KernelTraits(
        profile=POWER, reliable_slope=True, closed_marginals=True, closed_under_convolution=True
    )

    def __post_init__(self) -> None:
        _checks.length(self.beta, "beta")

    def exponent(self, d: int) -> float:
        return (d + 1) / 2

    def l2_radial(self, d: int) -> Formula:
        # φ_β∗φ_β = φ_{4β}: the scales √β add (the paper prints 2β)
        return Cauchy(4 * self.beta).formula(d)

    def l2_log_peak(self, d: int) -> float:
        # φ_{4β}(0)
        return Cauchy(4 * self.beta).log_density_constant(d)

    def slope(self, d: int, space: Space) -> Slope:
        return self.profile_slope(d) if space == "rkhs" else Cauchy(4 * self.beta).profile_slope(d)

    def convolved(self, other: Self) -> Self:
        # √β = √β₁ + √β₂
        return replace(self, beta=(self.length + other.length) ** 2)

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, beta=bandwidth**2)

    def matching(self, sigma: float, d: int) -> Self:
        # √β = σ√(2 ln 2/(2^{1/α} − 1))
        return replace(self, beta=_student_beta(sigma, self.exponent(d)))


def _student_beta(sigma: float, alpha: float) -> float:
    """β of the profile that is ½ at r = σ√(2 ln 2)."""
    return 2 * LOG2 * sigma**2 / math.expm1(LOG2 / alpha)

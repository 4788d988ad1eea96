"""The Laplacian kernel, and the Matérn functions that its inner products and marginals are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels import quadrature, radials
from kernelmean.kernels.base import LOG2, Kernel
from kernelmean.kernels.radials import Formula, RadialDensity, Slope, Table
from kernelmean.kernels.traits import GAUSSIAN_MIXTURE, KernelTraits


@dataclass(frozen=True, repr=False)
class Laplacian(Kernel):
    """The Laplacian kernel φ(r) = c exp(−r/γ), c = 1/(γ^d 2^d π^{(d−1)/2} Γ((d+1)/2)).

    Heavier tails than a Gaussian, and a kink at every centre. scikit-learn calls it exponential.

    Parameters
    ----------
    scale : float
        γ > 0, in units of the data.

    Attributes
    ----------
    name : str
        "laplacian".
    traits : KernelTraits
        φ has a kink at 0; its marginals are known, and are no Laplacians.

    See Also
    --------
    kernelmean.Gaussian : Lighter tails, and smooth at every centre.

    Notes
    -----
    With the Matérn functions M_ν(t) = t^ν K_ν(t)/(2^{ν−1} Γ(ν)), t = r/γ, the profile is M_½, its
    inner product in L2 is M_ν of ν = d/2 + 1 and its marginal in m of d dimensions is M_ν of
    ν = (d − m + 1)/2 [1]_. Frequencies are Z/(γ√χ²_k), k = 1 in the RKHS and d + 2 in L2.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions, §10.32, integral representations of K_ν.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Laplacian(2.0).profile(4.0, 2).round(4)
    np.float64(0.3679)
    """

    scale: float
    name: ClassVar[str] = "laplacian"
    traits: ClassVar[KernelTraits] = KernelTraits(
        profile=replace(GAUSSIAN_MIXTURE, kink=True),
        reliable_slope=True,
        closed_marginals=True,
    )

    def __post_init__(self) -> None:
        _checks.length(self.scale, "scale")

    @property
    def length(self) -> float:
        """γ, in units of the data."""
        return self.scale

    def formula(self, d: int) -> Formula:
        return Formula(radials.log_laplacian, self.scale**-2, traits=self.traits.profile)

    def decay(self, d: int) -> Formula:
        # −dφ/ds = φ/(2√s)
        return self.formula(d).times(radials.laplacian_decay)

    def log_density_constant(self, d: int) -> float:
        return (
            -d * math.log(2 * self.scale)
            - 0.5 * (d - 1) * math.log(math.pi)
            - math.lgamma((d + 1) / 2)
        )

    def l2_radial(self, d: int) -> Table:
        # g ∝ M_ν, ν = d/2 + 1
        return self._matern(d)

    def l2_log_peak(self, d: int) -> float:
        # log γ^{−d} 2^{−d} (2π)^{−d/2} 2^{ν−1} Γ(ν)/Γ(d+1)
        log_scale = -d * math.log(2 * self.scale) - 0.5 * d * math.log(2 * math.pi)
        return log_scale + 0.5 * d * LOG2 + math.lgamma(d / 2 + 1) - math.lgamma(d + 1)

    def slope(self, d: int, space: Space) -> Slope:
        rate = self.scale**-2
        if space == "rkhs":
            return Slope(rate, self.decay(d))
        # d(t^ν K_ν)/dt = −t^ν K_{ν−1}, so −dg/ds = M_{ν−1}/4(ν−1), and M_½ = e^{−t}
        if d == 1:
            return Slope(rate / 2, self.formula(d))
        return Slope(rate / (2 * d), self._matern(d - 2))

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        # ω = Z/(γ√χ²_k), k = 1 in the RKHS, d + 2 in L2
        scales: Vector = 1.0 / (
            self.scale * np.sqrt(rng.chisquare(1 if space == "rkhs" else d + 2, size))
        )
        return scales

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        # a uniform direction, at a distance from Gamma(d) of scale γ
        Z = rng.normal(size=(size, d))
        points: Points = Z * (rng.gamma(d, self.scale, size) / np.linalg.norm(Z, axis=1))[:, None]
        return points

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, scale=bandwidth)

    def matching(self, sigma: float, d: int) -> Self:
        # γ = σ√(2/ln 2)
        return replace(self, scale=sigma * math.sqrt(2 / LOG2))

    def _marginal(self, d: int, m: int) -> RadialDensity:
        """M_ν(r/γ)/C of ν = (d − m + 1)/2,  C = ∫ M_ν = (2γ)^m π^{m/2} Γ(ν + m/2)/Γ(ν)."""
        if m == d:
            return super()._marginal(d, m)
        nu = (d - m + 1) / 2
        log_integral = (
            m * math.log(2 * self.scale)
            + 0.5 * m * math.log(math.pi)
            + math.lgamma(nu + m / 2)
            - math.lgamma(nu)
        )
        return RadialDensity(self._matern(d - m - 1), -log_integral)

    def _matern(self, order: int) -> Table:
        """M_ν(r/γ), ν = order/2 + 1."""
        table = quadrature.laplacian_table(order)
        return Table(table, quadrature.STEP, self.scale**-2, GAUSSIAN_MIXTURE)

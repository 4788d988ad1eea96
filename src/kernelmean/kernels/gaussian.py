"""The Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels import radials
from kernelmean.kernels.base import Kernel
from kernelmean.kernels.radials import Formula, Slope
from kernelmean.kernels.traits import GAUSSIAN_MIXTURE, KernelTraits


@dataclass(frozen=True, repr=False)
class Gaussian(Kernel):
    """The Gaussian kernel φ(r) = c exp(−r²/2σ²), c = (2π)^{−d/2} σ^{−d}.

    The default of every fit: at an equal number of centres its error is the least.

    Parameters
    ----------
    bandwidth : float
        σ > 0, in units of the data.

    Attributes
    ----------
    name : str
        "gaussian".
    traits : KernelTraits
        φ is exp(−s); marginals and convolutions are Gaussian again.

    See Also
    --------
    kernelmean.bandwidth : Rules for σ.

    Notes
    -----
    φ_σ∗φ_σ′ has the bandwidth √(σ² + σ′²), and the frequencies of φ_σ are Z/σ, Z standard normal.

    Examples
    --------
    >>> import kernelmean as km
    >>> km.Gaussian(2.0).profile(4.0, 2).round(4)
    np.float64(0.6065)
    """

    bandwidth: float
    name: ClassVar[str] = "gaussian"
    traits: ClassVar[KernelTraits] = KernelTraits(
        profile=replace(GAUSSIAN_MIXTURE, exponential=True),
        reliable_slope=True,
        closed_marginals=True,
        closed_under_convolution=True,
        spreads=True,
    )

    def __post_init__(self) -> None:
        _checks.length(self.bandwidth, "bandwidth")

    @property
    def length(self) -> float:
        """σ, in units of the data."""
        return self.bandwidth

    def formula(self, d: int) -> Formula:
        return self._exponential(0.5 / self.bandwidth**2)

    def decay(self, d: int) -> Formula:
        # −dφ/ds = φ
        return self.formula(d).times(None)

    def log_density_constant(self, d: int) -> float:
        return -d * (math.log(self.bandwidth) + 0.5 * math.log(2 * math.pi))

    def l2_radial(self, d: int) -> Formula:
        # φ_σ∗φ_σ = φ_{√2σ}
        return self._exponential(0.25 / self.bandwidth**2)

    def l2_log_peak(self, d: int) -> float:
        # log (4πσ²)^{−d/2}
        return -0.5 * d * math.log(4 * math.pi * self.bandwidth**2)

    def slope(self, d: int, space: Space) -> Slope:
        # −dg/ds = g
        g = self.radial(d, space)
        return Slope(g.rate, g)

    def convolved(self, other: Self) -> Self:
        # φ_σ₁∗φ_σ₂ = φ_σ, σ² = σ₁² + σ₂²
        return replace(self, bandwidth=math.hypot(self.bandwidth, other.bandwidth))

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        # ω = Z/σ; in L2 the Gaussian of √2σ
        return np.full(size, 1.0 / (self.bandwidth * (1.0 if space == "rkhs" else math.sqrt(2.0))))

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        # σZ
        return self.bandwidth * rng.normal(size=(size, d))

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, bandwidth=bandwidth)

    def matching(self, sigma: float, d: int) -> Self:
        return replace(self, bandwidth=sigma)

    def _exponential(self, rate: float) -> Formula:
        return Formula(radials.log_gaussian, rate, traits=self.traits.profile)

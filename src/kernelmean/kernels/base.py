"""What every radial kernel can say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels.radials import Formula, RadialFunction, Slope

SPACES = ("rkhs", "l2")


class Kernel(ABC):
    """A radial kernel of fixed scale. Abstract: Gaussian, Laplacian, Student, Cauchy and Radial are
    final.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def length(self) -> float:
        """The kernel's own length: σ, γ or √β."""

    @abstractmethod
    def formula(self, d: int) -> Formula:
        """φ/c as a formula in r²."""

    @abstractmethod
    def decay(self, d: int) -> Formula:
        """−d(φ/c)/ds, s = rate · r²: what gradients and mean shift sum."""

    @abstractmethod
    def log_density_constant(self, d: int) -> float:
        """log c such that ∫ c·profile = 1 over R^d."""

    @abstractmethod
    def l2_radial(self, d: int) -> RadialFunction:
        """(φ∗φ)/(φ∗φ)(0) as a function of r²."""

    @abstractmethod
    def l2_log_peak(self, d: int) -> float:
        """log (φ∗φ)(0) for density-normalised φ."""

    @abstractmethod
    def slope(self, d: int, space: Space) -> Slope:
        """−d(g/g(0))/d(r²); at a kink of g, where there is no direction of descent, 0."""

    @abstractmethod
    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        """Random scales τ such that g/g(0) = E cos(ω·r) with ω = τZ, Z standard normal in R^d."""

    def has_spectrum(self, space: Space) -> bool:
        """Whether :meth:`spectral_scales` can be asked for."""
        return True

    @abstractmethod
    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        """(size, d) random points with density φ about 0."""

    @abstractmethod
    def rescaled(self, bandwidth: float, d: int) -> Self:
        """The same family at another scale, ``bandwidth`` being the kernel's own length (σ, γ, √β)."""

    @abstractmethod
    def matching(self, sigma: float, d: int) -> Self:
        """The same family with the half-maximum radius of a Gaussian σ."""

    def profile(self, r2: Any, d: int) -> Vector:
        """φ/c at squared distances r2."""
        return self.formula(d)(np.asarray(r2, dtype=np.float64))

    def radial(self, d: int, space: Space) -> RadialFunction:
        """g/g(0), the function that fills every Gram matrix."""
        return self.formula(d) if space == "rkhs" else self.l2_radial(d)

    def log_peak(self, d: int, space: Space) -> float:
        """log g(0)."""
        return 0.0 if space == "rkhs" else self.l2_log_peak(d)

    def inner(self, r2: Any, d: int, space: Space) -> Vector:
        """g = ⟨φ(·,x), φ(·,x′)⟩ at squared distances r2."""
        _checks.choice(space, "space", SPACES)
        value: Vector = np.exp(
            self.radial(d, space).log(np.asarray(r2, dtype=np.float64)) + self.log_peak(d, space)
        )
        return value

    def cross(self, other: Kernel, d: int, space: Space) -> tuple[RadialFunction, float]:
        """⟨φ, φ′⟩ between two kernels as (g/g(0), log g(0)); a ValueError where it is not known."""
        if self == other:
            return self.radial(d, space), self.log_peak(d, space)
        raise ValueError(
            f"the kernels differ ({self} and {other}): inner products need equal kernels, or two "
            "Gaussians in space='l2'."
        )

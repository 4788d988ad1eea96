"""A user's own radial kernel, from a profile that an engine can compile."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, TypeVar

import numpy as np

from kernelmean import _checks
from kernelmean._types import Points, Space, Vector
from kernelmean.kernels.base import LOG2, Kernel
from kernelmean.kernels.radials import Formula, Slope, log_one
from kernelmean.kernels.traits import KernelTraits, RadialTraits
from kernelmean.kernels.user_functions import ScalarFunction, UserFactor

SpectralScales = Callable[[int, int, np.random.Generator], Vector]
Sampler = Callable[[int, int, np.random.Generator], Points]

T = TypeVar("T")


@dataclass(frozen=True)
class Radial(Kernel):
    """A kernel φ(r) = c · profile(r²/h²) made of a function of one's own.

    ``profile`` is a scalar function with profile(0) = 1, strictly decreasing, plain Python or
    compiled by Numba (``numba.njit``); engines compile it into their loops. It must be positive
    definite, which is not checked. The rest is optional and asked for only where it is needed; all
    of it is given at h = 1.

    Parameters
    ----------
    profile_function : callable
        profile(s), s = r²/h².
    bandwidth : float
        h > 0, in units of the data.
    decay_function : callable, optional
        −d profile/ds, for gradients and for ``refine``.
    log_constant : callable, optional
        ``log_constant(d)`` is the logarithm of one over the integral of the profile, for
        densities.
    l2_profile : callable, optional
        φ∗φ divided by its peak as a function of s, for ``space="l2"``.
    l2_constant : callable, optional
        ``l2_constant(d)`` is the logarithm of that peak.
    l2_decay_function : callable, optional
        −d l2_profile/ds, for moving centres in ``space="l2"``.
    scales : callable, optional
        ``scales(size, d, rng)`` as ``spectral_scales``, for the spectral certificate.
    sampler : callable, optional
        ``sampler(size, d, rng)`` gives random points of density φ.

    Attributes
    ----------
    name : str
        "radial".
    traits : KernelTraits
        Only that the profile decreases. Nothing says that it is convex, and it has no logarithm of
        its own, so mean shift refuses it.

    See Also
    --------
    kernelmean.kernels.Kernel : What a new family answers, which may declare more.

    Examples
    --------
    >>> import math, kernelmean as km
    >>> km.Radial(lambda s: 1.0 / (1.0 + s), 2.0).profile(4.0, 2)
    np.float64(0.5)
    """

    profile_function: ScalarFunction
    bandwidth: float = 1.0
    decay_function: ScalarFunction | None = field(default=None, kw_only=True)
    log_constant: Callable[[int], float] | None = field(default=None, kw_only=True)
    l2_profile: ScalarFunction | None = field(default=None, kw_only=True)
    l2_constant: Callable[[int], float] | None = field(default=None, kw_only=True)
    l2_decay_function: ScalarFunction | None = field(default=None, kw_only=True)
    scales: SpectralScales | None = field(default=None, kw_only=True)
    sampler: Sampler | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "radial"
    traits: ClassVar[KernelTraits] = KernelTraits(profile=RadialTraits(decreasing=True))

    def __post_init__(self) -> None:
        _checks.length(self.bandwidth, "bandwidth")
        if not callable(self.profile_function):
            raise TypeError(
                "a Radial kernel needs a function of the squared distance, profile(r2) -> float."
            )
        if not math.isclose(float(self.profile_function(0.0)), 1.0, rel_tol=1e-12):
            raise ValueError(
                "the profile of a Radial kernel must be 1 at distance 0; divide it by its value "
                "there."
            )

    @property
    def length(self) -> float:
        """h, in units of the data."""
        return self.bandwidth

    def formula(self, d: int) -> Formula:
        return self._profile(self.profile_function)

    def decay(self, d: int) -> Formula:
        return self._factor(self._needed(self.decay_function, "a gradient", "decay_function"))

    def log_density_constant(self, d: int) -> float:
        constant = self._needed(self.log_constant, "a density constant", "log_constant")
        return float(constant(d)) - d * math.log(self.bandwidth)

    def l2_radial(self, d: int) -> Formula:
        return self._profile(self._needed(self.l2_profile, "an L2 inner product", "l2_profile"))

    def l2_log_peak(self, d: int) -> float:
        constant = self._needed(self.l2_constant, "an L2 inner product", "l2_constant")
        return float(constant(d)) - d * math.log(self.bandwidth)

    def slope(self, d: int, space: Space) -> Slope:
        if space == "rkhs":
            return Slope(self.bandwidth**-2, self.decay(d))
        scalar = self._needed(self.l2_decay_function, "a gradient in L2", "l2_decay_function")
        return Slope(self.bandwidth**-2, self._factor(scalar))

    def has_spectrum(self, space: Space) -> bool:
        return space == "rkhs" and self.scales is not None

    def spectral_scales(self, size: int, d: int, space: Space, rng: np.random.Generator) -> Vector:
        if space == "l2":
            raise ValueError(
                "this Radial kernel has no spectral sampler in L2; use method='exact' or "
                "method='rows'."
            )
        sampler = self._needed(
            self.scales, "a spectral sampler", "scales", "; method='exact' and 'rows' need none"
        )
        return np.asarray(sampler(size, d, rng), dtype=np.float64) / self.bandwidth

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Points:
        sampler = self._needed(self.sampler, "a sampler of random points", "sampler")
        return np.asarray(sampler(size, d, rng), dtype=np.float64) * self.bandwidth

    def rescaled(self, bandwidth: float, d: int) -> Self:
        return replace(self, bandwidth=bandwidth)

    def matching(self, sigma: float, d: int) -> Self:
        # the half-maximum radius is found by bisection on the profile
        from scipy.optimize import brentq

        far = 1.0
        while self.profile_function(far) > 0.5:
            far *= 2.0
        half = math.sqrt(brentq(lambda s: self.profile_function(s) - 0.5, 0.0, far, rtol=1e-14))
        return replace(self, bandwidth=sigma * math.sqrt(2 * LOG2) / half)

    def _profile(self, scalar: ScalarFunction) -> Formula:
        """A function of the user's that decreases, as the class asks."""
        return replace(self._factor(scalar), traits=self.traits.profile)

    def _factor(self, scalar: ScalarFunction) -> Formula:
        """A function of the user's of which nothing is known."""
        return Formula(log_one, self.bandwidth**-2, factor=UserFactor(scalar))

    def _needed(self, value: T | None, what: str, argument: str, otherwise: str = "") -> T:
        """The value; a ValueError that says what to pass where it was not given."""
        if value is None:
            raise ValueError(
                f"this Radial kernel has no {what.split(' ', 1)[1]}: pass {argument}= when "
                f"making it{otherwise}."
            )
        return value

"""The relative error of many candidates for one kernel mean, to a few per cent, at little cost.

A certificate measures one mean well; a fit that looks for the number of its atoms asks about many.
What depends on the sample alone, ‖z̄‖² or its Fourier sums, is therefore computed once. The
estimate is never a difference of two estimates: err² = ‖z̄‖² + E needs ‖z̄‖² exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import Space, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import Kernel
from kernelmean.linalg.factor import Factor
from kernelmean.mean.certificate import Spectrum

MAX_EXACT_POINTS = 8192  # up to which all pairs take about as long as one small fit
FREQUENCIES = 200  # at which the standard error is about a tenth of the error


class Estimate(NamedTuple):
    """A relative error ‖z̄ − z‖/‖z̄‖, and its standard error."""

    value: float
    standard_error: float

    def at_most(self, error: float) -> bool:
        """Whether it is, with two standard errors to spare."""
        return self.value + 2.0 * self.standard_error <= error


@dataclass(frozen=True)
class Gauge:
    """The kernel mean of a cloud's points, ready to be compared with candidates."""

    cloud: PointCloud
    kernel: Kernel
    space: Space
    streams: Streams

    def relative_error(self, factor: Factor, alpha: Vector) -> Estimate:
        """That of Σ α_a φ_a on the first atoms of a factor."""
        E = factor.objective(alpha)
        if self._exact:
            return Estimate(float(np.sqrt(max(self._norm + E, 0.0) / self._norm)), 0.0)
        squares = self._spectrum.squares(factor.atoms[: len(alpha)], alpha)
        squared = float(squares.mean())
        spread = float(squares.std(ddof=1)) / np.sqrt(len(squares))
        norm = squared - E  # ‖z̄‖² = err² − E
        if not norm > 0.0 or not squared > 0.0:
            return Estimate(1.0, 0.0)
        error = float(np.sqrt(squared / norm))
        return Estimate(error, 0.5 * error * spread / squared)

    @property
    def _exact(self) -> bool:
        return self.cloud.summary.count <= MAX_EXACT_POINTS or not self.kernel.has_spectrum(
            self.space
        )

    @lazy
    def _norm(self) -> float:
        """‖z̄‖², in units of g(0)."""
        return self.cloud.quadratic(self.kernel.radial(self.cloud.summary.dimension, self.space))

    @lazy
    def _spectrum(self) -> Spectrum:
        rng = self.streams.of("estimated error")
        return Spectrum.of(self.cloud, self.kernel, self.space, rng, FREQUENCIES)

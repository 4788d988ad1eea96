"""Which density mean shift climbs, and who judges its modes.

With a test of significance, a Gaussian and nothing else asked for it is the density of cells, at
the bandwidth that tells them apart unless one is given; otherwise the density that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelmean import _checks, engines
from kernelmean import bandwidth as rules_of_bandwidth
from kernelmean._random import Streams
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.fitting.fit import fit_mean
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.kernels.registry import is_gaussian
from kernelmean.mean.expansion import AnyMean
from kernelmean.meanshift.judging import Judge
from kernelmean.meanshift.scales import TRIALS, cells_density
from kernelmean.samples import Sample, WeightedSample

RULE = "mode"  # for the bandwidth where there is no test by which to choose one


@dataclass(frozen=True)
class DensityPlan:
    """What is to be fitted to a sample."""

    sample: WeightedSample
    settings: FitSettings
    sparse: bool = True
    significance: float | None = None  # of the test, None without one

    @classmethod
    def of(
        cls,
        sample: WeightedSample,
        settings: FitSettings,
        *,
        sparse: bool = True,
        significance: float | None = None,
    ) -> DensityPlan:
        """The plan, with the bandwidth as it is meant.

        A kernel has its own. Without any spread in the data no rule gives one; there is one cluster
        whatever it is, and it is set to 1.
        """
        width = settings.bandwidth
        if isinstance(settings.kernel, Kernel):
            width = DEFAULT_RULE if width in ("auto", RULE) else width
        elif isinstance(width, str) and _is_one_point(sample.sample):
            _checks.choice(width, "bandwidth rule", ("auto", *rules_of_bandwidth.RULES))
            width = 1.0
        return cls(sample, replace(settings, bandwidth=width), sparse, significance)

    def density(self, streams: Streams, judge: Judge | None = None) -> AnyMean:
        """The density: nonnegative weights on k centres, or every point a centre."""
        if self._of_cells:
            assert self.level is not None
            return cells_density(self.sample, self.settings, streams, self.level, judge)
        settings = replace(self.settings, bandwidth=RULE) if self._is_open else self.settings
        if self.sparse:
            return fit_mean(self.sample, settings, streams)
        return full_mean(self.sample, settings)

    def judge(self, streams: Streams) -> Judge | None:
        """The rows that judge modes, unless every row is a centre or cells are the default's."""
        settings = self.settings
        usual = self._is_searched and isinstance(settings.k, str) and settings.k_max is None
        if self.significance is None or usual or not self.sparse:
            return None
        on_device = self.sample.sample.on_device
        engine = engines.precise(engines.choose(settings.engine, 0.0, on_device))
        return Judge.of(self.sample, engine, streams)

    @property
    def level(self) -> float | None:
        """The level of one test: where several bandwidths are tried they share what is allowed."""
        if self.significance is None or not self._is_searched:
            return self.significance
        return self.significance / TRIALS

    @property
    def _of_cells(self) -> bool:
        """Whether there is a test, and nothing asks for centres of another kind."""
        settings = self.settings
        cells = is_gaussian(settings.kernel) and settings.is_auto and settings.spread is not None
        return self.significance is not None and self.sparse and cells

    @property
    def _is_searched(self) -> bool:
        return self._of_cells and self._is_open

    @property
    def _is_open(self) -> bool:
        """Whether the bandwidth is left to us."""
        return isinstance(self.settings.bandwidth, str) and self.settings.bandwidth == "auto"


def _is_one_point(sample: Sample) -> bool:
    """Whether all rows in memory are equal; elsewhere this is not looked for."""
    return sample.resident and not np.ptp(sample.array(), axis=0).any()

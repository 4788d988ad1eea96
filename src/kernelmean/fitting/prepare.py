"""From a checked sample to points in an engine with their kernel: every fit begins here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelmean import _checks, engines, samples
from kernelmean._types import ArrayLike
from kernelmean.bandwidth.resolve import resolve_kernel
from kernelmean.engines import Engine
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.loaded import LoadedSample
from kernelmean.samples import Sample, WeightedSample


@dataclass(frozen=True, eq=False)
class Prepared:
    """A loaded sample and the kernel that it is fitted with."""

    data: LoadedSample
    kernel: Kernel

    def with_kernel(self, kernel: Kernel) -> Prepared:
        """The same points with another kernel; nothing is loaded again."""
        return replace(self, kernel=kernel)


def checked_sample(
    X: ArrayLike | Sample, sample_weight: ArrayLike | None, engine: str | Engine
) -> WeightedSample:
    """What a user gave, checked, without the rows of weight zero."""
    sample = samples.check(X, engine)
    return WeightedSample.of(sample, _checks.weights(sample_weight, len(sample)))


def prepare(sample: WeightedSample, settings: FitSettings) -> Prepared:
    """Load, and find the kernel in the mapped coordinates."""
    data = loaded(sample, settings)
    return Prepared(data, resolve_kernel(settings.kernel, settings.bandwidth, data.cloud))


def loaded(sample: WeightedSample, settings: FitSettings) -> LoadedSample:
    """Find the scale, map, and load once."""
    work = 3.0 * len(sample) ** 1.5  # kernel values of a fit with 3√n centres
    engine = engines.choose(settings.engine, work, sample.sample.on_device)
    scale = settings.scale
    matrix = None if scale is None else scaling.resolve(scale, sample.summary)
    return LoadedSample.of(sample, engine, matrix)


def engine_name(asked: str | Engine, data: LoadedSample) -> str | Engine:
    """What a fitted mean says of its engine: that which ran, where the choice was left to us."""
    return data.engine.name if asked == "auto" else asked

"""One recipe for several samples, so that their means can be compared.

Kernel, scale and space are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelmean import _blas, _checks, _progress, bandwidth, engines, kernels
from kernelmean._random import Streams
from kernelmean._types import Matrix, Space, Vector
from kernelmean._work import repeated
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.engines import Engine, ThreadedEngine
from kernelmean.fitting.fit import fit_mean
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import ArraySample, Sample, WeightedSample

RULE = "iqr"  # of the paper's embedding: a scale of the data, not a bandwidth that shrinks with n


@dataclass(frozen=True)
class Recipe:
    """How a sample becomes a mean.

    Nothing here depends on the other samples but how many they are, so a new one joins without
    refitting any.
    """

    kernel: Kernel
    scale: Matrix | None
    space: Space = "rkhs"
    valid: bool = False  # densities: nonnegative weights that sum to one
    sparse: bool = True
    engine: str | Engine = "cpu"
    # The same for every sample: equal samples get equal means.
    streams: Streams = field(default_factory=lambda: Streams(0))
    # Of sparse_kernel_mean: k, k_max, tol, patience, selection, spread.
    options: Mapping[str, Any] = field(default_factory=dict)
    # Samples that it was made for: what is too little work to compile for once may not be then.
    times: int = 1

    def for_densities(self) -> Recipe:
        """The same with valid densities: weights on the simplex, optimal in L2."""
        return replace(self, space="l2", valid=True)

    def settings(self, engine: str | Engine) -> FitSettings:
        """The same as settings of a fit."""
        given = {**self.options, "kernel": self.kernel, "scale": self.scale, "engine": engine}
        if self.valid:
            return FitSettings.density(**given)
        return FitSettings(space=self.space, **given)

    def mean(self, sample: Sample, engine: str | Engine | None = None) -> AnyMean:
        """The sparse mean of one sample, or the full one."""
        settings = self.settings(self.engine if engine is None else engine)
        if not self.sparse:
            return full_mean(WeightedSample.of(sample), settings)
        with repeated(self.times):
            return fit_mean(WeightedSample.of(sample), settings, self.streams.within("collection"))

    def means(self, samples: Sequence[Sample]) -> list[AnyMean]:
        """The means of several samples, one sample per thread where there are enough of them.

        The bits are the same either way. BLAS gets one thread: its threads spend longer waiting for
        one another than on matrices of a few hundred rows.
        """
        engine = engines.precise(engines.open(self.engine))
        resident = all(sample.resident for sample in samples)
        threads = engines.thread_count(engine) if resident else 1
        with _blas.one_thread():
            many = self.sparse and 1 < threads <= len(samples)
            if not (many and isinstance(engine, ThreadedEngine)):
                return [self.mean(X) for X in _progress.track(samples, "samples", len(samples))]
            alone = engine.with_threads(1)
            with ThreadPoolExecutor(threads) as pool:
                made = pool.map(lambda X: self.mean(X, alone), samples)
                fitted = list(_progress.track(made, "samples", len(samples)))
        return [
            replace(mean, engine=self.engine)
            for mean in fitted
            if isinstance(mean, SparseKernelMean)
        ]

    def certified_errors(self, samples: Sequence[Sample], means: Sequence[AnyMean]) -> Vector:
        """‖z̄ − z‖ of each mean, measured; 0 for full means.

        It is two standard errors up where the certificate is an estimate.
        """
        certificates = [
            mean.certificate(X, random_state=self.streams.within("collection certificates"))
            for X, mean in _progress.track(
                zip(samples, means, strict=True), "certifying", len(samples)
            )
            if isinstance(mean, SparseKernelMean)
        ]
        if not certificates:
            return np.zeros(len(samples))
        return np.array([found.error + 2 * found.standard_error for found in certificates])


def common(
    samples: Sequence[Sample], kernel: Any, width: Any, scale: Any, engine: str | Engine
) -> tuple[Kernel, Matrix | None]:
    """One kernel and one scale for all samples.

    A named scale is that of the pooled points. A bandwidth rule is read on each sample by itself,
    and the values averaged over the samples that have any spread: the width of a typical sample,
    not of the whole collection.
    """
    first = samples[0]
    pooled = first.join(samples[1:]) if isinstance(scale, str) else first
    A = None if scale is None else scaling.resolve(scale, pooled.summary())
    if isinstance(kernel, str) and isinstance(width, str):
        mapped = [X if A is None else X.map(A, X.first) for X in samples]
        found = kernels.family(kernel).matching(_mean_rule(width, mapped, engine), first.dimension)
        return found, A
    if isinstance(kernel, Kernel) and isinstance(width, str) and width == RULE:
        width = DEFAULT_RULE  # both mean the kernel's own
    return resolve_kernel(kernel, width, first.load(engines.open("naive"))), A


def mean_in(value: Any) -> KernelMean | None:
    """The sum over centres where the value is a mean, None where it is a sample."""
    expansion = getattr(value, "expansion", None)
    return expansion if isinstance(expansion, KernelMean) else None


def two_samples(A: Any, B: Any, names: str) -> list[Sample]:
    """Both, checked, of equal width."""
    found = [_checks.points(X, name) for X, name in zip((A, B), names, strict=True)]
    widths = [X.shape[1] for X in found]
    if widths[0] != widths[1]:
        raise ValueError(
            f"{names[0]} has {widths[0]} columns, but {names[1]} has {widths[1]}; they must be "
            "the same."
        )
    return [ArraySample(X) for X in found]


def halves(X: Sample, streams: Streams, name: str) -> tuple[Sample, Sample]:
    """Two random halves of the rows: to fit on (the larger one), and to evaluate on."""
    if len(X) < 2:
        raise ValueError(
            f"{name} has one point, but the Kullback–Leibler divergence splits every sample in "
            "two halves."
        )
    order = streams.of("halves").permutation(len(X))
    cut = (len(X) + 1) // 2
    if not X.resident:  # files and clusters keep the order of their rows
        return X.restrict(np.sort(order[:cut])), X.restrict(np.sort(order[cut:]))
    return X.restrict(order[:cut]), X.restrict(order[cut:])


def _mean_rule(rule: str, samples: Sequence[Sample], engine: str | Engine) -> float:
    spread = [X for X in samples if _varies(X)]
    return float(np.mean([_read_rule(rule, X, engine) for X in spread or samples[:1]]))


def _read_rule(rule: str, sample: Sample, engine: str | Engine) -> float:
    """The bandwidth of one sample; only rules that evaluate kernels load it into an engine."""
    if rule in bandwidth.SUMMARY_RULES:
        return bandwidth.by_summary(rule, sample.summary())
    opened = engines.precise(engines.choose(engine, 0.0, sample.on_device))
    return bandwidth.by_rule(rule, sample.load(opened))


def _varies(sample: Sample) -> bool:
    """Whether any two rows differ."""
    if not sample.resident:
        return bool((sample.summary().std > 0.0).any())
    points = sample.array()
    return bool((points[0] != points).any())

"""One recipe for several samples, so that their means can be compared: the same kernel, scale and
space for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelmean import _blas, _checks, _progress, bandwidth, engines, kernels
from kernelmean._random import Streams
from kernelmean._types import Matrix, Points, Space, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.engines import Engine, PointCloud, ThreadedEngine
from kernelmean.fitting.fit import sparse_density, sparse_kernel_mean
from kernelmean.fitting.prepare import kernel_mean
from kernelmean.kernels import Kernel
from kernelmean.mean import scaling
from kernelmean.mean.expansion import AnyMean, KernelMean
from kernelmean.mean.value import SparseKernelMean

RULE = "iqr"  # of the paper's embedding: a scale of the data, not a bandwidth that shrinks with n


@dataclass(frozen=True)
class Recipe:
    """How a sample becomes a mean. Nothing here depends on the other samples, so a new one joins
    without refitting any.
    """

    kernel: Kernel
    scale: Matrix | None
    space: Space = "rkhs"
    valid: bool = False  # densities: nonnegative weights that sum to one
    sparse: bool = True
    engine: str | Engine = "cpu"
    streams: Streams = field(
        default_factory=lambda: Streams(0)
    )  # the same for every sample: equal samples get equal means
    options: Mapping[str, Any] = field(
        default_factory=dict
    )  # of sparse_kernel_mean: k, k_max, tol, patience, selection

    def for_densities(self) -> Recipe:
        """The same with valid densities: weights on the simplex, optimal in L2."""
        return replace(self, space="l2", valid=True)

    def mean(self, X: Points, engine: str | Engine | None = None) -> AnyMean:
        """The sparse mean of one sample, or the full one."""
        opened = self.engine if engine is None else engine
        shared: dict[str, Any] = {"kernel": self.kernel, "scale": self.scale, "engine": opened}
        if not self.sparse:
            return kernel_mean(X, space=self.space, **shared)
        shared["random_state"] = self.streams.within("collection")
        if self.valid:
            return sparse_density(X, **shared, **self.options)
        return sparse_kernel_mean(X, space=self.space, **shared, **self.options)

    def means(self, samples: Sequence[Points]) -> list[AnyMean]:
        """The means of several samples, one sample per thread where there are enough of them: the
        same bits either way.

        BLAS gets one thread: its threads spend longer waiting for one another than on matrices of a
        few hundred rows.
        """
        engine = engines.precise(engines.open(self.engine))
        threads = 1 if any(map(engines.in_parts, samples)) else engines.thread_count(engine)
        with _blas.one_thread():
            many = self.sparse and 1 < threads <= len(samples)
            if not (many and isinstance(engine, ThreadedEngine)):
                return [self.mean(X) for X in _progress.track(samples, "samples", len(samples))]
            alone = engine.with_threads(1)
            with ThreadPoolExecutor(threads) as pool:
                fitted = list(
                    _progress.track(
                        pool.map(lambda X: self.mean(X, alone), samples), "samples", len(samples)
                    )
                )
        return [
            replace(mean, engine=self.engine)
            for mean in fitted
            if isinstance(mean, SparseKernelMean)
        ]

    def certified_errors(self, samples: Sequence[Points], means: Sequence[AnyMean]) -> Vector:
        """‖z̄ − z‖ of each mean, measured; two standard errors up where the certificate is an
        estimate. 0 for full means.
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
    samples: Sequence[Points], kernel: Any, width: Any, scale: Any, engine: str | Engine
) -> tuple[Kernel, Matrix | None]:
    """One kernel and one scale for all samples.

    A named scale is that of the pooled points. A bandwidth rule is read on each sample by itself,
    and the values averaged over the samples that have any spread: the width of a typical sample,
    not of the whole collection.
    """
    pooled = engines.together(samples) if isinstance(scale, str) else samples[0]
    A = scaling.resolve(scale, _cloud(pooled, engine).summary)
    clouds = [_cloud(scaling.apply(A, X, X[0]), engine) for X in samples]
    if isinstance(kernel, Kernel) and isinstance(width, str) and width == RULE:
        return resolve_kernel(kernel, DEFAULT_RULE, clouds[0]), A
    if isinstance(kernel, str) and isinstance(width, str):
        return kernels.family(kernel).matching(
            _mean_rule(width, clouds, samples), samples[0].shape[1]
        ), A
    return resolve_kernel(kernel, width, clouds[0]), A


def mean_in(value: Any) -> KernelMean | None:
    """The sum over centres where the value is a mean, None where it is a sample."""
    expansion = getattr(value, "expansion", None)
    return expansion if isinstance(expansion, KernelMean) else None


def two_samples(A: Any, B: Any, names: str) -> list[Points]:
    """Both, checked, of equal width."""
    samples = [_checks.points(X, name) for X, name in zip((A, B), names, strict=True)]
    widths = [X.shape[1] for X in samples]
    if widths[0] != widths[1]:
        raise ValueError(
            f"{names[0]} has {widths[0]} columns, but {names[1]} has {widths[1]}; they must be "
            "the same."
        )
    return samples


def halves(X: Points, streams: Streams, name: str) -> tuple[Points, Points]:
    """Two random halves of the rows: to fit on (the larger one), and to evaluate on."""
    if len(X) < 2:
        raise ValueError(
            f"{name} has one point, but the Kullback–Leibler divergence splits every sample in "
            "two halves."
        )
    order = streams.of("halves").permutation(len(X))
    cut = (len(X) + 1) // 2
    if engines.in_parts(X):  # parts keep the order of their rows
        return engines.keep(X, np.sort(order[:cut])), engines.keep(X, np.sort(order[cut:]))
    return X[order[:cut]], X[order[cut:]]


def _cloud(X: Points, engine: str | Engine) -> PointCloud:
    return engines.precise(engines.choose(engine, X, 0.0)).load(X)


def _varies(cloud: PointCloud, X: Points) -> bool:
    """Whether any two rows differ."""
    return bool((cloud.summary.std > 0.0).any()) if engines.in_parts(X) else bool((X[0] != X).any())


def _mean_rule(rule: str, clouds: list[PointCloud], samples: Sequence[Points]) -> float:
    spread = [cloud for cloud, X in zip(clouds, samples, strict=True) if _varies(cloud, X)]
    return float(np.mean([bandwidth.by_rule(rule, cloud) for cloud in spread or clouds[:1]]))

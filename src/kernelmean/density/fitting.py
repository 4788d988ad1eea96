"""How densities are fitted: points are chosen once per data set, and serve every bandwidth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pickle import PicklingError
from typing import Any

import numpy as np
from joblib import Memory
from sklearn.utils.validation import check_memory

from kernelmean import _checks, bandwidth
from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, Points, Vector
from kernelmean.bandwidth import LABELLED_RULE
from kernelmean.bandwidth.resolve import DEFAULT_RULE, labelled_kernel
from kernelmean.density.likelihood import fit_by_likelihood
from kernelmean.density.targets import target_of
from kernelmean.fitting import searching, spreads
from kernelmean.fitting.fit import fit_prepared
from kernelmean.fitting.honesty import told
from kernelmean.fitting.points import HONEST, OPEN_ENDS
from kernelmean.fitting.prepare import Prepared, prepare
from kernelmean.fitting.settings import FitSettings, density_limit, in_own_units, is_auto
from kernelmean.kernels import Atoms
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.gauge import Candidate, Gauge
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import WeightedSample

Density = SparseKernelMean | KernelMean | DomainMean

# What the density estimators have in common with :class:`FitSettings`.
PARAMETERS = (
    "kernel",
    "bandwidth",
    "scale",
    "k",
    "k_max",
    "tol",
    "patience",
    "selection",
    "refine",
    "spread",
    "engine",
)


def fit_density(
    sample: WeightedSample, settings: FitSettings, streams: Streams, memory: Memory | None = None
) -> SparseKernelMean:
    """A valid density on k centres: by likelihood, or the exact optimum in L2 with α ≥ 0, Σα = 1.

    Of the latter, centres that are points are those for Scott's bandwidth, whatever the bandwidth:
    a search over bandwidths that is given a ``memory`` selects once (the paper's amortisation).
    Narrower kernels do no better with centres of their own; refined centres do, and so do centres
    with spreads, since a spread is chosen by what it achieves at a bandwidth.
    """
    return told(silently_fitted(sample, settings, streams, memory), settings, depth=2)


def silently_fitted(
    sample: WeightedSample, settings: FitSettings, streams: Streams, memory: Memory | None = None
) -> SparseKernelMean:
    """The same, whose error nobody is told of."""
    if settings.target == "likelihood":
        return fit_by_likelihood(sample, settings, streams)
    settings.check_names()
    prepared = prepare(sample, settings)
    size = prepared.data.cloud.summary.size
    limited = settings
    if settings.k_max is None and settings.error is None:
        limited = replace(settings, k_max=density_limit(size))
    spread = any(spreads.kinds_of(limited, prepared.kernel, sample.sample.dimension, size))
    reference = prepared if settings.refine or spread else _at_scotts_bandwidth(prepared)
    asked = replace(
        limited, kernel=reference.kernel, bandwidth=DEFAULT_RULE, scale=prepared.data.scale
    )
    if reference.kernel == prepared.kernel:
        return _remembered(reference, asked, streams, memory)
    other = _OtherBandwidth(prepared, reference, asked, streams, memory)
    return other.fewest(size) if asked.error is not None else other.honest()


@dataclass(frozen=True)
class _OtherBandwidth:
    """A density whose centres are those for Scott's bandwidth, at another one."""

    prepared: Prepared
    reference: Prepared
    asked: FitSettings  # with the kernel of the reference
    streams: Streams
    memory: Memory | None

    def at(self, settings: FitSettings) -> SparseKernelMean:
        """The density on the centres that the reference has with these settings."""
        mean = _remembered(self.reference, settings, self.streams, self.memory)
        kernel = self.prepared.kernel
        return mean.refit_on(self.prepared.data, kernel, mean.constraint, self._gauge)

    def fewest(self, size: float) -> SparseKernelMean:
        """As few centres as reach the error."""
        error = self.asked.error
        assert error is not None
        open_size = replace(self.asked, error=None)
        found, reached = searching.fewest(
            lambda k, last: self.at(replace(open_size, k=k)),
            lambda mean: self._gauge.reaches(self._candidate(mean), error),
            min(self.asked.stopping(size).limit, max(1, int(size))),
        )
        return replace(found, stop_reason="error" if reached else "k_max")

    def honest(self) -> SparseKernelMean:
        """The density; with centres for its own bandwidth where those leave a large error.

        A narrow kernel needs more centres than Scott's, whose indicator settles early.
        """
        mean = self.at(self.asked)
        settled = mean.stop_reason in OPEN_ENDS and self.asked.patience > 1
        if not settled or (mean.estimated_error or 0.0) <= HONEST:
            return mean
        own = replace(self.asked, kernel=self.prepared.kernel)
        return _remembered(self.prepared, own, self.streams, self.memory)

    @lazy
    def _gauge(self) -> Gauge:
        data = self.prepared.data
        return Gauge(data.cloud, data.engine, self.prepared.kernel, self.asked.space, self.streams)

    def _candidate(self, mean: SparseKernelMean) -> Candidate:
        assert mean.kappa is not None
        atoms = Atoms(self.prepared.data.map(mean.centers), mean.spreads)
        return Candidate.of(atoms, mean.weights, mean.kappa, mean.kernel, mean.space)


def _remembered(
    prepared: Prepared, settings: FitSettings, streams: Streams, memory: Memory | None
) -> SparseKernelMean:
    """The density, from the memory where that holds it; points elsewhere may change and are not."""
    sample = prepared.data.sample
    if memory is None or not sample.sample.resident or sample.sample.on_device:
        return fit_prepared(prepared, settings, streams)
    cached = memory.cache(_selected, ignore=["prepared"])
    points = sample.sample.array()
    try:
        mean: SparseKernelMean = cached(points, sample.weights, settings, streams, prepared)
    except PicklingError as error:
        raise ValueError(
            "memory= finds a fit again by its settings, but these cannot be pickled: define the "
            "functions of a kernel of your own by def in a module, or leave memory out."
        ) from error
    return mean


def _selected(
    X: Points,  # tells one entry of the memory from another
    weights: Vector | None,
    settings: FitSettings,
    streams: Streams,
    prepared: Prepared,
) -> SparseKernelMean:
    """The density as a function of all that it depends on; ``prepared`` follows from the rest."""
    return fit_prepared(prepared, settings, streams)


def _at_scotts_bandwidth(prepared: Prepared) -> Prepared:
    """The same family at Scott's bandwidth; the kernel itself where the points have no spread."""
    cloud = prepared.data.cloud
    if not (cloud.summary.std > 0).any():
        return prepared
    width = bandwidth.by_rule(DEFAULT_RULE, cloud)
    return prepared.with_kernel(prepared.kernel.matching(width, cloud.summary.dimension))


def with_scale(settings: FitSettings, sample: WeightedSample) -> FitSettings:
    """The same settings with the scale as a matrix, found from these points."""
    if settings.scale is None:
        return settings
    return replace(settings, scale=scaling.resolve(settings.scale, sample.summary))


def with_labels(settings: FitSettings, sample: WeightedSample, y: ArrayLike) -> FitSettings:
    """The same with the kernel whose bandwidth is Jaakkola's for these labels."""
    labels = _checks.labels(y, sample.total, sample.present)
    scaled = with_scale(settings, sample)
    matrix = None if scaled.scale is None else np.asarray(scaled.scale)
    points = scaling.apply(matrix, sample.sample.array(), sample.sample.first)
    kernel = labelled_kernel(settings.kernel, points, labels, sample.weights, settings.engine)
    return replace(scaled, kernel=kernel, bandwidth=DEFAULT_RULE)


def like(settings: FitSettings, density: Density) -> FitSettings:
    """The same with the kernel and the scale of a density that is fitted already."""
    return replace(settings, kernel=density.kernel, bandwidth=DEFAULT_RULE, scale=density.scale)


def density_settings(estimator: Any, error: float | None = None) -> FitSettings:
    """The parameters of an estimator that say how a density is fitted."""
    given = {name: getattr(estimator, name) for name in PARAMETERS}
    if in_own_units(estimator.kernel, estimator.bandwidth) and is_auto(estimator.scale):
        given["scale"] = None
    return FitSettings.density(**given, error=error, target=target_of(estimator, error))


def fit_settings(
    estimator: Any, sample: WeightedSample, y: ArrayLike | None, error: float | None = None
) -> FitSettings:
    """The same with the rule "jaakkola" turned into a kernel, where there are labels."""
    settings = density_settings(estimator, error)
    if y is None or settings.bandwidth != LABELLED_RULE:
        return settings
    return with_labels(settings, sample, y)


def memory_of(estimator: Any) -> Memory | None:
    """The folder or the joblib memory that selections are kept in, if any."""
    return None if estimator.memory is None else check_memory(estimator.memory)

"""Densities on a domain: the likeliest, or a copy of a kernel density estimate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from joblib import Memory

from kernelmean._random import Streams
from kernelmean._types import IntVector
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.density.fitting import Density, silently_fitted
from kernelmean.density.likelihood_on_domain import fit_by_likelihood
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.honesty import told_on_domain
from kernelmean.fitting.on_domain import Copy, EmbeddedRows, require_gaussian, scale_on
from kernelmean.fitting.prepare import prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples import WeightedSample
from kernelmean.samples.coded import CodedSample


def fit_on_domain(
    coded: CodedSample,
    settings: FitSettings,
    streams: Streams,
    memory: Memory | None = None,
    *,
    sparse: bool = True,
) -> DomainMean:
    """A density that is zero outside of the domain and has the integral one."""
    require_gaussian(settings)
    if not sparse:
        return Copy.of(coded, settings).mean(full_mean)
    if settings.target == "likelihood":
        return fit_by_likelihood(coded, settings, streams)
    fit = partial(silently_fitted, streams=streams, memory=memory)
    return told_on_domain(Copy.of(coded, settings).mean(fit), settings, depth=3)


def fit_classes_on_domain(
    coded: CodedSample,
    labels: IntVector,
    settings: FitSettings,
    streams: Streams,
    *,
    sparse: bool,
    memory: Memory | None = None,
) -> list[Density]:
    """One density per class 0, 1, …: a common scale and a common domain."""
    sample, domain, _ = coded
    together = replace(
        settings, scale=scale_on(domain, settings, EmbeddedRows.of(coded).coordinates)
    )
    densities: list[Density] = []
    for c in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == c)
        weights = None if sample.weights is None else sample.weights[rows]
        restricted = sample.sample.restrict(rows)
        members = coded._replace(sample=WeightedSample.of(restricted, weights))
        own = _class_settings(together, coded, members)
        chance = streams.within("class on a domain", c)
        densities.append(fit_on_domain(members, own, chance, memory, sparse=sparse))
    return densities


def _class_settings(settings: FitSettings, coded: CodedSample, members: CodedSample) -> FitSettings:
    """A rule is read on the class; on all classes together where the numbers of the class are one.

    Without numbers there is nothing to read.
    """
    points = EmbeddedRows.of(members).coordinates.sample.array()
    if not (points == points[0]).all() or len(members.sample) == len(coded.sample):
        return settings
    together = EmbeddedRows.of(coded).coordinates
    if (together.sample.array() == points[0]).all():
        return settings
    kernel = prepare(together, settings).kernel
    return replace(settings, kernel=kernel, bandwidth=DEFAULT_RULE)

"""Bayes' rule with one density per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from joblib import Memory
from scipy.special import logsumexp

from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.density.fitting import Density, fit_density, with_scale
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.prepare import prepare
from kernelmean.fitting.settings import FitSettings
from kernelmean.samples import Queries, WeightedSample


def fit_classes(
    sample: WeightedSample,
    labels: IntVector,
    settings: FitSettings,
    streams: Streams,
    *,
    sparse: bool,
    memory: Memory | None = None,
) -> list[Density]:
    """One density per class 0, 1, …: a common scale, and a bandwidth per class by a rule."""
    own = with_scale(settings, sample)
    densities: list[Density] = []
    for c in range(int(labels.max()) + 1):
        members = _rows(sample, np.flatnonzero(labels == c))
        ruled = _class_settings(own, sample, members)
        if sparse:
            chance = streams.within("class", c)
            densities.append(fit_density(members, ruled, chance, memory))
        else:
            densities.append(full_mean(members, ruled))
    return densities


def _class_settings(
    settings: FitSettings, sample: WeightedSample, members: WeightedSample
) -> FitSettings:
    """A rule is read on the class; on all classes together where the class has no spread."""
    points = members.sample.array()
    if len(members) == len(sample) or not (points == points[0]).all():
        return settings
    together = prepare(sample, settings)
    return replace(settings, kernel=together.kernel, bandwidth=DEFAULT_RULE)


def _rows(sample: WeightedSample, rows: IntVector) -> WeightedSample:
    weights = None if sample.weights is None else sample.weights[rows]
    return WeightedSample.of(sample.sample.restrict(rows), weights)


def log_joint(densities: Sequence[Density], log_priors: Vector, X: Queries) -> Matrix:
    """(n, classes): log π_c + log f_c(x).

    A profile of the user's own has no logarithm, and may vanish in all classes far out: nothing
    is known there but the priors.
    """
    logs = np.stack([density.log(X) for density in densities], axis=1)
    logs[np.isneginf(logs).all(axis=1)] = 0.0
    return logs + log_priors


def log_posteriors(joint: Matrix) -> Matrix:
    """log P(c | x) = log π_c f_c(x) − log Σ_c′ π_c′ f_c′(x)."""
    posteriors: Matrix = joint - logsumexp(joint, axis=1, keepdims=True)
    return posteriors

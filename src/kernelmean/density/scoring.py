"""Densities: fit, quantiles of the log-density, and Bayes' rule with one density per class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE, resolve_kernel
from kernelmean.density.fitting import FEWEST, Density, Settings
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.kernels import Kernel
from kernelmean.mean.scaling import apply
from kernelmean.mean.value import LEVELS

QUANTILE_WORK = 2e8  # kernel values spent on the quantiles of a training set
LEAST_ROWS = 1000

__all__ = [
    "FEWEST",
    "Density",
    "Settings",
    "fit_classes",
    "log_joint",
    "log_posteriors",
    "log_quantiles",
    "scored_rows",
    "weighted_quantiles",
]


def log_quantiles(density: Density, X: Points, weights: Vector | None = None) -> Vector:
    """(1001,) quantiles of the log-density of the points X, at levels 0, .001, …, 1.

    Over all points, or over as many, spread evenly over the cumulative weight, as 2·10⁸ kernel
    values allow.
    """
    _, present, positive = engines.present(X, weights)
    rows, w = scored_rows(present, positive, max(LEAST_ROWS, int(QUANTILE_WORK / density.k)))
    if rows is None and engines.in_parts(present):
        rows = np.arange(len(present))
    return weighted_quantiles(density.log(present if rows is None else present[rows]), w, LEVELS)


def scored_rows(
    X: Points, weights: Vector | None, count: int
) -> tuple[IntVector | None, Vector | None]:
    """Which rows stand for all, and their weights: None and all weights where there are few enough."""
    if len(X) <= count:
        return None, weights
    return WeightedPoints(X, weights).locate((np.arange(count) + 0.5) / count), None


def weighted_quantiles(values: Vector, weights: Vector | None, levels: Vector) -> Vector:
    """Quantiles by linear interpolation; integer weights count as repeated values."""
    kept = slice(None) if weights is None else weights > 0
    w = None if weights is None else weights[kept]
    summary = ArraySummary(WeightedPoints(values[kept][:, None], w))
    quantiles: Vector = summary.quantiles(np.atleast_1d(levels))[:, 0]
    return quantiles


def fit_classes(
    settings: Settings,
    X: Points,
    labels: IntVector,
    weights: Vector | None,
    sparse: bool,
    streams: Streams,
) -> list[Density]:
    """One density per class 0, 1, …: a common scale, and a bandwidth per class where a rule finds
    it.
    """
    own = settings.resolved(X, weights)
    densities: list[Density] = []
    for c in range(int(labels.max()) + 1):
        rows = labels == c
        w = None if weights is None else weights[rows]
        ruled = replace(own, kernel=_class_kernel(own, X, weights, rows), bandwidth=DEFAULT_RULE)
        densities.append(
            ruled.fit(X[rows], w, streams.within("class", c)) if sparse else ruled.full(X[rows], w)
        )
    return densities


def _class_kernel(own: Settings, X: Points, weights: Vector | None, rows: Vector) -> Kernel:
    """The rule's kernel for one class; for all classes together where the class has no spread of
    its own.
    """
    part = X[rows]
    if len(part) < len(X) and (part == part[0]).all():
        rows = np.ones(len(X), dtype=bool)
    mapped = apply(own.scale, X[rows], X[0])
    cloud = engines.precise(engines.open(own.engine)).load(
        mapped, None if weights is None else weights[rows]
    )
    return resolve_kernel(own.kernel, own.bandwidth, cloud)


def log_joint(densities: Sequence[Density], log_priors: Vector, X: Points) -> Matrix:
    """(n, classes): log π_c + log f_c(x).

    A profile of the user's own has no logarithm, and may vanish in all classes far out: nothing is
    known there but the priors.
    """
    logs = np.stack([density.log(X) for density in densities], axis=1)
    logs[np.isneginf(logs).all(axis=1)] = 0.0
    return logs + log_priors


def log_posteriors(joint: Matrix) -> Matrix:
    """log P(c | x) = log π_c f_c(x) − log Σ_c′ π_c′ f_c′(x)."""
    posteriors: Matrix = joint - logsumexp(joint, axis=1, keepdims=True)
    return posteriors

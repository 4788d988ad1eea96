"""Quantiles of the log-density of the training points, by which a score is judged."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.density.fitting import Density
from kernelmean.engines import arrays
from kernelmean.mean import LEVELS
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples import ArraySample, WeightedSample

QUANTILE_KERNEL_VALUES = 2e8  # kernel values spent on the quantiles of a training set
FEWEST_SCORED_ROWS = 1000


def log_quantiles(density: Density, sample: WeightedSample) -> Vector:
    """(1001,) quantiles of the log-density of the points, at levels 0, .001, …, 1.

    Over all points, or over as many, spread evenly over the cumulative weight, as 2·10⁸ kernel
    values allow.
    """
    most = most_scored_rows(density)
    if len(sample) <= most:
        points = sample.sample
        if not points.resident:
            points = ArraySample(points.rows(np.arange(len(points))))
        return weighted_quantiles(density.log(points), sample.weights, LEVELS)
    rows = evenly_spread_rows(sample, most)
    return weighted_quantiles(density.log(ArraySample(sample.sample.rows(rows))), None, LEVELS)


def most_scored_rows(density: Density) -> int:
    """As many rows as 2·10⁸ kernel values allow, but at least 1000."""
    terms = density.unfolded.k if isinstance(density, DomainMean) else density.k
    return max(FEWEST_SCORED_ROWS, int(QUANTILE_KERNEL_VALUES / terms))


def threshold(quantiles: Vector, level: float) -> float:
    """The log-density below which a share ``level`` of the training points lies."""
    return float(np.interp(level, LEVELS, quantiles))


def evenly_spread_rows(sample: WeightedSample, count: int) -> IntVector:
    """So many rows that stand for all, spread evenly over the cumulative weight."""
    positions = (np.arange(count) + 0.5) / count
    return arrays.located(positions, len(sample), sample.weights)


def weighted_quantiles(values: Vector, weights: Vector | None, levels: Vector) -> Vector:
    """Quantiles by linear interpolation; integer weights count as repeated values."""
    kept = slice(None) if weights is None else weights > 0
    w = None if weights is None else weights[kept]
    summary = arrays.ArraySummary(arrays.WeightedPoints(values[kept][:, None], w))
    quantiles: Vector = summary.quantiles(np.atleast_1d(levels))[:, 0]
    return quantiles

"""Scores of training rows, each without itself, and the thresholds that they give for new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._types import Vector
from kernelmean.density.fitting import Density
from kernelmean.density.left_out import ScoredRows, left_out_logs
from kernelmean.density.left_out_on_domain import left_out_logs_on_domain
from kernelmean.density.quantiles import (
    evenly_spread_rows,
    most_scored_rows,
    weighted_quantiles,
)
from kernelmean.mean import LEVELS
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples import ArraySample, Sample, WeightedSample

# Stands for the logarithm of zero in quantiles, which are interpolated.
LEAST_LOG = -1e300


@dataclass(frozen=True, eq=False)
class TrainingScores:
    """Log-densities at rows of a sample, each left out."""

    values: Vector
    weights: Vector | None  # of these rows
    size: float  # how many rows they count as
    complete: bool  # whether they are all rows of the sample

    @classmethod
    def of(cls, density: Density, sample: WeightedSample) -> TrainingScores:
        """Of all rows in memory; elsewhere of all, or of as many as 2·10⁸ kernel values allow.

        Those are spread evenly over the cumulative weight.
        """
        most = most_scored_rows(density)
        if isinstance(density, DomainMean):
            values = left_out_logs_on_domain(density, ScoredRows.of(sample))
            return cls(values, sample.weights, sample.summary.size, complete=True)
        if sample.sample.resident or len(sample) <= most:
            values = left_out_logs(density, ScoredRows.of(sample))
            return cls(values, sample.weights, sample.summary.size, complete=True)
        rows = evenly_spread_rows(sample, most)
        return cls(left_out_logs(density, ScoredRows.of(sample, rows)), None, most, complete=False)

    def of_given_rows(
        self, density: Density, given: Sample, sample: WeightedSample
    ) -> Vector | None:
        """(n,): the same for the rows as they were given; absent ones are scored as new.

        None where not all rows were scored.
        """
        if not self.complete or sample.present is None:
            return self.values if self.complete else None
        found = np.empty(len(given))
        found[sample.present] = self.values
        absent = np.setdiff1d(np.arange(len(given)), sample.present)
        found[absent] = density.log(ArraySample(given.rows(absent)))
        return found

    def log_quantiles(self) -> Vector:
        """(1001,) quantiles at levels 0, .001, …, 1."""
        return self._quantiles(LEVELS)

    def threshold(self, share: float) -> float:
        """The score below which a new row lies with this probability, on average.

        A new row is as likely to fall in any of the N + 1 gaps between N scores of rows like it, so
        the score of rank (N + 1)·share has that share of new rows below it (as in Vovk's conformal
        prediction). Counted from zero to N − 1, that rank is (N + 1)·share − 1.
        """
        level = ((self.size + 1.0) * share - 1.0) / max(self.size - 1.0, 1.0)
        return float(self._quantiles(np.array([min(max(level, 0.0), 1.0)]))[0])

    def _quantiles(self, levels: Vector) -> Vector:
        return weighted_quantiles(np.maximum(self.values, LEAST_LOG), self.weights, levels)

"""The answers for a density of plain numbers: a mixture of Gaussians, mostly in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.mean import sampling, scaling
from kernelmean.mean.questions import boxes, levels, parts
from kernelmean.mean.questions.answers import Answers, Part
from kernelmean.mean.questions.asking import Columns, places
from kernelmean.mean.questions.column import Column
from kernelmean.mean.questions.mixture import (
    Mixture,
    refuse_other_sums,
    refuse_others_than_densities,
)
from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion

if TYPE_CHECKING:
    from kernelmean.mean.expansion import KernelMean

CLIMBING_STEP = 1e-3  # bandwidths: below it a climber has arrived, before peaks are refined
CLIMBING_STEPS = 10_000


@dataclass(frozen=True, eq=False)
class PlainAnswers(Answers):
    """The answers of a sum over centres itself."""

    mean: KernelMean
    columns: Columns

    def cdf(self, x: ArrayLike, column: int) -> Vector:
        """Σ_a α_a Φ((x − c_a)/s_a)."""
        return self._column(column, "cdf").cdf(places(x, 1, "x")[:, 0])

    def cdfs(self, x: ArrayLike) -> Points:
        """The same of every column."""
        mixture = Mixture.of(self.mean, "cdf")
        each = enumerate(self.columns.rows(x, "x").T)
        return np.column_stack([levels.column_of(mixture, t).cdf(some) for t, some in each])

    def quantile(self, p: Vector, column: int) -> Vector:
        """Its inverse."""
        return self._column(column, "quantile").quantile(p)

    def _column(self, column: int, question: str) -> Column:
        return levels.column_of(Mixture.of(self.mean, question), column)

    def probability(
        self, lower: Any, upper: Any, error: float, rng: np.random.Generator
    ) -> Estimate:
        """The probability of a box."""
        low = self.columns.bounds(lower, -np.inf)
        high = self.columns.bounds(upper, np.inf)
        for t in np.flatnonzero(low > high)[:1]:
            raise crossed_error(low[t], high[t], self.columns.label(int(t)))
        mixture = Mixture.of(self.mean, "probability")
        return boxes.probability(mixture, boxes.Box.of(low, high), error, rng)

    def marginal(self, positions: IntVector) -> KernelMean:
        """The density of some columns."""
        return parts.marginal(self.mean, positions)

    def conditional(self, given: Mapping[Any, Any]) -> Part:
        """The density of the others where some columns are known."""
        positions, values = self.columns.values(given)
        free = np.setdiff1d(np.arange(self.columns.dimension), positions)
        return Part(parts.conditional(self.mean, positions, values), free)

    def expectation(self) -> Vector:
        """Σ_a α_a c_a."""
        return Mixture.of(self.mean, "expectation").expectation()

    def covariance(self) -> Matrix:
        """The spread about it."""
        return Mixture.of(self.mean, "covariance").covariance()

    def entropy(self, rng: np.random.Generator) -> Estimate:
        """By quadrature in one dimension, else by points drawn from f."""
        refuse_others_than_densities(self.mean, "entropy")
        refuse_other_sums(self.mean, "entropy")
        return levels.entropy(self.mean, rng)

    def region(self, level: float, rng: np.random.Generator) -> HighestDensityRegion:
        """The same way."""
        refuse_others_than_densities(self.mean, "hdr")
        refuse_other_sums(self.mean, "hdr")
        return levels.region(self.mean, level, rng)

    def modes(self) -> DensityModes:
        """Mean shift from every centre."""
        from kernelmean.mean.climbing import DensityToClimb  # with SciPy's trees
        from kernelmean.mean.joint_climbing import climb_together

        refuse_others_than_densities(self.mean, "modes")
        hill = DensityToClimb.of(self.mean)
        found = climb_together(hill, hill.centers, CLIMBING_STEP, CLIMBING_STEPS, hill.length)
        peaks = scaling.undo(self.mean.scale, found.peaks, self.mean.centers[0])
        return DensityModes(peaks, found.log_peaks + self.mean.log_constant)

    def sample(
        self, size: int, rng: np.random.Generator, given: Mapping[Any, Any] | None
    ) -> Points:
        """A centre by its weight, then a step."""
        refuse_others_than_densities(self.mean, "sample")
        if given is None:
            return sampling.draw(self.mean, size, rng)
        positions, values = self.columns.values(given)
        rows = sampling.draw(parts.conditional(self.mean, positions, values), size, rng)
        return parts.completed(rows, positions, values, self.mean.dimension)


def crossed_error(low: float, high: float, label: str) -> ValueError:
    """What to raise where a lower bound exceeds an upper one."""
    return ValueError(
        f"the lower bound {low:g} of column {label} exceeds its upper bound {high:g}."
    )

"""The answers for a density on a domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.mean.questions.answers import Answers, Part
from kernelmean.mean.questions.asking import Columns, places
from kernelmean.mean.questions.mixture import refuse_other_sums, refuse_others_than_densities
from kernelmean.mean.questions.on_domain import boxes, levels, moments, parts, rows
from kernelmean.mean.questions.on_domain.ended_column import EndedColumn
from kernelmean.mean.questions.on_domain.products import (
    FoldedColumn,
    Products,
    refuse_no_number,
    refuse_no_numbers,
)
from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion

if TYPE_CHECKING:
    from kernelmean.mean.on_domain import DomainMean


@dataclass(frozen=True, eq=False)
class DomainAnswers(Answers):
    """The answers of a mean on a domain."""

    mean: DomainMean
    columns: Columns

    def cdf(self, x: ArrayLike, column: int) -> Vector:
        """P(column ≤ x), 0 and 1 at the bounds; of a period from where it starts."""
        return self._column(column, "cdf").cdf(places(x, 1, "x")[:, 0])

    def cdfs(self, x: ArrayLike) -> Points:
        """The same of every column."""
        refuse_no_numbers(self.mean.domain, self.columns, "cdf")
        products = Products.of(self.mean, "cdf")
        each = enumerate(self.columns.rows(x, "x").T)
        return np.column_stack([products.column(t).cdf(some) for t, some in each])

    def quantile(self, p: Vector, column: int) -> Vector:
        """Its inverse."""
        return self._column(column, "quantile").quantile(p)

    def _column(self, column: int, question: str) -> FoldedColumn | EndedColumn:
        refuse_no_number(self.mean.domain, self.columns, column, question)
        return Products.of(self.mean, question).column(column)

    def probability(
        self, lower: Any, upper: Any, error: float, rng: np.random.Generator
    ) -> Estimate:
        """The probability of a box within the domain."""
        asking = boxes.Asking.of(self.mean.domain, self.columns, lower, upper)
        return boxes.probability(Products.of(self.mean, "probability"), asking, error, rng)

    def marginal(self, positions: IntVector) -> Any:
        """The density of some columns."""
        return parts.marginal(self.mean, positions)

    def conditional(self, given: Mapping[Any, Any]) -> Part:
        """The density of the others where some columns are known."""
        return parts.conditional(self.mean, self.columns, given)

    def expectation(self) -> Vector:
        """The mean of every column."""
        return moments.expectation(Products.of(self.mean, "expectation"), self.columns)

    def covariance(self) -> Matrix:
        """The covariance of the columns."""
        return moments.covariance(Products.of(self.mean, "covariance"), self.columns)

    def entropy(self, rng: np.random.Generator) -> Estimate:
        """By quadrature or a sum where that is possible, else by points drawn."""
        self._need("entropy")
        return levels.entropy(self.mean, rng)

    def region(self, level: float, rng: np.random.Generator) -> HighestDensityRegion:
        """The same way."""
        self._need("hdr")
        return levels.region(self.mean, level, rng)

    def modes(self) -> DensityModes:
        """Mean shift, where all columns are numbers."""
        return levels.modes(self.mean, self.columns)

    def sample(self, size: int, rng: np.random.Generator, given: Mapping[Any, Any] | None) -> Any:
        """A component by its weight, then each of its factors."""
        refuse_others_than_densities(self.mean.base.expansion, "sample")
        if given is None:
            return self.mean.written(rows.draw(self.mean, size, rng))
        return self.mean.written(rows.draw_given(self.mean, self.columns, given, size, rng))

    def _need(self, question: str) -> None:
        """A ValueError where the mean is no density."""
        refuse_others_than_densities(self.mean.base.expansion, question)
        refuse_other_sums(self.mean.base.expansion, question)

"""Who answers what a density is asked: it differs between plain columns and those of a domain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.values import DensityModes, Estimate, HighestDensityRegion


class Part(NamedTuple):
    """A density of the columns that are left where the others are given."""

    density: Any  # a KernelMean, or a DomainMean over one
    free: IntVector  # the positions of these columns


@dataclass(frozen=True, eq=False)
class Answers(ABC):
    """The questions of :class:`DensityQuestions`, with columns as positions and chance as streams.

    Parameters
    ----------
    mean : KernelMean or DomainMean
        The density.
    columns : Columns
        How many columns it has, and their names.
    """

    mean: Any
    columns: Columns

    def named(self, names: tuple[str, ...] | None) -> Self:
        """The same with other names of columns."""
        return replace(self, columns=Columns(self.columns.dimension, names))

    @abstractmethod
    def cdf(self, x: ArrayLike, column: int) -> Vector:
        """P(column ≤ x)."""

    @abstractmethod
    def cdfs(self, x: ArrayLike) -> Points:
        """P(column ≤ x) of every column, for rows x."""

    @abstractmethod
    def quantile(self, p: Vector, column: int) -> Vector:
        """The x with P(column ≤ x) = p."""

    def quantiles(self, p: Vector) -> Points:
        """The quantiles of every column."""
        return np.column_stack([self.quantile(p, t) for t in range(self.columns.dimension)])

    @abstractmethod
    def probability(
        self, lower: Any, upper: Any, error: float, rng: np.random.Generator
    ) -> Estimate:
        """P(lower ≤ x ≤ upper)."""

    @abstractmethod
    def marginal(self, positions: IntVector) -> Any:
        """The density of some columns."""

    @abstractmethod
    def conditional(self, given: Mapping[Any, Any]) -> Part:
        """The density of the others where some columns are known."""

    @abstractmethod
    def expectation(self) -> Vector:
        """The mean of every column."""

    @abstractmethod
    def covariance(self) -> Matrix:
        """The covariance of the columns."""

    @abstractmethod
    def entropy(self, rng: np.random.Generator) -> Estimate:
        """−∫ f log f."""

    @abstractmethod
    def region(self, level: float, rng: np.random.Generator) -> HighestDensityRegion:
        """The smallest region that holds a probability."""

    @abstractmethod
    def modes(self) -> DensityModes:
        """The peaks, the highest first."""

    @abstractmethod
    def sample(
        self, size: int, rng: np.random.Generator, given: Mapping[Any, Any] | None
    ) -> Points:
        """Random rows, with the given values in their columns."""

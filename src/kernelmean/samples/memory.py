"""A sample in the memory of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud, Summary, arrays
from kernelmean.samples.protocol import Sample


@dataclass(frozen=True, eq=False)
class ArraySample(Sample):
    """A NumPy array of finite float64 numbers."""

    X: Points

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of coordinates."""
        n, d = self.X.shape
        return n, d

    def rows(self, indices: IntVector) -> Points:
        """Some of the points."""
        chosen: Points = self.X[indices]
        return chosen

    def restrict(self, rows: IntVector) -> ArraySample:
        """The sample of these rows, in any order."""
        return ArraySample(self.X[rows])

    def map(self, matrix: Matrix, origin: Vector) -> ArraySample:
        """A(x − origin) for every row."""
        return ArraySample(arrays.mapped(self.X, matrix, np.ravel(origin)))

    def join(self, others: Sequence[ArraySample]) -> ArraySample:
        """The rows of several samples, one after another."""
        return ArraySample(np.concatenate([self.X, *(other.X for other in others)]))

    def blocks(self) -> Iterator[Points]:
        """The array itself."""
        yield self.X

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """``function`` of the array."""
        return function(self.X)

    def array(self) -> Points:
        """The array itself."""
        return self.X

    def load(self, engine: Engine, weights: Vector | None = None) -> PointCloud:
        """The points in an engine."""
        return engine.load(self.X, weights)

    def summary(self, weights: Vector | None = None) -> Summary:
        """Counts, moments and quantiles."""
        return arrays.ArraySummary(arrays.WeightedPoints(self.X, weights))

    def require_finite(self, name: str) -> None:
        """Raise a ValueError where numbers are too large to square."""
        _checks.points(self.X, name)

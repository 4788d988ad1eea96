"""A checked sample, wherever its points lie: what a fit may ask of it.

A sample is in the memory of this process, on a device, in files or on a cluster. It is mapped,
restricted to some of its rows, walked through, and loaded into an engine, which then computes; no
caller needs to know where the points are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud, Summary


class Queries(ABC):
    """(q, d) places to evaluate at, which need not be known before they are asked for."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of points and of coordinates."""

    @abstractmethod
    def map(self, matrix: Matrix, origin: Vector) -> Self:
        """A(x − origin) for every row, computed where the points are."""

    @abstractmethod
    def apply(self, function: Callable[[Points], Any]) -> Any:
        """``function`` of all rows, block by block; (n, ...) arrays are put end to end."""

    def on_host(self) -> Queries:
        """The same, handed to functions as NumPy arrays; only what is on a device is copied."""
        return self


class Sample(Queries):
    """(n, d) finite numbers. Abstract: the classes of the modules beside this one are final."""

    resident: bool = True  # one array, in memory or on a device; False in files and on a cluster
    on_device: bool = False

    @abstractmethod
    def rows(self, indices: IntVector) -> Points:
        """Some of the points as a NumPy array, in the order asked for."""

    @abstractmethod
    def restrict(self, rows: IntVector) -> Self:
        """The sample of these rows; in files and on a cluster they must ascend."""

    @abstractmethod
    def join(self, others: Sequence[Self]) -> Self:
        """The rows of several samples as one sample."""

    @abstractmethod
    def blocks(self) -> Iterator[Points]:
        """All rows in order, a block at a time, as the place where they lie has them."""

    @abstractmethod
    def array(self) -> Points:
        """All points as one NumPy array; a TypeError where they do not fit memory."""

    @abstractmethod
    def load(self, engine: Engine, weights: Vector | None = None) -> PointCloud:
        """The points in an engine, which computes with them from then on."""

    @abstractmethod
    def summary(self, weights: Vector | None = None) -> Summary:
        """Counts, moments and quantiles, without loading the points into an engine."""

    @abstractmethod
    def require_finite(self, name: str) -> None:
        """Raise a ValueError where a map has made numbers that are too large to square."""

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.shape[1]

    @property
    def first(self) -> Vector:
        """The first point."""
        point: Vector = self.rows(np.zeros(1, dtype=np.intp))[0]
        return point


@dataclass(frozen=True, eq=False)
class WeightedSample:
    """The rows of a sample that count: a weight of zero means an absent row.

    Every public function passes here before it looks at a point, so that absent rows have no part
    in any result.
    """

    sample: Sample  # rows of positive weight
    weights: Vector | None  # theirs; None for equal ones
    present: IntVector | None  # which of the given rows these are; None for all
    total: int  # rows given, absent ones included

    @classmethod
    def of(cls, sample: Sample, weights: Vector | None = None) -> WeightedSample:
        """A checked sample with checked weights."""
        rows, positive = _checks.positive_rows(weights)
        kept = sample if rows is None else sample.restrict(rows)
        return cls(kept, positive, rows, len(sample))

    def __len__(self) -> int:
        return len(self.sample)

    @property
    def summary(self) -> Summary:
        """Counts, moments and quantiles, without loading the points into an engine."""
        return self.sample.summary(self.weights)

    def load(self, engine: Engine) -> PointCloud:
        """The points and their weights in an engine."""
        return self.sample.load(engine, self.weights)

    def given_rows(self, indices: IntVector) -> IntVector:
        """Positions among the rows that count, as rows of what was given."""
        return indices if self.present is None else self.present[indices]

    def positions(self, rows: IntVector) -> IntVector | None:
        """Rows of what was given, as positions among those that count; None if any is absent."""
        if self.present is None:
            return rows
        if not np.isin(rows, self.present).all():
            return None
        return np.searchsorted(self.present, rows)

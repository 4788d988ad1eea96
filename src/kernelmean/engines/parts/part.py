"""One part of the points, in a point cloud of the local engine: what it can be asked, and what it
remembers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud, farthest_offers
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.engines.optional_protocols import CompactCloud, FarthestOffers, Pool
from kernelmean.engines.parts.cells import Cells
from kernelmean.engines.protocols import PointRows
from kernelmean.kernels import SpreadKind, Spreads

T = TypeVar("T")
Operation: TypeAlias = Literal[  # of the local point cloud
    "kernel_sum",
    "kernel_moments",
    "atom_sum",
    "atom_moments",
    "log_kernel_sum",
    "shift",
    "fourier_sum",
    "locate",
]
Reduction: TypeAlias = Literal["values", "coincident", "mean", "draws"]  # of the distances

REMEMBERED = 2  # traversals whose distances are kept; an older one is replayed from its centres


class PartFacts(NamedTuple):
    """What all parts together must know of one."""

    rows: int
    weight: float  # Σw
    squares: float  # Σw²
    counted: bool  # every weight is an integer
    equal: bool  # no weights were given


class CentreUpdate(NamedTuple):
    """Centres of a traversal: the first ``start`` of them are known, these are the next."""

    session: str
    start: int
    centers: Points


@dataclass
class TraversalState:
    """How far a part has followed a traversal."""

    heard: int  # centres
    squared: Vector | None  # where nothing but distances is kept
    offers: FarthestOffers | None = None


@dataclass
class Part:
    """Rows with their weights; every method is a question that all parts are asked, in their order.

    ``lean`` keeps 8 bytes a point between questions, for points that are read anew each time.
    """

    X: PointRows
    weights: Vector | None
    engine: Engine
    known: dict[str, TraversalState] = field(default_factory=dict)
    lean: bool = False

    @lazy
    def cloud(self) -> PointCloud:
        """The local point cloud; where it keeps a layout of its own, the rows are read back from
        that and not kept twice.
        """
        cloud = self.engine.load(np.asarray(self.X), self.weights)
        if self.lean or not isinstance(cloud, CompactCloud):
            return cloud
        compact = cloud.compact()
        self.X = compact.stored_rows()
        return compact

    def __getstate__(self) -> dict[str, Any]:
        """Rows and weights; the rest is made anew where it is needed."""
        return {
            "X": np.asarray(self.X),
            "weights": self.weights,
            "engine": self.engine,
            "lean": self.lean,
            "known": {},
        }

    def facts(self) -> PartFacts:
        """Counts and sums of weights."""
        w = self.weights
        if w is None:
            return PartFacts(len(self.X), float(len(self.X)), float(len(self.X)), True, True)
        return PartFacts(
            len(self.X), float(w.sum()), float((w**2).sum()), bool((w == np.rint(w)).all()), False
        )

    def rows(self, indices: IntVector) -> Points:
        """Some of the points, without a point cloud."""
        return np.array(self.X[indices], dtype=np.float64, order="C")

    def probabilities(self, indices: IntVector) -> Vector:
        """Weights of some rows, normalised to one in all of this part."""
        if self.weights is None:
            return np.full(len(indices), 1.0 / len(self.X))
        chosen: Vector = self.weights[indices] / self.weights.sum()
        return chosen

    def apply(self, function: Callable[[Points], T]) -> T:
        """function of all rows."""
        return function(np.asarray(self.X))

    def ask(self, operation: Operation, *arguments: Any) -> Any:
        """What an operation of the local point cloud gives."""
        return methodcaller(operation, *arguments)(self.cloud)

    def moments(self) -> tuple[Vector, Vector]:
        """Mean and variance of this part, per coordinate."""
        return self._summary.moments

    def second_moments(self, mean: Vector) -> Matrix:
        """Σ p_j (x_j − mean)(x_j − mean)ᵀ over this part, about the mean of all."""
        return self._summary.products_about(mean)

    def extremes(self) -> Matrix:
        """(2, d): least and greatest coordinates."""
        return np.array([[column.min(), column.max()] for column in self.X.T]).T

    def weight_up_to(self, cuts: list[tuple[int, Vector]]) -> list[Vector]:
        """Σw of the rows whose coordinate is at most each cut, for lists of rising cuts of a
        coordinate.
        """
        w = np.broadcast_to(1.0, len(self.X)) if self.weights is None else self.weights
        found = []
        for axis, values in cuts:
            bins = np.searchsorted(values, self.X[:, axis], side="left")
            counted: Vector = np.bincount(bins, w, minlength=len(values) + 1).astype(
                np.float64, copy=False
            )
            found.append(np.cumsum(counted)[:-1])
        return found

    def between(self, ranges: list[tuple[int, float, float]]) -> list[Matrix]:
        """(m, 2) each: coordinates in (low, high] with their weights."""
        w = np.broadcast_to(1.0, len(self.X)) if self.weights is None else self.weights
        columns = [
            (self.X[:, axis], (self.X[:, axis] > low) & (self.X[:, axis] <= high))
            for axis, low, high in ranges
        ]
        return [np.column_stack([column[inside], w[inside]]) for column, inside in columns]

    @property
    def _summary(self) -> ArraySummary:
        """Moments need no point cloud, which may never be made: the points may yet be mapped."""
        return ArraySummary(WeightedPoints(self.X, self.weights))

    def cells(self, centers: Points, kind: SpreadKind | None) -> Cells:
        """Weight and mean of the points nearest to each centre, and spreads of the kind asked
        for.
        """
        nearest = self.cloud.nearest(centers)
        spreads: Spreads | None = None
        if kind is not None:
            spreads = nearest.variances() if kind == "scalar" else nearest.covariances()
        return Cells(nearest.masses(), nearest.means(), spreads)

    def offer(self, update: CentreUpdate, m: int) -> Pool | None:
        """Hear of centres, and offer the m farthest points; None if earlier centres are unknown
        here.
        """
        known = self._follow(update)
        return None if known is None else known.farthest(m)

    def cover(self, update: CentreUpdate) -> float | None:
        """Covering radius after these centres; None if earlier centres are unknown here."""
        known = self._follow(update)
        return None if known is None else known.distances().cover

    def reduce(self, update: CentreUpdate, reduction: Reduction, *arguments: Any) -> Any:
        """A reduction of the distances after these centres; None if earlier centres are unknown
        here.
        """
        known = self._follow(update)
        return None if known is None else methodcaller(reduction, *arguments)(known.distances())

    def _follow(self, update: CentreUpdate) -> FarthestOffers | None:
        """The distances after these centres, whatever part of them was heard before; None where
        some are missing.
        """
        known = self.known.pop(update.session, None) or TraversalState(
            0, np.full(len(self.X), np.inf) if self.lean else None
        )
        if known.heard < update.start:
            return None
        followed = known.offers or self._offers(known.squared)
        fresh = update.centers[known.heard - update.start :]
        if len(fresh):
            followed.update(fresh)
        known.heard += len(fresh)
        known.offers = None if self.lean else followed
        self.known[update.session] = known  # last in the order of use
        for old in list(self.known)[:-REMEMBERED]:
            del self.known[old]
        return followed

    def _offers(self, squared: Vector | None) -> FarthestOffers:
        cloud = self.cloud  # which may replace X
        return farthest_offers(cloud, WeightedPoints(self.X, self.weights), squared)

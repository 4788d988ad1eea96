"""One part of the points, in a room of the local engine: what it can be asked, and what it
remembers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, Room, frontier
from kernelmean.engines.arrays import Distances, Sample, Summary
from kernelmean.engines.rounds import Frontier, Pool

REMEMBERED = 2  # traversals whose distances are kept; an older one is replayed from its centres


class Facts(NamedTuple):
    """What all parts together must know of one."""

    rows: int
    weight: float  # Σw
    squares: float  # Σw²
    counted: bool  # every weight is an integer
    equal: bool  # no weights were given


class Heard(NamedTuple):
    """Centres of a traversal: the first ``start`` of them are known, these are the next."""

    session: str
    start: int
    centers: Points


@dataclass
class Known:
    """How far a part has followed a traversal."""

    met: int
    squared: Vector | None  # where nothing but distances is kept
    frontier: Frontier | None = None


@dataclass
class Part:
    """Rows with their weights; every method is a question that all parts are asked, in their order.

    ``lean`` keeps 8 bytes a point between questions, for points that are read anew each time.
    """

    X: Points
    weights: Vector | None
    engine: Engine
    known: dict[str, Known] = field(default_factory=dict)
    lean: bool = False

    @lazy
    def room(self) -> Room:
        """The local room; where it keeps a layout of its own, the rows are read back from that and
        not kept twice.
        """
        room: Any = self.engine.load(self.X, self.weights)
        if not self.lean and hasattr(room, "compact"):
            room = room.compact()
            self.X = room.sample.X
        opened: Room = room
        return opened

    def __getstate__(self) -> dict[str, Any]:
        """Rows and weights; the rest is made anew where it is needed."""
        return {
            "X": np.asarray(self.X),
            "weights": self.weights,
            "engine": self.engine,
            "lean": self.lean,
            "known": {},
        }

    def facts(self) -> Facts:
        """Counts and sums of weights."""
        w = self.weights
        if w is None:
            return Facts(len(self.X), float(len(self.X)), float(len(self.X)), True, True)
        return Facts(
            len(self.X), float(w.sum()), float((w**2).sum()), bool((w == np.rint(w)).all()), False
        )

    def rows(self, indices: IntVector) -> Points:
        """Some of the points, without a room."""
        return np.array(self.X[indices], dtype=np.float64, order="C")

    def probabilities(self, indices: IntVector) -> Vector:
        """Weights of some rows, normalised to one in all of this part."""
        if self.weights is None:
            return np.full(len(indices), 1.0 / len(self.X))
        chosen: Vector = self.weights[indices] / self.weights.sum()
        return chosen

    def apply(self, function: Callable[[Points], Any]) -> Any:
        """function of all rows."""
        return function(np.asarray(self.X))

    def ask(self, door: str, *arguments: Any) -> Any:
        """Any door of the local room."""
        return getattr(self.room, door)(*arguments)

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
    def _summary(self) -> Summary:
        """Counts and moments need no room, which may never be opened: the points may yet be mapped."""
        return Sample(self.X, self.weights).summary

    def groups(self, centers: Points) -> tuple[Vector, Points]:
        """Weight and mean of the points nearest to each centre."""
        nearest = self.room.nearest(centers)
        return nearest.masses(), nearest.means()

    def offer(self, heard: Heard, m: int) -> Pool | None:
        """Hear of centres, and offer the m farthest points; None if earlier centres are unknown
        here.
        """
        known = self._follow(heard)
        return None if known is None else known.farthest(m)

    def reduce(self, heard: Heard, reduction: str, *arguments: Any) -> Any:
        """A reduction of the distances after these centres; None if earlier centres are unknown
        here.
        """
        known = self._follow(heard)
        if known is None:
            return None
        found: Distances = known.distances()
        value = getattr(found, reduction)
        return value(*arguments) if callable(value) else value

    def _follow(self, heard: Heard) -> Frontier | None:
        """The distances after these centres, whatever part of them was heard before; None where
        some are missing.
        """
        known = self.known.pop(heard.session, None) or Known(
            0, np.full(len(self.X), np.inf) if self.lean else None
        )
        if known.met < heard.start:
            return None
        followed = known.frontier or frontier(self.room, known.squared)
        fresh = heard.centers[known.met - heard.start :]
        if len(fresh):
            followed.meet(fresh)
        known.met += len(fresh)
        known.frontier = None if self.lean else followed
        self.known[heard.session] = known  # last in the order of use
        for old in list(self.known)[:-REMEMBERED]:
            del self.known[old]
        return followed

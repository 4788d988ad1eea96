"""Exact farthest-first traversal in rounds: the parts offer, one place picks, all parts hear.

Each part offers its farthest points and the best that it keeps back. While the best offer beats
everything kept back (farther, or as far with a lower row), it is the next centre: exactly the
sequential picks, ties included, whatever the parts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines import Picks
from kernelmean.engines.distances import single_draw
from kernelmean.engines.optional_protocols import Pool
from kernelmean.engines.parts.cells import Cells, combined
from kernelmean.engines.parts.part import CentreUpdate, Reduction
from kernelmean.engines.parts.part_index import PartIndex
from kernelmean.engines.parts.protocol import Question, SlowParts
from kernelmean.engines.pool_picks import pick
from kernelmean.engines.rounds import FarthestFirst
from kernelmean.kernels import SpreadKind, Spreads

OFFERED = 4096  # points among which centres are sought, from all parts together
LEAST_OFFER = 32  # from each part
ROUND = 512  # most centres per round
SHORT = 64  # centres: after a round of fewer, the parts that ended it offer more


class History:
    """The centres of one traversal, in their order, and which of them the parts have been told."""

    def __init__(self, index: PartIndex) -> None:
        self.index = index
        self._session = uuid.uuid4().hex
        self.centers = np.empty((0, index.parts.dimension))
        self._told = 0

    def add(self, centers: Points) -> None:
        """Further centres, told with the next question."""
        self.centers = np.concatenate([self.centers, centers])

    def each(
        self,
        question: Question,
        *arguments: Any,
        own: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> list[Any]:
        """Every part's answer after all centres; parts that have forgotten some, or are new, hear
        all of them again.
        """
        news = CentreUpdate(self._session, self._told, self.centers[self._told :])
        answers = self.index.parts.each(question, news, *arguments, own=own)
        asked = [own is None or own[i] is not None for i in range(len(answers))]
        forgetful = [asked[i] and answer is None for i, answer in enumerate(answers)]
        if any(forgetful):
            everything = CentreUpdate(self._session, 0, self.centers)
            again: list[tuple[Any, ...] | None] = [
                (() if own is None else own[i]) if behind else None
                for i, behind in enumerate(forgetful)
            ]
            repeated = self.index.parts.each(question, everything, *arguments, own=again)
            answers = [
                new if behind else old
                for old, new, behind in zip(answers, repeated, forgetful, strict=True)
            ]
        if all(asked):
            self._told = len(self.centers)
        return answers


class Traversal:
    """Farthest-first order from row ``first``; about k/ROUND rounds or a few more, not k."""

    def __init__(self, index: PartIndex, first: int) -> None:
        self._holder = PartsHolder(index, first)
        self._rounds = FarthestFirst(self._holder, first)

    def take(self, m: int) -> Picks:
        """The next m centres; fewer when every distinct point is a centre."""
        return self._rounds.take(m)

    def distances(self) -> PartsDistances:
        """Each point's squared distance to the centres taken so far, behind reductions."""
        history = self._holder.settled()
        return PartsDistances(history, len(history.centers))


class PartsHolder:
    """The distances stay with the parts; the pool is what all of them offer."""

    def __init__(self, index: PartIndex, first: int) -> None:
        self._index = index
        self._history = History(index)
        parts = len(index.parts.sizes)
        self._most = index.parts.offered if isinstance(index.parts, SlowParts) else OFFERED
        self._offers = np.full(parts, max(LEAST_OFFER, self._most // parts))
        self._ended_by = np.zeros(parts, dtype=bool)  # the parts whose next point ends the round
        self._waiting = index.rows(np.array([first]))
        index.remember(np.array([first]), self._waiting)
        self._untouched = True  # whether nothing was picked from the pool yet
        self.update()

    def settled(self) -> History:
        """The history with all centres, those that wait among them."""
        self._history.add(self._waiting)
        self._waiting = self._waiting[:0]
        return self._history

    def capacity(self) -> int:
        """As many as one round sends."""
        return ROUND - len(self._waiting)

    def pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres while the best offer beats all that the parts keep back."""
        pool = self._pool
        found = pick(pool, rows, squares)
        picked = pool.points[:, np.searchsorted(pool.rows, rows[:found])].T
        self._index.remember(rows[:found], picked)
        self._waiting = np.concatenate([self._waiting, picked])
        self._untouched = self._untouched and found == 0
        return found

    def exhausted(self) -> bool:
        """Whether a new pool had no next centre."""
        return self._untouched

    def update(self) -> None:
        """All parts hear of the centres that wait, and offer anew; those that ended a short round
        offer more from then on.
        """
        if len(self._waiting) < SHORT:
            self._offers[self._ended_by] = np.minimum(2 * self._offers[self._ended_by], self._most)
        offers = [(int(m),) for m in self._offers]
        pools: list[Pool] = self.settled().each("offer", own=offers)
        bounds = np.array([pool.bound for pool in pools])
        self._ended_by = bounds == bounds.max()
        self._pool = _joined(pools, self._index)
        self._untouched = True


def _joined(pools: list[Pool], index: PartIndex) -> Pool:
    """The pools of all parts as one, by rows of the whole sample."""
    begins = index.begins[:-1]
    n = int(index.begins[-1])
    bound = max(pool.bound for pool in pools)
    rivals = [
        pool.rival + begin if pool.rival < size else n
        for pool, begin, size in zip(pools, begins, index.parts.sizes, strict=True)
        if pool.bound == bound
    ]
    return Pool(
        np.concatenate([pool.rows + begin for pool, begin in zip(pools, begins, strict=True)]),
        np.ascontiguousarray(np.concatenate([pool.points for pool in pools], axis=1)),
        np.concatenate([pool.nearest for pool in pools]),
        float(bound),
        int(min(rivals)),
    )


class Nearest:
    """Each point's nearest centre, the lowest on ties: distances are kept, cells are found when
    asked for.
    """

    def __init__(self, index: PartIndex, centers: Points) -> None:
        self._index = index
        self._history = History(index)
        self._known: Cells | None = None  # of the centres so far, and of which kind its spreads are
        self._kind: SpreadKind | None = None
        self.add(centers)

    def add(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        self._history.add(centers)
        self._known = None

    def distances(self) -> PartsDistances:
        """The squared distances, behind reductions."""
        return PartsDistances(self._history, len(self._history.centers))

    def masses(self) -> Vector:
        """Σ of p over the points of each centre."""
        return self._cells(None).masses

    def means(self) -> Points:
        """Weighted mean of the points of each centre; the centre itself where there are none."""
        return self._cells(None).means

    def variances(self) -> Vector:
        """Mean squared distance of these points to their mean, over d; 0 where there are none."""
        return self._spreads("scalar")

    def covariances(self) -> Spreads:
        """(k, d, d): covariance of these points about their mean; 0 where there are none."""
        return self._spreads("full")

    def _spreads(self, kind: SpreadKind) -> Spreads:
        spreads = self._cells(kind).spreads
        assert spreads is not None, "asked for"
        return spreads

    def _cells(self, kind: SpreadKind | None) -> Cells:
        """What all parts say together: one question, and none for what is known already."""
        if self._known is None or kind not in (None, self._kind):
            centers = self._history.centers
            found = self._index.parts.each("cells", centers, kind)
            self._known = combined(found, self._index.shares, centers)
            self._kind = kind
        return self._known


class PartsDistances:
    """Squared nearest-centre distances D² of all points, which stay with their parts; handed out as
    reductions only.
    """

    def __init__(self, history: History, count: int) -> None:
        self._history = history
        self._count = count
        self._index = history.index

    @property
    def cover(self) -> float:
        """Covering radius max_j D_j."""
        return float(max(self._current().each("cover")))

    def values(self) -> Vector:
        """D² of every point, on the host: 8 bytes a point."""
        return np.concatenate(self._each("values"))

    def coincident(self) -> tuple[IntVector, Vector]:
        """Rows at distance 0 from a centre (centres and their duplicates), and their weights."""
        found = list(
            zip(self._each("coincident"), self._index.begins, self._index.shares, strict=False)
        )
        rows = np.concatenate([rows + begin for (rows, _), begin, _ in found])
        return rows, np.concatenate([share * p for (_, p), _, share in found])

    def mean(self, function: Callable[[Vector], Vector]) -> float:
        """Σ_j p_j function(D²_j)."""
        parts = self._each("mean", function)
        return float(sum(s * part for s, part in zip(self._index.shares, parts, strict=True)))

    def draw(self, u: float) -> int | None:
        """The point at position u of the cumulative p_j D²_j (D² sampling); None when every D² is
        zero.
        """
        return single_draw(self, u)

    def draws(self, u: Vector) -> IntVector:
        """The points at positions u of the cumulative p_j D²_j; none when every D² is zero."""
        masses = self._index.shares * np.array(self._each("mean", _itself))
        return self._index.spread(
            u, masses, lambda own: self._history.each("reduce", "draws", own=own)
        )

    def _each(self, reduction: Reduction, *arguments: Any) -> list[Any]:
        return self._current().each("reduce", reduction, *arguments)

    def _current(self) -> History:
        """The centres that these are the distances to; the traversal may have gone on since."""
        if len(self._history.centers) > self._count:
            earlier = History(self._index)
            earlier.add(self._history.centers[: self._count])
            self._history = earlier
        return self._history


def _itself(squared: Vector) -> Vector:
    return squared

"""All parts together: which share of the weight each has, and which of its rows are meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines.parts.part import PartFacts
from kernelmean.engines.parts.protocol import Parts, divided, starts
from kernelmean.engines.weighted_statistics import kish_size


@dataclass(frozen=True)
class PartIndex:
    """n points in parts, with weights p, Σp = 1.

    ``centers`` are points that were picked here, by row: parts that keep their points in another
    order find a row by a pass.
    """

    parts: Parts
    centers: dict[int, Vector] = field(default_factory=dict)

    @lazy
    def facts(self) -> list[PartFacts]:
        """What is known of each part."""
        return self.parts.each("facts")

    @lazy
    def begins(self) -> IntVector:
        """Global row at which each part begins, and n."""
        return starts(self.parts.sizes)

    @lazy
    def shares(self) -> Vector:
        """Σp of each part."""
        weights = np.array([facts.weight for facts in self.facts])
        shares: Vector = weights / weights.sum()
        return shares

    @property
    def counted(self) -> bool:
        """Whether every weight is an integer, so that rows are repeated."""
        return all(facts.counted for facts in self.facts)

    @lazy
    def size(self) -> float:
        """Σw where weights count rows, else Kish's effective size (Σw)²/Σw²."""
        total = float(sum(facts.weight for facts in self.facts))
        if self.counted:
            return total
        return kish_size(total, float(sum(facts.squares for facts in self.facts)))

    def rows(self, indices: IntVector) -> Points:
        """The points themselves, in the order asked for."""
        known = [self.centers.get(int(i)) for i in indices]
        if known and all(point is not None for point in known):
            return np.array(known)
        indices = np.asarray(indices, dtype=np.intp)
        found = np.empty((len(indices), self.parts.dimension))
        where = divided(indices, self.begins)
        own = [
            None if w is None else (indices[w] - begin,)
            for w, begin in zip(where, self.begins[:-1], strict=True)
        ]
        for w, rows in zip(where, self.parts.each("rows", own=own), strict=True):
            if w is not None:
                found[w] = rows
        return found

    def remember(self, indices: IntVector, points: Points) -> None:
        """Points that will be asked for."""
        self.centers.update(zip(indices.tolist(), points, strict=True))

    def locate(self, u: Vector) -> IntVector:
        """Rows at the positions u ∈ [0, 1) of the cumulative weight."""
        if all(facts.equal for facts in self.facts):
            n = int(self.begins[-1])
            return np.minimum((u * n).astype(np.intp), n - 1)
        return self.spread(u, self.shares, lambda own: self.parts.each("ask", "locate", own=own))

    def spread(
        self, u: Vector, masses: Vector, ask: Callable[[list[tuple[Any, ...] | None]], list[Any]]
    ) -> IntVector:
        """Rows at the positions u of a cumulative mass: which part, then where in it; none where
        there is no mass.
        """
        cumulative = np.cumsum(masses)
        if not cumulative[-1] > 0.0:
            return np.empty(0, np.intp)
        positions = np.asarray(u) * cumulative[-1]
        last = int(np.flatnonzero(masses > 0.0)[-1])
        part = np.minimum(np.searchsorted(cumulative, positions, side="right"), last)
        where = [np.flatnonzero(part == i) for i in range(len(masses))]
        own: list[tuple[Any, ...] | None] = [None] * len(masses)
        for i, w in enumerate(where):
            if len(w):
                within = (positions[w] - (cumulative[i] - masses[i])) / masses[i]
                own[i] = (np.clip(within, 0.0, 1.0 - 2.0**-53),)
        rows = np.empty(len(positions), np.intp)
        for w, begin, found in zip(where, self.begins, ask(own), strict=False):
            if len(w):
                rows[w] = begin + found
        return rows

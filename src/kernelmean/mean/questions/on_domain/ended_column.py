"""One column of numbers at whose ends components are cut off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._types import Matrix, Vector
from kernelmean.domains import truncated
from kernelmean.mean.questions.column import NODES, REACH, Column, Table

BLOCK = 2**21  # values in memory at once
TAIL_REACH = 40.0  # scales of an exponential: e^{−40}


class Ended(NamedTuple):
    """Σ_a α_a N(x; c_a, s_a²)/p_a between two ends, p_a the mass between them."""

    weights: Vector  # (k,)
    means: Vector  # (k,)
    deviations: Vector  # (k,)
    low: float
    high: float

    def derivatives(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """F, f and f′ at places between the ends; time O(q·k)."""
        a = self.standardised(np.array([self.low]))[0]
        log_mass = truncated.log_mass(a, self.standardised(np.array([self.high]))[0])
        size = max(1, BLOCK // len(self.weights))
        parts = []
        for first in range(0, len(x), size):
            z = self.standardised(x[first : first + size])
            F = truncated.share_between(np.broadcast_to(a, z.shape), z, log_mass) @ self.weights
            rates = np.exp(-0.5 * z**2 - log_mass) * (self.weights / self.deviations)
            rates /= np.sqrt(2.0 * np.pi)
            parts.append((F, rates.sum(axis=1), (-z / self.deviations * rates).sum(axis=1)))
        F, f, slope = (np.concatenate(part) for part in zip(*parts, strict=True))
        return F, f, slope

    def standardised(self, x: Vector) -> Matrix:
        """(q, k) how many deviations the places are from each mean."""
        found: Matrix = (x[:, None] - self.means) / self.deviations
        return found

    def nodes(self, per_deviation: int, reach: float) -> Vector:
        """Increasing places between the ends, dense beside every component."""
        places = np.clip(self.means, self.low, self.high)
        beyond = np.abs(places - self.means) / self.deviations
        # what is left of a peak far beyond an end falls as an exponential with the scale s/|z|
        slopes = self.deviations / np.maximum(beyond, 1.0)
        near = Column(self.weights, places, self.deviations).nodes(per_deviation, reach)
        far = Column(self.weights, places, slopes).nodes(per_deviation, TAIL_REACH)
        return np.concatenate([near, far])


class EndedColumn(NamedTuple):
    """Components that are cut off at the ends of a column, beside those that are folded there."""

    ended: Ended
    folded: Column | None  # the images of the others, with the weights of those
    low: float
    high: float

    def cdf(self, x: Vector) -> Vector:
        """F(x), exactly 0 and 1 at the ends."""
        if not len(x):
            return np.zeros(0)
        somewhere = np.where(np.isfinite(x), np.clip(x, self.low, self.high), self.ended.means[0])
        found = self._derivatives(somewhere)[0]
        inside: Vector = np.clip(found, 0.0, 1.0)
        return np.where(x <= self.low, 0.0, np.where(x >= self.high, 1.0, inside))

    def quantile(self, p: Vector) -> Vector:
        """The x with F(x) = p; the ends for p = 0 and p = 1."""
        x = self.nodes(NODES, REACH)
        F, f, slope = self._derivatives(x)
        inside = Table(x, np.maximum.accumulate(F), f, slope).inverse(p)
        return np.where(p <= 0.0, self.low, np.where(p >= 1.0, self.high, inside))

    def nodes(self, per_deviation: int, reach: float) -> Vector:
        """Increasing places from one end to the other, dense beside every component there."""
        x = self.ended.nodes(per_deviation, reach)
        if self.folded is not None:
            x = np.concatenate([x, self.folded.nodes(per_deviation, reach)])
        ends = np.array([end for end in (self.low, self.high) if np.isfinite(end)])
        return np.unique(np.concatenate([x[(x > self.low) & (x < self.high)], ends]))

    def _derivatives(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """F, f and f′."""
        found = self.ended.derivatives(x)
        if self.folded is None:
            return found
        order = np.argsort(x)
        back = np.argsort(order)
        F, f, slope = (part[back] for part in self.folded.derivatives(x[order]))
        if np.isfinite(self.low):
            F = F - self.folded.derivatives(np.array([self.low]))[0]
        return found[0] + F, found[1] + f, found[2] + slope

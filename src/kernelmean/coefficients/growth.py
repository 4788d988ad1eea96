"""Centres, block by block, until the stopping rule is met: every prefix has its optimum at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Points, StopReason, Vector
from kernelmean.coefficients import stopping
from kernelmean.coefficients.sources import Source
from kernelmean.engines import Distances, PointCloud, elimination
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.linalg.factor import Factor

FIRST_BLOCK_CENTERS = 32  # in a block where k is open, at least; blocks grow with k
FIXED_BLOCK_CENTERS = 512  # in a block where k is given, at least


@dataclass(frozen=True)
class Stopping:
    """How many centres: ``k`` exactly, or as many as the indicator asks for, up to ``k_max``."""

    k: int | None
    k_max: int
    tol: float
    patience: int
    least: int = 0  # centres before which the indicator is not asked

    @property
    def limit(self) -> int:
        """The most centres that may be taken."""
        return self.k_max if self.k is None else self.k


@dataclass(frozen=True)
class Path:
    """The first k centres of a source, with the factor that knows the optimum of every prefix."""

    k: int
    reason: StopReason
    factor: Factor
    indices: IntVector | None
    source: Source

    @property
    def centers(self) -> Points:
        return self.factor.centers[: self.k]

    @property
    def atoms(self) -> Atoms:
        """The centres with their spreads."""
        return self.factor.atoms[: self.k]

    @lazy
    def distances(self) -> Distances:
        """Distances of all points to these centres."""
        return self.source.distances(self.centers)


class Progress:
    """Told after every block how far a fit has come; this one says nothing."""

    def advance(self, centers: int, limit: int) -> None:
        """``centers`` of at most ``limit`` are done."""


class Growth:
    """Select centres, sum κ, extend the factor and test, block by block.

    So stopping at k_0 costs O(n·k_0). ``target`` are the weights of the kernel mean on the points
    of the cloud; None stands for the cloud's own weights.
    """

    def __init__(
        self,
        cloud: PointCloud,
        radial: RadialFunction,
        source: Source,
        rule: Stopping,
        target: Vector | None = None,
    ) -> None:
        self._cloud = cloud
        self._source = source
        self._rule = rule
        self._target = target
        self.factor = Factor(radial, elimination(cloud, radial, rule.limit))
        self._indices: list[IntVector] = []
        self._end: tuple[int, StopReason] | None = None

    @property
    def over(self) -> bool:
        """Whether the stopping rule is met."""
        return self._end is not None

    def step(self) -> None:
        """One more block of centres."""
        factor = self.factor
        # Where k is given there is no early stop to miss.
        least = FIRST_BLOCK_CENTERS if self._rule.k is None else FIXED_BLOCK_CENTERS
        wanted = min(max(least, factor.size // 4), self._rule.limit - factor.size)
        batch = self._source.take(wanted)
        if len(batch.points):
            summed = batch.kappa
            factor.append(batch.points, self._kappa(batch.points) if summed is None else summed)
        if batch.indices is not None:
            self._indices.append(batch.indices)
        self._end = _end(factor, self._rule, batch.ended if len(batch.points) < wanted else None)

    def path(self) -> Path:
        """What was grown, up to where the rule says."""
        k, reason = self._end or (self.factor.size, "fixed")
        rows = np.concatenate(self._indices)[:k] if self._indices else None
        return Path(k, reason, self.factor, rows, self._source)

    def _kappa(self, points: Points) -> Vector:
        return self._cloud.kernel_sum(self.factor.radial, points, self._target)


def grow(
    cloud: PointCloud,
    radial: RadialFunction,
    source: Source,
    rule: Stopping,
    target: Vector | None = None,
    progress: Progress | None = None,
) -> Path:
    """All of a :class:`Growth`, from the first block to the end."""
    growth = Growth(cloud, radial, source, rule, target)
    while not growth.over:
        growth.step()
        (progress or Progress()).advance(growth.factor.size, rule.limit)
    return growth.path()


def _end(factor: Factor, rule: Stopping, short: StopReason | None) -> tuple[int, StopReason] | None:
    """(k, reason) once the fit is over; ``short`` is why the source had no more."""
    if rule.k is None:
        full = stopping.exhausted_at(factor.pivots, factor.jitters, rule.patience, rule.least)
        settled = stopping.converged_at(
            factor.y if full is None else factor.y[:full], rule.tol, rule.patience, rule.least
        )
        if settled is not None:
            return settled, "tol"
        if full is not None:
            return full, "rank"
    if short is not None:
        return factor.size, short
    if factor.size == rule.limit:
        return factor.size, "k_max" if rule.k is None else "fixed"
    return None

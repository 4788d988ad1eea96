"""From centres to coefficients: every prefix at once, the automatic number of centres, constraints, solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Constraint, IntVector, Matrix, Points, Solver, StopReason, Vector
from kernelmean.coefficients import simplex, stopping
from kernelmean.engines import Distances, Room, elimination
from kernelmean.factor import Factor, gram
from kernelmean.kernels import RadialFunction
from kernelmean.selection import Source

CONSTRAINTS = (None, "simplex", "simplex-projection", "sum-to-one")
SOLVERS = ("cholesky", "cg")
FIRST_BLOCK = 32
FIXED_BLOCK = 512


@dataclass(frozen=True)
class Stopping:
    """How many centres: ``k`` exactly, or as many as the indicator asks for, up to ``k_max``."""

    k: int | None
    k_max: int
    tol: float
    patience: int

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

    @lazy
    def distances(self) -> Distances:
        """Distances of all points to these centres."""
        return self.source.distances(self.centers)


class Progress:
    """Told after every block how far a fit has come; this one says nothing."""

    def advance(self, centers: int, limit: int) -> None:
        """``centers`` of at most ``limit`` are done."""


class Growth:
    """Select, sum κ, extend the factor, test; block by block, so that stopping at k_0 costs O(n·k_0).

    ``target`` are the weights of the kernel mean on the points of the room; None for the room's own.
    """

    def __init__(self, room: Room, radial: RadialFunction, source: Source, rule: Stopping, target: Vector | None = None) -> None:
        self._room, self._source, self._rule, self._target = room, source, rule, target
        self.factor = Factor(radial, elimination(room, radial, rule.limit))
        self._indices: list[IntVector] = []
        self._end: tuple[int, StopReason] | None = None

    @property
    def over(self) -> bool:
        """Whether the stopping rule is met."""
        return self._end is not None

    def step(self) -> None:
        """One more block of centres."""
        factor = self.factor
        least = FIRST_BLOCK if self._rule.k is None else FIXED_BLOCK  # where k is given there is no early stop to miss
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
        return self._room.kernel_sum(self.factor.radial, points, self._target)


def grow(
    room: Room,
    radial: RadialFunction,
    source: Source,
    rule: Stopping,
    target: Vector | None = None,
    progress: Progress | None = None,
) -> Path:
    """All of a :class:`Growth`, from the first block to the end."""
    growth = Growth(room, radial, source, rule, target)
    while not growth.over:
        growth.step()
        (progress or Progress()).advance(growth.factor.size, rule.limit)
    return growth.path()


def _end(factor: Factor, rule: Stopping, short: StopReason | None) -> tuple[int, StopReason] | None:
    """(k, reason) once the fit is over; ``short`` is why the source had no more."""
    if rule.k is None:
        full = stopping.exhausted_at(factor.pivots, factor.jitters, rule.patience)
        settled = stopping.converged_at(factor.y if full is None else factor.y[:full], rule.tol, rule.patience)
        if settled is not None:
            return settled, "tol"
        if full is not None:
            return full, "rank"
    if short is not None:
        return factor.size, short
    if factor.size == rule.limit:
        return factor.size, "k_max" if rule.k is None else "fixed"
    return None


def weights(factor: Factor, k: int, constraint: Constraint, solver: Solver, guess: Vector | None = None) -> Vector:
    """α on the first k centres, free or constrained; valid weights near a ``guess`` are found sooner."""
    if constraint == "simplex":
        return simplex.minimise(factor.lower(k), factor.y[:k], guess)
    free = factor.weights(k) if solver == "cholesky" else conjugate_gradients(_gram(factor, k), factor.kappa[:k])
    if constraint == "simplex-projection":
        return simplex.project(free)
    if constraint == "sum-to-one":
        return _sum_to_one(factor, free)
    return free


def _sum_to_one(factor: Factor, free: Vector) -> Vector:
    """α + u(1 − 1ᵀα)/(1ᵀu), u = K⁻¹1: the optimum subject to Σα = 1."""
    u = factor.back_substitute(factor.forward_substitute(np.ones(len(free))))
    shifted: Vector = free + u * ((1.0 - free.sum()) / u.sum())
    return shifted


def _gram(factor: Factor, k: int) -> Matrix:
    return gram(factor.radial, factor.centers[:k], factor.centers[:k])


def conjugate_gradients(K: Matrix, kappa: Vector) -> Vector:
    """Kα = κ by conjugate gradients, relative residual 1e-6 or 20 iterations: MATLAB's defaults, as the paper used them.

    The diagonal of K is constant, so scaling by it would change nothing. Early stopping acts as a regulariser; for
    accuracy use the Cholesky factor.
    """
    from scipy.sparse.linalg import cg

    alpha, _ = cg(K, kappa, rtol=1e-6, atol=0.0, maxiter=20)
    solution: Vector = alpha
    return solution

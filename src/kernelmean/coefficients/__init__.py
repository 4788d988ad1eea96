"""From centres to coefficients: every prefix at once, the automatic number of centres, constraints, solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._types import Constraint, IntVector, Points, Solver, StopReason, Vector
from kernelmean.coefficients import simplex, stopping
from kernelmean.engines import Distances, Room, elimination
from kernelmean.factor import Factor, gram
from kernelmean.kernels import RadialFunction
from kernelmean.selection import Source

CONSTRAINTS = (None, "simplex", "simplex-projection", "sum-to-one")
SOLVERS = ("cholesky", "cg")
FIRST_BLOCK = 32


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
    distances: Distances

    @property
    def centers(self) -> Points:
        return self.factor.centers[: self.k]


class Progress:
    """Told after every block how far a fit has come; this one says nothing."""

    def advance(self, centers: int, limit: int) -> None:
        """``centers`` of at most ``limit`` are done."""


def grow(
    room: Room,
    radial: RadialFunction,
    source: Source,
    rule: Stopping,
    target: Vector | None = None,
    progress: Progress | None = None,
) -> Path:
    """Select, sum κ, extend the factor, test; block by block, so that stopping at k_0 costs O(n·k_0).

    ``target`` are the weights of the kernel mean on the points of the room; None for the room's own.
    """
    factor = Factor(radial, elimination(room, radial))
    indices: list[IntVector] = []
    end: tuple[int, StopReason] | None = None
    while end is None:
        wanted = min(max(FIRST_BLOCK, factor.size // 4), rule.limit - factor.size)
        batch = source.take(wanted)
        if len(batch.points):
            factor.append(batch.points, room.kernel_sum(radial, batch.points, target))
        if batch.indices is not None:
            indices.append(batch.indices)
        end = _end(factor, rule, exhausted=len(batch.points) < wanted)
        (progress or Progress()).advance(factor.size, rule.limit)
    k, reason = end
    rows = np.concatenate(indices)[:k] if indices else None
    return Path(k, reason, factor, rows, source.distances(factor.centers[:k]))


def _end(factor: Factor, rule: Stopping, exhausted: bool) -> tuple[int, StopReason] | None:
    """(k, reason) once the fit is over."""
    if rule.k is None:
        full = stopping.exhausted_at(factor.pivots, factor.jitters, rule.patience)
        settled = stopping.converged_at(factor.y if full is None else factor.y[:full], rule.tol, rule.patience)
        if settled is not None:
            return settled, "tol"
        if full is not None:
            return full, "rank"
    if exhausted:
        return factor.size, "distinct"
    if factor.size == rule.limit:
        return factor.size, "k_max" if rule.k is None else "fixed"
    return None


def weights(factor: Factor, k: int, constraint: Constraint, solver: Solver) -> Vector:
    """α on the first k centres, free or constrained."""
    if constraint == "simplex":
        return simplex.minimise(factor.lower(k), factor.y[:k])
    free = factor.weights(k) if solver == "cholesky" else conjugate_gradients(factor, k)
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


def conjugate_gradients(factor: Factor, k: int) -> Vector:
    """Kα = κ by conjugate gradients, relative residual 1e-6 or 20 iterations: MATLAB's defaults, as the paper used them.

    The diagonal of K is constant, so scaling by it would change nothing. Early stopping acts as a regulariser; for
    accuracy use the Cholesky factor.
    """
    from scipy.sparse.linalg import cg

    K = gram(factor.radial, factor.centers[:k], factor.centers[:k])
    alpha, _ = cg(K, factor.kappa[:k], rtol=1e-6, atol=0.0, maxiter=20)
    solution: Vector = alpha
    return solution

"""L-BFGS on an error whose weights are eliminated: what moves centres, whatever they are.

An objective gives E and its gradient in some variables, k rows of them; a few of its states know
bounds. The steps are preconditioned by a diagonal that the state brings along.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from kernelmean._types import EPS, Matrix
from kernelmean.engines import Engine, PointCloud

MEMORY_PAIRS = 20  # of a step s and the change y of the gradient, kept with sᵀy
SUFFICIENT_DECREASE = 1e-4  # share of the linear decrease that a step must reach
MAX_TRIALS = 10  # shorter steps tried along one direction
# How far a centre goes, in half-value radii of the kernel: before curvature is known, and ever.
FIRST_STEP_RADII = 0.3
LONGEST_STEP_RADII = 2.0
SUBSAMPLE_POINTS = 65536  # that early steps look at, where there are more than twice as many
LATE_SHARE = 0.2  # of the steps, which look at all points


class State(Protocol):
    """Where a descent stands."""

    @property
    def value(self) -> float:
        """E."""

    @property
    def gradient(self) -> Matrix:
        """(k, m): the gradient of E in the variables."""

    @property
    def metric(self) -> Matrix:
        """(k, 1) or (k, m): the diagonal of the Hessian of E, up to a factor."""

    @property
    def length(self) -> float:
        """The half-value radius of the kernel, in units of :meth:`longest`."""

    def longest(self, steps: Matrix) -> float:
        """How far steps in the variables move a centre, at most."""

    def first_step(self, descent: Matrix) -> Matrix:
        """A gradient, divided by the metric, as long as a step may be before curvature is known."""

    def free(self, x: Matrix) -> Matrix:
        """x without the entries of variables that a bound holds."""


S = TypeVar("S", bound=State)


class Objective(Protocol[S]):
    """E as a function of the variables."""

    def moved(self, state: S, steps: Matrix) -> S | None:
        """The state after steps in the variables; None where float64 cannot tell."""

    def change(self, old: S, new: S) -> Matrix:
        """The difference of the variables of two states."""


@dataclass
class Memory:
    """What L-BFGS remembers of the curvature (Nocedal 1980)."""

    pairs: deque[tuple[Matrix, Matrix, float]] = field(
        default_factory=lambda: deque(maxlen=MEMORY_PAIRS)
    )

    def direction(self, state: State) -> Matrix:
        """−H∇E by the two loops over the pairs (s, y), from H_0 = γD⁻¹.

        γ = sᵀy/yᵀD⁻¹y of the last pair, D the metric of the state.
        """
        q = state.free(state.gradient.copy())
        shares = []
        for s, y, sy in reversed(self.pairs):
            shares.append(dot(s, q) / sy)
            q -= shares[-1] * y
        D = state.metric
        if self.pairs:
            _, y, sy = self.pairs[-1]
            q *= sy / dot(y, y / D) / D
        else:
            q = state.first_step(q)
        for (s, y, sy), share in zip(self.pairs, reversed(shares), strict=True):
            q += s * (share - dot(y, q) / sy)
        return -state.free(q)

    def learn(self, objective: Objective[S], old: S, new: S) -> None:
        """Keep a pair if it shows positive curvature, without which H would not stay positive."""
        s = new.free(old.free(objective.change(old, new)))
        y = new.free(old.free(new.gradient - old.gradient))
        sy = dot(s, y)
        if sy > EPS * np.sqrt(dot(s, s) * dot(y, y)):
            self.pairs.append((s, y, sy))


def minimise(objective: Objective[S], state: S, iterations: int, memory: Memory) -> S:
    """At most so many steps of L-BFGS, each of which lowers E.

    There are fewer where rounding leaves no descent.
    """
    for _ in range(iterations):
        if not state.free(state.gradient).any():
            break
        found = _step(objective, state, memory.direction(state))
        if found is None and memory.pairs:
            memory.pairs.clear()
            found = _step(objective, state, memory.direction(state))
        if found is None:
            break
        memory.learn(objective, state, found)
        state = found
    return state


def _step(objective: Objective[S], state: S, direction: Matrix) -> S | None:
    """The first of ever shorter steps that lowers E by a share of its slope (Armijo).

    Steps are sized by a parabola.
    """
    slope = dot(direction, state.gradient)
    farthest = state.longest(direction)
    if not slope < 0.0 or not farthest < np.inf:
        return None
    t = min(1.0, LONGEST_STEP_RADII * state.length / farthest)
    for _ in range(MAX_TRIALS):
        trial = objective.moved(state, t * direction)
        if trial is not None and trial.value <= state.value + SUFFICIENT_DECREASE * t * slope:
            return trial if trial.value < state.value else None
        rise = np.inf if trial is None else trial.value - state.value - t * slope
        t *= float(np.clip(-0.5 * t * slope / rise, 0.1, 0.5))
    return None


def stages(
    cloud: PointCloud, engine: Engine, iterations: int, rng: np.random.Generator
) -> Iterator[tuple[PointCloud, int]]:
    """What the steps look at, and how many of them: the last stage is always the whole sample.

    Of many points, the early steps look at a subsample drawn by weight, and the last ones, which
    start with the curvature learnt there, at all: several times faster than all steps on all
    points, for an error that is a few per cent larger at an equal number of steps.
    """
    many = cloud.summary.size > 2 * SUBSAMPLE_POINTS
    late = max(1, round(LATE_SHARE * iterations)) if many else iterations
    if late < iterations:
        u = (np.arange(SUBSAMPLE_POINTS) + rng.random(SUBSAMPLE_POINTS)) / SUBSAMPLE_POINTS
        yield engine.load(cloud.rows(cloud.locate(u))), iterations - late
    yield cloud, late


def dot(a: Matrix, b: Matrix) -> float:
    """Σ_ai A_ai B_ai."""
    return float(np.einsum("ai,ai->", a, b))

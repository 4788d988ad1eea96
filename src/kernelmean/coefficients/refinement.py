"""Centres that leave the data: L-BFGS on the error itself.

With the weights eliminated, the squared error depends on the positions of the centres alone,

E(C) = min_α αᵀK(C)α − 2κ(C)ᵀα,

the minimum over all α or over a convex set of them. By the envelope theorem its gradient is the one
at fixed α, with g' = dg/d(r²) and all sums over centres b and points j:

∂E/∂c_a = 4α_a [Σ_j p_j g'(c_a, x_j)(x_j − c_a) − Σ_b α_b g'(c_a, c_b)(c_b − c_a)].

Steps and gradients are in units of the kernel's own length, rounded to a power of two: at lengths
of 1e±150 their squares would not fit a float, and dividing by a power of two costs no digit.

A step costs one kernel sum with 1 + d columns (two sums where g' is no multiple of g) and one k × k
factorisation: time O(n·k·d + k³), linear in n.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError

from kernelmean._lazy import lazy
from kernelmean._types import EPS, IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import RadialFunction, Slope
from kernelmean.linalg.factor import Factor, cholesky, product
from kernelmean.linalg.gram import gram
from kernelmean.linalg.pursuit import GreedyPursuit

MEMORY_PAIRS = 20  # of a step s and the change y of the gradient, kept with sᵀy
SUFFICIENT_DECREASE = 1e-4  # share of the linear decrease that a step must reach
MAX_TRIALS = 10  # shorter steps tried along one direction
# How far a centre goes, in half-value radii of the kernel: before curvature is known, and ever.
FIRST_STEP_RADII = 0.3
LONGEST_STEP_RADII = 2.0
# Share of the mean α² that is added to the α² of a centre: of one alone, of one that coincides.
ALONE_SHARE = 0.003
COINCIDENT_SHARE = 0.5
SUBSAMPLE_POINTS = 65536  # that early steps look at, where there are more than twice as many
LATE_SHARE = 0.2  # of the steps, which look at all points

Solve = Callable[[Factor, Vector | None], Vector]


@dataclass(frozen=True)
class Objective:
    """E(C) on the points of a cloud.

    ``solve`` gives the best α of a factor, free or constrained.
    """

    cloud: PointCloud
    radial: RadialFunction
    slope: Slope
    solve: Solve

    @lazy
    def length(self) -> float:
        """The half-value radius of the kernel, in units of ``unit``."""
        return half_radius(self.radial) / self.unit

    @lazy
    def unit(self) -> float:
        """The power of two next above that radius."""
        return math.ldexp(1.0, math.frexp(half_radius(self.radial))[1])

    def at(self, centers: Points, guess: Vector | None = None) -> State | None:
        """E and its gradient; None where float64 cannot tell.

        ``guess`` are weights of centres close by.
        """
        kappa, pull = self._sums(centers)
        K = gram(self.radial, centers, centers)
        factor = Factor(
            self.radial, lambda _, new, jitter: (np.empty((len(new), 0)), cholesky(K, jitter))
        )
        try:
            factor.append(centers, kappa)
            alpha = self.solve(factor, guess)
        except LinAlgError:
            return None
        state = State(factor, alpha, factor.value(alpha), *self._gradient(centers, alpha, pull, K))
        return state if np.isfinite(state.value) and np.isfinite(state.gradient).all() else None

    @property
    def _one_sum_serves_both(self) -> bool:
        return self.slope.radial == self.radial

    def _sums(self, centers: Points) -> tuple[Vector, Points]:
        """κ_a = Σ_j p_j g(c_a, x_j), and Σ_j p_j ψ(c_a, x_j)(x_j − c_a) with g' = −rate·ψ."""
        moments = self.cloud.kernel_moments(self.slope.radial, centers)
        kappa = (
            moments[:, 0].copy()
            if self._one_sum_serves_both
            else self.cloud.kernel_sum(self.radial, centers)
        )
        return kappa, moments[:, 1:]

    def _gradient(
        self, centers: Points, alpha: Vector, pull: Points, K: Matrix
    ) -> tuple[Points, Vector]:
        """The gradient of E in each centre, and how near the nearest other centre is.

        −4·rate·α_a [Σ_j p_j ψ(c_a, x_j)(x_j − c_a) − Σ_b α_b ψ(c_a, c_b)(c_b − c_a)], and max_{b≠a}
        g(c_a, c_b)².
        """
        origin = np.median(centers, axis=0)
        W = np.column_stack([alpha[:, None] * (centers - origin), alpha])
        psi = K if self._one_sum_serves_both else gram(self.slope.radial, centers, centers)
        sums = product(psi, W)
        own_pull = sums[:, :-1] - sums[:, -1:] * (centers - origin)
        gradient: Points = (
            -4
            * (self.slope.rate * self.unit * self.unit)
            * alpha[:, None]
            * ((pull - own_pull) / self.unit)
        )
        np.fill_diagonal(K, 0.0)
        return gradient, K.max(axis=1) ** 2


@dataclass(frozen=True)
class State:
    """Centres with their factor, their best weights, E and unit·∂E/∂C.

    It also knows how much of each centre the nearest other one explains.
    """

    factor: Factor
    alpha: Vector
    value: float
    gradient: Points
    overlap: Vector

    @property
    def centers(self) -> Points:
        return self.factor.centers


def refine(
    objective: Objective, engine: Engine, centers: Points, iterations: int, rng: np.random.Generator
) -> Factor | None:
    """The factor of the moved centres on all points; None where no step was found.

    Of many points, the early steps look at a subsample drawn by weight, and the last ones, which
    start with the curvature learnt there, at all: several times faster than all steps on all
    points, for an error that is a few per cent larger at an equal number of steps.
    """
    moved = centers
    memory = Memory()
    for stage, steps in _stages(objective, engine, iterations, rng):
        start = stage.at(moved)
        if start is None:
            return None
        end = minimise(stage, start, steps, memory)
        moved = end.centers
    return None if np.array_equal(moved, centers) else end.factor


def in_greedy_order(factor: Factor) -> Factor:
    """The same centres in the order for prefixes."""
    order = greedy_order(factor.radial, factor.centers, factor.kappa)
    ordered = Factor(factor.radial)
    ordered.append(factor.centers[order], factor.kappa[order])
    return ordered


def _stages(
    objective: Objective, engine: Engine, iterations: int, rng: np.random.Generator
) -> Iterator[tuple[Objective, int]]:
    """What the steps look at, and how many of them: the last stage is always the whole sample."""
    many = objective.cloud.summary.size > 2 * SUBSAMPLE_POINTS
    late = max(1, round(LATE_SHARE * iterations)) if many else iterations
    if late < iterations:
        u = (np.arange(SUBSAMPLE_POINTS) + rng.random(SUBSAMPLE_POINTS)) / SUBSAMPLE_POINTS
        few = engine.load(objective.cloud.rows(objective.cloud.locate(u)))
        yield Objective(few, objective.radial, objective.slope, objective.solve), iterations - late
    yield objective, late


def minimise(objective: Objective, state: State, iterations: int, memory: Memory) -> State:
    """At most so many steps of L-BFGS, each of which lowers E.

    There are fewer where rounding leaves no descent.
    """
    for _ in range(iterations):
        if not state.gradient.any():
            break
        found = _step(objective, state, memory.direction(state, objective.length))
        if found is None and memory.pairs:
            memory.pairs.clear()
            found = _step(objective, state, memory.direction(state, objective.length))
        if found is None:
            break
        memory.learn(state, found, objective.unit)
        state = found
    return state


def _step(objective: Objective, state: State, direction: Points) -> State | None:
    """The first of ever shorter steps that lowers E by a share of its slope (Armijo).

    Steps are sized by a parabola.
    """
    slope = dot(direction, state.gradient)
    farthest = _longest(direction)
    if not slope < 0.0 or not farthest < np.inf:
        return None
    t = min(1.0, LONGEST_STEP_RADII * objective.length / farthest)
    for _ in range(MAX_TRIALS):
        trial = objective.at(state.centers + objective.unit * (t * direction), state.alpha)
        if trial is not None and trial.value <= state.value + SUFFICIENT_DECREASE * t * slope:
            return trial if trial.value < state.value else None
        rise = np.inf if trial is None else trial.value - state.value - t * slope
        t *= float(np.clip(-0.5 * t * slope / rise, 0.1, 0.5))
    return None


@dataclass
class Memory:
    """What L-BFGS remembers of the curvature (Nocedal 1980)."""

    pairs: deque[tuple[Points, Points, float]] = field(
        default_factory=lambda: deque(maxlen=MEMORY_PAIRS)
    )

    def direction(self, state: State, length: float) -> Points:
        """−H∇E by the two loops over the pairs (s, y), from H_0 = γD⁻¹.

        γ = sᵀy/yᵀD⁻¹y of the last pair. ∂²E/∂c_a² is proportional to α_a² where centres hardly
        overlap, and not where they do: D_a = α_a² + mean α² times a share that rises with max_b
        g(c_a, c_b)².
        """
        q = state.gradient.copy()
        shares = []
        for s, y, sy in reversed(self.pairs):
            shares.append(dot(s, q) / sy)
            q -= shares[-1] * y
        squares = (state.alpha[:, None] / np.abs(state.alpha).max()) ** 2
        D = squares + (ALONE_SHARE + COINCIDENT_SHARE * state.overlap[:, None]) * squares.mean()
        if self.pairs:
            _, y, sy = self.pairs[-1]
            q *= sy / dot(y, y / D) / D
        else:
            q /= D * np.abs(q).max()
            q *= FIRST_STEP_RADII * length / _longest(q)
        for (s, y, sy), share in zip(self.pairs, reversed(shares), strict=True):
            q += s * (share - dot(y, q) / sy)
        return -q

    def learn(self, old: State, new: State, unit: float) -> None:
        """Keep a pair if it shows positive curvature, without which H would not stay positive."""
        s = (new.centers - old.centers) / unit
        y = new.gradient - old.gradient
        sy = dot(s, y)
        if sy > EPS * np.sqrt(dot(s, s) * dot(y, y)):
            self.pairs.append((s, y, sy))


def dot(a: Points, b: Points) -> float:
    """Σ_ai A_ai B_ai."""
    return float(np.einsum("ai,ai->", a, b))


def _longest(steps: Points) -> float:
    return float(np.sqrt((steps**2).sum(axis=1).max()))


def half_radius(radial: RadialFunction) -> float:
    """The distance at which g has fallen to half of g(0), to one digit.

    It is the kernel's own unit of length.
    """
    r = np.array(radial.rate**-0.5)
    while radial(r**2) > 0.5:
        r = 2.0 * r
    while radial(r**2) < 0.5:
        r = 0.9 * r
    return float(r)


def greedy_order(radial: RadialFunction, centers: Points, kappa: Vector) -> IntVector:
    """Each next centre is about the one that lowers E most; then prefixes are good means. Time k³.

    The centres are their own pool of candidates; one that adds nothing float64 can see comes last.
    """
    picks = GreedyPursuit(radial, False, centers, kappa).take(len(centers))
    left = np.ones(len(centers), dtype=bool)
    left[picks] = False
    return np.concatenate([picks, np.flatnonzero(left)])

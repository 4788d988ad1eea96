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
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.coefficients.descent import FIRST_STEP_RADII, Memory, minimise, stages
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import RadialFunction, Slope
from kernelmean.linalg.factor import Factor, cholesky, product
from kernelmean.linalg.gram import gram
from kernelmean.linalg.pursuit import GreedyPursuit

# Share of the mean α² that is added to the α² of a centre: of one alone, of one that coincides.
ALONE_SHARE = 0.003
COINCIDENT_SHARE = 0.5

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
        value = factor.value(alpha)
        gradient, overlap = self._gradient(centers, alpha, pull, K)
        state = State(factor, alpha, value, gradient, overlap, self.length)
        return state if np.isfinite(state.value) and np.isfinite(state.gradient).all() else None

    def moved(self, state: State, steps: Points) -> State | None:
        """The state after these steps, in units of ``unit``."""
        return self.at(state.centers + self.unit * steps, state.alpha)

    def change(self, old: State, new: State) -> Points:
        """How far the centres of two states are apart, in units of ``unit``."""
        steps: Points = (new.centers - old.centers) / self.unit
        return steps

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
    length: float

    @property
    def centers(self) -> Points:
        return self.factor.centers

    @property
    def metric(self) -> Matrix:
        """D_a = α_a² + mean α² times a share that rises with max_b g(c_a, c_b)².

        ∂²E/∂c_a² is proportional to α_a² where centres hardly overlap, and not where they do.
        """
        squares = (self.alpha[:, None] / np.abs(self.alpha).max()) ** 2
        metric: Matrix = (
            squares + (ALONE_SHARE + COINCIDENT_SHARE * self.overlap[:, None]) * squares.mean()
        )
        return metric

    def longest(self, steps: Points) -> float:
        """The longest step."""
        return _longest(steps)

    def first_step(self, descent: Points) -> Points:
        """Along the gradient divided by the metric, whose scale says nothing."""
        step: Points = descent / (self.metric * np.abs(descent).max())
        step *= FIRST_STEP_RADII * self.length / _longest(step)
        return step

    def free(self, x: Points) -> Points:
        """All of x: centres may go anywhere."""
        return x


def refine(
    objective: Objective, engine: Engine, centers: Points, iterations: int, rng: np.random.Generator
) -> Factor | None:
    """The factor of the moved centres on all points; None where no step was found."""
    moved = centers
    memory = Memory()
    for cloud, steps in stages(objective.cloud, engine, iterations, rng):
        stage = replace(objective, cloud=cloud)
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

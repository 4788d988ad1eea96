"""Atoms that move and widen: L-BFGS on the error in centres and scalar spreads together.

With the weights eliminated, E depends on the centres c and on the variances v of the atoms, in the
variables c and q = log(1 + v/τ²) ≥ 0. With V_a = τ² + v_a, W_ab = τ² + v_a + v_b, G_a(x) the kernel
blurred by atom a, and all sums over atoms b and points j,

∂E/∂c_a = −2α_a [Σ_j p_j G_a(x_j)(x_j − c_a)/V_a − Σ_b α_b K_ab (c_b − c_a)/W_ab],

∂E/∂v_a = −2α_a [Σ_j p_j G_a(x_j)(r²_aj/V_a − d)/(2V_a) − Σ_b α_b K_ab (r²_ab/W_ab − d)/(2W_ab)].

At q = 0 an atom is a point; the bound holds it there while the gradient would make it narrower. A
step costs one sum over all pairs with 2 + d columns and one k × k factorisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError
from scipy.spatial.distance import cdist

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Vector
from kernelmean.coefficients.descent import FIRST_STEP_RADII, Memory, minimise, stages
from kernelmean.coefficients.refinement import ALONE_SHARE, COINCIDENT_SHARE, Solve
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.factor import Factor, cholesky, product
from kernelmean.linalg.gram import log_gram, squared_norms

TINY = float(np.finfo(np.float64).tiny)


def unit_of(radial: RadialFunction) -> float:
    """The power of two next above τ, exact to divide by."""
    return math.ldexp(1.0, math.frexp(math.sqrt(variance(radial)))[1])


def with_weights(
    radial: RadialFunction,
    solve: Solve,
    atoms: Atoms,
    kappa: Vector,
    K: Matrix,
    guess: Vector | None,
) -> tuple[Factor, Vector] | None:
    """The factor of atoms whose K is known, and their best weights; None where there is none."""
    factor = Factor(radial, lambda _, new, jitter: (np.empty((len(new), 0)), cholesky(K, jitter)))
    try:
        factor.append(atoms, kappa)
        return factor, solve(factor, guess)
    except LinAlgError:
        return None


def curvatures(alpha: Vector, K: Matrix) -> Vector:
    """α_a²K_aa, and a share of their mean that rises with the overlap with another atom.

    The second derivatives of E are multiples of it where atoms hardly overlap, and less where they
    do.
    """
    norms = np.sqrt(np.maximum(np.diagonal(K), TINY))
    cosines = K / norms[:, None] / norms
    np.fill_diagonal(cosines, 0.0)
    squares = (alpha * norms) ** 2
    share = ALONE_SHARE + COINCIDENT_SHARE * cosines.max(axis=1) ** 2
    found: Vector = squares + share * squares.mean()
    return found


def newton_step(descent: Matrix, metric: Matrix, longest: Callable[[Matrix], float]) -> Matrix:
    """Newton's step by the metric alone, cut to a safe length."""
    step: Matrix = descent / metric
    return step * min(1.0, FIRST_STEP_RADII / max(longest(step), TINY))


class MomentSource(Protocol):
    """What atoms are to stand for: the points of a cloud, or a sum over atoms itself."""

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        """(k, 2 + d): the mean over the source of G_a(x) times 1, u and ‖u‖², u = x − c_a."""


@dataclass(frozen=True)
class AtomObjective:
    """E(c, q) for what the atoms stand for; ``solve`` gives the best α of a factor."""

    source: MomentSource
    radial: RadialFunction
    solve: Solve

    @lazy
    def variance(self) -> float:
        """τ²."""
        return variance(self.radial)

    @lazy
    def unit(self) -> float:
        """Centres are in units of it."""
        return unit_of(self.radial)

    def at(self, atoms: Atoms, guess: Vector | None = None) -> AtomState | None:
        """E and its gradient; None where float64 cannot tell."""
        moments = self.source.atom_moments(self.radial, atoms)
        K = np.exp(log_gram(self.radial, atoms, atoms))
        solved = with_weights(self.radial, self.solve, atoms, moments[:, 0].copy(), K, guess)
        if solved is None:
            return None
        factor, alpha = solved
        gradient = self._gradient(atoms, alpha, moments, K)
        value = factor.value(alpha)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return None
        return AtomState(
            factor, alpha, value, gradient, self._metric(atoms, alpha, K), self.variance, self.unit
        )

    def moved(self, state: AtomState, steps: Matrix) -> AtomState | None:
        """The state after steps of c, in units of ``unit``, and of q, no lower than 0."""
        centers = state.atoms.centers + self.unit * steps[:, :-1]
        widths = np.maximum(state.log_widths + steps[:, -1], 0.0)
        return self.at(Atoms(centers, self.variance * np.expm1(widths)), state.alpha)

    def change(self, old: AtomState, new: AtomState) -> Matrix:
        """How far two states are apart in c and q."""
        centers = (new.atoms.centers - old.atoms.centers) / self.unit
        return np.column_stack([centers, new.log_widths - old.log_widths])

    def _gradient(self, atoms: Atoms, alpha: Vector, moments: Matrix, K: Matrix) -> Matrix:
        """(k, d + 1): unit·∂E/∂c and ∂E/∂q = (τ² + v)·∂E/∂v."""
        assert atoms.spreads is not None
        d = atoms.dimension
        V = self.variance + atoms.spreads
        W = V[:, None] + atoms.spreads
        squared = cdist(atoms.centers, atoms.centers, "sqeuclidean")
        pulls = K / W * self.unit**2
        origin = np.median(atoms.centers, axis=0)
        offsets = (atoms.centers - origin) / self.unit
        sums = product(pulls, np.column_stack([alpha[:, None] * offsets, alpha]))
        own = sums[:, :-1] - sums[:, -1:] * offsets
        theirs = moments[:, 1:-1] / self.unit * (self.unit**2 / V)[:, None]
        widening = 0.5 * (moments[:, -1] / V - d * moments[:, 0])
        inner = K * (V[:, None] / W) * (0.5 * squared / W - 0.5 * d)
        return -2.0 * alpha[:, None] * np.column_stack([theirs - own, widening - inner @ alpha])

    def _metric(self, atoms: Atoms, alpha: Vector, K: Matrix) -> Matrix:
        """The diagonal of the Hessian where atoms hardly overlap, and more where they do.

        With W = τ² + 2v and A of :func:`curvatures` it is 2A/W in each coordinate of c, and
        dA(V/W)² in q.
        """
        assert atoms.spreads is not None
        W = self.variance + 2.0 * atoms.spreads
        A = curvatures(alpha, K)
        d = atoms.dimension
        of_centers = np.repeat((2.0 * A * (self.unit**2 / W))[:, None], d, axis=1)
        return np.column_stack([of_centers, d * A * ((self.variance + atoms.spreads) / W) ** 2])


@dataclass(frozen=True)
class AtomState:
    """Atoms with their factor, their best weights, E, its gradient in (c, q), and its metric."""

    factor: Factor
    alpha: Vector
    value: float
    gradient: Matrix
    metric: Matrix
    variance: float  # τ²
    unit: float  # of c
    length: float = 1.0  # steps are in units of √(τ² + 2v), the width of an atom's square

    @property
    def atoms(self) -> Atoms:
        """The atoms."""
        return self.factor.atoms

    @lazy
    def spreads(self) -> Vector:
        """v."""
        assert self.atoms.spreads is not None
        return self.atoms.spreads

    @lazy
    def log_widths(self) -> Vector:
        """q."""
        widths: Vector = np.log1p(self.spreads / self.variance)
        return widths

    def longest(self, steps: Matrix) -> float:
        """The longest step of a centre, in units of its own width, or of a q."""
        lengths = np.sqrt((steps[:, :-1] ** 2).sum(axis=1)) * self.unit
        relative = lengths / np.sqrt(self.variance + 2.0 * self.spreads)
        return max(float(relative.max()), float(np.abs(steps[:, -1]).max()))

    def first_step(self, descent: Matrix) -> Matrix:
        """Newton's step by the metric alone, cut to a safe length."""
        return newton_step(descent, self.metric, self.longest)

    def free(self, x: Matrix) -> Matrix:
        """x without q of the atoms that are points and would become narrower still."""
        held = (self.spreads <= 0.0) & (self.gradient[:, -1] > 0.0)
        if not held.any():
            return x
        freed = x.copy()
        freed[held, -1] = 0.0
        return freed


def refine(
    cloud: PointCloud,
    radial: RadialFunction,
    solve: Solve,
    engine: Engine,
    atoms: Atoms,
    iterations: int,
    rng: np.random.Generator,
) -> AtomState | None:
    """The atoms after so many steps, with their factor on all points; None where none was found."""
    memory = Memory()
    end: AtomState | None = None
    moved = atoms
    for few, steps in stages(cloud, engine, iterations, rng):
        stage = AtomObjective(few, radial, solve)
        start = stage.at(moved)
        if start is None:
            return None
        end = minimise(stage, start, steps, memory)
        moved = end.atoms
    return end


class Moved(Protocol):
    """Atoms at the end of a descent."""

    @property
    def factor(self) -> Factor:
        """Of the atoms, on all points."""

    @property
    def alpha(self) -> Vector:
        """Their best weights."""


def by_share(state: Moved) -> Factor:
    """The same atoms in the order of their shares α_a²K_aa of the squared norm, for prefixes."""
    shares = state.alpha**2 * squared_norms(state.factor.radial, state.factor.atoms)
    order = np.argsort(-shares, kind="stable")
    ordered = Factor(state.factor.radial)
    ordered.append(state.factor.atoms[order], state.factor.kappa[order])
    return ordered

"""Atoms with covariances that move, widen and turn: L-BFGS in c and B, S = BBᵀ.

The gradient in S is the one of ``atom_refinement`` with matrices for numbers; with P = (τ²I + S)⁻¹,
M = Σ_j p_j G(x_j)uuᵀ and u = x_j − c it is −2α_a[½(PMP − κP) − Σ_b α_b ∂K_ab/∂S_a], and that in B
twice as much times B. The axes of S at the start are the frame in which B is written, so that the
diagonal of the Hessian says most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Vector
from kernelmean.coefficients.atom_refinement import (
    curvatures,
    newton_step,
    unit_of,
    with_weights,
)
from kernelmean.coefficients.atom_slopes import slopes
from kernelmean.coefficients.descent import Memory, minimise, stages
from kernelmean.coefficients.refinement import Solve
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Atoms, RadialFunction, Spreads
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram

# Least eigenvalue of S at the start, so that flat directions can grow: B = 0 has no slope.
FLOOR_SHARE = 0.05  # of the mean eigenvalue, but
FLOOR_KERNEL = 0.01  # at most this share of τ², and
FLOOR_LONE = 1e-4  # this share of τ² for a lone point
DAMPING = 0.5  # share of the mean eigenvalue that is added to each in the metric


@dataclass(frozen=True)
class FullObjective:
    """E(c, B) on the points of a cloud; ``solve`` gives the best α of a factor."""

    cloud: PointCloud
    radial: RadialFunction
    solve: Solve
    frames: Spreads  # (k, d, d) axes in whose coordinates B is written, as columns

    @lazy
    def variance(self) -> float:
        """τ²."""
        return variance(self.radial)

    @lazy
    def unit(self) -> float:
        """All variables are in units of it."""
        return unit_of(self.radial)

    def at(self, variables: Matrix, guess: Vector | None = None) -> FullState | None:
        """E and its gradient; None where float64 cannot tell."""
        atoms = self.atoms(variables)
        moments = self.cloud.atom_moments(self.radial, atoms)
        K = gram(self.radial, atoms, atoms)
        solved = with_weights(self.radial, self.solve, atoms, moments[:, 0].copy(), K, guess)
        if solved is None:
            return None
        factor, alpha = solved
        gradient = self._gradient(variables, atoms, alpha, moments, K)
        value = factor.value(alpha)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return None
        metric = self._metric(variables, alpha, K)
        return FullState(factor, alpha, value, gradient, metric, variables)

    def moved(self, state: FullState, steps: Matrix) -> FullState | None:
        """The state after these steps."""
        return self.at(state.variables + steps, state.alpha)

    def change(self, old: FullState, new: FullState) -> Matrix:
        """How far two states are apart."""
        return new.variables - old.variables

    def atoms(self, variables: Matrix) -> Atoms:
        """The atoms of variables (c, B)."""
        B = self.frames @ self._roots(variables)
        S = B @ np.swapaxes(B, 1, 2) * self.unit**2
        d = self.frames.shape[1]
        return Atoms(variables[:, :d] * self.unit, 0.5 * (S + np.swapaxes(S, 1, 2)))

    def _roots(self, variables: Matrix) -> Spreads:
        d = self.frames.shape[1]
        return variables[:, d:].reshape(-1, d, d)

    def _gradient(
        self, variables: Matrix, atoms: Atoms, alpha: Vector, moments: Matrix, K: Matrix
    ) -> Matrix:
        """(k, d + d²): the gradient in c and B."""
        k, d = atoms.centers.shape
        P = atoms.blurred(self.variance).precisions()
        M = moments[:, 1 + d :].reshape(k, d, d)
        of_centers, of_spreads = slopes(self.variance, atoms, K, alpha)
        pulls = np.einsum("aij,aj->ai", P, moments[:, 1 : 1 + d]) - of_centers
        widening = 0.5 * (P @ M @ P - moments[:, 0, None, None] * P) - of_spreads
        F = self.frames
        turned = np.swapaxes(F, 1, 2) @ widening @ F @ self._roots(variables)
        gradient = np.column_stack([pulls * self.unit, 2 * self.unit**2 * turned.reshape(k, d * d)])
        downhill: Matrix = -2.0 * alpha[:, None] * gradient
        return downhill

    def _metric(self, variables: Matrix, alpha: Vector, K: Matrix) -> Matrix:
        """As for scalar spreads, with an eigenvalue for each axis of an atom."""
        B = self._roots(variables)
        k, d, _ = B.shape
        t2 = self.variance / self.unit**2
        A = 2.0 * curvatures(alpha, K)
        s = (B**2).sum(axis=2)  # the diagonal of BBᵀ
        W = t2 + 2.0 * s
        of_centers = np.einsum("aij,aj->ai", self.frames**2, 1.0 / W)
        damped = s + DAMPING * s.mean(axis=1, keepdims=True) + 1e-6 * t2
        of_roots = damped[:, None, :] / (W[:, :, None] * W[:, None, :])
        of_roots[:, range(d), range(d)] *= 2.0
        metric: Matrix = A[:, None] * np.column_stack([of_centers, of_roots.reshape(k, d * d)])
        return metric


@dataclass(frozen=True)
class FullState:
    """Variables with their atoms, their best weights, E, its gradient and its metric."""

    factor: Factor
    alpha: Vector
    value: float
    gradient: Matrix
    metric: Matrix
    variables: Matrix
    length: float = 1.0  # all variables are in units of about τ

    @property
    def atoms(self) -> Atoms:
        """The atoms."""
        return self.factor.atoms

    def longest(self, steps: Matrix) -> float:
        """The longest step of a variable."""
        return float(np.abs(steps).max())

    def first_step(self, descent: Matrix) -> Matrix:
        """Newton's step by the metric alone, cut to a safe length."""
        return newton_step(descent, self.metric, self.longest)

    def free(self, x: Matrix) -> Matrix:
        """All of x: there are no bounds."""
        return x


def refine(
    cloud: PointCloud,
    radial: RadialFunction,
    solve: Solve,
    engine: Engine,
    atoms: Atoms,
    iterations: int,
    rng: np.random.Generator,
) -> FullState | None:
    """The atoms after so many steps, with their factor on all points; None where none was found."""
    assert atoms.spreads is not None
    values, frames = np.linalg.eigh(atoms.spreads)
    objective = FullObjective(cloud, radial, solve, frames)
    tau2 = objective.variance
    mean = np.maximum(values, 0.0).mean(axis=1)
    small = np.minimum(FLOOR_KERNEL * tau2, FLOOR_SHARE * mean)
    floor = np.where(mean > 0.0, small, FLOOR_LONE * tau2)
    roots = np.sqrt(np.maximum(values, floor[:, None]))[:, :, None] * np.eye(values.shape[1])
    variables = np.column_stack([atoms.centers, roots.reshape(len(atoms), -1)]) / objective.unit
    memory = Memory()
    end: FullState | None = None
    for few, steps in stages(cloud, engine, iterations, rng):
        start = replace(objective, cloud=few).at(variables)
        if start is None:
            return None
        end = minimise(replace(objective, cloud=few), start, steps, memory)
        variables = end.variables
    return end

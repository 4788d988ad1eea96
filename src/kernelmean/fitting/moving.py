"""Atoms moved down the exact error to a target that is a sum over atoms itself: no data is needed.

With the weights α eliminated, as in refinement, E = αᵀKα − 2κᵀα depends on the centres c_a and the
variances v_a alone. With r = Σ_b w_b⟨·, b⟩ − Σ_b α_b⟨·, b⟩, the target less the mean,

    ∂E/∂θ_a = −2α_a ∂r(a)/∂θ_a.

A pair of atoms has the inner product G = (τ²/V)^{d/2} exp(−r²/2V), V = τ² + v_a + v_b, and so
∂G/∂c_a = G·(c_b − c_a)/V and ∂G/∂v_a = G·(r²/V − d)/2V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from kernelmean import coefficients
from kernelmean._lazy import lazy
from kernelmean._types import Constraint, Points, Vector
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import BLOCK_PRODUCTS, log_gram, squared_norms, weighted_products

MEMORY_PAIRS = 20  # of steps and changes of the gradient that L-BFGS keeps
# Share of the mean squared norm of a term α_a⟨·, a⟩ that is added to that of each: light atoms move
# far for a small gradient, but not endlessly far.
EVEN_SHARE = 0.05


@dataclass(frozen=True)
class Target:
    """Σ_b w_b⟨·, b⟩ over atoms b, to be met by fewer."""

    radial: RadialFunction
    atoms: Atoms
    weights: Vector
    constraint: Constraint

    def factor(self, atoms: Atoms) -> Factor:
        """The factor of K of some atoms, with their κ."""
        factor = Factor(self.radial)
        kappa = weighted_products(self.radial, atoms, self.atoms, self.weights)
        factor.append(atoms, kappa)
        return factor

    def solve(self, factor: Factor, guess: Vector | None = None) -> Vector:
        """The best weights under the constraint."""
        return coefficients.weights(factor, factor.size, self.constraint, "cholesky", guess)


def moved(target: Target, factor: Factor, steps: int) -> Factor | None:
    """The factor of the atoms after so many steps of L-BFGS over centres and variances.

    Only scalar spreads move; None where they are others, or where float64 finds no way. A step
    takes O(P·k·d + k³) for a target of P atoms.
    """
    if factor.atoms.kind != "scalar":
        return None
    alpha = target.solve(factor)
    if not alpha.any():
        return None
    path = _Path(target, factor, alpha)
    found = minimize(
        path.at,
        np.zeros(path.size),
        jac=True,
        method="L-BFGS-B",
        bounds=path.bounds,
        options={"maxiter": steps, "maxcor": MEMORY_PAIRS, "ftol": 0.0, "gtol": 0.0},
    )
    try:
        return target.factor(path.atoms(found.x))
    except LinAlgError:
        return None


@dataclass(frozen=True)
class _Path:
    """E as a function of one vector of numbers that are about equally stiff.

    An atom has the steps of its centre in units of its width √(τ² + v), and that of log(τ² + v);
    both are divided by how much of the mean the atom is.
    """

    target: Target
    start: Factor
    alpha: Vector

    @property
    def size(self) -> int:
        return len(self.alpha) * (self.start.atoms.dimension + 1)

    @lazy
    def tau2(self) -> float:
        """τ², the variance of the kernel between two atoms."""
        return variance(self.target.radial)

    @lazy
    def log_widths(self) -> Vector:
        """log(1 + v/τ²) at the start."""
        assert self.start.atoms.spreads is not None
        return np.log1p(self.start.atoms.spreads / self.tau2)

    @lazy
    def stiffness(self) -> Vector:
        """|α_a|·‖a‖, of which none is far below the others."""
        squares = self.alpha**2 * squared_norms(self.target.radial, self.start.atoms)
        return np.sqrt((squares + EVEN_SHARE * squares.mean()) / squares.max())

    @lazy
    def units(self) -> Vector:
        """How far a step of one moves each centre."""
        return np.sqrt(self.tau2) * np.exp(0.5 * self.log_widths) / self.stiffness

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """No variance falls below 0."""
        d = self.start.atoms.dimension
        free: list[tuple[float | None, float | None]] = [(None, None)] * d
        least = -self.log_widths * self.stiffness
        return [bound for value in least for bound in (*free, (float(value), None))]

    def atoms(self, x: Vector) -> Atoms:
        """The atoms at x."""
        steps = x.reshape(len(self.alpha), -1)
        centers = self.start.centers + self.units[:, None] * steps[:, :-1]
        log_widths = self.log_widths + steps[:, -1] / self.stiffness
        return Atoms(centers, self.tau2 * np.expm1(np.maximum(log_widths, 0.0)))

    def at(self, x: Vector) -> tuple[float, Vector]:
        """E and its gradient, in units of |E| at the start; infinite where float64 cannot tell."""
        atoms = self.atoms(x)
        try:
            factor = self.target.factor(atoms)
            alpha = self.target.solve(factor, self.alpha)
        except LinAlgError:
            return np.inf, np.zeros_like(x)
        by_center, by_variance = slopes(
            self.target.radial, atoms, self.target.atoms, self.target.weights
        )
        own = slopes(self.target.radial, atoms, atoms, alpha)
        by_width = (by_variance - own[1]) * (self.tau2 + _variances(atoms)) / self.stiffness
        gradient = np.column_stack([(by_center - own[0]) * self.units[:, None], by_width])
        unit = abs(self.start.objective(self.alpha))
        return factor.value(alpha) / unit, np.ravel(-2.0 / unit * alpha[:, None] * gradient)


def slopes(radial: RadialFunction, A: Atoms, B: Atoms, w: Vector) -> tuple[Points, Vector]:
    """The derivatives of Σ_b w_b⟨a, b⟩ by c_a and by v_a, for every a; for scalar spreads."""
    tau2 = variance(radial)
    d = A.dimension
    by_center = np.empty_like(A.centers)
    by_variance = np.empty(len(A))
    origin = B.centers.mean(axis=0)  # differences of sums, in which what is common cancels
    rows = max(1, BLOCK_PRODUCTS // len(B))
    for i in range(0, len(A), rows):
        some = A[i : i + rows]
        V = tau2 + _variances(some)[:, None] + _variances(B)
        logs = log_gram(radial, some, B)
        pulls = np.exp(logs) * w / V
        squares = -2.0 * logs - d * np.log(V / tau2)  # r²/V
        sums = pulls @ np.column_stack([B.centers - origin, np.ones(len(B))])
        by_center[i : i + rows] = sums[:, :-1] - sums[:, -1:] * (some.centers - origin)
        by_variance[i : i + rows] = 0.5 * (pulls * (squares - d)).sum(axis=1)
    return by_center, by_variance


def _variances(atoms: Atoms) -> Vector:
    spreads = atoms.as_kind("scalar").spreads
    assert spreads is not None
    return spreads

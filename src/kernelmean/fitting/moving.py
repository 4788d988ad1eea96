"""Atoms moved down the exact error to a target that is a sum over atoms itself: no data is needed.

The descent that moves the atoms of a sample asks for Σ_j p_j G_a(x_j)(1, u, ‖u‖²), u = x_j − c_a.
In the place of points there are atoms b here, and so the mean over x from N(c_b, v_b I): with
V = τ² + v_a and W = V + v_b the product of both Gaussians is ⟨a, b⟩ times a Gaussian of the mean
c_a + (V/W)(c_b − c_a) and the variance v_b V/W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean import coefficients
from kernelmean._types import Constraint, Matrix, Vector
from kernelmean.coefficients.atom_refinement import AtomObjective, by_share
from kernelmean.coefficients.descent import Memory, minimise
from kernelmean.kernels import Atoms, RadialFunction
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import BLOCK_PRODUCTS, log_gram, weighted_products


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

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        """(k, 2 + d): Σ_b w_b ⟨a, b⟩ times 1 and the means of u and ‖u‖²; for scalar spreads."""
        moments = np.empty((len(atoms), 2 + atoms.dimension))
        rows = max(1, BLOCK_PRODUCTS // len(self.atoms))
        for i in range(0, len(atoms), rows):
            moments[i : i + rows] = self._moments(radial, atoms[i : i + rows])
        return moments

    def _moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        V = variance(radial) + _variances(atoms)[:, None]
        v = _variances(self.atoms)
        terms = np.exp(log_gram(radial, atoms, self.atoms)) * self.weights
        shares = V / (V + v)
        pulls = terms * shares
        origin = np.median(self.atoms.centers, axis=0)  # what all have in common would cancel
        u = pulls @ (self.atoms.centers - origin) - pulls.sum(axis=1)[:, None] * (
            atoms.centers - origin
        )
        squared = cdist(atoms.centers, self.atoms.centers, "sqeuclidean")
        squares = (pulls * (atoms.dimension * v + shares * squared)).sum(axis=1)
        return np.column_stack([terms.sum(axis=1), u, squares])


def moved(target: Target, atoms: Atoms, steps: int) -> Factor | None:
    """The factor of the atoms after so many steps of L-BFGS over centres and variances.

    Only scalar spreads move; None where they are others, or where float64 cannot tell. A step
    takes O(P·k·d + k³) for a target of P atoms.
    """
    if atoms.kind != "scalar":
        return None
    objective = AtomObjective(target, target.radial, target.solve)
    start = objective.at(atoms)
    return None if start is None else by_share(minimise(objective, start, steps, Memory()))


def _variances(atoms: Atoms) -> Vector:
    spreads = atoms.as_kind("scalar").spreads
    assert spreads is not None
    return spreads

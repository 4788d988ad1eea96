"""A path whose centres have left the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean import coefficients, refinement
from kernelmean._types import Constraint, Solver, Vector
from kernelmean.coefficients import Path
from kernelmean.engines import Engine, Room
from kernelmean.factor import Factor
from kernelmean.kernels import Slope


class Refined(NamedTuple):
    """The better of two paths, its weights, and whether its centres moved."""

    path: Path
    weights: Vector
    moved: bool


class Weighting(NamedTuple):
    """Which weights the mean is to have."""

    constraint: Constraint
    solver: Solver

    def of(self, factor: Factor, k: int) -> Vector:
        return coefficients.weights(factor, k, self.constraint, self.solver)

    def while_moving(self, factor: Factor) -> Vector:
        """The minimum that the gradient needs; projected weights are none, so their centres follow the free ones."""
        exact = None if self.constraint == "simplex-projection" else self.constraint
        return coefficients.weights(factor, factor.size, exact, "cholesky")


def refined(
    path: Path, weighting: Weighting, slope: Slope | None, iterations: int, room: Room, engine: Engine, rng: np.random.Generator
) -> Refined:
    """The path after so many steps along ``slope``, or as it was where its mean would not be strictly better."""
    alpha = weighting.of(path.factor, path.k)
    if slope is not None:
        objective = refinement.Objective(room, path.factor.radial, slope, weighting.while_moving)
        factor = refinement.refine(objective, engine, path.centers, iterations, rng)
        if factor is not None:
            moved = weighting.of(factor, path.k)
            if refinement.exact_value(factor, moved) < refinement.exact_value(path.factor, alpha):
                distances = room.nearest(factor.centers).distances()
                return Refined(Path(path.k, path.reason, factor, None, distances), moved, True)
    return Refined(path, alpha, False)

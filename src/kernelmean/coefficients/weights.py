"""The weights of given centres: free, on the simplex, or summing to one."""

from __future__ import annotations

import numpy as np

from kernelmean._types import Constraint, Matrix, Solver, Vector
from kernelmean.linalg import simplex
from kernelmean.linalg.conjugate_gradients import conjugate_gradients
from kernelmean.linalg.factor import Factor
from kernelmean.linalg.gram import gram

CONSTRAINTS = (None, "simplex", "simplex-projection", "sum-to-one")
SOLVERS = ("cholesky", "cg")


def weights(
    factor: Factor, k: int, constraint: Constraint, solver: Solver, guess: Vector | None = None
) -> Vector:
    """α on the first k centres, free or constrained.

    Valid weights near a ``guess`` are found sooner.
    """
    if constraint == "simplex":
        return simplex.minimise(factor.lower(k), factor.y[:k], guess)
    free = (
        factor.weights(k)
        if solver == "cholesky"
        else conjugate_gradients(_gram(factor, k), factor.kappa[:k])
    )
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
    return gram(factor.radial, factor.atoms[:k], factor.atoms[:k])

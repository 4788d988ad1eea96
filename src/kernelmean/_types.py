"""Shapes with names. n = sample points, q = queries, k = centres, d = coordinates."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Points: TypeAlias = NDArray[np.float64]  # (n, d), (q, d) or (k, d)
Vector: TypeAlias = NDArray[np.float64]  # (n,), (q,) or (k,)
Matrix: TypeAlias = NDArray[np.float64]  # (k, k), or several columns of weights
IntVector: TypeAlias = NDArray[np.intp]  # rows of X
Space: TypeAlias = Literal["rkhs", "l2"]
Constraint: TypeAlias = Literal["simplex", "simplex-projection", "sum-to-one"] | None
Solver: TypeAlias = Literal["cholesky", "cg"]
StopReason: TypeAlias = Literal["tol", "k_max", "rank", "distinct", "fixed"]
RandomState: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None

EPS = float(np.finfo(np.float64).eps)

__all__ = [
    "EPS",
    "ArrayLike",
    "Constraint",
    "IntVector",
    "Matrix",
    "Points",
    "RandomState",
    "Solver",
    "Space",
    "StopReason",
    "Vector",
]

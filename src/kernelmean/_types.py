"""Shapes with names. n = sample points, q = queries, k = centres, d = coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelmean._random import Streams

Points: TypeAlias = NDArray[np.float64]  # (n, d), (q, d) or (k, d)
Vector: TypeAlias = NDArray[np.float64]  # (n,), (q,) or (k,)
Matrix: TypeAlias = NDArray[np.float64]  # (k, k), or several columns of weights
IntVector: TypeAlias = NDArray[np.intp]  # rows of X
Space: TypeAlias = Literal["rkhs", "l2"]
Constraint: TypeAlias = Literal["simplex", "simplex-projection", "sum-to-one"] | None
Solver: TypeAlias = Literal["cholesky", "cg"]
StopReason: TypeAlias = Literal[
    "tol", "k_max", "rank", "distinct", "fixed", "error", "likelihood", "derived"
]
RandomState: TypeAlias = (
    int | np.integer[Any] | np.random.Generator | np.random.RandomState | Streams | None
)


class Batches(Protocol):
    """A sample that is read block by block, as often as wanted.

    The rows are the same in the same order every time. ``kernelmean._checks.is_batched`` tells it
    from an array. What needs all of it at once takes ``np.asarray``.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d); may take a pass over the rows."""

    @property
    def columns(self) -> list[str] | None:
        """Names of the d coordinates, where there are any."""

    def batches(self, rows: int | None = None) -> Iterator[Points]:
        """(m, d) finite float64 blocks of ``rows`` rows each, the last one shorter, in order."""

    def __len__(self) -> int: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Points: ...


EPS = float(np.finfo(np.float64).eps)

__all__ = [
    "EPS",
    "ArrayLike",
    "Batches",
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

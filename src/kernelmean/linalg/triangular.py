"""Triangular solves and row deletion inside a larger array, by LAPACK's vector routines and NumPy.

The same as the loops of :mod:`kernelmean.compiled.triangular`, which do without copies of the block
and are worth compiling for many or large solves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import drot

from kernelmean._types import Matrix, Vector
from kernelmean._work import compiling_pays
from kernelmean.linalg.factor import solve_lower


class Operations(NamedTuple):
    """What is done with the leading block of a triangle; all of it in place."""

    forward: Callable[[Matrix, int, Vector], float]
    backward: Callable[[Matrix, int, Vector], None]
    delete_row: Callable[[Matrix, int, int, Matrix], None]


def operations(steps: float) -> Operations:
    """For as many steps of NumPy as all that is done with a triangle takes."""
    if not compiling_pays(steps):
        return Operations(forward, backward, delete_row)
    from kernelmean.compiled import triangular

    return Operations(triangular.forward, triangular.backward, triangular.delete_row)


def forward(factor: Matrix, size: int, row: Vector) -> float:
    """row ← L⁻¹ row for the leading block of L; returns ‖row‖²."""
    if size:
        row[:size] = solve_lower(factor[:size, :size], row[:size])
    return float(row[:size] @ row[:size])


def backward(factor: Matrix, size: int, x: Vector) -> None:
    """x ← L⁻ᵀ x for the leading block of L."""
    if size:
        x[:size] = solve_lower(factor[:size, :size], x[:size], transposed=True)


def delete_row(factor: Matrix, size: int, p: int, coordinates: Matrix) -> None:
    """Delete row p of L: shift the later rows up, restore the triangle by rotations.

    The coordinates are rotated as well.
    """
    # Columns p, …, size − 1 of the later rows, and below them the coordinates; as rows here.
    columns = np.concatenate([factor[p + 1 : size, p:size], coordinates[:, p:size]]).T.copy()
    for i in range(size - 1 - p):
        pivot = math.hypot(columns[i, i], columns[i + 1, i])
        cosine = columns[i, i] / pivot
        sine = columns[i + 1, i] / pivot
        drot(columns[i, i:], columns[i + 1, i:], cosine, sine, overwrite_x=True, overwrite_y=True)
    later = size - 1 - p
    factor[p : size - 1, :p] = factor[p + 1 : size, :p]
    factor[p : size - 1, p : size - 1] = np.tril(columns[:later, :later].T)
    coordinates[:, p:size] = columns[:, later:].T

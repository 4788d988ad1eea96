"""Triangular solves and row deletion inside a larger array, where LAPACK's wrappers would copy the
block each time.
"""

from __future__ import annotations

import numpy as np

from kernelmean.compiled.compiling import EXACT_MATH, entry


@entry()
def forward(factor, size, row):
    """row ← L⁻¹ row for the leading block of L; returns ‖row‖²."""
    total = 0.0
    for i in range(size):
        partial = 0.0
        for j in range(i):
            partial += factor[i, j] * row[j]
        row[i] = (row[i] - partial) / factor[i, i]
        total += row[i] * row[i]
    return total


@entry()
def backward(factor, size, x):
    """x ← L⁻ᵀ x for the leading block of L, by rows so that memory is read in order."""
    for i in range(size - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= x[i] * factor[i, j]


@entry(EXACT_MATH)
def delete_row(factor, size, p, coordinates):
    """Delete row p of L: shift the later rows up, restore the triangle and the coordinates by
    rotations.
    """
    cosine = np.empty(size)
    sine = np.empty(size)
    for i in range(p, size - 1):
        for j in range(p):
            factor[i, j] = factor[i + 1, j]
        carried = factor[i + 1, p]
        for j in range(p, i):
            following = factor[i + 1, j + 1]
            factor[i, j] = cosine[j] * carried + sine[j] * following
            carried = cosine[j] * following - sine[j] * carried
        pivot = np.hypot(carried, factor[i + 1, i + 1])
        cosine[i] = carried / pivot
        sine[i] = factor[i + 1, i + 1] / pivot
        factor[i, i] = pivot
        for r in range(coordinates.shape[0]):
            upper = coordinates[r, i]
            lower = coordinates[r, i + 1]
            coordinates[r, i] = cosine[i] * upper + sine[i] * lower
            coordinates[r, i + 1] = cosine[i] * lower - sine[i] * upper

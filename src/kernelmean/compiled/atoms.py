"""Inner products of atoms with covariances: one small factorisation for each pair, many at a time.

V = I + (S_a + S_b)/τ² is factorised as LDLᵀ for a group of pairs side by side, so that every step
is one loop over the group. In exact arithmetic no pivot of V is less than 1, and none is let become
so by rounding: covariances of collinear or of coinciding points are as good as any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix
from kernelmean.compiled import elementary, threads
from kernelmean.compiled.compiling import ORDERED_MATH, entry
from kernelmean.kernels import Atoms

TOGETHER = 16  # pairs side by side: a few registers
ROWS = 16  # atoms per piece of work

log = elementary.log


def log_products(variance: float, A: Atoms, B: Atoms, count: int | None = None) -> Matrix:
    """log K_ab = −½ uᵀV⁻¹u − ½ log|V/τ²| for V = τ²I + S_a + S_b and u = c_a − c_b.

    Parameters
    ----------
    variance : float
        τ², the variance of the Gaussian kernel whose peak is 1.
    A, B : Atoms
        The atoms; where B is A half of the pairs are computed, and the result is symmetric.
    count : int, optional
        Threads, which change nothing but the speed; by default as many as engines take.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The logarithms of the inner products.
    """
    found = np.empty((len(A), len(B)))
    symmetric = A is B
    rows = (np.ascontiguousarray(A.centers), _lower_halves(A, variance))
    columns = [_side_by_side(values) for values in (B.centers, _lower_halves(B, variance))]
    tasks = [
        (rows[0][a], rows[1][a], *columns, variance**-0.5, a.start if symmetric else 0, found[a])
        for a in (slice(start, start + ROWS) for start in range(0, len(A), ROWS))
    ]
    threads.run(_log_products, tasks, threads.default_count() if count is None else count)
    if symmetric:
        for start in range(0, len(A), ROWS):
            own = slice(start, start + ROWS)
            found[start + ROWS :, own] = found[own, start + ROWS :].T
    return found


def _lower_halves(atoms: Atoms, variance: float) -> Matrix:
    """(k, d(d + 1)/2): the lower halves of S/τ², row by row."""
    spreads = atoms.as_kind("full").spreads
    assert spreads is not None
    rows, columns = np.tril_indices(atoms.dimension)
    return np.ascontiguousarray(spreads[:, rows, columns] / variance)


def _side_by_side(values: Matrix) -> NDArray[np.float64]:
    """(groups, numbers, TOGETHER): numbers of one atom in a column, the last group filled up."""
    padded = np.zeros((-(-len(values) // TOGETHER) * TOGETHER, values.shape[1]))
    padded[: len(values)] = values
    groups = padded.reshape(-1, TOGETHER, values.shape[1])
    return np.ascontiguousarray(np.swapaxes(groups, 1, 2))


@entry(ORDERED_MATH)
def _log_products(rows, row_spreads, columns, column_spreads, scale, first, out):
    """out_ab for some atoms a and all atoms b from ``first`` on, in order: exchanging a and b
    changes no bit.
    """
    d = rows.shape[1]
    V = np.empty((row_spreads.shape[1], TOGETHER))
    u = np.empty((d, TOGETHER))
    ratios = np.empty((d, TOGETHER))
    quadratic = np.empty(TOGETHER)
    log_determinant = np.empty(TOGETHER)
    inverse = np.empty(TOGETHER)
    for group in range(first // TOGETHER, len(columns)):
        last = min(TOGETHER, out.shape[1] - group * TOGETHER)
        for a in range(len(rows)):
            for i in range(len(V)):
                for j in range(TOGETHER):
                    V[i, j] = row_spreads[a, i] + column_spreads[group, i, j]
            for t in range(d):
                for j in range(TOGETHER):
                    u[t, j] = (rows[a, t] - columns[group, t, j]) * scale
            for j in range(TOGETHER):
                quadratic[j] = 0.0
                log_determinant[j] = 0.0
            for t in range(d):
                for j in range(TOGETHER):
                    pivot = max(1.0 + V[t * (t + 1) // 2 + t, j], 1.0)
                    inverse[j] = 1.0 / pivot
                    log_determinant[j] += log(pivot)
                    quadratic[j] += u[t, j] * u[t, j] * inverse[j]
                for r in range(t + 1, d):
                    for j in range(TOGETHER):
                        ratios[r, j] = V[r * (r + 1) // 2 + t, j] * inverse[j]
                        u[r, j] -= ratios[r, j] * u[t, j]
                    for s in range(t + 1, r + 1):
                        for j in range(TOGETHER):
                            V[r * (r + 1) // 2 + s, j] -= ratios[r, j] * V[s * (s + 1) // 2 + t, j]
            for j in range(last):
                out[a, group * TOGETHER + j] = -0.5 * (quadratic[j] + log_determinant[j])

"""Smooth functions of the ranks of each column: few numbers that tell how a column is spread.

A column becomes cells: its values, or where it has many, the gaps between some of them, in order.
With the shares p of the rows in the cells, a cell has the mid-rank u = (p before it) + p/2 in
(0, 1), and the functions are

    ψ_1, …, ψ_m = cos πu, …, cos πmu, centred and made orthonormal under p, in this order.

Only the order of the values enters, so that neither units nor outliers nor monotone maps matter. A
column with v distinct values has v − 1 functions, and zeros for the others; a constant has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector

KNOTS = 512  # at most so many values of a column have cells of their own
KNOT_ROWS = 16384  # at most so many rows are sorted for them
DEPENDENT = 1e-6  # a function with so small a share of its variance left has none of its own
STEP = 1e-4  # of the differences that stand for derivatives

Codes = NDArray[np.int16]  # (n, d): the cell of each row in each column


def cell_codes(pool: Points, rng: np.random.Generator) -> tuple[Codes, int]:
    """The cell of each row in each column, and how many cells a column has.

    Cell 2i + 1 is knot i itself, 2i what lies between it and the one before. Knots are quantiles of
    rows drawn without regard to the sample they are from.
    """
    few = len(pool) <= KNOT_ROWS
    rows = np.arange(len(pool)) if few else rng.choice(len(pool), KNOT_ROWS, replace=False)
    codes = np.empty(pool.shape, dtype=np.int16)
    for j in range(pool.shape[1]):
        column = np.ascontiguousarray(pool[:, j])
        ordered = np.sort(column[rows])
        values = ordered[np.append(True, ordered[1:] > ordered[:-1])]
        if len(values) > KNOTS:
            values = np.unique(ordered[_even(len(ordered))])
        knot = np.searchsorted(values, column)
        codes[:, j] = 2 * knot + (values[np.minimum(knot, len(values) - 1)] == column)
    return codes, 2 * min(KNOTS, len(pool)) + 1


def _even(n: int) -> IntVector:
    """KNOTS of n positions, evenly, with the first and the last."""
    found: IntVector = np.rint(np.linspace(0, n - 1, KNOTS)).astype(np.intp)
    return found


def cell_shares(codes: Codes, cells: int, weights: Vector | None) -> Matrix:
    """(d, cells): the share of the rows in each cell, by weight."""
    found = np.zeros((codes.shape[1], cells))
    for counts, column in zip(found, codes.T, strict=True):
        counts[:] = np.bincount(column, weights, cells)
    total = len(codes) if weights is None else weights.sum()
    return found / total


def mid_ranks(p: Matrix) -> Matrix:
    """u = (p before) + p/2, (d, cells)."""
    return np.cumsum(p, axis=1) - p / 2


def functions(p: Matrix, m: int) -> NDArray[np.float64]:
    """ψ_1, …, ψ_m in every cell, (d, cells, m); zeros where a column has fewer."""
    u = mid_ranks(p)
    found = np.zeros((*p.shape, m))
    for r in range(m):
        # ψ ← cos πru less its mean and its parts along ψ_1, …, ψ_{r−1}; twice, against rounding
        psi = np.sqrt(2.0) * np.cos(np.pi * (r + 1) * u)
        whole = _mean(psi**2, p)
        for _ in range(2):
            psi -= _mean(psi, p)[:, None]
            parts = np.einsum("jc,jc,jcr->jr", p, psi, found[:, :, :r])
            psi -= np.einsum("jcr,jr->jc", found[:, :, :r], parts)
        left = _mean(psi**2, p)
        own = left > DEPENDENT * np.maximum(whole, DEPENDENT)
        found[own, :, r] = psi[own] / np.sqrt(left[own])[:, None]
    return found


def responses(p: Matrix, m: int, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """How ψ_1, …, ψ_m of a cell change with the shares they are read from, (t, d, cells, m).

    ∂ψ[p(1 + εφ_t)]/∂ε at 0 for functions φ_1, …, φ_t, by central differences.
    """
    found = np.zeros((directions.shape[2], *p.shape, m))
    for t in range(directions.shape[2]):
        phi = directions[:, :, t]
        occupied = np.where(p > 0.0, np.abs(phi), 0.0)
        step = STEP / np.maximum(occupied.max(axis=1), 1.0)[:, None]
        above = functions(p * (1.0 + step * phi), m)
        below = functions(p * (1.0 - step * phi), m)
        found[t] = (above - below) / (2.0 * step[:, :, None])
    return found


def look_up(table: NDArray[np.float64], codes: Codes) -> NDArray[np.float64]:
    """(n, d, ...): the entries of a (d, cells, ...) table for the cells of every row."""
    d, cells = table.shape[:2]
    flat: IntVector = codes + cells * np.arange(d)
    found: NDArray[np.float64] = table.reshape(d * cells, *table.shape[2:]).take(flat, axis=0)
    return found


def _mean(values: Matrix, p: Matrix) -> Vector:
    found: Vector = np.einsum("jc,jc->j", p, values)
    return found

"""The log-density at training rows, each left out of the density that it is measured by.

A row raises the density at its own place: by a centre at the row, or by its share in the atom that
stands for the rows near it. Measured so, an outlier that has become a centre seems to be the
densest place of all, and a new row hardly ever scores as high as those that were fitted. So each
row is taken out of its cell, the rows that are nearest to the same centre. With r its share in the
mass of the cell and u = x − c,

    α′ = (1 − r)α,   c′ = c − r/(1 − r)·u,   S′ = (S − r/(1 − r)·uuᵀ)/(1 − r)

are the mass, mean and covariance of the cell without it. A centre that is a row stays where it is,
but for that row itself, for which it stands as far away as the other rows of the cell, in the mean
of squares. A row alone in its cell takes the centre with it. All else is as fitted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.arrays import group_order
from kernelmean.kernels.atoms import variance
from kernelmean.kernels.radials import apart
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import WeightedSample

BLOCK_DISTANCES = 2**20  # that are held in memory at a time: 8 MiB
WHOLE = 1.0 - 1e-9  # a share in a cell from which on there is nothing else in it
# What is left of a sum without its own centre; below this it is summed again without that centre.
CANCELLED_SHARE = 1e-6


class ScoredRows(NamedTuple):
    """Rows of a sample that are to be scored."""

    X: Points  # (n, d)
    mass: Vector  # (n,) p, the share of each in the weight of the sample
    # (n,) what is left out of the sample with it: all of p, or one copy of a repeated row.
    taken: Vector
    complete: bool  # whether these are all rows of the sample

    @classmethod
    def of(cls, sample: WeightedSample, indices: IntVector | None = None) -> ScoredRows:
        """Some rows of a sample; all of them where none are named."""
        n = len(sample)
        chosen = np.arange(n) if indices is None else indices
        whole = indices is None and sample.sample.resident
        X = sample.sample.array() if whole else sample.sample.rows(chosen)
        w = sample.weights
        mass = np.full(len(chosen), 1.0 / n) if w is None else w[chosen] / w.sum()
        summary = sample.summary
        taken = np.full(len(chosen), 1.0 / summary.size) if summary.counted else mass
        return cls(X, mass, taken, indices is None)


class Cells(NamedTuple):
    """The cell of each row, and what becomes of its centre without the row."""

    labels: IntVector  # (n,) which centre is nearest
    squared: Vector  # (n,) its squared distance
    shares: Vector  # (n,) r, below 1
    moved: Vector  # (n,) ‖x − c′‖²; infinite where the centre goes with the row


def left_out_logs(density: SparseKernelMean | KernelMean, rows: ScoredRows) -> Vector:
    """(n,): log f₋ᵢ(xᵢ), the density at each row without that row.

    Time O(n·k·d), with covariances O(n·k·d²).
    """
    mean = density.expansion
    Y = mean.map(rows.X)
    if isinstance(density, SparseKernelMean):
        cells = _nearest_cells(density, Y, rows)
    else:
        cells = _own_cells(density, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        own, without = _cell_logs(mean, Y, cells)
        total = np.logaddexp(_rest(mean, Y, cells, own), without)
        logs: Vector = total - np.log1p(-rows.taken) + mean.log_constant
    return np.where(np.isneginf(total), -np.inf, logs)  # with the last row nothing is left


def _own_cells(full: KernelMean, rows: ScoredRows) -> Cells:
    """Of a full mean: every row is a centre, in a cell with nothing but its own copies."""
    n = len(rows.X)
    shares = rows.taken / full.weights
    alone = shares > WHOLE
    moved = np.where(alone, np.inf, 0.0)
    return Cells(np.arange(n), np.zeros(n), np.where(alone, 0.0, shares), moved)


def _nearest_cells(density: SparseKernelMean, Y: Points, rows: ScoredRows) -> Cells:
    """Of a sparse mean: the mass of a cell is that of its rows.

    Where not all rows are there it is the weight of the centre, which is near it.
    """
    labels, squared = _nearest(Y, density.expansion.mapped_centers)
    k = density.k
    masses = np.bincount(labels, rows.mass, minlength=k) if rows.complete else density.weights
    with np.errstate(divide="ignore"):
        shares = rows.taken / masses[labels]
    alone = shares > WHOLE
    shares = np.where(alone, 0.0, shares)
    if density.indices is None:
        moved = squared / (1.0 - shares) ** 2  # x − c′ = u/(1 − r)
    else:
        moved = _distances_to_rows(labels, squared, rows, k)
    return Cells(labels, squared, shares, np.where(alone, np.inf, moved))


def _nearest(Y: Points, centers: Points) -> tuple[IntVector, Vector]:
    """The nearest centre of each row, the lowest on ties, and its squared distance."""
    labels = np.empty(len(Y), dtype=np.intp)
    squared = np.empty(len(Y))
    count = max(1, BLOCK_DISTANCES // len(centers))
    for start in range(0, len(Y), count):
        some = slice(start, start + count)
        distances = cdist(Y[some], centers, "sqeuclidean")
        labels[some] = distances.argmin(axis=1)
        squared[some] = distances.min(axis=1)
    return labels, squared


def _distances_to_rows(labels: IntVector, squared: Vector, rows: ScoredRows, k: int) -> Vector:
    """‖x − c′‖² where centres are rows: as it was, but for a row that is a centre without copies.

    For that row it is the mean of ‖x − x_j‖² over the other rows of the cell.
    """
    at_center = squared == 0.0
    copies = np.bincount(labels[at_center], minlength=k)
    lone = at_center & (copies[labels] == 1) & (rows.taken > WHOLE * rows.mass)
    others = np.bincount(labels, np.where(lone, 0.0, rows.mass), minlength=k)
    sums = np.bincount(labels, rows.mass * squared, minlength=k)
    means = np.divide(sums, others, out=np.full(k, np.inf), where=others > 0.0)
    return np.where(lone, means[labels], squared)


def _cell_logs(mean: KernelMean, Y: Points, cells: Cells) -> tuple[Vector, Vector]:
    """(n,) twice: log α_a g_a(x) of the row's own centre, as it is and without the row.

    Both are in units of the kernel's height.
    """
    formula = mean.kernel.formula(mean.dimension)
    log_weights = np.log(mean.weights)[cells.labels]
    gone = np.isinf(cells.moved)
    if mean.spreads is None:
        own = formula.log(cells.squared)
        without = formula.log(np.where(gone, 0.0, cells.moved))
    elif mean.spreads.ndim == 1:
        own, without = _round_logs(mean, cells, variance(formula))
    else:
        own, without = _full_logs(mean, Y, cells, variance(formula))
    left = log_weights + np.log1p(-cells.shares) + without
    return log_weights + own, np.where(gone, -np.inf, left)


def _round_logs(mean: KernelMean, cells: Cells, sigma2: float) -> tuple[Vector, Vector]:
    """The same of scalar spreads but for weights: s′² = (s² − r/(1 − r)·‖u‖²/d)/(1 − r)."""
    assert mean.spreads is not None
    d = mean.dimension
    r = cells.shares
    s2 = mean.spreads[cells.labels]
    less = np.maximum(s2 - r / (1.0 - r) * cells.squared / d, 0.0) / (1.0 - r)
    own = -0.5 * cells.squared / (sigma2 + s2) - 0.5 * d * np.log1p(s2 / sigma2)
    return own, -0.5 * cells.moved / (sigma2 + less) - 0.5 * d * np.log1p(less / sigma2)


def _full_logs(mean: KernelMean, Y: Points, cells: Cells, sigma2: float) -> tuple[Vector, Vector]:
    """The same of covariances but for weights, cell by cell in the axes of S."""
    assert mean.spreads is not None
    own = np.empty(len(Y))
    without = np.empty(len(Y))
    order, ends = group_order(cells.labels, mean.k)
    for a in np.unique(cells.labels):
        rows = order[ends[a - 1] if a else 0 : ends[a]]
        values, axes = np.linalg.eigh(mean.spreads[a])
        values = np.maximum(values, 0.0)
        squares = ((Y[rows] - mean.mapped_centers[a]) @ axes) ** 2
        own[rows] = -0.5 * (squares @ (1.0 / (sigma2 + values)) + np.log1p(values / sigma2).sum())
        without[rows] = _downdated(values, squares, cells.shares[rows], sigma2)
    return own, without


def _downdated(values: Vector, squares: Matrix, r: Vector, sigma2: float) -> Vector:
    """−½(x − c′)ᵀV⁻¹(x − c′) − ½ log |V/σ²|, V = σ²I + S′, for rows of one cell.

    ``values`` are the eigenvalues of S, ``squares`` those of u in its axes. With
    B = σ²I + S/(1 − r), b = uᵀB⁻¹u and t = r/(1 − r)², V = B − t·uuᵀ: uᵀV⁻¹u = b/(1 − tb) and
    |V| = |B|(1 − tb). V is at least σ²I; where the atom has not quite the moments of its cell, it
    is made so along u.
    """
    B = sigma2 + values / (1.0 - r[:, None])
    b = (squares / B).sum(axis=1)
    least = np.where(b > 0.0, sigma2 * b / squares.sum(axis=1), 1.0)
    kept = np.maximum(1.0 - r / (1.0 - r) ** 2 * b, least)
    exponents = b / kept / (1.0 - r) ** 2
    logs: Vector = -0.5 * (exponents + np.log(B / sigma2).sum(axis=1) + np.log(kept))
    return logs


def _rest(mean: KernelMean, Y: Points, cells: Cells, own: Vector) -> Vector:
    """log Σ α_b g_b(x) over all centres but the row's own, in units of the kernel's height."""
    formula = mean.kernel.formula(mean.dimension)
    total = mean.cloud.log_kernel_sum(formula, Y, mean.weights)
    left = np.where(np.isneginf(own), 1.0, -np.expm1(own - total))
    rest: Vector = total + np.log(np.maximum(left, CANCELLED_SHARE))
    lost = left < CANCELLED_SHARE
    if mean.spreads is None and formula.factor is None:
        # Distinct centres at distance zero: the own one, and no other.
        single = np.flatnonzero(lost & (cells.squared == 0.0))
        lost[single] = False
        if len(single):
            others = formula.times(apart)
            rest[single] = mean.cloud.log_kernel_sum(others, Y[single], mean.weights)
    for a in np.unique(cells.labels[lost]):
        rows = np.flatnonzero(lost & (cells.labels == a))
        weights = np.where(np.arange(mean.k) == a, 0.0, mean.weights)
        rest[rows] = mean.cloud.log_kernel_sum(formula, Y[rows], weights)
    return rest

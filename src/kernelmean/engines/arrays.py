"""What every point cloud on the host knows of its points without touching a kernel: rows, weights,
moments, quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.protocols import PointRows
from kernelmean.engines.weighted_statistics import (
    deviation,
    kish_size,
    pooled,
    rounded_counts,
    unbiased,
    window_means,
)
from kernelmean.kernels import Spreads

BLOCK = 65536  # rows whose offsets are held at a time
MAPPED = 512  # rows that are mapped at a time, in the cache
MAPPED_BY_BLAS = 64  # the same by BLAS: a single query pays for as many
FEW_COORDINATES = 16  # up to which a map is faster without BLAS
MOST_SHORT = 2**16  # groups up to which labels are sorted in two bytes each, several times faster
# numbers whose moments are taken at a time: 64 KiB, which allocators keep between two strips
STRIP = 8192


@dataclass(frozen=True)
class WeightedPoints:
    """n points with weights; integer weights mean repeated rows, in every result."""

    X: PointRows
    raw_weights: Vector | None = None

    @lazy
    def p(self) -> Vector:
        """Weights normalised to Σp = 1."""
        if self.raw_weights is None:
            return np.broadcast_to(
                1.0 / len(self.X), len(self.X)
            )  # one number, however many points
        p: Vector = self.raw_weights / self.raw_weights.sum()
        return p

    @lazy
    def counted(self) -> bool:
        """Whether every weight is an integer, so that rows are repeated; an effective size may be
        an integer by chance.
        """
        return self.raw_weights is None or bool(
            (self.raw_weights == np.rint(self.raw_weights)).all()
        )

    @lazy
    def size(self) -> float:
        """Σw where weights count rows, else Kish's effective size (Σw)²/Σw²."""
        w = self.raw_weights
        if w is None:
            return float(len(self.X))
        total = float(w.sum())
        return total if self.counted else kish_size(total, float((w**2).sum()))

    def rows(self, indices: IntVector) -> Points:
        """The points themselves."""
        return np.array(self.X[indices], dtype=np.float64, order="C")

    def locate(self, u: Vector) -> IntVector:
        """Rows at the positions u ∈ [0, 1) of the cumulative weight."""
        return located(u, len(self.X), self.raw_weights)

    def group_masses(self, labels: IntVector, groups: int) -> Vector:
        """Σ of p over the points of each group."""
        masses: Vector = np.bincount(labels, self.p, minlength=groups).astype(np.float64)
        return masses

    def group_means(self, labels: IntVector, centers: Points) -> Points:
        """Weighted mean of each group, about its centre; the centre itself where the group is
        empty.
        """
        sums = np.zeros(centers.shape)
        for start in range(0, len(labels), BLOCK):
            some = slice(start, start + BLOCK)
            offsets = self.p[some, None] * (self.X[some] - centers[labels[some]])
            slots = labels[some, None] * centers.shape[1] + np.arange(centers.shape[1])
            sums += np.bincount(slots.ravel(), offsets.ravel(), minlength=sums.size).reshape(
                sums.shape
            )
        masses = self.group_masses(labels, len(centers))[:, None]
        means: Points = centers + np.divide(sums, masses, out=np.zeros_like(sums), where=masses > 0)
        return means

    def group_variances(self, labels: IntVector, means: Points) -> Vector:
        """Mean squared distance of each group to its mean, divided by d; 0 where it is empty."""
        sums = np.zeros(len(means))
        for start in range(0, len(labels), BLOCK):
            some = slice(start, start + BLOCK)
            offsets = self.X[some] - means[labels[some]]
            squares = self.p[some] * np.einsum("ij,ij->i", offsets, offsets)
            sums += np.bincount(labels[some], squares, minlength=len(means))
        masses = self.group_masses(labels, len(means)) * means.shape[1]
        found: Vector = np.divide(sums, masses, out=np.zeros_like(sums), where=masses > 0)
        return found

    def group_covariances(self, labels: IntVector, means: Points) -> Spreads:
        """(k, d, d): covariance of each group about its mean; 0 where it is empty.

        Rows are put in the order of their groups, so that each group is one matrix product.
        """
        k, d = means.shape
        order, ends = group_order(labels, k)
        masses = self.group_masses(labels, k)
        found = np.zeros((k, d, d))
        for a in np.flatnonzero(masses > 0.0):
            rows = order[ends[a - 1] if a else 0 : ends[a]]
            offsets = np.sqrt(self.p[rows, None]) * (self.X[rows] - means[a])
            found[a] = offsets.T @ offsets / masses[a]
        return found


@dataclass(frozen=True)
class ArraySummary:
    """Counts, moments and quantiles of a weighted sample, computed when asked for."""

    sample: WeightedPoints

    @property
    def size(self) -> float:
        """n, or what weights make of it."""
        return self.sample.size

    @property
    def counted(self) -> bool:
        """Whether ``size`` counts rows: no weights, or integers."""
        return self.sample.counted

    @property
    def count(self) -> int:
        """Rows, whatever their weight."""
        return len(self.sample.X)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.sample.X.shape[1])

    @property
    def mean(self) -> Vector:
        """Σ p_j x_j."""
        return self.moments[0]

    @lazy
    def moments(self) -> tuple[Vector, Vector]:
        """Σ p_j x_j and Σ p_j (x_j − mean)² per coordinate, about the first point so that a far
        origin costs no digits.
        """
        X = self.sample.X
        p = self.sample.p
        rows = max(1, STRIP // self.dimension)
        first = X[0].astype(np.float64)
        strips = [slice(start, start + rows) for start in range(0, len(X), rows)]
        weights = np.array([p[s].sum() for s in strips])
        means, squares = np.empty((2, len(strips), self.dimension))
        for i, s in enumerate(strips):
            w = p[s] * (1.0 / weights[i] if weights[i] > 0.0 else 0.0)
            offsets = np.subtract(
                X[s], first, order="C"
            )  # the same bits however the points lie in memory
            means[i] = w @ offsets
            offsets -= means[i]
            squares[i] = w @ (offsets * offsets)
        mean, variance = pooled(weights, means, squares)
        return first + mean, variance

    @lazy
    def std(self) -> Vector:
        """√(N/(N−1) Σ p_j (x_j − mean)²) per coordinate."""
        return deviation(self.moments[1], self.size)

    @lazy
    def covariance(self) -> Matrix:
        """N/(N−1) Σ p_j (x_j − mean)(x_j − mean)ᵀ."""
        return unbiased(self.products_about(self.mean), self.size)

    def products_about(self, place: Vector) -> Matrix:
        """Σ p_j (x_j − place)(x_j − place)ᵀ, streamed over rows."""
        total = np.zeros((self.dimension, self.dimension))
        for start in range(0, len(self.sample.X), BLOCK):
            part = np.subtract(self.sample.X[start : start + BLOCK], place, order="C")
            total += np.einsum(
                "i,ij,ik->jk", self.sample.p[start : start + BLOCK], part, part, optimize=False
            )
        return total

    def quantiles(self, levels: Vector) -> Matrix:
        """(levels, d) quantiles by linear interpolation; integer weights give those of the repeated
        rows.
        """
        return np.stack(
            [self._column_quantiles(column, levels) for column in self.sample.X.T], axis=1
        )

    def quantile_range(self, low: float, high: float) -> Vector:
        """Distance of two quantiles in each coordinate, about the first point so that a far origin
        costs no digits.
        """
        levels = np.array([low, high])
        ends = [self._column_quantiles(column - column[0], levels) for column in self.sample.X.T]
        return np.array([b - a for a, b in ends])

    def _column_quantiles(self, column: Vector, levels: Vector) -> Vector:
        if self.sample.raw_weights is None:
            return np.quantile(column, levels)
        order = np.argsort(column, kind="stable")
        w = self.sample.raw_weights[order]
        cumulative = rounded_counts(np.cumsum(w) * (self.size / w.sum()), self.size)
        position = np.asarray(levels) * (self.size - 1)
        if not self.counted:
            return window_means(column[order], cumulative, position)
        whole = np.floor(position)
        last = len(column) - 1
        low = column[order[np.minimum(np.searchsorted(cumulative, whole, side="right"), last)]]
        high = column[order[np.minimum(np.searchsorted(cumulative, whole + 1, side="right"), last)]]
        value: Vector = low + (position - whole) * (high - low)
        return value


def group_order(labels: IntVector, groups: int) -> tuple[IntVector, IntVector]:
    """The points in the order of their groups, and where each group ends."""
    short = labels.astype(np.uint16) if groups <= MOST_SHORT else labels
    return np.argsort(short, kind="stable"), np.cumsum(np.bincount(labels, minlength=groups))


def located(u: Vector, n: int, weights: Vector | None) -> IntVector:
    """Which of n rows are at the positions u ∈ [0, 1) of the cumulative weight."""
    if weights is None:
        position: IntVector = (u * n).astype(np.intp)
        return np.minimum(position, n - 1)
    cumulative = np.cumsum(weights)
    found: IntVector = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return np.minimum(found, n - 1)


def mapped(X: Points, matrix: Matrix, origin: Vector) -> Points:
    """A(x − origin) for every row, by the same sums however many rows there are.

    A centre mapped alone must coincide with its row, mapped among others; BLAS adds in another
    order for another number of rows. So few coordinates are added one after the other, and many by
    BLAS over blocks of equal shape, the last one filled up.
    """
    diagonal = np.diagonal(matrix)
    if np.count_nonzero(matrix) == np.count_nonzero(diagonal):
        return np.subtract(X, origin, order="C") * diagonal
    return (
        _by_blocks(X, matrix, origin)
        if len(origin) > FEW_COORDINATES
        else _in_order(X, matrix, origin)
    )


def _in_order(X: Points, matrix: Matrix, origin: Vector) -> Points:
    result = np.empty((len(X), len(matrix)))
    for start in range(0, len(X), MAPPED):
        offsets = X[start : start + MAPPED] - origin
        part = result[start : start + MAPPED]
        np.multiply(offsets[:, :1], matrix[:, 0], out=part)
        for t in range(1, len(origin)):
            part += offsets[:, t, None] * matrix[:, t]
    return result


def _by_blocks(X: Points, matrix: Matrix, origin: Vector) -> Points:
    result = np.empty((len(X), len(matrix)))
    block = np.zeros((MAPPED_BY_BLAS, len(origin)))
    for start in range(0, len(X), MAPPED_BY_BLAS):
        part = result[start : start + MAPPED_BY_BLAS]
        np.subtract(X[start : start + MAPPED_BY_BLAS], origin, out=block[: len(part)])
        part[:] = (block @ matrix.T)[: len(part)]
    return result

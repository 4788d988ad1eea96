"""What a point cloud on a device knows of its points without touching a kernel: rows, weights,
moments, quantiles, reductions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.engines.distances import single_draw
from kernelmean.engines.gpu.arrays import Tensor, double_columns, to_device, to_host
from kernelmean.engines.weighted_statistics import deviation, kish_size, unbiased
from kernelmean.kernels import Spreads

SUMMED = 4096  # distances whose mass is added up before a draw looks among them
AVERAGED = 65536  # distances that a thread of the host averages a function of at a time
COVARIANCE_ROWS = 1 << 20  # rows whose products are added at a time


@dataclass(frozen=True, eq=False)
class DeviceSample:
    """n points with weights, on the device; the formulas are those of
    :class:`kernelmean.engines.arrays.WeightedPoints`.
    """

    X: Tensor  # (n, d), float32 or float64
    raw_weights: Tensor | None = None  # (n,) float64

    @lazy
    def p(self) -> Tensor:
        """Weights normalised to Σp = 1."""
        if self.raw_weights is None:
            return torch.full(
                (1,), 1.0 / len(self.X), dtype=torch.float64, device=self.X.device
            ).expand(len(self.X))
        return self.raw_weights / self.raw_weights.sum()

    @lazy
    def counted(self) -> bool:
        """Whether every weight is an integer, so that rows are repeated."""
        return self.raw_weights is None or bool(
            (self.raw_weights == self.raw_weights.round()).all()
        )

    @lazy
    def size(self) -> float:
        """Σw where weights count rows, else Kish's effective size (Σw)²/Σw²."""
        w = self.raw_weights
        if w is None:
            return float(len(self.X))
        total = float(w.sum())
        return total if self.counted else kish_size(total, float((w**2).sum()))

    @lazy
    def columns(self) -> Tensor:
        """(d, n padded) in float64, made when first needed."""
        return double_columns(self.X)

    def rows(self, indices: IntVector) -> Points:
        """The points themselves."""
        chosen = self.X[
            torch.from_numpy(np.asarray(indices, dtype=np.int64).copy()).to(self.X.device)
        ]
        return to_host(chosen.to(torch.float64))

    def locate(self, u: Vector) -> IntVector:
        """Rows at the positions u ∈ [0, 1) of the cumulative weight."""
        n = len(self.X)
        if self.raw_weights is None:
            return np.minimum((u * n).astype(np.intp), n - 1)
        cumulative = torch.cumsum(self.raw_weights, dim=0)
        found = torch.searchsorted(
            cumulative, to_device(u, self.X.device) * cumulative[-1], right=True
        )
        return to_host(found.clamp(max=n - 1)).astype(np.intp)

    def group_masses(self, labels: Tensor, groups: int) -> Vector:
        """Σ of p over the points of each group."""
        return to_host(_Groups(labels, groups).sums(self.p))

    def group_means(self, labels: Tensor, centers: Tensor) -> Points:
        """Weighted mean of each group, about its centre; the centre itself where the group is
        empty.
        """
        return to_host(self._group_means(_Groups(labels, len(centers)), labels, centers))

    def group_variances(self, labels: Tensor, centers: Tensor) -> Vector:
        """Mean squared distance of each group to its mean, divided by d; 0 where it is empty."""
        groups = _Groups(labels, len(centers))
        means = self._group_means(groups, labels, centers)
        total = torch.zeros(len(centers), dtype=torch.float64, device=centers.device)
        for t in range(means.shape[1]):
            total += groups.sums(self.p * (self.X[:, t].double() - means[labels.long(), t]) ** 2)
        return to_host(_per_mass(total, groups.sums(self.p)) / means.shape[1])

    def group_covariances(self, labels: Tensor, centers: Tensor) -> Spreads:
        """(k, d, d): covariance of each group about its mean; 0 where it is empty."""
        groups = _Groups(labels, len(centers))
        means = self._group_means(groups, labels, centers)
        masses = groups.sums(self.p)
        p = groups.ordered(self.p)
        k, d = means.shape
        found = torch.zeros((k, d, d), dtype=torch.float64, device=means.device)
        offsets: list[Tensor] = []
        for t in range(d):
            column = self.X[:, t].double() - means[labels.long(), t]
            offsets.append(groups.ordered(column))
            for u, other in enumerate(offsets):
                products = _per_mass(groups.sums_in_order(p * offsets[t] * other), masses)
                found[:, t, u] = products
                found[:, u, t] = products
        return to_host(found)

    def _group_means(self, groups: _Groups, labels: Tensor, centers: Tensor) -> Tensor:
        masses = groups.sums(self.p)
        means = centers.clone()
        for t in range(means.shape[1]):
            shift = groups.sums(self.p * (self.X[:, t].double() - centers[labels.long(), t]))
            means[:, t] += _per_mass(shift, masses)
        return means


class _Groups:
    """Points sorted by label, so that sums within a group have one order and are the same on every
    run.
    """

    def __init__(self, labels: Tensor, groups: int) -> None:
        self._order = torch.argsort(labels, stable=True)
        self._counts = torch.bincount(labels, minlength=groups)

    def sums(self, values: Tensor) -> Tensor:
        """Σ of the values of each group."""
        return self.sums_in_order(self.ordered(values))

    def ordered(self, values: Tensor) -> Tensor:
        """Values in the order of the groups."""
        return values[self._order]

    def sums_in_order(self, values: Tensor) -> Tensor:
        """Σ of each group of values that are in the order of the groups."""
        return torch.segment_reduce(values, "sum", lengths=self._counts, unsafe=True, initial=0.0)


def _per_mass(sums: Tensor, masses: Tensor) -> Tensor:
    """Sums over groups divided by their masses; 0 where a group is empty."""
    return torch.where(masses > 0, sums / masses.clamp(min=torch.finfo(torch.float64).tiny), 0.0)


@dataclass(frozen=True, eq=False)
class DeviceSummary:
    """Counts, moments and quantiles of points on a device."""

    sample: DeviceSample

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

    @lazy
    def mean(self) -> Vector:
        """Σ p_j x_j, about the first point so that a far origin costs no digits."""
        X = self.sample.X
        p = self.sample.p
        first = X[0].double()
        return to_host(
            torch.stack(
                [
                    first[t] + (p * (X[:, t].double() - first[t])).sum()
                    for t in range(self.dimension)
                ]
            )
        )

    @lazy
    def std(self) -> Vector:
        """√(N/(N−1) Σ p_j (x_j − mean)²) per coordinate."""
        X = self.sample.X
        p = self.sample.p
        second = [(p * (X[:, t].double() - float(m)) ** 2).sum() for t, m in enumerate(self.mean)]
        return deviation(to_host(torch.stack(second)), self.size)

    @lazy
    def covariance(self) -> Matrix:
        """N/(N−1) Σ p_j (x_j − mean)(x_j − mean)ᵀ, streamed over rows."""
        X = self.sample.X
        p = self.sample.p
        mean = to_device(self.mean, X.device)
        total = torch.zeros((self.dimension, self.dimension), dtype=torch.float64, device=X.device)
        for start in range(0, len(X), COVARIANCE_ROWS):
            part = X[start : start + COVARIANCE_ROWS].double() - mean
            total += (part * p[start : start + COVARIANCE_ROWS, None]).T @ part
        return unbiased(to_host(total), self.size)

    def quantiles(self, levels: Vector) -> Matrix:
        """(levels, d) quantiles by linear interpolation; integer weights give those of the repeated
        rows.
        """
        return self._on_host().quantiles(levels)

    def quantile_range(self, low: float, high: float) -> Vector:
        """Distance of two quantiles in each coordinate, about the first point so that a far origin
        costs no digits.
        """
        return self._on_host().quantile_range(low, high)

    def _on_host(self) -> ArraySummary:
        """Quantiles are rare and sort anyway: those of a copy on the host, which is not kept."""
        w = self.sample.raw_weights
        weights = None if w is None else to_host(w)
        return ArraySummary(WeightedPoints(to_host(self.sample.X.double()), weights))


@dataclass(frozen=True, eq=False)
class DeviceDistances:
    """Squared nearest-centre distances D² of all points, on the device, handed out as reductions
    only.
    """

    squared: Tensor
    p: Tensor

    @property
    def cover(self) -> float:
        """Covering radius max_j D_j."""
        return float(np.sqrt(float(self.squared.max())))

    def values(self) -> Vector:
        """D² of every point, on the host: for point clouds of few points."""
        squared: Vector = to_host(self.squared)
        return squared

    def coincident(self) -> tuple[IntVector, Vector]:
        """Rows at distance 0 from a centre (centres and their duplicates), and their weights."""
        rows = torch.nonzero(self.squared <= 0.0)[:, 0]
        return to_host(rows).astype(np.intp), to_host(self.p[rows])

    def mean(self, function: Callable[[Vector], Vector]) -> float:
        """Σ_j p_j function(D²_j); the function is the host's, so D² goes there, and all its cores
        help.
        """
        squared = to_host(self.squared)
        p = to_host(self.p)
        pieces = [slice(start, start + AVERAGED) for start in range(0, len(p), AVERAGED)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = pool.map(lambda some: np.sum(p[some] * function(squared[some])), pieces)
        return float(sum(parts))

    def draw(self, u: float) -> int | None:
        """The point at position u of the cumulative p_j D²_j (D² sampling); None when every D² is
        zero.
        """
        return single_draw(self, u)

    def draws(self, u: Vector) -> IntVector:
        """The points at positions u of the cumulative p_j D²_j; none when every D² is zero."""
        mass = self.p * self.squared
        blocks = torch.nn.functional.pad(mass, (0, -len(mass) % SUMMED)).reshape(-1, SUMMED)
        cumulative = torch.cumsum(blocks.sum(dim=1), dim=0)
        if not float(cumulative[-1]) > 0.0:
            return np.empty(0, np.intp)
        positions = to_device(u, mass.device) * cumulative[-1]
        b = torch.searchsorted(cumulative, positions, right=True).clamp(max=len(blocks) - 1)
        rest = positions - torch.where(b > 0, cumulative[(b - 1).clamp(min=0)], 0.0)
        within = torch.searchsorted(torch.cumsum(blocks[b], dim=1), rest[:, None], right=True)[:, 0]
        rows = (b * SUMMED + within.clamp(max=SUMMED - 1)).clamp(max=len(mass) - 1)
        return to_host(torch.where(mass[rows] > 0.0, rows, mass.argmax())).astype(np.intp)

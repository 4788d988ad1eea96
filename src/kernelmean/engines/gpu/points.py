"""What a point cloud on a device knows of its points without touching a kernel: rows, weights, moments,
quantiles, reductions.
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
from kernelmean.engines import arrays as host
from kernelmean.engines.gpu.arrays import Tensor, double_columns, to_device, to_host

BLOCK = 4096


@dataclass(frozen=True, eq=False)
class DeviceSample:
    """n points with weights, on the device; the formulas are those of
    :class:`kernelmean.engines.arrays.Sample`.
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
        return total if self.counted else total**2 / float((w**2).sum())

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
        groups = _Groups(labels, len(centers))
        masses = groups.sums(self.p)
        means = centers.clone()
        for t in range(means.shape[1]):
            shift = groups.sums(self.p * (self.X[:, t].double() - centers[labels.long(), t]))
            means[:, t] += torch.where(
                masses > 0, shift / masses.clamp(min=torch.finfo(torch.float64).tiny), 0.0
            )
        return to_host(means)


class _Groups:
    """Points sorted by label, so that sums within a group have one order and are the same on every
    run.
    """

    def __init__(self, labels: Tensor, groups: int) -> None:
        self._order = torch.argsort(labels, stable=True)
        self._counts = torch.bincount(labels, minlength=groups)

    def sums(self, values: Tensor) -> Tensor:
        """Σ of the values of each group."""
        return torch.segment_reduce(
            values[self._order], "sum", lengths=self._counts, unsafe=True, initial=0.0
        )


class DeviceSummary(host.Summary):
    """Counts, moments and quantiles of points on a device."""

    sample: DeviceSample  # type: ignore[assignment]

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
        return np.sqrt(to_host(torch.stack(second)) * self._unbiased)

    @lazy
    def covariance(self) -> Matrix:
        """N/(N−1) Σ p_j (x_j − mean)(x_j − mean)ᵀ, streamed over rows."""
        X = self.sample.X
        p = self.sample.p
        mean = to_device(self.mean, X.device)
        total = torch.zeros((self.dimension, self.dimension), dtype=torch.float64, device=X.device)
        for start in range(0, len(X), 1 << 20):
            part = X[start : start + (1 << 20)].double() - mean
            total += (part * p[start : start + (1 << 20), None]).T @ part
        return to_host(total) * self._unbiased

    def quantiles(self, levels: Vector) -> Matrix:
        """(levels, d) quantiles by linear interpolation; integer weights give those of the repeated
        rows.
        """
        return self._host.quantiles(levels)

    def quantile_range(self, low: float, high: float) -> Vector:
        """Distance of two quantiles in each coordinate, about the first point so that a far origin
        costs no digits.
        """
        return self._host.quantile_range(low, high)

    @lazy
    def _host(self) -> host.Summary:
        """Quantiles are rare and sort anyway: the host's own."""
        w = self.sample.raw_weights
        return host.Summary(
            host.Sample(to_host(self.sample.X.double()), None if w is None else to_host(w))
        )


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
        """Rows at distance 0 from a centre (the centres and their duplicates), and their weights."""
        rows = torch.nonzero(self.squared <= 0.0)[:, 0]
        return to_host(rows).astype(np.intp), to_host(self.p[rows])

    def mean(self, function: Callable[[Vector], Vector], block: int = 65536) -> float:
        """Σ_j p_j function(D²_j); the function is the host's, so D² goes there, and all its cores
        help.
        """
        squared = to_host(self.squared)
        p = to_host(self.p)
        starts = range(0, len(p), block)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = pool.map(
                lambda s: np.sum(p[s : s + block] * function(squared[s : s + block])), starts
            )
        return float(sum(parts))

    def draw(self, u: float) -> int | None:
        """The point at position u of the cumulative p_j D²_j (D² sampling); None when every D² is
        zero.
        """
        drawn = self.draws(np.array([u]))
        return int(drawn[0]) if len(drawn) else None

    def draws(self, u: Vector) -> IntVector:
        """The points at positions u of the cumulative p_j D²_j; none when every D² is zero."""
        mass = self.p * self.squared
        blocks = torch.nn.functional.pad(mass, (0, -len(mass) % BLOCK)).reshape(-1, BLOCK)
        cumulative = torch.cumsum(blocks.sum(dim=1), dim=0)
        if not float(cumulative[-1]) > 0.0:
            return np.empty(0, np.intp)
        positions = to_device(u, mass.device) * cumulative[-1]
        b = torch.searchsorted(cumulative, positions, right=True).clamp(max=len(blocks) - 1)
        rest = positions - torch.where(b > 0, cumulative[(b - 1).clamp(min=0)], 0.0)
        within = torch.searchsorted(torch.cumsum(blocks[b], dim=1), rest[:, None], right=True)[:, 0]
        rows = (b * BLOCK + within.clamp(max=BLOCK - 1)).clamp(max=len(mass) - 1)
        return to_host(torch.where(mass[rows] > 0.0, rows, mass.argmax())).astype(np.intp)

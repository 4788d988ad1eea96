"""How far a picture of a mean reaches: between far quantiles of its sample or of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, Matrix, Points, Vector
from kernelmean.mean.covariances import covariances, seen_from_kernel
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.questions.column import Column
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood

Mean: TypeAlias = KernelMean | SparseKernelMean

RANGE_ROWS = 100_000  # rows of the sample that are read to find its range
RANGE = (0.002, 0.998)  # quantiles between which a picture is drawn
MARGIN = 0.06  # added on either side, as a share of the range
ALMOST_ALL = np.array([5e-4, 1.0 - 5e-4])  # quantiles of a mean between which its mass is seen
BEYOND = 0.5  # how far this goes beyond the rows at most, as a share of their range
LENGTHS = 4.0  # or in lengths of the kernel, where the rows hardly differ


def drawn_blur(mean: Mean) -> float:
    """What covariances have beside the spread: σ² for atoms by likelihood, drawn whole, else 0."""
    return mean.kernel.length**2 if is_by_likelihood(mean) else 0.0


def sample_rows(mean: Mean, sample: ArrayLike | None) -> Points | None:
    """Some rows of the sample, evenly spread over it."""
    if sample is None:
        return None
    checked = _checks.points(sample, "sample", mean.dimension)
    return checked[:: max(1, len(checked) // RANGE_ROWS)]


def grid_along(mean: Mean, P: Matrix, rows: Points | None, axis: int, size: int) -> Vector:
    """From one far quantile to the other and a little further."""
    if rows is not None:
        low, high = np.quantile(rows @ P[axis], RANGE)
    else:
        low, high = _weighted_range(mean, P[axis])
    reach = length_along(mean.expansion, P[axis]) * (1.0 if rows is not None else 2.0)
    margin = max(MARGIN * (high - low), reach)
    return np.linspace(low - margin, high + margin, size)


def almost_all(mean: Mean, rows: Points, axis: int) -> tuple[float, float]:
    """The interval of a coordinate that holds a mean but for 0.1 % of its mass.

    Kernels are taken for Gaussians of their length. A density by likelihood has a little mass far
    from all rows: it is not followed for more than half their range.
    """
    full = mean.expansion
    T = seen_from_kernel(full, np.eye(mean.dimension)[[axis]])
    spreads = np.zeros(mean.k) if full.spreads is None else full.spreads
    seen = covariances(spreads, T, mean.kernel.length**2)[:, 0, 0]
    weights = np.abs(mean.weights) / np.abs(mean.weights).sum()
    ends = Column(weights, mean.centers[:, axis], np.sqrt(seen)).quantile(ALMOST_ALL)
    length = length_along(full, np.eye(mean.dimension)[axis])
    return not_far_beyond(ends.tolist(), rows[:, axis], length)


def not_far_beyond(ends: Sequence[float], values: Vector, length: float) -> tuple[float, float]:
    """An interval as far as half the range of the values beyond them, or some lengths."""
    low = float(values.min())
    high = float(values.max())
    most = max(BEYOND * (high - low), LENGTHS * length)
    return max(ends[0], low - most), min(ends[1], high + most)


def _weighted_range(mean: Mean, direction: Vector) -> tuple[float, float]:
    """Far quantiles of the centres along a direction; of centres with spreads, of the mean."""
    values = mean.centers @ direction
    weights = np.abs(mean.weights)
    if mean.spreads is not None:
        T = seen_from_kernel(mean.expansion, direction[None])
        seen = covariances(mean.spreads, T, mean.kernel.length**2)[:, 0, 0]
        ends = Column(weights / weights.sum(), values, np.sqrt(seen)).quantile(ALMOST_ALL)
        return float(ends[0]), float(ends[1])
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order]) / weights.sum()
    low, high = np.searchsorted(cumulative, RANGE)
    return float(values[order[low]]), float(values[order[min(high, len(values) - 1)]])


def length_along(mean: KernelMean, direction: Vector) -> float:
    """The kernel's length along a direction u of the data: h·‖A⁻ᵀu‖."""
    mapped = direction if mean.scale is None else np.linalg.solve(mean.scale.T, direction)
    return mean.kernel.length * float(np.linalg.norm(mapped))

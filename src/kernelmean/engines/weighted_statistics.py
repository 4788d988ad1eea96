"""Formulas of weighted samples that hold wherever the points are: sizes, moments, quantiles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Vector


def kish_size(total: float, squares: float) -> float:
    """Kish's effective size (Σw)²/Σw², for weights that do not count rows."""
    return total**2 / squares


def unbiased(moment: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """N/(N−1) times a second moment about the mean; NaN for a single point."""
    return moment * (size / (size - 1) if size > 1 else np.nan)


def deviation(variance: Vector, size: float) -> Vector:
    """√(N/(N−1) variance) per coordinate."""
    return np.sqrt(unbiased(variance, size))


def rounded_counts(cumulative: Vector, size: float) -> Vector:
    """Rounding must not move a count across an integer."""
    whole = np.rint(cumulative)
    return np.where(np.abs(cumulative - whole) < 1e-9 * size, whole, cumulative)


def window_means(values: Vector, cumulative: Vector, position: Vector) -> Vector:
    """∫ x(t) dt from ``position`` to one more, x(t) the value whose weight lies at t: values
    ascend, and their weights add up.

    Linear interpolation for weights of one, and the same for −x from above, which steps from below
    are not where weights are no counts (Akinshin 2023).
    """
    last = len(values) - 1
    ends = np.append(0.0, cumulative)
    first = np.minimum(np.searchsorted(cumulative, position, side="right"), last)
    final = np.minimum(np.searchsorted(cumulative, position + 1.0, side="left"), last)
    found = np.empty(len(position))
    for i, (a, b, h) in enumerate(zip(first, final, position, strict=True)):
        x = values[a : b + 1]
        cuts = np.clip(ends[a : b + 2], h, h + 1.0)
        cuts[-1] = h + 1.0  # rounding at the end
        found[i] = x[0] + np.diff(cuts) @ (x - x[0])
    return found


def pooled(p: Vector, means: Matrix, variances: Matrix) -> tuple[Vector, Vector]:
    """Mean and variance of groups of weight p, Σp = 1, together (Chan, Golub & LeVeque 1983).

    m = Σ_l p_l m_l, about the first so that a far origin costs no digits, and Σ_l p_l (v_l + (m_l −
    m)²).
    """
    mean: Vector = means[0] + (p[:, None] * (means - means[0])).sum(axis=0)
    variance: Vector = (p[:, None] * (variances + (means - mean) ** 2)).sum(axis=0)
    return mean, variance

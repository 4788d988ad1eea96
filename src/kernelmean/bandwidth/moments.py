"""Rules from moments, quantiles and distances: no kernel is evaluated."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from kernelmean._types import Vector
from kernelmean.engines import PointCloud, Summary

MEDIAN_POINTS = 1000  # whose pairwise distances have the median, at most


def scott(summary: Summary) -> float:
    """s·n^{−1/(d+4)}, s the mean over coordinates of the standard deviation."""
    return float(np.mean(summary.std) * summary.size ** (-1 / (summary.dimension + 4)))


def silverman(summary: Summary) -> float:
    """s·(4/((d+2)n))^{1/(d+4)}; in one dimension .9·min(s, IQR/1.349)·n^{−1/5}."""
    d = summary.dimension
    if d == 1:
        spread = min(float(summary.std[0]), float(_quartile_spread(summary, 1.349)[0]))
        return float(0.9 * spread * summary.size**-0.2)
    return float(np.mean(summary.std) * (4 / ((d + 2) * summary.size)) ** (1 / (d + 4)))


def mode(summary: Summary) -> float:
    """s·(4/((d+4)n))^{1/(d+6)} (Chen, Genovese & Wasserman 2016, Eq. 18)."""
    d = summary.dimension
    return float(np.mean(summary.std) * (4 / ((d + 4) * summary.size)) ** (1 / (d + 6)))


def iqr(summary: Summary) -> float:
    """Mean over coordinates of IQR/1.35."""
    return float(np.mean(_quartile_spread(summary, 1.35)))


def median(cloud: PointCloud, rng: np.random.Generator) -> float:
    """Median of the nonzero pairwise distances of at most 1000 points."""
    distances = pdist(cloud.rows(cloud.locate(positions(cloud, rng))))
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 0.0


def positions(cloud: PointCloud, rng: np.random.Generator) -> Vector:
    """Positions in the cumulative weight: every row as often as it counts, or 1000 random ones.

    Random positions are drawn where there are more than 1000.
    """
    size = cloud.summary.size
    if size <= MEDIAN_POINTS and cloud.summary.counted:
        every: Vector = (np.arange(int(size), dtype=np.float64) + 0.5) / size
        return every
    return rng.random(MEDIAN_POINTS)


def _quartile_spread(summary: Summary, divisor: float) -> Vector:
    """IQR/divisor per coordinate; the standard deviation where the IQR is 0."""
    quartiles = summary.quantile_range(0.25, 0.75)
    spread: Vector = np.where(quartiles > 0.0, quartiles / divisor, summary.std)
    return spread

"""Jaakkola's heuristic: the scale on which classes come near one another."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._types import IntVector, Points, Vector
from kernelmean.bandwidth.moments import positions
from kernelmean.engines import Engine
from kernelmean.engines.arrays import ArraySummary, WeightedPoints

MAX_DISTANCES = 1e9  # beyond, fewer points look for their nearest
MIN_ROWS = 1000  # but at least so many look


def nearest_other(
    engine: Engine, sample: WeightedPoints, labels: IntVector, rng: np.random.Generator
) -> float:
    """Median over points of the distance to the nearest point of another class.

    Where n is large, the median is over points drawn by weight.
    """
    n = len(sample.X)
    chosen, weights = _chosen_rows(sample, max(MIN_ROWS, int(MAX_DISTANCES / n)), rng)
    found = np.zeros(len(chosen))
    for label in np.unique(labels[chosen]):
        mine = np.flatnonzero(labels[chosen] == label)
        theirs = labels != label
        cloud = engine.load(np.ascontiguousarray(sample.X[chosen[mine]]))
        found[mine] = np.sqrt(
            cloud.nearest(np.ascontiguousarray(sample.X[theirs])).distances().values()
        )
    summary = ArraySummary(WeightedPoints(found[:, None], weights))
    return float(summary.quantiles(np.array([0.5]))[0, 0])


def all_between(
    engine: Engine, sample: WeightedPoints, labels: IntVector, rng: np.random.Generator
) -> float:
    """Median of the distances between points of different classes, over at most 1000 points."""
    rows = sample.locate(positions(engine.load(np.asarray(sample.X), sample.raw_weights), rng))
    X = sample.X[rows]
    y = labels[rows]
    parts: list[Vector] = [_pairs(X[y == label], X[y > label]) for label in np.unique(y)]
    distances = np.concatenate(parts)
    return float(np.median(distances)) if len(distances) else 0.0


def _pairs(A: Points, B: Points) -> Vector:
    distances: Vector = cdist(A, B).ravel() if len(B) else np.zeros(0)
    return distances


def _chosen_rows(
    sample: WeightedPoints, count: int, rng: np.random.Generator
) -> tuple[IntVector, Vector | None]:
    """All rows with their weights, or as many drawn by weight."""
    if len(sample.X) <= count:
        return np.arange(len(sample.X)), sample.raw_weights
    return sample.locate(rng.random(count)), None


VARIANTS = {"nearest": nearest_other, "cross": all_between}

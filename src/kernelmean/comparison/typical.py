"""The rows that are most typical of a difference.

Where the witness is largest, rows are most typical of what a sample has more of; but the ten
largest values are ten times the same row. So each pick takes away what it stands for (matching
pursuit):

    i = argmax r(x_i),   r(x) ← r(x) − r(x_i) exp(−‖x − x_i‖²/(2(2σ)²)),   r = witness at first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.samples import WeightedSample

MAX_CANDIDATES = 20_000  # rows that are looked at
COUNT = 10  # rows that are picked at most
REACH = 2.0  # bandwidths: what one row stands for


class TypicalRows(NamedTuple):
    """Rows that are typical of what one sample has more of, the most typical first.

    Attributes
    ----------
    indices : ndarray of shape (m,)
        Rows of the sample as it was given.
    points : ndarray of shape (m, d)
        The rows themselves.
    values : ndarray of shape (m,)
        The witness z_A − z_B there: positive for rows of A, negative for rows of B.
    """

    indices: IntVector
    points: Points
    values: Vector


def typical_rows(
    sample: WeightedSample, witness: KernelMean, sign: int, rng: np.random.Generator
) -> TypicalRows:
    """At most ten rows of a sample where sign·witness is positive."""
    rows: IntVector = np.arange(len(sample))
    if len(rows) > MAX_CANDIDATES:
        rows = np.sort(rng.choice(len(sample), MAX_CANDIDATES, replace=False))
    points = sample.sample.rows(rows)
    values = witness(points)
    picked = _pursue(_in_bandwidths(witness, points), sign * values)
    given = sample.given_rows(rows[picked])
    return TypicalRows(given, points[picked], values[picked])


def _in_bandwidths(witness: KernelMean, points: Points) -> Points:
    mapped: Points = scaling.apply(witness.scale, points, points[0]) / witness.kernel.length
    return mapped


def _pursue(points: Points, values: Vector) -> IntVector:
    """Rows in the order picked, while anything positive is left."""
    residual = np.array(values)
    largest = residual.max(initial=0.0)
    picked: list[int] = []
    while len(picked) < COUNT:
        i = int(residual.argmax())
        if not residual[i] > 0.01 * largest:
            break
        picked.append(i)
        squared = ((points - points[i]) ** 2).sum(axis=1)
        residual -= residual[i] * np.exp(squared / (-2.0 * REACH**2))
    return np.array(picked, dtype=np.intp)

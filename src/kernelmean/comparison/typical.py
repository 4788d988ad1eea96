"""The rows that are most typical of a difference.

Where the witness is largest, rows are most typical of what a sample has more of; but the ten
largest values are ten times the same row. So each pick takes away what it stands for (matching
pursuit):

    i = argmax r(x_i),   r(x) ← r(x) − r(x_i) exp(−‖x − x_i‖²/(2(2σ)²)),   r = witness at first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean import _shown
from kernelmean._types import IntVector, Points, Vector
from kernelmean.comparison.witness import CLEAR, Densities
from kernelmean.mean import scaling
from kernelmean.mean.expansion import KernelMean
from kernelmean.samples import WeightedSample

MAX_CANDIDATES = 20_000  # rows that are looked at
COUNT = 10  # rows that are picked at most
REACH = 2.0  # bandwidths: what one row stands for
LEAST = 0.05  # of the largest value: no row is picked for less


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

    See Also
    --------
    Difference : Has those of both samples.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> A, B = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> rows = km.difference(A, B + [2.0, 0.0], random_state=0).typical_b
    >>> bool((rows.points == B[rows.indices] + [2.0, 0.0]).all()), bool((rows.values < 0.0).all())
    (True, True)
    """

    indices: IntVector
    points: Points
    values: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def typical_rows(
    sample: WeightedSample, densities: Densities, sign: int, rng: np.random.Generator
) -> TypicalRows:
    """At most ten rows of a sample where sign·witness is more than chance."""
    witness = densities.witness
    rows: IntVector = np.arange(len(sample))
    if len(rows) > MAX_CANDIDATES:
        rows = np.sort(rng.choice(len(sample), MAX_CANDIDATES, replace=False))
    points = sample.sample.rows(rows)
    values = witness(points)
    clear = np.flatnonzero(sign * values > CLEAR * densities.standard_errors(points))
    picked = clear[_pursue(_in_bandwidths(witness, points[clear]), sign * values[clear])]
    given = sample.given_rows(rows[picked])
    return TypicalRows(given, points[picked], values[picked])


def _in_bandwidths(witness: KernelMean, points: Points) -> Points:
    mapped: Points = scaling.apply(witness.scale, points, witness.centers[0])
    mapped = mapped / witness.kernel.length
    return mapped


def _pursue(points: Points, values: Vector) -> IntVector:
    """Rows in the order picked, while anything positive is left."""
    residual = np.array(values)
    picked: list[int] = []
    while len(picked) < min(COUNT, len(values)):
        i = int(residual.argmax())
        if not residual[i] > LEAST * values.max():
            break
        picked.append(i)
        squared = ((points - points[i]) ** 2).sum(axis=1)
        residual -= residual[i] * np.exp(squared / (-2.0 * REACH**2))
    return np.array(picked, dtype=np.intp)

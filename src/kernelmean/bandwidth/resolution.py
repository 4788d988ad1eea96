"""How finely the values of a column are recorded: no density should be narrower than that.

Values with few digits repeat, and a likelihood grows without bound as components close in on them.
A value that was rounded to steps of δ has an error of variance δ²/12.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import Points, Vector

LEAST_TIED = 0.1  # share of the rows whose value repeats: with fewer, a column has no steps
LEAST_STEP = 1e-9  # of a column's range; closer values are one value, but for rounding


def steps(X: Points) -> Vector:
    """(d,) the smallest distance of a value that repeats from any other value of its column.

    The smallest distance of all values would be that of two values without any step between them;
    the smallest among values that repeat is far too large where few of them do. A column in which
    few values repeat, such as a few equal outliers, has a step of 0.
    """
    return np.array([_step(column) for column in X.T])


def rounding_variances(X: Points) -> Vector:
    """(d,) δ²/12 with the steps δ of the columns."""
    variances: Vector = steps(X) ** 2 / 12.0
    return variances


def _step(column: Vector) -> float:
    values, counts = np.unique(column, return_counts=True)
    tied = float(counts[counts > 1].sum())
    if len(values) < 2 or tied < LEAST_TIED * len(column):
        return 0.0
    gaps = np.diff(values)
    to_others = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf))
    found = to_others[(counts > 1) & (to_others > LEAST_STEP * (values[-1] - values[0]))]
    return float(found.min()) if len(found) else 0.0

"""Sums over groups of rows."""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector


def total(groups: IntVector, values: Vector) -> Vector:
    """The sum of the values of each group; groups are numbered from 0."""
    return np.bincount(groups, values).astype(np.float64)


def totals(groups: IntVector, rows: Points) -> Points:
    """The sum of the rows of each group."""
    return np.stack([total(groups, column) for column in rows.T], axis=1)

"""The points of clusters in planes of two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Matrix, Points
from kernelmean.meanshift.estimator import MeanShift
from kernelmean.pictures.density import (
    PRINCIPAL_AXES,
    column_names,
    every_pair,
    principal_plane,
)

MAX_PAIRED = 4  # dimensions up to which every pair of coordinates is drawn
MAX_POINTS = 4000  # that are drawn, evenly spread over the rows
STRENGTH = "strength"  # what points of one coordinate are drawn against


class PointsView(NamedTuple):
    """Points in one plane, with their clusters."""

    axes: tuple[str, str]  # names of the two directions
    places: Points  # (q, 2)
    labels: IntVector  # (q,) the cluster of each, −1 for none
    rows: IntVector  # (q,) their numbers in the data


@runtime_checkable
class HasNames(Protocol):
    """An estimator whose data had names of columns."""

    feature_names_in_: Sequence[object]


def names_of(shift: MeanShift, columns: Sequence[str] | None) -> list[str]:
    """Names of the coordinates: those given, those of the data, or x1, x2, …"""
    if columns is None and isinstance(shift, HasNames):
        columns = [str(name) for name in shift.feature_names_in_]
    return column_names(shift.mean_.expansion, columns)


def point_views(
    shift: MeanShift, X: ArrayLike, columns: Sequence[str] | None = None
) -> list[PointsView]:
    """The planes of all pairs of up to four coordinates, or the principal plane of more.

    One coordinate is drawn against how clearly each point belongs to its cluster. X is what the
    mean shift was fitted to.
    """
    mean = shift.mean_.expansion
    points = _checks.points(X, "X", mean.dimension)
    if len(points) != len(shift.labels_):
        raise ValueError(
            f"X has {len(points)} rows, but the mean shift was fitted to {len(shift.labels_)}."
        )
    rows = np.arange(0, len(points), -(-len(points) // MAX_POINTS))
    labels = shift.labels_[rows]
    some = points[rows]
    names = names_of(shift, columns)
    if mean.dimension == 1:
        places = np.column_stack([some[:, 0], shift.strengths_[rows]])
        return [PointsView((names[0], STRENGTH), places, labels, rows)]
    if mean.dimension > MAX_PAIRED:
        plane: Matrix = principal_plane(mean)
        return [PointsView(PRINCIPAL_AXES, some @ plane.T, labels, rows)]
    return [
        PointsView((names[i], names[j]), some[:, [i, j]], labels, rows)
        for i, j in every_pair(mean.dimension)
    ]

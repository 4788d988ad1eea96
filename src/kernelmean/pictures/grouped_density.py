"""Densities of one or two columns of a table, one for each group of its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Points, Vector
from kernelmean.density.estimator import SparseKDE
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import LINE_POINTS, DensityView, view_on
from kernelmean.pictures.ranges import Mean, almost_all
from kernelmean.pictures.tables import Column, columns, first_columns

FINE_SIDE_POINTS = 160  # grid points along each side of a plane, where masses are to be exact


class Groups(NamedTuple):
    """The groups whose densities are drawn together."""

    title: str  # the name of the column that tells them apart
    names: tuple[str, ...]


class GroupedDensity(NamedTuple):
    """A density for each group of rows, in the plane or along the line of the same columns."""

    views: list[DensityView]
    groups: Groups | None  # None where all rows are one


class _Rows(NamedTuple):
    """The rows of a table that have a value in every column that is used."""

    columns: tuple[str, ...]  # names of the one or two
    X: Points  # (n, 1 or 2)
    weights: Vector | None  # (n,)
    labels: Column | None  # what tells groups apart
    upright: bool  # whether the one column is that of y


class _Part(NamedTuple):
    """The rows of one group."""

    name: str  # as a message calls it
    rows: IntVector


def grouped_density(
    data: Any,
    x: str | int | ArrayLike | None = None,
    y: str | int | ArrayLike | None = None,
    hue: str | int | ArrayLike | None = None,
    weights: str | int | ArrayLike | None = None,
    common_norm: bool = True,
    estimator: Any = None,
) -> GroupedDensity:
    """The densities of the groups of a table's rows, each on a grid that holds all but 0.1 % of it.

    Columns are names or numbers of those of the data, or arrays. Rows with a missing value in one
    of them, or of weight zero, are left out. Groups are in the order of their numbers or letters,
    or of their categories. With ``common_norm`` curves of one column have the share of their group
    as integral, together one.
    """
    table = _rows(data, x, y, hue, weights)
    parts = _parts(table)
    prototype = _as_usual() if estimator is None else estimator
    views = []
    for part in parts:
        mean = _fitted(prototype, table, part)
        view = _view(mean, table, part.rows)
        if common_norm and len(table.columns) == 1:
            view = view._replace(values=_share(table, part.rows) * view.values)
        views.append(view)
    if table.labels is None:
        return GroupedDensity(views, None)
    return GroupedDensity(views, Groups(table.labels.name, tuple(part.name for part in parts)))


def _as_usual() -> SparseKDE:
    """What seaborn draws: Scott's bandwidth in the units of the group's covariance."""
    return SparseKDE(bandwidth="scott", scale="cov", random_state=0)


def _rows(data: Any, x: Any, y: Any, hue: Any, weights: Any) -> _Rows:
    """The complete rows, with numbers checked."""
    if x is None and y is None:
        x, y = first_columns(data)
    given = {"x": x, "y": y, "hue": hue, "weights": weights}
    read = columns(data, {role: key for role, key in given.items() if key is not None})
    complete = ~np.any([found.missing for found in read.values()], axis=0)
    if not complete.any():
        raise ValueError(f"no row has a value in every one of {', '.join(read)}.")
    read = {role: found.restricted(complete) for role, found in read.items()}
    axes = [read[role] for role in ("x", "y") if role in read]
    X = np.hstack([found.numbers() for found in axes])
    w = _checks.weights(read["weights"].numbers()[:, 0], len(X)) if "weights" in read else None
    table = _Rows(tuple(axis.name for axis in axes), X, w, read.get("hue"), "x" not in read)
    kept, positive = _checks.positive_rows(w)
    if kept is None:
        return table
    labels = None if table.labels is None else table.labels.restricted(kept)
    return table._replace(X=X[kept], weights=positive, labels=labels)


def _parts(table: _Rows) -> list[_Part]:
    """Groups with their rows: in d columns d + 1 different ones at least, fewer lie in a plane of
    d − 1 dimensions and have no width across.
    """
    if table.labels is None:
        parts = [_Part("", np.arange(len(table.X)))]
    else:
        parts = [_Part(name, rows) for name, rows in table.labels.groups()]
    least = len(table.columns) + 1
    for part in parts:
        found = len(np.unique(table.X[part.rows], axis=0))
        if found < least:
            advice = "give more rows" if table.labels is None else "leave it out, or join groups"
            raise ValueError(
                f"{_who(table, part)}: a density of {', '.join(table.columns)} needs {least} "
                f"different rows at least, got {found}; {advice}."
            )
    return parts


def _who(table: _Rows, part: _Part) -> str:
    """What a message calls the rows of a group."""
    return "all rows" if table.labels is None else f"group {part.name!r} of {table.labels.name!r}"


def _fitted(prototype: Any, table: _Rows, part: _Part) -> Mean:
    """The density of one group, by a copy of the estimator."""
    options = {} if table.weights is None else {"sample_weight": table.weights[part.rows]}
    try:
        fitted = clone(prototype).fit(table.X[part.rows], **options)
    except ValueError as error:
        raise ValueError(f"{_who(table, part)}: {error}") from error
    mean = getattr(fitted, "mean_", None)
    if not isinstance(mean, KernelMean | SparseKernelMean):
        raise TypeError(
            f"estimator must be one that holds a density (mean_), such as SparseKDE, got "
            f"{type(prototype).__name__}."
        )
    return mean


def _view(mean: Mean, table: _Rows, rows: IntVector) -> DensityView:
    d = mean.dimension
    size = LINE_POINTS if d == 1 else FINE_SIDE_POINTS
    X = table.X[rows]
    grids = tuple(np.linspace(*almost_all(mean, X, axis), size) for axis in range(d))
    return view_on(mean, np.eye(d), grids, table.columns)._replace(upright=table.upright)


def _share(table: _Rows, rows: IntVector) -> float:
    """The share of a group in all rows, or in their weight."""
    if table.weights is None:
        return len(rows) / len(table.X)
    return float(table.weights[rows].sum() / table.weights.sum())

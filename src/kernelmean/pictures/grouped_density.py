"""Densities of one or two columns of a table, one for each group of its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Points, Vector
from kernelmean.density.estimator import SparseKDE
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import view_on
from kernelmean.pictures.drawn_domain import DrawnDomain
from kernelmean.pictures.on_domain import view_on_domain
from kernelmean.pictures.ranges import Mean, almost_all
from kernelmean.pictures.tables import Column, columns, first_columns
from kernelmean.pictures.view import FINE_SIDE_POINTS, LINE_POINTS, DensityView


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
    domain: DrawnDomain | None = None  # what the columns can hold


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
    domain: Any = None,
) -> GroupedDensity:
    """The densities of the groups of a table's rows, each on a grid that holds all but 0.1 % of it.

    Columns are names or numbers of those of the data, or arrays. Rows with a missing value in one
    of them, or of weight zero, are left out. Groups are in the order of their numbers or letters,
    or of their categories. With ``common_norm`` curves of one column have the share of their group
    as integral, together one. ``domain`` says what the columns can hold, as estimators take it.
    """
    table = _rows(data, x, y, hue, weights, domain)
    _require_one_group(table)
    parts = _parts(table)
    prototype = estimator
    if estimator is None:
        prototype = _as_usual(table.domain)
        if table.domain is not None:
            table = table._replace(domain=table.domain.smoothed(len(table.X)))
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


def _as_usual(domain: DrawnDomain | None) -> SparseKDE:
    """What seaborn draws: Scott's bandwidth in the units of the group's covariance.

    On a domain each column has its own unit, since no bound may be turned.
    """
    scale = "cov" if domain is None else "std"
    return SparseKDE(bandwidth="scott", scale=scale, random_state=0)


def _rows(data: Any, x: Any, y: Any, hue: Any, weights: Any, domain: Any) -> _Rows:
    """The complete rows, with numbers checked."""
    if x is None and y is None:
        x, y = first_columns(data)
    given = {"x": x, "y": y, "hue": hue, "weights": weights}
    read = columns(data, {role: key for role, key in given.items() if key is not None})
    complete = ~np.any([found.missing for found in read.values()], axis=0)
    if not complete.any():
        raise ValueError(f"no row has a value in every one of {', '.join(read)}.")
    read = {role: found.restricted(complete) for role, found in read.items()}
    drawn = [role for role in ("x", "y") if role in read]
    axes = [read[role] for role in drawn]
    known = None
    if domain is not None:
        known = DrawnDomain.of(domain, axes, [given[role] for role in drawn], data)
    X = np.hstack([found.numbers() for found in axes]) if known is None else known.numbers(axes)
    w = _checks.weights(read["weights"].numbers()[:, 0], len(X)) if "weights" in read else None
    names = tuple(axis.name for axis in axes)
    table = _Rows(names, X, w, read.get("hue"), "x" not in read, known)
    kept, positive = _checks.positive_rows(w)
    if kept is None:
        return table
    labels = None if table.labels is None else table.labels.restricted(kept)
    return table._replace(X=X[kept], weights=positive, labels=labels)


def _require_one_group(table: _Rows) -> None:
    """A ValueError for groups of what has a colour for each category already."""
    named = 0 if table.domain is None else len(table.domain.levels)
    if named and len(table.columns) == 2 and table.labels is not None:
        raise ValueError(
            "hue cannot tell groups apart beside a column of categories, which have the colours: "
            "leave hue out, or draw one column."
        )


def _parts(table: _Rows) -> list[_Part]:
    """Groups with their rows: in d columns d + 1 different ones at least, fewer lie in a plane of
    d − 1 dimensions and have no width across.
    """
    if table.labels is None:
        parts = [_Part("", np.arange(len(table.X)))]
    else:
        parts = [_Part(name, rows) for name, rows in table.labels.groups()]
    named = 0 if table.domain is None else len(table.domain.levels)
    least = len(table.columns) - named + 1
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


def _fitted(prototype: Any, table: _Rows, part: _Part) -> Mean | DomainMean:
    """The density of one group, by a copy of the estimator."""
    options = {} if table.weights is None else {"sample_weight": table.weights[part.rows]}
    own = clone(prototype)
    if table.domain is not None and table.domain.kinds:
        own.set_params(domain=table.domain.kinds)
    try:
        fitted = own.fit(table.X[part.rows], **options)
    except ValueError as error:
        said = str(error)
        for i, name in enumerate(table.columns):  # rows are fitted without names
            said = said.replace(f"column {i} has", f"column {name!r} has")
        raise ValueError(f"{_who(table, part)}: {said}") from error
    mean = getattr(fitted, "mean_", None)
    if isinstance(mean, DomainMean):
        return mean if table.domain is None else table.domain.named(mean)
    if not isinstance(mean, KernelMean | SparseKernelMean):
        raise TypeError(
            f"estimator must be one that holds a density (mean_), such as SparseKDE, got "
            f"{type(prototype).__name__}."
        )
    return mean


def _view(mean: Mean | DomainMean, table: _Rows, rows: IntVector) -> DensityView:
    d = mean.dimension
    if isinstance(mean, DomainMean):
        view = view_on_domain(mean, tuple(range(d)), table.X[rows], table.columns)
        turned = view.shape == "curves" and view.axes != table.columns
        return view._replace(upright=table.upright or turned)
    size = LINE_POINTS if d == 1 else FINE_SIDE_POINTS
    X = table.X[rows]
    grids = tuple(np.linspace(*almost_all(mean, X, axis), size) for axis in range(d))
    return view_on(mean, np.eye(d), grids, table.columns)._replace(upright=table.upright)


def _share(table: _Rows, rows: IntVector) -> float:
    """The share of a group in all rows, or in their weight."""
    if table.weights is None:
        return len(rows) / len(table.X)
    return float(table.weights[rows].sum() / table.weights.sum())

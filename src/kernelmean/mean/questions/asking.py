"""What users ask with: columns by name or position, values for some of them, bounds of a box."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmean._types import ArrayLike, IntVector, Points, Vector


class Columns(NamedTuple):
    """The columns of a density: how many, and their names where they have any."""

    dimension: int
    names: tuple[str, ...] | None

    def position(self, column: Any) -> int:
        """The position of a column that is named or counted; from the end where it is negative."""
        if isinstance(column, str):
            if self.names is None:
                raise ValueError(
                    f"the columns have no names, so {column!r} is none of them: give a position "
                    f"from 0 to {self.dimension - 1}."
                )
            if column not in self.names:
                raise ValueError(f"unknown column {column!r}; there are {list(self.names)}.")
            return self.names.index(column)
        column = _unwrapped(column)
        if isinstance(column, bool) or not isinstance(column, numbers.Integral):
            raise TypeError(f"a column is a name or a position, got {column!r}.")
        if not -self.dimension <= int(column) < self.dimension:
            raise ValueError(f"there is no column {column}: there are {self.dimension}, from 0 on.")
        return int(column) % self.dimension

    def positions(self, columns: Any) -> IntVector:
        """The positions of one column or several, no two of them the same."""
        columns = _unwrapped(columns)
        if not isinstance(columns, str | numbers.Integral | Iterable):
            raise TypeError(f"columns are one name or position or several, got {columns!r}.")
        several = [columns] if isinstance(columns, str | numbers.Integral) else list(columns)
        if not several:
            raise ValueError("at least one column is needed.")
        found = [self.position(column) for column in several]
        if len(set(found)) < len(found):
            raise ValueError(f"a column is named twice in {several}.")
        return np.array(found, dtype=np.intp)

    def values(self, given: Mapping[Any, float]) -> tuple[IntVector, Vector]:
        """The positions of the columns that are given, and their values."""
        columns, values = self.given(given)
        return columns, np.array(
            [self.finite(v, int(t)) for t, v in zip(columns, values, strict=True)]
        )

    def given(self, given: Mapping[Any, Any]) -> tuple[IntVector, list[Any]]:
        """The positions of the columns that are given, and their values as they are.

        Sorted, so that the order in which they were named changes no bit.
        """
        given = _by_label(given)
        if not isinstance(given, Mapping) or not given:
            raise TypeError(f"given= maps columns to values, as {{'x': 1.2}}, got {given!r}.")
        columns = self.positions(list(given))
        if len(columns) == self.dimension:
            raise ValueError("every column is given: at least one must be left free.")
        order = np.argsort(columns, kind="stable")
        several = list(given.values())
        return columns[order], [several[i] for i in order]

    def finite(self, value: Any, position: int) -> float:
        """A given value of a column as a finite float."""
        found = _number(value, position if self.names is None else self.names[position])
        if not math.isfinite(found):
            raise ValueError(
                f"the given values must be finite, got {found} for column {self.label(position)}."
            )
        return found

    def bounds(self, given: ArrayLike | Mapping[Any, float] | None, absent: float) -> Vector:
        """(d,) bounds of a box, ``absent`` where there is none."""
        found = np.full(self.dimension, absent)
        for t, bound in self.limits(given).items():
            found[t] = self.bound(bound, t)
        return found

    def limits(self, given: ArrayLike | Mapping[Any, Any] | None) -> dict[int, Any]:
        """The bounds of those columns that have any, as they are given, by their positions."""
        if given is None:
            return {}
        self.refuse_other_order(given, "the bounds")
        given = self._labelled(given)
        if isinstance(given, Mapping):
            positions = self.positions(given).tolist() if given else []
            several = list(given.values())
        else:
            several = list(np.ravel(np.asarray(given, dtype=object)))
            positions = list(range(self.dimension))
            if len(several) != self.dimension:
                raise ValueError(
                    f"a bound for each of {self.dimension} columns is needed, got {len(several)}; "
                    "name the columns that have any, as {'x': 0.0}."
                )
        found = zip(positions, several, strict=True)
        return {t: bound for t, bound in found if bound is not None}

    def bound(self, value: Any, position: int) -> float:
        """A bound of a column as a number, which may be infinite."""
        found = _number(value, position if self.names is None else self.names[position])
        if math.isnan(found):
            raise ValueError("a bound is NaN; use None where there is none.")
        return found

    def rows(self, x: ArrayLike | Mapping[Any, float], name: str) -> Points:
        """(q, d) places in the order of the columns; a series is one row, by its labels."""
        self.refuse_other_order(x, name)
        given = self._labelled(x)
        if not isinstance(given, Mapping):
            return places(given, self.dimension, name)
        if len(given) != self.dimension:
            raise ValueError(
                f"{name} needs a value for each of {self.dimension} columns, got {list(given)}."
            )
        row = np.empty(self.dimension)
        row[self.positions(given)] = [_number(value, column) for column, value in given.items()]
        return places(row, self.dimension, name)

    def _labelled(self, given: Any) -> Any:
        """A mapping for a series; names say nothing where the columns have none, as in a frame."""
        found = _by_label(given)
        named = isinstance(found, Mapping) and all(isinstance(label, str) for label in found)
        return given if named and found is not given and self.names is None else found

    def refuse_other_order(self, table: Any, what: str) -> None:
        """A ValueError for a frame whose columns have other names, or stand in another order."""
        labels = getattr(table, "columns", None)
        if self.names is None or labels is None:
            return
        found = [label for label in labels if isinstance(label, str)]
        if found and found != list(self.names):
            raise ValueError(
                f"the columns of {what} are {found}, those of the density {list(self.names)}: give "
                "them in this order."
            )

    def label(self, position: int) -> str:
        """What a message calls a column."""
        return str(position) if self.names is None else repr(self.names[position])

    def named(self, positions: Sequence[int] | IntVector) -> tuple[str, ...] | None:
        """The names of some columns."""
        return None if self.names is None else tuple(self.names[t] for t in positions)


def _by_label(given: Any) -> Any:
    """A mapping for a series with an index, such as a row of a frame; else as it is."""
    if not all(hasattr(given, part) for part in ("to_dict", "index")) or given.ndim != 1:
        return given
    found = given.to_dict()
    if len(found) < len(given):
        raise ValueError(f"a column is named twice in {list(given.index)}.")
    return found


def _unwrapped(value: Any) -> Any:
    """What an array without axes holds; else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _number(value: Any, column: Any) -> float:
    """A value of a column as a float."""
    value = _unwrapped(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"the value of column {column!r} must be a number, got {value!r}.")
    return float(value)


def places(x: ArrayLike, d: int, name: str) -> Vector:
    """(q, d) numbers, of which only NaN is refused; (q,) or a single one is taken for d = 1."""
    found = np.asarray(x, dtype=np.float64)
    if d == 1 and found.ndim <= 1:
        found = found.reshape(-1, 1)
    elif found.ndim == 1 and len(found) == d:
        found = found.reshape(1, d)
    if found.ndim != 2 or found.shape[1] != d:
        raise ValueError(
            f"{name} needs one row per place with {d} columns, or column= for one of them; got the "
            f"shape {np.shape(x)}."
        )
    if np.isnan(found).any():
        raise ValueError(f"{name} holds NaN; remove or impute it first.")
    return found


def levels(p: ArrayLike) -> Vector:
    """Probabilities between 0 and 1, one-dimensional."""
    given = np.asarray(p)
    if given.dtype.kind == "b":
        raise TypeError(f"p holds probabilities, not truth values, got {p!r}.")
    try:
        found = np.atleast_1d(given.astype(np.float64))
    except (TypeError, ValueError):  # words
        found = np.empty((0, 0))
    if found.ndim != 1 or not bool(((found >= 0.0) & (found <= 1.0)).all()):
        raise ValueError("p holds probabilities between 0 and 1, as a number or a list of them.")
    return found

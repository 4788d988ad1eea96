"""Columns of whatever users call a table: a frame, a mapping, an array; or no table at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean import _checks
from kernelmean._types import IntVector, Points

CATEGORIES = ("CategoricalDtype", "Enum")  # types of columns whose values have an order
MAX_DRAWN = 2  # columns of one picture


class Column(NamedTuple):
    """One column of a table."""

    name: str
    values: NDArray[Any]  # (n,)
    missing: NDArray[np.bool_]  # (n,)
    categories: tuple[Any, ...] | None = None  # what values can be, in their order

    def restricted(self, rows: NDArray[np.bool_] | IntVector) -> Column:
        """Some rows of it."""
        return self._replace(values=self.values[rows], missing=self.missing[rows])

    def numbers(self) -> Points:
        """(n, 1) finite numbers; a column that holds anything else is named."""
        return _checks.points(self.values[:, None], f"column {self.name!r}")

    def groups(self) -> list[tuple[str, IntVector]]:
        """Rows of equal value: numbers by size, words by letters, categories by their order."""
        try:
            found, which = np.unique(self.values, return_inverse=True)
        except TypeError:  # numbers and words in one column
            found, which = np.unique([str(value) for value in self.values], return_inverse=True)
        names = [str(value) for value in found]
        order = list(range(len(names)))
        if self.categories is not None:
            places = {str(value): place for place, value in enumerate(self.categories)}
            order.sort(key=lambda i: places.get(names[i], len(places)))
        return [(names[i], np.flatnonzero(which == i)) for i in order]


def columns(data: Any, keys: Mapping[str, Any]) -> dict[str, Column]:
    """The columns of some roles, such as x, y, hue: each by its name or number, or an array.

    They are of one length, and a name has no two roles.
    """
    roles: dict[Any, str] = {}
    for role, key in keys.items():
        if np.ndim(key) == 0 and roles.setdefault(key, role) != role:
            raise ValueError(
                f"{roles[key]} and {role} are the same column, {key!r}; give two different ones."
            )
    read = {role: _column(data, key, role) for role, key in keys.items()}
    lengths = {role: len(found.values) for role, found in read.items()}
    if data is not None and not isinstance(data, Mapping):
        lengths = {"data": len(data)} | lengths
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{role} has {length}" for role, length in lengths.items())
        raise ValueError(f"each column must have one value for each row, but {told}.")
    return read


def _column(data: Any, key: Any, role: str) -> Column:
    if np.ndim(key) == 0:
        found = _looked_up(data, key, role)
        name = str(key) if _has_names(data) else f"x{key + 1}"
    else:
        found = key
        named = getattr(key, "name", None)
        name = role if named in (None, "") else str(named)
    values = np.asarray(found)
    if values.ndim != 1:
        raise ValueError(
            f"{role} must be one column, got {values.ndim} dimensions; is its name there twice?"
        )
    return Column(name, values, _missing(found, values), _categories(found))


def first_columns(data: Any) -> tuple[int, int | None]:
    """What is drawn of an array where nothing is said: its one or two columns."""
    known = [] if data is None else column_names(data)
    if data is None or _has_names(data) or len(known) > MAX_DRAWN:
        told = "" if data is None else f"; the columns are {_list(known)}"
        raise ValueError(f"say which one or two columns to draw, x=... and y=...{told}.")
    return 0, 1 if len(known) > 1 else None


def _looked_up(data: Any, key: Any, role: str) -> Any:
    if data is None:
        raise ValueError(f"{role}={key!r} names a column, but no data are given.")
    known = column_names(data)
    if key not in known:
        raise ValueError(f"there is no column {key!r} ({role}); the columns are {_list(known)}.")
    if _has_names(data):
        return data[key]
    table = np.asarray(data)
    return table if table.ndim == 1 else table[:, key]


def _has_names(data: Any) -> bool:
    return isinstance(data, Mapping) or hasattr(data, "columns")


def column_names(data: Any) -> list[Any]:
    """Names of the columns; of an array their numbers."""
    if isinstance(data, Mapping):
        return list(data)
    if hasattr(data, "columns"):
        return list(getattr(data, "column_names", data.columns))
    shape = np.shape(data)
    if len(shape) not in (1, 2):
        raise ValueError(
            f"data must be a frame, a mapping of columns or an array of rows, got "
            f"{len(shape)} dimensions."
        )
    return list(range(shape[1] if len(shape) == 2 else 1))


def _list(names: list[Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _missing(found: Any, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is no value, as the frame says it, and where it is None, NaN or masked."""
    missing = np.zeros(len(values), dtype=bool)
    for ask in ("isna", "is_null"):  # pandas; polars and Arrow
        if hasattr(found, ask):
            missing |= np.asarray(getattr(found, ask)(), dtype=bool)
    if values.dtype.kind == "f":
        missing |= np.isnan(values)
    if values.dtype.kind == "O":
        missing |= [v is None or (isinstance(v, float) and np.isnan(v)) for v in values]
    if isinstance(found, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(found)
    return missing


def _categories(found: Any) -> tuple[Any, ...] | None:
    kind = getattr(found, "dtype", None)
    return tuple(kind.categories) if type(kind).__name__ in CATEGORIES else None  # type: ignore[union-attr]

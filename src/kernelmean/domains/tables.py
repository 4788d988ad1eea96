"""Tables with names in some columns, as coded rows and back."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean import _checks
from kernelmean._types import Points

MISSING = float("nan")  # the code of a value that is missing
UNKNOWN = -1.0  # the code of a value that is none of the levels

Levels = tuple[tuple[Any, ...], ...]


class Coded(NamedTuple):
    """Rows with numbers in every column, and what the codes mean."""

    rows: Points  # (n, d)
    levels: Levels  # of each column of categories, in the order of the columns
    names: tuple[str, ...] | None  # of the columns


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, where X has any and all are words."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def width(X: Any) -> int:
    """The number of columns of a table."""
    shape = np.shape(X) if getattr(X, "shape", None) is None else X.shape
    _checks.table_shape(shape, "X")
    return int(shape[1])


def code(
    X: Any,
    categories: tuple[int, ...],
    given: tuple[tuple[Any, ...] | None, ...],
    what: str = "X",
    *,
    incomplete: bool = False,
) -> Coded:
    """Rows of a table, frame or array as numbers; NaN where one is missing, if they may be.

    ``given`` has the levels of each column of categories, or None where they are to be learned:
    then they are the values that occur, in order. Missing values are NaN, in columns of numbers
    only where rows may be incomplete.
    """
    names = column_names(X)
    read = _read_levels(X, names, categories, what)
    if _checks.is_batched(X):
        X = np.asarray(X)  # once, since it may take a pass over a file
    rows = np.empty((len(X), width(X)))
    numeric = [t for t in range(rows.shape[1]) if t not in categories]
    if numeric:
        rows[:, numeric] = _numbers(X, numeric, what, incomplete)
    levels = []
    for t, known in zip(categories, given, strict=True):
        values = _column(X, t)
        if t in read and read[t] == known:
            rows[:, t] = values
            levels.append(known)
            continue
        if t in read:
            values = decoded(values, read[t])
        found = _levels(values) if known is None else known
        label = t if names is None else names[t]
        if not found:
            raise ValueError(f"column {label!r} of {what} holds no category at all.")
        rows[:, t] = _codes(values, found)
        levels.append(found)
    return Coded(rows, tuple(levels), names)


def _read_levels(
    X: Any, names: tuple[str, ...] | None, categories: tuple[int, ...], what: str
) -> dict[int, tuple[Any, ...]]:
    """The levels of columns that were coded as a file was read, by position."""
    found: dict[int, tuple[Any, ...]] = {}
    if names is None:
        return found
    for name, levels in getattr(X, "levels", {}).items():
        position = names.index(name)
        if position not in categories:
            raise ValueError(
                f"column {name!r} of {what} was read as categories, but domain= does not say so: "
                f"add {{{name!r}: km.Categorical()}}, or read it without categories=."
            )
        found[position] = tuple(levels)
    return found


def decoded(codes: NDArray[np.float64], levels: tuple[Any, ...]) -> NDArray[Any]:
    """The values that codes mean; None where one means nothing."""
    table = np.empty(len(levels) + 1, dtype=object)
    table[: len(levels)] = levels
    table[-1] = None
    known = np.isfinite(codes) & (codes >= 0)
    found: NDArray[Any] = table[np.where(known, codes, -1).astype(np.intp)]
    return found


def written(rows: Points, categories: Any, levels: Levels) -> NDArray[Any]:
    """Coded rows as users have them: an array of floats where all levels are numbers."""
    if all(isinstance(v, numbers.Real) for some in levels for v in some):
        found = np.array(rows)
        for t, some in zip(categories, levels, strict=True):
            found[:, t] = np.array(some, dtype=np.float64)[rows[:, t].astype(np.intp)]
        return found
    mixed = rows.astype(object)
    for t, some in zip(categories, levels, strict=True):
        mixed[:, t] = decoded(rows[:, t], some)
    return mixed


def _column(X: Any, t: int) -> NDArray[Any]:
    """One column of a table as an array."""
    names = getattr(X, "columns", None)
    if _checks.is_batched(X) or names is None:
        return np.asarray(X)[:, t]
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, t])
    return np.asarray(X[list(names)[t]])


def _numbers(X: Any, columns: list[int], what: str, incomplete: bool) -> Points:
    """Some columns as float64 numbers: finite ones, or NaN where they may be missing."""
    if _checks.is_batched(X) or getattr(X, "columns", None) is None:
        some = np.asarray(X)[:, columns]
    elif hasattr(X, "iloc"):
        some = X.iloc[:, columns]
    else:
        some = X[[list(X.columns)[t] for t in columns]]
    if not incomplete:
        return _checks.points(some, what)
    known = np.asarray(some)
    if known.dtype == object:
        plain = [MISSING if value is None else value for value in known.ravel()]
        known = np.array(plain, dtype=object).reshape(known.shape)
    return _checks.incomplete_points(known, what, len(columns))


def code_of(value: Any, levels: tuple[Any, ...]) -> int | None:
    """The code of one value; None where it is none of the levels."""
    one = np.empty(1, dtype=object)
    one[0] = value
    found = float(_codes(one, levels)[0])
    return int(found) if found >= 0.0 else None


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or what pandas has in their place."""
    if value is None or isinstance(value, str):
        return value is None
    differs = value != value  # noqa: PLR0124
    return differs is value or bool(differs)  # NA does not even know whether it differs from NA


def _plain(value: Any) -> Any:
    """A value of Python in the place of one of NumPy; whole numbers without a point."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def distinct(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values, and which of them each is."""
    if values.dtype.kind in "biufUS":
        several, which = np.unique(values, return_inverse=True)
        return [_plain(v) for v in several], which.reshape(-1)
    known: dict[Any, int] = {}
    which = np.empty(len(values), dtype=np.intp)
    for i, value in enumerate(values):
        key = None if is_missing(value) else _plain(value)
        which[i] = known.setdefault(key, len(known))
    return list(known), which


def _levels(values: NDArray[Any]) -> tuple[Any, ...]:
    return ordered([value for value in distinct(values)[0] if not is_missing(value)])


def ordered(found: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct values in order; numbers before names where both are there."""
    found = list(found)
    try:
        return tuple(sorted(found))
    except TypeError:  # numbers among names
        return tuple(sorted(found, key=lambda value: (str(type(value)), str(value))))


def _codes(values: NDArray[Any], levels: tuple[Any, ...]) -> Points:
    place = {_plain(level): float(i) for i, level in enumerate(levels)}
    several, which = distinct(values)
    codes = [MISSING if is_missing(v) else place.get(v, UNKNOWN) for v in several]
    return np.array(codes)[which]

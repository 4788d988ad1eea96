"""Collections of samples: lists, mappings and long tables become names and samples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmean import samples as places
from kernelmean._frames import as_frame
from kernelmean._types import ArrayLike
from kernelmean.samples import Sample


class Samples(NamedTuple):
    """Checked samples of equal width, with their names."""

    names: list[Any]  # keys of a mapping, groups of a table, else 0, 1, 2, ...
    samples: list[Sample]  # (n_l, d) each
    columns: list[str] | None  # names of the coordinates, where the samples are frames

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.samples[0].dimension


def collect(
    samples: Any,
    group: Hashable = None,
    groups: ArrayLike | None = None,
    fitted: int | None = None,
    engine: Any = "cpu",
) -> Samples:
    """Names and arrays from a list of tables, a mapping, a frame or one table.

    A frame has a group column, one table comes with a group per row. ``fitted`` is the number of
    columns that new samples must have.
    """
    named = _split(samples, group, groups, engine)
    if not named:
        raise ValueError("samples is empty: give a list of arrays, one per sample.")
    checked = [
        places.check(X.sample if isinstance(X, _Part) else X, engine, f"sample {name!r}", fitted)
        for name, X in named
    ]
    width = checked[0].dimension
    for (name, _), X in zip(named, checked, strict=True):
        if X.dimension != width:
            raise ValueError(
                f"all samples need the same columns: sample {named[0][0]!r} has {width}, but "
                f"sample {name!r} has {X.dimension}."
            )
    return Samples([name for name, _ in named], checked, _column_names(named))


def _split(
    samples: Any, group: Hashable, groups: ArrayLike | None, engine: Any
) -> list[tuple[Any, Any]]:
    samples = as_frame(samples)
    if groups is not None:
        return _by_group(samples, groups, engine)
    if isinstance(samples, Mapping):
        return list(samples.items())
    if _is_frame(samples):
        return _by_column(samples, group, engine)
    if isinstance(samples, np.ndarray) and samples.ndim == 3:
        return list(enumerate(samples))
    if isinstance(samples, Sequence) and not isinstance(samples, (str, bytes)):
        return list(enumerate(samples))
    shape = (
        f"one table of shape {samples.shape}"
        if isinstance(samples, np.ndarray)
        else f"a {type(samples).__name__}"
    )
    raise TypeError(
        "samples must be a list of arrays, a mapping from names to arrays, or a table with a "
        "group per row (groups=), "
        f"got {shape}."
    )


def _by_column(frame: Any, group: Hashable, engine: Any) -> list[tuple[Any, Any]]:
    if group is None:
        raise ValueError(
            "samples is one table: name the column that tells its samples apart, group='...', or "
            "give groups=."
        )
    if group not in list(frame.columns):
        raise ValueError(
            f"the table has no group column {group!r}; its columns are "
            f"{', '.join(map(repr, frame.columns))}."
        )
    rest = [name for name in frame.columns if name != group]
    return _by_group(frame[rest], frame[group], engine)


def _by_group(table: Any, groups: ArrayLike, engine: Any) -> list[tuple[Any, Any]]:
    """Rows of equal group, in the order of the sorted groups."""
    labels = np.asarray(groups)
    X = places.check(table, engine, "samples")
    if labels.ndim != 1 or len(labels) != len(X):
        raise ValueError(
            f"groups has shape {labels.shape}, but one group per row is needed: ({len(X)},)."
        )
    named = labels if labels.dtype.kind in "Of" else ()  # only these kinds can hold None or NaN
    if any(label is None or label != label for label in named):  # noqa: PLR0124
        raise ValueError("some groups are missing (None or NaN); drop those rows or name them.")
    unique, inverse = np.unique(labels, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    columns = list(table.columns) if _is_frame(table) else None
    return [
        (name, _Part(X.restrict(rows), columns))
        for name, rows in zip(unique.tolist(), parts, strict=True)
    ]


class _Part(NamedTuple):
    """Some rows of a frame, which still know its columns."""

    sample: Sample
    columns: list[Any] | None


def _column_names(named: list[tuple[Any, Any]]) -> list[str] | None:
    """Names that every sample has, in the same order; None where any has none."""
    found = [None if getattr(X, "columns", None) is None else list(X.columns) for _, X in named]
    first = found[0]
    if (
        first is None
        or any(names is None for names in found)
        or not all(isinstance(name, str) for name in first)
    ):
        return None
    for (name, _), names in zip(named, found, strict=True):
        if names != first:
            raise ValueError(
                f"all samples need the same columns: sample {name!r} has {names}, the first has "
                f"{first}."
            )
    return first


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "__getitem__")

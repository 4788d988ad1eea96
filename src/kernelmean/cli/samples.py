"""Several files as samples of the same columns, or one file in groups, and what describes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelmean.cli import streams

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files import Source


class Samples(NamedTuple):
    """The points of each sample, and what is known of the samples."""

    points: dict[str, Points]
    metadata: dict[str, list[Any]]


class Columned(NamedTuple):
    """The points of each sample, and the names of their columns where there are any."""

    points: dict[str, Points]
    columns: list[str] | None


def read_samples(
    files: list[str],
    group: str | None,
    metadata: Path | None,
    color: str | None,
    how: dict[str, Any],
) -> Samples:
    """Samples of many files, or of the groups of one, with their metadata; among these must be what
    they are coloured by.
    """
    samples = _from_files(files, how) if group is None else _grouped(files, group, color, how)
    known = (
        samples.metadata
        if metadata is None
        else samples.metadata | _described(metadata, list(samples.points))
    )
    if color is not None and color not in known:
        raise ValueError(
            f"there is no column {color!r} to colour by; known are {', '.join(known) or 'none'}."
        )
    return Samples(samples.points, known)


def _from_files(files: list[str], how: dict[str, Any]) -> Samples:
    """One sample per file, under the shortest kind of name that tells the files apart."""
    from kernelmean import _progress

    if len(set(files)) < len(files):
        raise ValueError("a file is named twice; give each sample once.")
    names = told_apart(files)
    if len(files) < 2:
        raise ValueError(
            "an embedding compares samples: give at least two files, or one with --group COLUMN."
        )
    points = _progress.track(alike(files, **how), "reading", len(files))
    return Samples(dict(zip(names, points, strict=True)), {})


def told_apart(files: list[str]) -> list[str]:
    """Names of the files without folder and ending, without folder, as given, or with the bytes
    that cannot be shown: the first of these in which no two are alike.
    """
    from kernelmean.files import readable, short_name

    short = [readable(short_name(path)) for path in files]
    bare = [readable(Path(path).name) for path in files]
    given = [readable(path) for path in files]
    escaped = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in files]
    kinds = (short, bare, given, escaped)
    return next(names for names in kinds if len(set(names)) == len(files))


def _grouped(files: list[str], group: str, color: str | None, how: dict[str, Any]) -> Samples:
    """Rows of equal group, in the order of the sorted groups; a column to colour by is no
    coordinate.
    """
    import numpy as np

    import kernelmean as km
    from kernelmean.files import column_names, has_column

    if len(files) != 1:
        raise ValueError(f"--group takes the samples from one file, got {len(files)} files.")
    names = column_names(files[0]) or []
    described = color is not None and has_column(files[0], color)
    if color in names and how["columns"] is None:
        how = how | {"columns": [name for name in names if name not in (group, color)]}
    X, _, labels = km.read(files[0], labels=group, **how).load()
    assert labels is not None
    found, codes = np.unique(labels, return_inverse=True)
    points = {str(name): X[codes == i] for i, name in enumerate(found)}
    return Samples(
        points, _shared_values(files[0], group, color, list(points)) if described else {}
    )


def _shared_values(path: str, group: str, color: Any, names: list[str]) -> dict[str, list[Any]]:
    """The value of a column in each group, which must have one only."""
    from kernelmean.files import read_columns

    table = read_columns(path, [group, color])
    groups = table[group].astype(str)
    values = {name: set(table[color][groups == name].tolist()) for name in names}
    mixed = next((name for name, seen in values.items() if len(seen) != 1), None)
    if mixed is not None:
        raise ValueError(
            f"column {color!r} differs within group {mixed!r}, so it is no property of the sample."
        )
    return {color: [values[name].pop() for name in names]}


def _described(path: Path, names: list[str]) -> dict[str, list[Any]]:
    """Columns of the metadata in the order of the samples."""
    from kernelmean.files import read_columns, short_name

    table = read_columns(path)
    first, *others = table
    listed = list(map(str, table[first]))
    places = {short_name(name): i for i, name in enumerate(listed)} | {
        name: i for i, name in enumerate(listed)
    }
    absent = next((name for name in names if name not in places), None)
    if absent is not None:
        raise ValueError(
            f"{path} does not name the sample {absent!r} in its first column, {first!r}."
        )
    return {column: [table[column][places[name]] for name in names] for column in others}


def two_samples(files: Sequence[str], how: dict[str, Any], titles: Sequence[str]) -> Columned:
    """The points of two files under their names without folder and ending, and the columns."""
    from kernelmean.files import read

    names = (
        told_apart([streams.title(name) for name in titles]) if len(set(titles)) > 1 else ["A", "B"]
    )
    points = list(alike(files, **how))
    return Columned(dict(zip(names, points, strict=True)), read(files[0], **how).columns)


def groups_of(path: str, group: str, how: dict[str, Any]) -> Columned:
    """The rows of one file by the values of a column, of which there are at least two."""
    import numpy as np

    import kernelmean as km

    source = km.read(path, labels=group, **how)
    X, _, labels = source.load()
    assert labels is not None
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"column {group!r} of {path} has missing values, so it names no groups.")
    found, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(found) < 2:
        raise ValueError(f"column {group!r} of {path} has one value only, but groups are compared.")
    if counts.min() < 2:
        alone = found[counts.argmin()]
        raise ValueError(
            f"group {str(alone)!r} of column {group!r} has one row only, but a group needs two "
            "or more."
        )
    return Columned({str(name): X[codes == i] for i, name in enumerate(found)}, source.columns)


def alike(
    files: Sequence[str], columns: str | None, transform: str | None, drop_na: bool
) -> Iterator[Points]:
    """The points of each file, in the columns of the first one: by name where the files have names,
    else by place.
    """
    from kernelmean.files import read

    first = read(files[0], columns=columns, transform=transform, drop_na=drop_na)
    yield first.load().points
    for path in files[1:]:
        source = read(path, columns=columns, transform=transform, drop_na=drop_na)
        if columns is None and _out_of_order(first, source):
            source = read(path, columns=first.columns, transform=transform, drop_na=drop_na)
        yield source.load().points


def _out_of_order(first: Source, other: Source) -> bool:
    """Whether both name the same columns, in another order; a ValueError where one has a column
    that the other lacks.
    """
    if first.columns is None or other.columns is None:
        return False
    odd = next(iter(sorted(set(first.columns) ^ set(other.columns))), None)
    if odd is not None:
        has, lacks = (first, other) if odd in first.columns else (other, first)
        raise ValueError(
            f"{has.path} has a column {odd!r} and {lacks.path} has none: name the common ones by "
            "--columns A,B."
        )
    return first.columns != other.columns

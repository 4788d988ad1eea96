"""Several files as samples of the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files import Source


def alike(files: Sequence[str], columns: str | None, how: dict[str, Any]) -> Iterator[Points]:
    """The points of each file, in the columns of the first one: by name where the files have names,
    else by place.
    """
    from kernelmean.files import read

    first = read(files[0], columns=columns, **how)
    yield first.load().points
    for path in files[1:]:
        source = read(path, columns=columns, **how)
        if columns is None and _out_of_order(first, source):
            source = read(path, columns=first.columns, **how)
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

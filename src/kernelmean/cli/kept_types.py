"""Whether the columns that a text file has are numbers, so that tables with types can say so.

A column is of numbers where each of its values is written as a program writes one: 12, -0.5, 1e-3.
007 is a name, and so is 12 in a column that has A7 too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelmean.files.reader import Reader

WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")  # up to 18 digits fit an integer
NUMBER = re.compile(r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?")

Values = Any  # an array, of objects where it has words


class Kind(IntEnum):
    """What a column holds; of two kinds the larger holds both."""

    whole = 0
    number = 1
    word = 2


def kinds(reader: Reader, names: Sequence[str]) -> list[Kind]:
    """The kinds of some columns, in one pass; those that have a type already are left alone."""
    found = [Kind.whole] * len(names)
    for block in reader.blocks([], names):
        found = [
            max(kind, _kind(values)) if kind != Kind.word else kind
            for kind, values in zip(found, block.labels, strict=True)
        ]
        if all(kind == Kind.word for kind in found):
            break
    return found


def _kind(values: Values) -> Kind:
    if values.dtype.kind not in "OUS":
        return Kind.word  # it is a number, and stays one
    found = Kind.whole
    for value in values.tolist():
        if value is None:
            found = max(found, Kind.number)  # which can be missing
        elif not isinstance(value, str) or not NUMBER.fullmatch(value):
            return Kind.word
        elif found == Kind.whole and not WHOLE.fullmatch(value):
            found = Kind.number
    return found


def converted(values: Values, kind: Kind) -> Values:
    """A column as the type of its kind; missing numbers are NaN."""
    import numpy as np

    if kind == Kind.word:
        return values
    if kind == Kind.whole:
        return np.array([int(value) for value in values.tolist()], dtype=np.int64)
    return np.array([np.nan if value is None else float(value) for value in values.tolist()])

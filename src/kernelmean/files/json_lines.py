"""Rows as JSON: one object a line, as programs hand rows on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.files.faults import SHOWN_CHARACTERS, not_numeric
from kernelmean.files.reader import Block, Labels

ENDINGS = (".jsonl", ".ndjson")
BLOCK_ROWS = 8192  # read at a time
FIRST_ROWS = 1000  # in which every column occurs

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class JsonLinesReader:
    """Objects of the same names; a name that one of them lacks, or null, is a missing value."""

    path: Path
    names: list[str]
    named: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)
    extras: Sequence[str] = ()
    count: int | None = None

    def refused(self, columns: Sequence[str]) -> str | None:
        """Nothing is said of types before the values."""
        return None

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """The rows, in order."""
        size = max(1, self.path.stat().st_size)
        known = frozenset(self.names)
        with self.path.open("rb") as file:
            rows = _rows(self.path, file)
            while some := list(islice(rows, BLOCK_ROWS)):
                for place, row in some:
                    if not row.keys() <= known:
                        raise _unknown(place, next(iter(row.keys() - known)))
                numbers = [[_number(place, name, row) for name in columns] for place, row in some]
                values = tuple(_values([row.get(name) for _, row in some]) for name in labels)
                array = np.array(numbers, dtype=np.float64).reshape(len(some), len(columns))
                yield Block(array, values, file.tell() / size)


def read_json_lines(path: Path) -> JsonLinesReader:
    """The names of the first rows, in the order in which they occur."""
    with path.open("rb") as file:
        first = [row for _, row in islice(_rows(path, file), FIRST_ROWS)]
    if not first:
        raise ValueError(f"{path} is empty.")
    return JsonLinesReader(path, list(dict.fromkeys(name for row in first for name in row)))


def _rows(path: Path, file: Any) -> Iterator[tuple[str, Row]]:
    """Each object, with its place for messages; empty lines are none."""
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{place} cannot be read: it is no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise ValueError(f'{place} cannot be read: a row is an object, as {{"x": 1.5}}.')
        yield place, row


def _number(place: str, name: str, row: Row) -> float:
    value = row.get(name)
    if value is None:
        return float("nan")
    if isinstance(value, int | float):
        return float(value)
    raise ValueError(not_numeric(place, f"column {name!r} holds {str(value)[:SHOWN_CHARACTERS]!r}"))


def _values(listed: list[Any]) -> Labels:
    """Labels of any kind, lists and objects as text."""
    values = np.empty(len(listed), dtype=object)
    values[:] = [json.dumps(v) if isinstance(v, list | dict) else v for v in listed]
    return values


def _unknown(place: str, name: str) -> ValueError:
    return ValueError(
        f"{place} has {name!r}, which none of the first {FIRST_ROWS} rows has: give the first row "
        "every name, null where it has no value."
    )

"""What every format offers: its columns by name, and its rows block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from kernelmean._types import Points

Labels = np.ndarray[Any, Any]  # (m,) of any kind

BLOCK_NUMBERS = 1 << 21  # of an array, read at a time: 16 MiB


def refuse_beyond_memory(nbytes: int, name: str) -> None:
    """A ValueError before more is read than this machine can hold, together with one copy of it."""
    limit = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    if nbytes > limit:
        raise ValueError(
            f"{name} takes {min(nbytes, 10**18) // 10**9} GB or more, and {limit // 10**9} GB "
            "can be held in memory."
        )


class Block(NamedTuple):
    """Some rows of a file."""

    numbers: Points  # (m, columns asked for), NaN where a value is missing
    labels: tuple[Labels, ...]  # each (m,), of the columns of labels that were asked for
    done: float  # share of the file that has been read


class Reader(Protocol):
    """One file of one format, opened as often as it is read."""

    @property
    def names(self) -> list[str]:
        """Names of the columns; "0", "1", … where the file has none."""

    @property
    def named(self) -> bool:
        """Whether the names are the file's own."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of columns."""

    @property
    def extras(self) -> Sequence[str]:
        """Further columns that are no coordinates unless asked for."""

    @property
    def count(self) -> int | None:
        """Rows, where the file says so without being read."""

    def refused(self, columns: Sequence[str]) -> str | None:
        """The first of the columns that is known to be not numeric, and why."""

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """The rows, in order."""


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """An array in memory or mapped from a file: (n, d) numbers, and further columns of n values."""

    values: np.ndarray[Any, Any]
    given_names: Sequence[str] | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Labels] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(
            map(str, range(self.values.shape[1]) if self.given_names is None else self.given_names)
        )

    @property
    def named(self) -> bool:
        """Whether the names are the file's own."""
        return self.given_names is not None

    @property
    def extras(self) -> Sequence[str]:
        """Further columns."""
        return list(self.others)

    @property
    def count(self) -> int:
        """Rows."""
        return len(self.values)

    def refused(self, columns: Sequence[str]) -> str | None:
        """A further column may hold anything."""
        wrong = (
            name
            for name in columns
            if name in self.others and self.others[name].dtype.kind not in "biuf"
        )
        name = next(wrong, None)
        return None if name is None else f"column {name!r} holds {self.others[name].dtype} values"

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """Slices of the array."""
        places = {name: j for j, name in enumerate(self.names)}
        inside = [places[name] for name in columns if name not in self.others]
        everything = inside == list(range(len(places)))
        step = max(1, BLOCK_NUMBERS // max(1, self.values.shape[1]))
        for start in range(0, len(self.values), step):
            rows = slice(start, min(start + step, len(self.values)))
            numbers = np.asarray(
                self.values[rows] if everything else self.values[rows][:, inside], dtype=np.float64
            )
            outside = [
                np.asarray(self.others[name][rows], dtype=np.float64)
                for name in columns
                if name in self.others
            ]
            if outside:
                numbers = np.column_stack([numbers, *outside])
            values = tuple(self._labels(name, rows) for name in labels)
            yield Block(numbers, values, rows.stop / len(self.values))

    def _labels(self, name: str, rows: slice) -> Labels:
        return np.asarray(
            self.others[name][rows]
            if name in self.others
            else self.values[rows, self.names.index(name)]
        )

"""Columns that hold words or other categories: as numbers, their places among the levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean import _progress
from kernelmean._types import Vector
from kernelmean.domains import tables, wording
from kernelmean.files.reader import Block, Labels, Reader

MAX_LEVELS = 10_000  # of a column; more are names of rows rather than categories
TRUTHS = {"true": True, "false": False}

Levels = Mapping[str, tuple[Any, ...]]  # the values of each column of categories, in order


@dataclass(frozen=True, eq=False)
class CodedReader:
    """A reader whose columns of categories come out as codes.

    A code is the place of a value among the levels, −1 where it is none of them, and NaN where it
    is missing.
    """

    inner: Reader
    levels: Levels

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.inner.names

    @property
    def named(self) -> bool:
        """Whether the names are the file's own."""
        return self.inner.named

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of columns."""
        return self.inner.aliases

    @property
    def extras(self) -> Sequence[str]:
        """Further columns that are no coordinates unless asked for."""
        return self.inner.extras

    @property
    def count(self) -> int | None:
        """Rows, where the file says so without being read."""
        return self.inner.count

    def refused(self, columns: Sequence[str]) -> str | None:
        """Columns of categories may hold anything."""
        return self.inner.refused([name for name in columns if name not in self.levels])

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """The rows, in order."""
        words = [name for name in columns if name in self.levels]
        plain = [name for name in columns if name not in self.levels]
        places = {name: _places(self.levels[name]) for name in words}
        order = [[*plain, *words].index(name) for name in columns]
        asked = list(dict.fromkeys([*words, *labels]))
        for numbers, values, done in self.inner.blocks(plain, asked):
            found = dict(zip(asked, values, strict=True))
            codes = [_codes(found[name], places[name]) for name in words]
            coded = np.column_stack([numbers, *codes])[:, order]
            yield Block(coded, tuple(found[name] for name in labels), done)


def learned(reader: Reader, columns: Sequence[str], path: str) -> Levels:
    """The values that occur in some columns, in order; it takes a pass over them."""
    found: dict[str, dict[Any, None]] = {name: {} for name in columns}
    with _progress.share(f"reading the categories of {path}") as progress:
        for _, several, done in reader.blocks([], columns) if columns else ():
            for name, values in zip(columns, several, strict=True):
                _add(found[name], values, name, path)
            progress.reach(done)
    return {name: tables.ordered(_meanings(several).values()) for name, several in found.items()}


def _add(known: dict[Any, None], values: Labels, name: str, path: str) -> None:
    """The values of a block, beside those that are known; not too many of them."""
    several, _ = tables.distinct(_simple(values))
    known.update(dict.fromkeys(value for value in several if not tables.is_missing(value)))
    if len(known) > MAX_LEVELS:
        raise ValueError(
            f"{path}: column {name!r} holds more than {MAX_LEVELS} different values, so it names "
            "rows rather than categories."
        )


def _meanings(values: Iterable[Any]) -> dict[Any, Any]:
    """What the values of a column stand for: text that holds numbers alone stands for these."""
    listed = list(values)
    if listed and all(isinstance(value, str) for value in listed):
        listed = list(dict.fromkeys(wording.values(listed).values()))
    return {value: value for value in listed}


def _simple(values: Labels) -> Labels:
    """Dates and times as text; anything else as it is."""
    return values.astype(str) if values.dtype.kind in "mM" else values


def _places(levels: Sequence[Any]) -> dict[Any, float]:
    """The code of every value, and of every way to write it."""
    found: dict[Any, float] = {}
    for i, level in enumerate(levels):
        found[level] = float(i)
    for i, level in enumerate(levels):  # a level itself counts before what looks like another
        found.setdefault(str(level), float(i))
    return found


def _codes(values: Labels, places: Mapping[Any, float]) -> Vector:
    """The code of each value."""
    several, which = tables.distinct(_simple(values))
    codes = [tables.MISSING if tables.is_missing(v) else _code(v, places) for v in several]
    return np.array(codes, dtype=np.float64)[which]


def _code(value: Any, places: Mapping[Any, float]) -> float:
    """The place of a value, of the number or truth that it spells, or of its spelling."""
    others = _spelt(value) if isinstance(value, str) else [str(value)]
    found = (places[one] for one in (value, *others) if one in places)
    return next(found, tables.UNKNOWN)


def _spelt(word: str) -> list[Any]:
    """The truth or the number that a word spells, if any."""
    if word.lower() in TRUTHS:
        return [TRUTHS[word.lower()]]
    try:
        return [wording.plain(float(word))]
    except (ValueError, OverflowError):
        return []

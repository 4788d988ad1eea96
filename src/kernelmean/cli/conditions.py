"""What is said of columns on a command line: ``x=1.2``, ``0<x<2,y>1``, or names alone.

Columns of categories have words for values: ``species=setosa``. A category that holds a comma or a
sign is written as it is, or in quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kernelmean.domains import wording
from kernelmean.domains.wording import NAME, NUMBER, RANGE, Form, known

__all__ = [
    "Assignment",
    "Bounds",
    "assignments",
    "bounds",
    "columns",
    "event",
    "known",
    "probabilities",
]

Levels = Mapping[int, Sequence[Any]]  # the categories of columns, by position

NONE: Levels = {}
LACKING = "neither a column, a number nor a category"


class Bounds(NamedTuple):
    """lower ≤ column ≤ upper; a density gives < and ≤ the same probability."""

    column: int
    lower: float
    upper: float


class Assignment(NamedTuple):
    """column = value, which is a category in a column of those."""

    column: int
    value: Any


class Event(NamedTuple):
    """What is to hold at once."""

    bounds: list[Bounds]
    equal: dict[int, Any]  # categories by column


def columns(option: str, text: str, labels: Sequence[str]) -> list[int]:
    """The positions of columns that are listed with commas between them, each once."""
    found = [column for column, _ in wording.parts(option, text, labels, NAME)]
    twice = next((column for column in found if found.count(column) > 1), None)
    if twice is not None:
        raise ValueError(f"{option} {text!r} names {labels[twice]!r} twice.")
    return found


def assignments(
    option: str, texts: Sequence[str], labels: Sequence[str], levels: Levels = NONE
) -> list[Assignment]:
    """``x=1.2,species=setosa`` in one text or several; ``levels`` of columns of categories."""
    words = _spellings(levels)
    values = "|".join(filter(None, [wording.alternatives(words), NUMBER]))
    form = Form("", rf"\s*=\s*(?P<value>{values})", "x=1.2", frozenset(words))
    if words:
        form = form._replace(lack=LACKING)
    return [
        Assignment(column, _value(option, column, part["value"], labels, levels))
        for text in texts
        for column, part in wording.parts(option, text, labels, form)
    ]


def bounds(option: str, text: str, labels: Sequence[str]) -> list[Bounds]:
    """``0<x<2,y>1`` as the bounds of each column."""
    return event(option, text, labels).bounds


def event(option: str, text: str, labels: Sequence[str], levels: Levels = NONE) -> Event:
    """``0<x<2,species=setosa`` as bounds of numbers and values of categories."""
    found: dict[int, Bounds] = {}
    equal: dict[int, Any] = {}
    for column, part in wording.parts(option, text, labels, _event_form(levels)):
        if part.groupdict().get("value") is not None:
            _refuse_number(option, column, part, labels, levels)
            value = _value(option, column, part["value"], labels, levels)
            if equal.setdefault(column, value) != value:
                raise ValueError(f"{option} {text!r} gives {labels[column]!r} two values.")
            continue
        if column in levels:
            raise ValueError(
                f"{option}: {labels[column]!r} holds categories, which have no order: ask for one, "
                f"as {labels[column]}={levels[column][0]}."
            )
        new = Bounds(column, *wording.bounds(option, part))
        old = found.get(column, new)
        both = Bounds(column, max(old.lower, new.lower), min(old.upper, new.upper))
        if both.lower > both.upper:
            raise ValueError(
                f"{option} {text!r}: the bounds of {labels[column]!r} cross, "
                f"{both.lower:g} > {both.upper:g}."
            )
        found[column] = both
    return Event(list(found.values()), equal)


def probabilities(option: str, text: str) -> list[float]:
    """Probabilities that are listed with commas between them."""
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(NUMBER, word) and 0.0 <= float(word) <= 1.0 for word in words):
        raise ValueError(
            f"{option} must be probabilities from 0 to 1 separated by commas, got {text!r}."
        )
    return list(map(float, words))


def _event_form(levels: Levels) -> Form:
    """Bounds of a column, or where there are categories its value."""
    words = _spellings(levels)
    if not words:
        return RANGE
    values = "|".join([wording.alternatives(words), NUMBER])
    return RANGE._replace(
        behind=rf"(?:(?(left)(?!))\s*=\s*(?P<value>{values})|{RANGE.behind})",
        example="x<2, 0<x<2 or species=setosa",
        words=frozenset(words),
        lack=LACKING,
    )


def _spellings(levels: Levels) -> list[str]:
    """How categories may be written: as they are, or in quotes."""
    words = (str(level) for some in levels.values() for level in some)
    return [form for word in words for form in (word.strip(), f'"{word}"') if form]


def _value(option: str, column: int, word: str, labels: Sequence[str], levels: Levels) -> Any:
    """What a word stands for in this column."""
    if column not in levels:
        return _number(option, word, labels[column])
    found = [level for level in levels[column] if word in (str(level).strip(), f'"{level}"')]
    if not found and re.fullmatch(NUMBER, word):
        found = [level for level in levels[column] if level == float(word)]
    if not found:
        raise ValueError(
            f"{option}: {labels[column]!r} has no category {word!r}; it has "
            f"{known(list(map(str, levels[column])))}."
        )
    return found[0]


def _number(option: str, word: str, label: str) -> float:
    """A finite number."""
    if not re.fullmatch(NUMBER, word):
        raise ValueError(f"{option}: {label!r} holds numbers, got {word!r}.")
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{option}: {label!r} needs a finite number, got {number}.")
    return number


def _refuse_number(
    option: str, column: int, part: re.Match[str], labels: Sequence[str], levels: Levels
) -> None:
    """A ValueError for a value of a column of numbers."""
    if column not in levels:
        raise ValueError(
            f"{option}: {part[0].strip(' ,')!r} has the probability 0, since {labels[column]!r} "
            "holds numbers: give bounds, as 0<x<2."
        )

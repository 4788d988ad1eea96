"""What is said of columns on a command line: ``x=1.2``, ``0<x<2,y>1``, or names alone.

Names may hold any characters, commas and signs of comparison included. A text is therefore not
split but matched against the names that there are, the longest first; a shorter one is taken where
what follows the longer makes no sense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

NUMBER = r"(?i:[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?))"
SIGN = "<=|>=|<|>|≤|≥"
RISING = {"<", "<=", "≤", None}  # None where there is no sign
FALLING = {">", ">=", "≥", None}
MAX_SHOWN = 20  # names of columns in a message


class Form(NamedTuple):
    """What stands between two commas: a column with something before and behind it."""

    before: str
    behind: str
    example: str


NAME = Form("", "", "x")
VALUE = Form("", rf"\s*=\s*(?P<value>{NUMBER})", "x=1.2")
# x<2, 0<x or 0<x<2. A column is looked for first, since a number may be the position of one.
RANGE = Form(
    rf"(?:(?P<first>{NUMBER})\s*(?P<left>{SIGN})\s*)??",
    rf"(?(left)|(?=\s*(?:{SIGN})))(?:\s*(?P<right>{SIGN})\s*(?P<last>{NUMBER}))?",
    "x<2 or 0<x<2",
)


class Bounds(NamedTuple):
    """lower ≤ column ≤ upper; a density gives < and ≤ the same probability."""

    column: int
    lower: float
    upper: float


class Assignment(NamedTuple):
    """column = value."""

    column: int
    value: float


def columns(option: str, text: str, labels: Sequence[str]) -> list[int]:
    """The positions of columns that are listed with commas between them, each once."""
    found = [column for column, _ in _parts(option, text, labels, NAME)]
    twice = next((column for column in found if found.count(column) > 1), None)
    if twice is not None:
        raise ValueError(f"{option} {text!r} names {labels[twice]!r} twice.")
    return found


def assignments(option: str, texts: Sequence[str], labels: Sequence[str]) -> list[Assignment]:
    """``x=1.2,y=3`` in one text or several."""
    found = [
        Assignment(column, float(part["value"]))
        for text in texts
        for column, part in _parts(option, text, labels, VALUE)
    ]
    endless = next((one for one in found if not math.isfinite(one.value)), None)
    if endless is not None:
        raise ValueError(
            f"{option}: {labels[endless.column]!r} needs a finite number, got {endless.value}."
        )
    return found


def bounds(option: str, text: str, labels: Sequence[str]) -> list[Bounds]:
    """``0<x<2,y>1`` as the bounds of each column."""
    found: dict[int, Bounds] = {}
    for column, part in _parts(option, text, labels, RANGE):
        new = _bounds(option, column, part)
        old = found.get(column, new)
        both = Bounds(column, max(old.lower, new.lower), min(old.upper, new.upper))
        if both.lower > both.upper:
            raise ValueError(
                f"{option} {text!r}: the bounds of {labels[column]!r} cross, "
                f"{both.lower:g} > {both.upper:g}."
            )
        found[column] = both
    return list(found.values())


def probabilities(option: str, text: str) -> list[float]:
    """Probabilities that are listed with commas between them."""
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(NUMBER, word) and 0.0 <= float(word) <= 1.0 for word in words):
        raise ValueError(
            f"{option} must be probabilities from 0 to 1 separated by commas, got {text!r}."
        )
    return list(map(float, words))


def known(labels: Sequence[str]) -> str:
    """The columns, for a message."""
    shown = ", ".join(map(repr, labels[:MAX_SHOWN]))
    return shown if len(labels) <= MAX_SHOWN else f"{shown}, … ({len(labels)} in all)"


def _parts(
    option: str, text: str, labels: Sequence[str], form: Form
) -> Iterator[tuple[int, re.Match[str]]]:
    """The column of each part between commas, and the part; a ValueError where one has no sense."""
    spellings = _spellings(labels, form)
    names = "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))
    pattern = re.compile(rf"\s*{form.before}(?P<column>{names}){form.behind}\s*(?P<end>,|\Z)")
    start = 0
    while True:
        part = pattern.match(text, start)
        if part is None:
            why = _complaint(text, start, spellings, form)
            raise ValueError(f"{option} {text!r}: {why}; the columns are {known(labels)}.")
        yield spellings[part["column"]], part
        if not part["end"]:
            return
        start = part.end()


def _spellings(labels: Sequence[str], form: Form) -> dict[str, int]:
    """How columns may be written: by name, by name in quotes, or by position.

    Between signs of comparison, 1<2 would be a position for none but him who knows it: there
    positions are for columns without names.
    """
    found: dict[str, int] = {}
    for t, label in enumerate(labels):
        for spelling in filter(None, (label.strip(), f'"{label}"')):
            found.setdefault(spelling, t)
    unnamed = list(labels) == [str(t) for t in range(len(labels))]
    for t in range(len(labels)):  # a name counts before a position
        if unnamed:
            found[f"x{t}"] = t  # as in the rows of --sample
        elif form is not RANGE:
            found.setdefault(str(t), t)
    return found


def _complaint(text: str, start: int, spellings: dict[str, int], form: Form) -> str:
    """Why no part of this form begins here."""
    part = text[start:].partition(",")[0].strip()
    if not part:
        place = f" after {text[:start]!r}" if start else ""
        return f"something like {form.example} is missing{place}"
    words = (word.strip() for word in re.split("[<>=≤≥]+", part))
    for word in filter(None, words):
        if word not in spellings and not (form is not NAME and re.fullmatch(NUMBER, word)):
            return f"{word!r} is {'no column' if form is NAME else 'neither a column nor a number'}"
    return f"{part!r} should be like {form.example}"


def _bounds(option: str, column: int, part: re.Match[str]) -> Bounds:
    """What a part says of its column."""
    signs = set(part.group("left", "right"))
    if signs <= RISING:
        low, high = part.group("first", "last")
    elif signs <= FALLING:
        low, high = part.group("last", "first")
    else:
        raise ValueError(
            f"{option}: {part[0].strip(' ,')!r} points both ways; join two bounds by a comma, as "
            "x>0,x>1."
        )
    return Bounds(column, float(low or "-inf"), float(high or "inf"))

"""What is said of columns in a line of text: ``x=1.2``, ``0<x<2,y>1``, ``hour%24``, or names alone.

Names may hold any characters, commas and signs of comparison included. A text is therefore not
split but matched against the names that there are, the longest first; a shorter one is taken where
what follows the longer makes no sense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

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
    words: frozenset[str] = frozenset()  # known words that are neither columns nor numbers
    marks: str = "[<>=≤≥]+"  # what stands between words
    lack: str = "neither a column nor a number"  # what is said of a word that is unknown
    positions: bool = True  # whether a number may be the position of a column with a name


NAME = Form("", "", "x", lack="no column")
# x<2, 0<x or 0<x<2. A column is looked for first, since a number may be the position of one; but
# 1<2 would be that for none but him who knows it: positions are for columns without names.
RANGE = Form(
    rf"(?:(?P<first>{NUMBER})\s*(?P<left>{SIGN})\s*)??",
    rf"(?(left)|(?=\s*(?:{SIGN})))(?:\s*(?P<right>{SIGN})\s*(?P<last>{NUMBER}))?",
    "x<2 or 0<x<2",
    positions=False,
)


def parts(
    option: str, text: str, labels: Sequence[str], form: Form
) -> Iterator[tuple[int, re.Match[str]]]:
    """The column of each part between commas, and the part; a ValueError where one has no sense."""
    known_spellings = spellings(labels, positions=form.positions)
    names = alternatives(known_spellings)
    pattern = re.compile(rf"\s*{form.before}(?P<column>{names}){form.behind}\s*(?P<end>,|\Z)")
    start = 0
    while True:
        part = pattern.match(text, start)
        if part is None:
            why = _complaint(text, start, known_spellings, form)
            raise ValueError(f"{option} {text!r}: {why}; the columns are {known(labels)}.")
        yield known_spellings[part["column"]], part
        if not part["end"]:
            return
        start = part.end()


def spellings(labels: Sequence[str], *, positions: bool = True) -> dict[str, int]:
    """How columns may be written: by name, by name in quotes, or by position.

    Columns without names have positions only, written 0 or x0.
    """
    found: dict[str, int] = {}
    for t, label in enumerate(labels):
        for spelling in filter(None, (label.strip(), f'"{label}"')):
            found.setdefault(spelling, t)
    unnamed = list(labels) == [str(t) for t in range(len(labels))]
    for t in range(len(labels)):  # a name counts before a position
        if unnamed:
            found[f"x{t}"] = t  # as in the rows of --sample
        elif positions:
            found.setdefault(str(t), t)
    return found


def alternatives(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def known(labels: Sequence[str]) -> str:
    """The columns, for a message."""
    shown = ", ".join(map(repr, labels[:MAX_SHOWN]))
    return shown if len(labels) <= MAX_SHOWN else f"{shown}, … ({len(labels)} in all)"


def bounds(option: str, part: re.Match[str]) -> tuple[float, float]:
    """The lower and the upper bound that a part of the form RANGE gives to its column."""
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
    return float(low or "-inf"), float(high or "inf")


def values(words: Iterable[str]) -> dict[str, Any]:
    """What words mean as categories: numbers where each is one as it is written shortest.

    So 1 and 2 are numbers, and the words of a column that holds 01 are left as they are.
    """
    distinct = dict.fromkeys(words)
    if distinct and all(map(_is_plain_number, distinct)):
        return {word: plain(float(word)) for word in distinct}
    return {word: word for word in distinct}


def plain(value: float) -> float | int:
    """A number without a point where it is whole."""
    return int(value) if value.is_integer() else value


def _is_plain_number(word: str) -> bool:
    try:
        number = float(word)
    except ValueError:
        return False
    return math.isfinite(number) and word in (repr(number), str(plain(number)))


def _complaint(text: str, start: int, known_spellings: dict[str, int], form: Form) -> str:
    """Why no part of this form begins here."""
    part = text[start:].partition(",")[0].strip()
    if not part:
        place = f" after {text[:start]!r}" if start else ""
        return f"something like {form.example} is missing{place}"
    words = (word.strip() for word in re.split(form.marks, part))
    for word in filter(None, words):
        if word in known_spellings or word in form.words:
            continue
        if form is NAME or not re.fullmatch(NUMBER, word):
            return f"{word!r} is {form.lack}"
    return f"{part!r} should be like {form.example}"

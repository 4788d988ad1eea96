"""Domains as text: ``age>=0,hour%24,species:category,lon/lat:sphere``, and a domain in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from kernelmean.domains import wording
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere
from kernelmean.domains.wording import NUMBER, RANGE, Form

DomainByPosition: TypeAlias = dict[int | tuple[int, int], Kind]

EXAMPLE = "age>=0, 0<=share<=1, hour%24, species:category or lon/lat:sphere"
WORDS = frozenset({"category", "sphere", "degrees", "radians"})
LEVEL = r'\s*(?:"[^"]*"|[^"()|]+)\s*'
CATEGORY = rf":\s*(?P<category>category)(?:\((?P<levels>{LEVEL}(?:\|{LEVEL})*)\))?"
PERIOD = rf"%\s*(?P<period>{NUMBER})(?:\s*@\s*(?P<start>{NUMBER}))?"


def parse(option: str, text: str, labels: Sequence[str]) -> DomainByPosition:
    """The mapping that ``domain=`` takes, by the positions of columns that have these labels.

    Between commas stands a column with its bounds, which belong to the domain whatever the sign,
    with its period (``hour%24``, or ``angle%360@-180`` told from −180 on), as ``:category``, with
    all its values where others than those of the rows can occur (``:category(a|b)``); or longitude
    and latitude as ``lon/lat:sphere`` or ``lon/lat:sphere(radians)``.
    """
    names = wording.spellings(labels)
    found: DomainByPosition = {}
    ranges: dict[int, tuple[float, float]] = {}
    for column, part in wording.parts(option, text, labels, _form(names)):
        both = (column, names[part["other"]]) if part["sphere"] else (column,)
        bounded = not (part["sphere"] or part["category"] or part["period"])
        taken = [*_columns(found), *(() if bounded else ranges)]
        twice = next((t for i, t in enumerate(both) if t in (*taken, *both[:i])), None)
        if twice is not None:
            raise ValueError(f"{option} {text!r} names {labels[twice]!r} twice.")
        if bounded:
            low, high = wording.bounds(option, part)
            before = ranges.get(column, (-math.inf, math.inf))
            ranges[column] = max(low, before[0]), min(high, before[1])
        else:
            found[both if len(both) == 2 else column] = _kind(option, labels[column], part)
    for column, (low, high) in ranges.items():
        found[column] = _checked(option, labels[column], Bounds, low, high)
    return found


def _form(names: dict[str, int]) -> Form:
    """A column, and what can be said of it."""
    sphere = (
        rf"/\s*(?P<other>{wording.alternatives(names)})\s*:\s*(?P<sphere>sphere)"
        r"(?:\((?P<unit>degrees|radians)\))?"
    )
    behind = rf"(?:(?(left)(?!))\s*(?:{sphere}|{CATEGORY}|{PERIOD})|{RANGE.behind})"
    return Form(
        RANGE.before, behind, EXAMPLE, WORDS, "[<>=≤≥%@:/()|]+",
        "neither a column nor a number, category or sphere",
    )  # fmt: skip


def _columns(found: DomainByPosition) -> Iterator[int]:
    """The columns of a mapping, one by one."""
    for key in found:
        yield from key if isinstance(key, tuple) else (key,)


def _kind(option: str, label: str, part: re.Match[str]) -> Kind:
    """What a part says of its column, but for bounds."""
    if part["sphere"]:
        return Sphere("radians" if part["unit"] == "radians" else "degrees")
    if part["category"]:
        levels = None if part["levels"] is None else _levels(part["levels"])
        return _checked(option, label, Categorical, levels)
    return _checked(option, label, Periodic, float(part["period"]), float(part["start"] or 0.0))


def _checked(option: str, label: str, kind: type[Kind], *values: Any) -> Kind:
    """A kind of these values, or a ValueError that names the column."""
    try:
        return kind(*values)
    except ValueError as error:
        raise ValueError(f"{option}: column {label!r}: {error}") from error


def _levels(text: str) -> tuple[Any, ...]:
    """The values between bars; quotes keep what is in them as a word."""
    words = [word.strip() for word in re.findall(LEVEL, text)]
    meanings = wording.values(words)
    return tuple(
        word[1:-1] if word.startswith('"') and word.endswith('"') else meanings[word]
        for word in words
    )

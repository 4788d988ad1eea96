"""A domain in words, for messages, facts and what values say of themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from kernelmean.domains.domain import Domain
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere


def sentence(domain: Domain, names: Sequence[str] | None = None) -> str:
    """A domain in words: "age ≥ 0, hour modulo 24, species: 3 categories"; "any numbers"."""
    said = [_said(kind, [label(t, names) for t in columns], levels)
            for columns, kind, levels in _entries(domain)]  # fmt: skip
    return ", ".join(said) or "any numbers"


def facts(domain: Domain, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A domain as JSON has it: an object for each column, or both of a sphere, with its kind."""
    return [
        {"columns": [label(t, names) for t in columns], **_facts(kind, levels)}
        for columns, kind, levels in _entries(domain)
    ]


def _entries(domain: Domain) -> Iterator[tuple[tuple[int, ...], Kind, tuple[Any, ...]]]:
    """Each column that is restricted, or both of a sphere, with its kind and its levels."""
    levels = dict(zip(domain.categories.tolist(), domain.levels, strict=True))
    spheres = {sphere[0]: sphere for sphere in domain.spheres}
    for t, kind in enumerate(domain.kinds):
        if isinstance(kind, Sphere):
            if t in spheres:
                yield spheres[t], kind, ()
        elif kind is not None:
            yield (t,), kind, levels.get(t, ())


def _said(kind: Kind, labels: list[str], levels: tuple[Any, ...]) -> str:
    """One kind in words."""
    label = "/".join(labels)
    if isinstance(kind, Bounds):
        if math.isinf(kind.upper):
            return f"{label} ≥ {kind.lower:g}"
        lower = "" if math.isinf(kind.lower) else f"{kind.lower:g} ≤ "
        return f"{lower}{label} ≤ {kind.upper:g}"
    if isinstance(kind, Periodic):
        start = f" from {kind.start:g}" if kind.start else ""
        return f"{label} modulo {kind.period:g}{start}"
    if isinstance(kind, Categorical):
        return f"{label}: {len(levels)} {'category' if len(levels) == 1 else 'categories'}"
    return f"{label} on a sphere{'' if kind.unit == 'degrees' else ' in radians'}"


def _facts(kind: Kind, levels: tuple[Any, ...]) -> dict[str, Any]:
    """One kind as JSON has it; None where there is no bound."""
    if isinstance(kind, Bounds):
        ends = {"lower": kind.lower, "upper": kind.upper}
        return {"kind": "bounds"} | {
            name: None if math.isinf(end) else end for name, end in ends.items()
        }
    if isinstance(kind, Periodic):
        return {"kind": "periodic", "period": kind.period, "start": kind.start}
    if isinstance(kind, Categorical):
        return {"kind": "categories", "categories": list(levels)}
    return {"kind": "sphere", "unit": kind.unit}


def label(position: int, names: Sequence[str] | None) -> str:
    """What a column is called in words."""
    return f"column {position}" if names is None else names[position]


def range_of(kind: Kind) -> str:
    """The values that a bounded or periodic column can have."""
    if isinstance(kind, Bounds):
        if math.isinf(kind.upper):
            return f"at least {kind.lower:g}"
        return (
            f"at most {kind.upper:g}" if math.isinf(kind.lower) else _from(kind.lower, kind.upper)
        )
    assert isinstance(kind, Periodic)
    return _from(kind.start, kind.start + kind.period)


def _from(low: float, high: float) -> str:
    return f"from {low:g} to {high:g}"

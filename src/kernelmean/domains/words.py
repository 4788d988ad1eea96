"""A domain in words, for messages and for what values say of themselves."""

from __future__ import annotations

import math

from kernelmean.domains.domain import Domain
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere


def described(domain: Domain, names: tuple[str, ...] | None) -> str:
    """All columns that do not hold any number, such as "age ≥ 0, hour with period 24"."""
    parts = []
    for t, kind in enumerate(domain.kinds):
        if kind is None:
            continue
        sphere = next((pair for pair in domain.spheres if t in pair), None)
        if sphere is not None:
            if t == sphere[0]:
                parts.append(f"({label(sphere[0], names)}, {label(sphere[1], names)}) on a sphere")
            continue
        parts.append(_of_column(kind, label(t, names), domain, t))
    return ", ".join(parts)


def label(position: int, names: tuple[str, ...] | None) -> str:
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


def _of_column(kind: Kind, name: str, domain: Domain, column: int) -> str:
    if isinstance(kind, Periodic):
        return f"{name} with period {kind.period:g}"
    if isinstance(kind, Categorical):
        levels = domain.levels[domain.categories.tolist().index(column)]
        count = len(levels)
        return f"{name} with {count} {'category' if count == 1 else 'categories'}"
    assert not isinstance(kind, Sphere)
    return f"{name} {range_of(kind)}"

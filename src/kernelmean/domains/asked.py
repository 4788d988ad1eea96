"""What users say of a domain, by names or positions of columns, made definite for some data."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelmean._types import Points, Vector
from kernelmean.domains.domain import Domain, emptiest
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere

EXPECTED = (
    "domain= maps columns to a pair (lower, upper), with None where there is no bound, to "
    "km.Periodic(period), km.Categorical(), or two columns to km.Sphere()"
)

MOST_TOLD = 5  # columns with rows outside, of which a message tells each


@dataclass(frozen=True)
class DomainAsked:
    """What was asked for, with positions in the place of names."""

    kinds: tuple[Kind | None, ...]
    spheres: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, domain: Any, d: int, names: tuple[str, ...] | None) -> DomainAsked:
        """A mapping as users write it, or a domain that was learned before."""
        if isinstance(domain, Domain):
            if domain.dimension != d:
                raise ValueError(f"the domain has {domain.dimension} columns, and the data {d}.")
            return cls(domain.kinds, domain.spheres)
        if not isinstance(domain, Mapping):
            raise TypeError(f"{EXPECTED}; got {domain!r}.")
        kinds: list[Kind | None] = [None] * d
        spheres: list[tuple[int, int]] = []
        for key, value in domain.items():
            kind = _kind(value, key)
            if kind is None:
                continue
            positions = _positions(key, d, names, kind)
            for t in positions:
                if kinds[t] is not None:
                    raise ValueError(f"domain= names column {_label(t, names)} twice.")
                kinds[t] = kind
            if isinstance(kind, Sphere):
                spheres.append((positions[0], positions[1]))
        return cls(tuple(kinds), tuple(spheres))

    @property
    def categories(self) -> tuple[int, ...]:
        """The columns that hold categories."""
        return tuple(t for t, kind in enumerate(self.kinds) if isinstance(kind, Categorical))

    def learned(
        self, rows: Points, weights: Vector | None, levels: tuple[tuple[Any, ...], ...]
    ) -> Domain:
        """The domain of coded rows, each period cut where it is emptiest."""
        cuts = tuple(
            emptiest(rows[:, t], weights, kind)
            for t, kind in enumerate(self.kinds)
            if isinstance(kind, Periodic)
        )
        return Domain(self.kinds, self.spheres, levels, cuts)


def _kind(value: Any, key: Any) -> Kind | None:
    """What a value of the mapping means; None for a pair without bounds."""
    if isinstance(value, Bounds | Periodic | Sphere | Categorical):
        return value
    if isinstance(value, type) and issubclass(value, Sphere | Categorical):
        return value()
    if isinstance(value, tuple | list) and len(value) == 2:
        low = _bound(value[0], key, -math.inf)
        high = _bound(value[1], key, math.inf)
        return _between(low, high, key)
    raise TypeError(f"{EXPECTED}; got {value!r} for column {key!r}.")


def _between(low: float, high: float, key: Any) -> Bounds | None:
    """Bounds, or a ValueError that names the column; None where there are none."""
    if math.isinf(low) and math.isinf(high):
        return None
    try:
        return Bounds(low, high)
    except ValueError as error:
        raise ValueError(f"domain=, column {key!r}: {error}") from error


def _bound(value: Any, key: Any, absent: float) -> float:
    if value is None:
        return absent
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"a bound of column {key!r} must be a number or None, got {value!r}.")
    if math.isnan(value):
        raise ValueError(f"a bound of column {key!r} must be a number or None, got NaN.")
    return float(value)


def _positions(key: Any, d: int, names: tuple[str, ...] | None, kind: Kind) -> list[int]:
    """The columns that a key names: two of a sphere, else one."""
    several = key if isinstance(key, tuple) else (key,)
    wanted = 2 if isinstance(kind, Sphere) else 1
    if len(several) != wanted:
        raise ValueError(
            f"domain= gives {type(kind).__name__} to {key!r}: it needs two columns, longitude and "
            "latitude."
            if wanted == 2
            else f"domain= gives {type(kind).__name__} to {key!r}: name the columns one by one."
        )
    return [_position(column, d, names) for column in several]


def _position(column: Any, d: int, names: tuple[str, ...] | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"the columns have no names, so {column!r} in domain= is none of them: give a "
                f"position from 0 to {d - 1}."
            )
        if column not in names:
            raise ValueError(f"unknown column {column!r} in domain=; there are {list(names)}.")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, numbers.Integral):
        raise TypeError(f"a column is a name or a position, got {column!r} in domain=.")
    if not -d <= int(column) < d:
        raise ValueError(f"there is no column {column} as in domain=: there are {d}, from 0 on.")
    return int(column) % d


def _label(position: int, names: tuple[str, ...] | None) -> str:
    return str(position) if names is None else repr(names[position])


def outside_error(domain: Domain, rows: Points, names: tuple[str, ...] | None) -> ValueError | None:
    """What to raise where coded rows to be fitted lie outside of the domain, column by column."""
    found = [
        f"column {_label(t, names)} has {outside}"
        for t in range(domain.dimension)
        if domain.kinds[t] is not None and (outside := domain.outside(rows, t)) is not None
    ]
    if not found:
        return None
    more = len(found) - MOST_TOLD
    if more > 0:
        found[MOST_TOLD:] = [f"and so have {more} more"]
    return ValueError(f"{'; '.join(found)}; drop these rows, or widen domain=.")

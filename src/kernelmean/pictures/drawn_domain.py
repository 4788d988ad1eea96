"""What is known of the columns of a table that are drawn: bounds, periods, places, categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kernelmean._types import Points
from kernelmean.domains import Categorical, tables
from kernelmean.domains.asked import EXPECTED
from kernelmean.mean.on_domain import DomainMean
from kernelmean.pictures.tables import Column, column_names


class DrawnDomain(NamedTuple):
    """The domain of the columns of a picture, by their positions there."""

    kinds: dict[Any, Any]  # what an estimator is given
    levels: dict[int, tuple[Any, ...]]  # what the codes of categories mean

    @classmethod
    def of(
        cls, domain: Any, axes: Sequence[Column], asked: Sequence[Any], data: Any
    ) -> DrawnDomain:
        """Of a mapping by names or positions of any columns of the data, those that are drawn."""
        if not isinstance(domain, Mapping):
            raise TypeError(f"{EXPECTED}; got {domain!r}.")
        kinds: dict[Any, Any] = {}
        levels: dict[int, tuple[Any, ...]] = {}
        for key, kind in domain.items():
            parts = key if isinstance(key, tuple) else (key,)
            places = [_place(part, axes, asked, data) for part in parts]
            if None in places and set(places) != {None}:
                raise ValueError(
                    f"longitude and latitude belong together: draw both columns of {key!r}."
                )
            if None in places:
                continue
            kinds[tuple(places) if isinstance(key, tuple) else places[0]] = kind
            given = Categorical() if kind is Categorical else kind
            if isinstance(given, Categorical) and places[0] is not None:
                levels[places[0]] = found = _levels(given, axes[places[0]])
                codes = tuple(range(len(found)))
                kinds[places[0]] = replace(given, categories=codes)
        return cls(kinds, levels)

    def smoothed(self, n: int) -> DrawnDomain:
        """With Laplace's rule for categories whose smoothing is left open, as of one more row each.

        Of n rows and L categories (n_l + 1)/(n + L) is the probability of one with n_l rows. To
        leave rows out of single columns would smooth away how two of them depend on one another.
        """
        kinds = dict(self.kinds)
        for place, levels in self.levels.items():
            kind = kinds[place]
            if kind.smoothing is None:
                kinds[place] = replace(kind, smoothing=(len(levels) - 1) / (n + len(levels)))
        return self._replace(kinds=kinds)

    def numbers(self, axes: Sequence[Column]) -> Points:
        """(n, 1 or 2): the columns, with codes of categories."""
        parts = []
        for i, axis in enumerate(axes):
            if i in self.levels:
                parts.append(_coded(axis, self.levels[i]).rows)
            else:
                parts.append(axis.numbers())
        return np.hstack(parts)

    def named(self, mean: DomainMean) -> DomainMean:
        """A mean of codes as one of the categories themselves."""
        domain = mean.domain
        levels = tuple(
            self.levels.get(int(t), known)
            for t, known in zip(domain.categories, domain.levels, strict=True)
        )
        return replace(mean, domain=replace(domain, levels=levels))


def _place(key: Any, axes: Sequence[Column], asked: Sequence[Any], data: Any) -> int | None:
    """Where a column is drawn; None where it is not, and a ValueError where there is none."""
    for i, (axis, given) in enumerate(zip(axes, asked, strict=True)):
        if (np.ndim(given) == 0 and given == key) or axis.name == key:
            return i
    known = [] if data is None else column_names(data)
    if key not in known:
        shown = [*known, *(axis.name for axis in axes if axis.name not in known)]
        raise ValueError(f"unknown column {key!r} in domain=; there are {shown}.")
    return None


def _levels(kind: Categorical, column: Column) -> tuple[Any, ...]:
    """All values of a column of categories, in their order."""
    known = column.categories if kind.categories is None else kind.categories
    return _coded(column, known).levels[0]


def _coded(column: Column, levels: tuple[Any, ...] | None) -> tables.Coded:
    values = np.asarray(column.values, dtype=object)[:, None]
    return tables.code(values, (0,), (levels,), f"column {column.name!r}")

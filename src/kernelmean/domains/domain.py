"""A domain: which columns are bounded, periodic, on a sphere or categories; and the map from rows.

A *coded* row has numbers in every column: in those of categories their position among the levels,
−1 for a value that is none of them. A row is *embedded* as

    coordinates (m + 3s,)   its m numbers, a period begun at its cut, and a unit vector per sphere;
    codes (c,)              its categories.

Engines see the coordinates alone: with the images of what lies near a bound, or wraps
(:mod:`kernelmean.domains.images`), a density there is a sum over centres as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains.images import Group
from kernelmean.domains.kinds import Bounds, Categorical, Kind, Periodic, Sphere


class Embedded(NamedTuple):
    """Rows as engines see them."""

    coordinates: Points  # (n, m + 3s)
    codes: IntVector  # (n, c)
    inside: NDArray[np.bool_]  # (n,) whether a row lies in the domain

    def by_codes(self) -> Iterator[tuple[IntVector, IntVector | slice]]:
        """Each combination of categories that occurs inside, (c,), and its rows."""
        within = np.flatnonzero(self.inside)
        if not self.codes.shape[1]:
            every = len(within) == len(self.inside)
            if len(within):
                yield np.zeros(0, dtype=np.intp), slice(None) if every else within
            return
        combinations, which = np.unique(self.codes[within], axis=0, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(combinations)))
        for a, combination in enumerate(combinations):
            yield combination, within[order[ends[a - 1] if a else 0 : ends[a]]]


@dataclass(frozen=True, eq=False)
class Domain:
    """What the columns of some data can hold.

    Parameters
    ----------
    kinds : tuple of Kind or None
        One for each column; None for any number. Both columns of a sphere have the same one.
    spheres : tuple of (int, int)
        The positions of the longitude and of the latitude of each sphere.
    levels : tuple of tuple
        The values of each column of categories, in the order of the columns.
    cuts : tuple of float
        Where the coordinate of each periodic column begins, in the order of the columns.
    """

    kinds: tuple[Kind | None, ...]
    spheres: tuple[tuple[int, int], ...] = ()
    levels: tuple[tuple[Any, ...], ...] = ()
    cuts: tuple[float, ...] = ()

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return len(self.kinds)

    @lazy
    def lines(self) -> IntVector:
        """(m,) the columns that hold numbers: any, bounded or periodic."""
        return self._where(lambda kind: not isinstance(kind, Sphere | Categorical))

    @lazy
    def categories(self) -> IntVector:
        """(c,) the columns that hold categories."""
        return self._where(lambda kind: isinstance(kind, Categorical))

    @lazy
    def periodic(self) -> IntVector:
        """The columns that have a period."""
        return self._where(lambda kind: isinstance(kind, Periodic))

    def _where(self, holds: Any) -> IntVector:
        return np.array([t for t, kind in enumerate(self.kinds) if holds(kind)], dtype=np.intp)

    @property
    def coordinates(self) -> int:
        """The number of coordinates that engines see, m + 3s; one that is always 0 where none."""
        return max(1, len(self.lines) + 3 * len(self.spheres))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each column of categories."""
        return tuple(len(levels) for levels in self.levels)

    @property
    def is_flat(self) -> bool:
        """Whether all columns hold numbers: no sphere, no categories."""
        return len(self.lines) == self.dimension

    @lazy
    def group(self) -> Group:
        """The reflections and shifts of the m coordinates that are numbers."""
        kinds = [self.kinds[t] for t in self.lines]
        cut = dict(zip(self.periodic.tolist(), self.cuts, strict=True))
        ends = [
            _ends(kind, cut.get(int(t), 0.0)) for t, kind in zip(self.lines, kinds, strict=True)
        ]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return Group(low, high, np.array([isinstance(k, Periodic) for k in kinds], dtype=bool))

    def embed(self, rows: Points) -> Embedded:
        """Coded rows as engines see them."""
        numbers = rows[:, self.lines]
        group = self.group
        for t in np.flatnonzero(group.periodic):  # bounds are left as they are: not to be mended
            low = group.lower[t]
            high = group.upper[t]
            x = numbers[:, t]
            beyond = np.flatnonzero((x < low) | (x >= high))
            wrapped = low + np.mod(x[beyond] - low, high - low)
            numbers[beyond, t] = np.where(wrapped >= high, low, wrapped)
        parts = [numbers, *self.vectors(rows)]
        if not len(self.lines) and not self.spheres:
            parts = [np.zeros((len(rows), 1))]
        codes = rows[:, self.categories].astype(np.intp)
        inside = group.inside(numbers) & (codes >= 0).all(axis=1)
        for _, latitude in self.spheres:
            inside &= np.abs(rows[:, latitude]) <= self._sphere(latitude).right_angle
        return Embedded(np.concatenate(parts, axis=1), codes, inside)

    def rows(self, coordinates: Points, codes: IntVector) -> Points:
        """Coded rows from coordinates and codes: values beyond a bound, or a period, come back."""
        found = np.empty((len(coordinates), self.dimension))
        m = len(self.lines)
        found[:, self.lines] = self.group.folded(coordinates[:, :m])
        for t in self.periodic:
            kind = self.kinds[t]
            assert isinstance(kind, Periodic)
            turned = kind.start + np.mod(found[:, t] - kind.start, kind.period)
            found[:, t] = np.where(turned >= kind.start + kind.period, kind.start, turned)
        for i, (longitude, latitude) in enumerate(self.spheres):
            unit = self._sphere(latitude).right_angle / (0.5 * np.pi)
            x, y, z = coordinates[:, m + 3 * i : m + 3 * i + 3].T
            found[:, longitude] = unit * np.arctan2(y, x)
            found[:, latitude] = unit * np.arctan2(z, np.hypot(x, y))
        found[:, self.categories] = codes
        return found

    def outside(self, rows: Points, column: int) -> str | None:
        """Which coded rows lie outside by this column, in words; None where none does."""
        kind = self.kinds[column]
        x = rows[:, column]
        if isinstance(kind, Bounds):
            wrong = (x < kind.lower) | (x > kind.upper)
            what = f"outside of {kind.lower:g} to {kind.upper:g}"
        elif isinstance(kind, Sphere) and any(column == latitude for _, latitude in self.spheres):
            wrong = np.abs(x) > kind.right_angle
            what = f"that are no latitude, from {-kind.right_angle:g} to {kind.right_angle:g}"
        elif isinstance(kind, Categorical):
            wrong = x < 0
            what = "that are none of the categories"
        else:
            return None
        rows_outside = np.flatnonzero(wrong)
        if not len(rows_outside):
            return None
        first = int(rows_outside[0])
        value = "" if isinstance(kind, Categorical) else f" with {x[first]:g}"
        return f"{len(rows_outside)} of {len(rows)} values {what}: the first is row {first}{value}"

    def of(self, columns: IntVector) -> Domain:
        """The domain of some columns, in the order given; both columns of a sphere, or neither."""
        places = {int(t): i for i, t in enumerate(columns)}
        spheres = tuple(
            (places[a], places[b]) for a, b in self.spheres if a in places and b in places
        )
        if sum(isinstance(self.kinds[t], Sphere) for t in columns) != 2 * len(spheres):
            raise ValueError("longitude and latitude belong together: name both, or neither.")
        levels = dict(zip(self.categories.tolist(), self.levels, strict=True))
        cuts = dict(zip(self.periodic.tolist(), self.cuts, strict=True))
        kept = [int(t) for t in columns]
        return Domain(
            tuple(self.kinds[t] for t in kept),
            spheres,
            tuple(levels[t] for t in kept if t in levels),
            tuple(cuts[t] for t in kept if t in cuts),
        )

    @property
    def is_plain(self) -> bool:
        """Whether every column holds any number, so that nothing is left of the domain."""
        return all(kind is None for kind in self.kinds)

    def _sphere(self, column: int) -> Sphere:
        kind = self.kinds[column]
        assert isinstance(kind, Sphere)
        return kind

    def vectors(self, rows: Points) -> list[Matrix]:
        """The unit vectors (n, 3) of the places on each sphere."""
        return [self._vectors(rows, sphere) for sphere in self.spheres]

    def _vectors(self, rows: Points, sphere: tuple[int, int]) -> Matrix:
        """(n, 3): the unit vectors of longitudes and latitudes."""
        unit = (0.5 * np.pi) / self._sphere(sphere[1]).right_angle
        longitude, latitude = (unit * rows[:, t] for t in sphere)
        level = np.cos(latitude)
        return np.column_stack(
            [level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)]
        )


def _ends(kind: Kind | None, cut: float) -> tuple[float, float]:
    """The ends of the interval that holds a coordinate."""
    if isinstance(kind, Bounds):
        return kind.lower, kind.upper
    if isinstance(kind, Periodic):
        return cut, cut + kind.period
    return -np.inf, np.inf


def emptiest(values: Vector, weights: Vector | None, kind: Periodic, bins: int = 64) -> float:
    """Where a period is cut best: amid the longest stretch of its values that has fewest rows.

    What is cut there hardly straddles the cut, so that widths and cells are those of any column.
    """
    turned = np.mod(values - kind.start, kind.period) / kind.period
    counts = np.histogram(turned, bins, (0.0, 1.0), weights=weights)[0]
    smooth = sum(np.roll(counts, shift) for shift in range(-bins // 8, bins // 8 + 1))
    least = int(np.argmin(smooth))
    return kind.start + kind.period * (least + 0.5) / bins

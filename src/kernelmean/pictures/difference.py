"""Where two samples differ, in planes of two columns or along one.

The difference of the densities is positive where the first sample has more of its rows. All values
are in the data's own units; shares are of the rows of one sample each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points, Vector
from kernelmean.comparison import words
from kernelmean.comparison.witness import CLEAR, Densities, marginal
from kernelmean.pictures.ranges import MARGIN, RANGE, length_along
from kernelmean.pictures.view import CIRCLE, LINE_POINTS, SIDE_POINTS

if TYPE_CHECKING:
    from kernelmean.comparison.regions import Region
    from kernelmean.comparison.value import Difference

MAX_REGIONS = 12  # drawn on a map, the largest
MAX_MAPS = 6  # planes to choose from
RUG = 0.1  # how far below a curve rows stand, as a part of its height
LABEL_SIZE = np.array([0.25, 0.05])  # width and height of a label, in parts of the map
LEVELS = 6  # steps of colour on either side of zero


class RegionMark(NamedTuple):
    """A region as a map shows it."""

    number: int  # its place in the list of regions, from 1
    more: int  # which of the two samples has more of its rows in it
    label: str  # "B +8 %": by how many percentage points of its rows
    place: str  # "age 70, income 20 000"
    center: Vector  # (1 or 2,)
    lower: Vector  # (1 or 2,) 10 % quantiles of its rows
    upper: Vector  # (1 or 2,) 90 % quantiles
    shares: tuple[float, float]
    labelled: bool = True  # whether its label has room on the map

    @property
    def outline(self) -> Points:
        """(points, 2): the ellipse within the quantiles; along a line a bar on the axis."""
        middle = 0.5 * (self.lower + self.upper)
        half = 0.5 * (self.upper - self.lower)
        if len(middle) == 1:
            return np.array([[self.lower[0], 0.0], [middle[0], 0.0], [self.upper[0], 0.0]])
        ellipse: Points = middle + half * CIRCLE
        return ellipse

    @property
    def top(self) -> int:
        """The point of the outline at which its label stands."""
        return 1 if len(self.lower) == 1 else int(CIRCLE[:, 1].argmax())


class DifferenceMap(NamedTuple):
    """The difference of two densities in a plane of two columns, or along one."""

    names: tuple[str, str]  # of the samples
    axes: tuple[str, ...]  # names of the one or two columns
    grids: tuple[Vector, ...]  # a rising grid for each
    values: Points  # (second grid, first grid), or (grid,): positive where the first has more
    chance: float  # three standard errors of these values, at most
    regions: tuple[RegionMark, ...]  # that stand apart in these columns
    left_out: int  # regions that stand apart in other columns only
    typical: tuple[Points, Points]  # (m, 2) rows typical of either sample
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]  # (m,) their numbers in the samples

    @property
    def largest(self) -> float:
        """The end of a scale that is symmetric about zero, beyond what chance reaches."""
        return max(float(np.abs(self.values).max()), self.chance) or 1.0

    @property
    def levels(self) -> Vector:
        """Where colours change: even steps that leave zero in the middle of the palest one."""
        # ±(i − ½)·largest/LEVELS, i = 1..LEVELS
        steps = (np.arange(-LEVELS, LEVELS) + 0.5) * self.largest / LEVELS
        return np.asarray(steps, dtype=np.float64)


def difference_map(
    found: Difference, columns: Sequence[str | int] | str | int | None = None
) -> DifferenceMap:
    """The difference in two columns, or along one, by name or number; by default in the plane that
    explains most.
    """
    chosen = main_columns(found) if columns is None else _checked(found, columns)
    grids = tuple(_grid(found, j, len(chosen)) for j in chosen)
    mesh = np.stack([side.ravel() for side in np.meshgrid(*grids)], axis=1)
    values = found.marginal(chosen)(mesh).reshape([len(grid) for grid in reversed(grids)])
    densities = Densities(marginal(found.mean_a, chosen), marginal(found.mean_b, chosen))
    rug = float(values.min() - RUG * np.ptp(values))
    a = found.typical_a
    b = found.typical_b
    marks = tuple(
        region_mark(found, i, chosen)
        for i, region in enumerate(found.regions)
        if set(region.columns[: words.MAX_COLUMNS]) & set(chosen)
    )
    return DifferenceMap(
        names=found.names,
        axes=tuple(found.column_names[j] for j in chosen),
        grids=grids,
        values=values,
        chance=CLEAR * float(densities.standard_errors(mesh).max()),
        regions=_with_room(marks[:MAX_REGIONS], grids),
        left_out=len(found.regions) - min(len(marks), MAX_REGIONS),
        typical=(_places(a.points, chosen, rug), _places(b.points, chosen, rug)),
        rows=(a.indices, b.indices),
    )


def difference_maps(found: Difference) -> list[DifferenceMap]:
    """The plane that explains most, then those in which further regions stand apart."""
    first = main_columns(found)
    planes = [first]
    for region in found.regions:
        plane = _plane_of(found, region, first)
        if len(planes) < MAX_MAPS and not any(set(plane) == set(known) for known in planes):
            planes.append(plane)
    return [difference_map(found, plane) for plane in planes]


def main_columns(found: Difference) -> tuple[int, ...]:
    """The two columns that explain most, together and each for itself; the one where one is all."""
    ranked = ranked_columns(found)
    if len(ranked) == 1:
        return (ranked[0],)
    own = {effect.columns[0]: effect.share for effect in found.columns}
    together = {effect.columns: effect.share for effect in found.pairs}
    names = found.column_names
    first = (names[ranked[0]], names[ranked[1]])
    best = max(
        [first, *(pair for pair in together if set(pair) != set(first))],
        key=lambda pair: (
            sum(own.get(name, 0.0) for name in pair)
            + max(together.get(pair, 0.0), together.get(pair[::-1], 0.0))
        ),
    )
    return tuple(sorted((names.index(name) for name in best), key=ranked.index))


def region_mark(found: Difference, i: int, columns: Sequence[int]) -> RegionMark:
    """A region in the chosen columns."""
    region = found.regions[i]
    seen = list(columns)
    return RegionMark(
        i + 1,
        region.more,
        f"{found.names[region.more]} +{words.points(words.gain(region)[0])} points",
        words.place(found, region),
        region.center[seen],
        region.lower[seen],
        region.upper[seen],
        region.shares,
    )


def _with_room(marks: Sequence[RegionMark], grids: Sequence[Vector]) -> tuple[RegionMark, ...]:
    """Without the labels that would lie on that of a larger region."""
    size = np.array([np.ptp(grid) for grid in grids])
    taken: list[Vector] = []
    found = []
    for mark in marks:
        place = mark.outline[mark.top, : len(size)] / size
        free = all((np.abs(place - other) > LABEL_SIZE[: len(size)]).any() for other in taken)
        taken += [place] if free else []
        found.append(mark._replace(labelled=free))
    return tuple(found)


def ranked_columns(found: Difference) -> list[int]:
    """Numbers of the columns, that which explains most first."""
    return [found.column_names.index(effect.columns[0]) for effect in found.columns]


def _plane_of(found: Difference, region: Region, first: tuple[int, ...]) -> tuple[int, ...]:
    """The two columns by which a region stands apart; with one only, the best other one."""
    if len(found.column_names) == 1:
        return first
    chosen = list(region.columns[:2])
    chosen += [j for j in first if j not in chosen][: 2 - len(chosen)]
    return tuple(chosen)


def _checked(found: Difference, columns: Sequence[str | int] | str | int) -> tuple[int, ...]:
    """One or two different columns by their numbers."""
    given = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    names = found.column_names
    unknown = [c for c in given if isinstance(c, str) and c not in names]
    if unknown:
        known = ", ".join(map(repr, names))
        raise ValueError(f"there is no column {unknown[0]!r}; the columns are {known}.")
    chosen = tuple(names.index(c) if isinstance(c, str) else int(c) for c in given)
    if len(chosen) not in (1, 2) or len(set(chosen)) < len(chosen):
        raise ValueError(f"columns must be one column or two different ones, got {columns!r}.")
    if min(chosen) < 0 or max(chosen) >= len(names):
        raise ValueError(f"columns must be numbers from 0 to {len(names) - 1}, got {columns!r}.")
    return chosen


def _grid(found: Difference, j: int, dimension: int) -> Vector:
    """Between far quantiles of both samples by their histograms, and all regions within."""
    known = found.histograms
    edges = np.asarray(known.edges[j], dtype=np.float64)
    ends = []
    for shares in (known.shares_a[j], known.shares_b[j]):
        cumulative = np.concatenate([[0.0], np.cumsum(shares)])
        ends += np.interp(RANGE, cumulative / cumulative[-1], edges).tolist()
    ends += [end for region in found.regions for end in (region.lower[j], region.upper[j])]
    low = float(min(ends))
    high = float(max(ends))
    width = 2.0 * length_along(found.mean_a.expansion, np.eye(len(found.column_names))[j])
    margin = max(MARGIN * (high - low), width)
    size = LINE_POINTS if dimension == 1 else SIDE_POINTS
    return np.linspace(low - margin, high + margin, size)


def _places(points: Points, columns: Sequence[int], rug: float) -> Points:
    """(m, 2) where rows are drawn; along a line they stand below the curve."""
    seen = points[:, list(columns)]
    return seen if len(columns) == 2 else np.column_stack([seen[:, 0], np.full(len(seen), rug)])

"""The sides of a picture on a domain: grids that end where the domain does, and what they mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.domains import Bounds, Periodic
from kernelmean.mean.on_domain import DomainMean
from kernelmean.pictures.ranges import (
    ALMOST_ALL,
    MARGIN,
    RANGE,
    almost_all,
    length_along,
    not_far_beyond,
)
from kernelmean.pictures.view import Side

NEAR = 0.15  # of a range: a bound that is nearer to it is shown
MOST = 0.5  # of the domain: a range that takes up more shows all between two bounds
PIECES = (4, 6, 7, 8)  # how a period is divided by its labels
QUARTERS = ("0", "π/2", "π", "3π/2", "2π")  # of a turn in radians


class Seen(NamedTuple):
    """One side of a picture: its grid, and what it means."""

    grid: Vector
    side: Side


def side_of(mean: DomainMean, column: int, rows: Points | None, size: int) -> Seen:
    """The side of a column of numbers or of categories.

    Coded rows set its range, or the mean itself where there are none.
    """
    domain = mean.domain
    kind = domain.kinds[column]
    if column in domain.categories:
        levels = domain.levels[domain.categories.tolist().index(column)]
        return Seen(np.arange(float(len(levels))), Side(categories=tuple(map(str, levels))))
    if isinstance(kind, Periodic):
        end = kind.start + kind.period
        side = Side((kind.start, end), period_ticks(kind))
        return Seen(np.linspace(kind.start, end, size), side)
    low, high = _reach(mean, column, rows)
    if not isinstance(kind, Bounds):
        return Seen(np.linspace(low, high, size), Side())
    low, high = _within(kind, low, high)
    ends = (low if low == kind.lower else None, high if high == kind.upper else None)
    return Seen(np.linspace(low, high, size), Side(ends))


def period_ticks(kind: Periodic) -> tuple[tuple[float, str], ...]:
    """Labels that divide a period evenly, at numbers of two digits; none where there are none."""
    if np.isclose(kind.period, 2.0 * np.pi) and kind.start == 0.0:
        quarters = np.linspace(0.0, kind.period, len(QUARTERS))
        return tuple(zip(quarters.tolist(), QUARTERS, strict=True))
    for pieces in PIECES:
        step = kind.period / pieces
        if float(f"{step:.2g}") == step:
            places = kind.start + step * np.arange(pieces + 1)
            return tuple((float(place), f"{place:.6g}".replace("-", "−")) for place in places)
    return ()


def _reach(mean: DomainMean, column: int, rows: Points | None) -> tuple[float, float]:
    """The interval that holds all but 0.1 % of a column, if it is not too far beyond the rows.

    Without rows it holds all but 0.4 %, and has a margin. Centres say nothing of it: a component of
    little weight that is wide, and ends at a bound, has its mean far from all others.
    """
    domain = mean.domain
    coordinate = int(np.searchsorted(domain.lines, column))
    if not mean.is_density:
        points = mean.base.centers if rows is None else domain.embed(rows).coordinates
        return almost_all(mean.base, points, coordinate)
    if rows is None:
        low, high = mean.quantile(RANGE, column=column).tolist()
        margin = MARGIN * (high - low)
        return low - margin, high + margin
    ends = mean.quantile(ALMOST_ALL, column=column).tolist()
    axis = np.eye(domain.coordinates)[coordinate]
    return not_far_beyond(ends, rows[:, column], length_along(mean.base.expansion, axis))


def _within(kind: Bounds, low: float, high: float) -> tuple[float, float]:
    """An interval folded into bounds, which it reaches where they are near to it."""
    first = min(2.0 * kind.upper - high, low)
    last = max(2.0 * kind.lower - low, high)
    low = max(first, kind.lower)
    high = min(last, kind.upper)
    near = NEAR * (high - low)
    if high - low > MOST * (kind.upper - kind.lower):
        return kind.lower, kind.upper
    return (
        kind.lower if low - kind.lower < near else low,
        kind.upper if kind.upper - high < near else high,
    )

"""A density on a domain as panels: no panel goes on where the domain ends.

A bounded column has a grid that ends at its bounds, a periodic one shows exactly one period, and
categories are bars, curves beside a column of numbers, or cells beside one another. Longitude and
latitude are one panel, a map.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Points
from kernelmean.domains import Periodic, tables
from kernelmean.mean.covariances import covariances, seen_from_kernel
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.globe import TURN, Globe, with_gaps
from kernelmean.pictures.ranges import RANGE_ROWS, drawn_blur
from kernelmean.pictures.sides import Seen, side_of
from kernelmean.pictures.view import (
    FINE_SIDE_POINTS,
    LINE_POINTS,
    SIDE_POINTS,
    DensityView,
    ellipses,
)

MAX_ALONE = 24  # columns of a wide density that are drawn, each by itself
ROUND = 0.4  # of a period: wider spreads go all round it
BAR_POINTS = 65  # of the outline of a spread along a line
CIRCLE = np.column_stack([np.cos(TURN), np.sin(TURN)])


def inner_of(mean: SparseKernelMean | KernelMean | DomainMean) -> SparseKernelMean | KernelMean:
    """A mean itself, or the sum over centres inside of one on a domain."""
    return mean.base if isinstance(mean, DomainMean) else mean


def sample_on_domain(mean: DomainMean, sample: object | None) -> Points | None:
    """Some rows of the sample, coded, evenly spread over it."""
    if sample is None:
        return None
    width = tables.width(sample)
    if width != mean.dimension:
        raise ValueError(f"sample has {width} columns, but the mean has {mean.dimension}.")
    rows = mean.coded(sample)
    return rows[:: max(1, len(rows) // RANGE_ROWS)]


def panels_of(mean: DomainMean, most_paired: int) -> list[tuple[int, ...]]:
    """The columns of each panel: maps, and all pairs of up to so many other columns.

    The only other column, and each of more, stands alone.
    """
    domain = mean.domain
    on_spheres = {t for pair in domain.spheres for t in pair}
    others = [t for t in range(mean.dimension) if t not in on_spheres]
    maps: list[tuple[int, ...]] = list(domain.spheres)
    if 2 <= len(others) <= most_paired:
        return maps + list(combinations(others, 2))
    return (maps + [(t,) for t in others])[:MAX_ALONE]


def views_on_domain(
    mean: DomainMean,
    panels: Sequence[tuple[int, ...]],
    rows: Points | None,
    names: Sequence[str],
) -> list[DensityView]:
    """A view for each panel, a single one on a fine grid."""
    size = FINE_SIDE_POINTS if len(panels) == 1 else SIDE_POINTS
    return [view_on_domain(mean, which, rows, names, size) for which in panels]


def view_on_domain(
    mean: DomainMean,
    which: tuple[int, ...],
    rows: Points | None,
    names: Sequence[str],
    size: int = FINE_SIDE_POINTS,
) -> DensityView:
    """One panel; numbers come first where they are beside categories, longitudes on maps.

    Coded rows set its range, or the mean itself where there are none.
    """
    which = _in_order(mean, which)
    sides = _sides(mean, which, rows, size if len(which) == 2 else LINE_POINTS)
    whole = which == tuple(range(mean.dimension))
    seen = mean if whole else mean.marginal(list(which))
    mesh = np.stack([side.ravel() for side in np.meshgrid(*(s.grid for s in sides))], axis=1)
    values = seen.values_coded(mesh) if isinstance(seen, DomainMean) else seen(mesh)
    drawn = DensityView(
        tuple(names[t] for t in which),
        tuple(found.grid for found in sides),
        values.reshape([len(found.grid) for found in sides[::-1]]),
        np.empty((0, len(which))),
        np.empty(0),
        "density",
        "marginal" if len(which) < mean.dimension else "whole",
        sides=tuple(found.side for found in sides),
    )
    return _with_centers(drawn, mean, which)


def _in_order(mean: DomainMean, which: tuple[int, ...]) -> tuple[int, ...]:
    """Longitude before latitude, and numbers before categories."""
    mean.domain.of(np.array(which))  # refuses one of longitude and latitude without the other
    if which[::-1] in mean.domain.spheres:
        return which[::-1]
    categories = set(mean.domain.categories.tolist())
    return tuple(sorted(which, key=lambda t: t in categories))


def _sides(
    mean: DomainMean, which: tuple[int, ...], rows: Points | None, size: int
) -> tuple[Seen, ...]:
    if which in mean.domain.spheres:
        return _globe(mean, which).sides(None if rows is None else rows[:, list(which)], size)
    categories = set(mean.domain.categories.tolist())
    if len(categories.intersection(which)) == 1:
        size = LINE_POINTS  # a curve for each category
    return tuple(side_of(mean, t, rows, size) for t in which)


def _with_centers(view: DensityView, mean: DomainMean, which: tuple[int, ...]) -> DensityView:
    """The centres where the panel sees them: not among categories, whose names have no places."""
    if view.shape in ("bars", "cells"):
        numbers = any(not side.categories for side in view.sides)
        return view if numbers else view._replace(what="probability")
    if which in mean.domain.spheres:
        return _on_map(view, mean, _globe(mean, which))
    columns = [t for t in which if t in mean.domain.lines]
    codes = np.zeros((mean.k, len(mean.domain.categories)), dtype=np.intp)
    centers = mean.domain.rows(mean.base.centers, codes)[:, columns]
    view = view._replace(centers=centers, weights=mean.weights)
    full = mean.base.expansion
    if full.spreads is None:
        return view
    P = np.eye(full.dimension)[np.searchsorted(mean.domain.lines, columns)]
    seen = covariances(full.spreads, seen_from_kernel(full, P), drawn_blur(mean.base))
    kinds = [mean.domain.kinds[t] for t in columns]
    return view._replace(covariances=seen, paths=_paths(view, seen, kinds))


def _globe(mean: DomainMean, which: tuple[int, ...]) -> Globe:
    """The sphere of two columns."""
    return Globe.of(mean, [*mean.domain.spheres].index((which[0], which[1])))


def _on_map(view: DensityView, mean: DomainMean, globe: Globe) -> DensityView:
    """Centres as places, and circles about them that come in again on the other side."""
    west = float(view.grids[0][0])
    places = np.array(globe.places)
    places[:, 0] = west + np.mod(places[:, 0] - west, 4.0 * globe.quarter)
    view = view._replace(centers=places, weights=globe.weights)
    if mean.base.spreads is None:
        return view
    squares = globe.angles[:, None, None] ** 2 * np.eye(2)
    return view._replace(covariances=squares, paths=globe.outlines(west))


def _paths(
    view: DensityView, seen: NDArray[np.float64], kinds: Sequence[object]
) -> NDArray[np.float64] | None:
    """Outlines that come in again where a period is over; None where there is no period.

    Of spreads that go round a whole period nothing is drawn.
    """
    if not any(isinstance(kind, Periodic) for kind in kinds):
        return None
    if len(kinds) == 2:
        steps = ellipses(seen, CIRCLE)
    else:
        along = np.sqrt(seen[:, 0]) * np.linspace(-1.0, 1.0, BAR_POINTS)
        steps = np.stack([along, np.zeros_like(along)], axis=2)
    paths = steps
    paths[..., : len(kinds)] += view.centers[:, None, :]
    for axis, kind in enumerate(kinds):
        if isinstance(kind, Periodic):
            folded = kind.start + np.mod(paths[..., axis] - kind.start, kind.period)
            paths[..., axis] = folded
            paths = with_gaps(paths, axis, kind.period)
            paths[np.sqrt(seen[:, axis, axis]) > ROUND * kind.period] = np.nan
    return paths

"""One panel of the picture of a density: values on a grid, with what its sides mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelmean import _checks
from kernelmean._types import IntVector, Points, Vector
from kernelmean.mean.covariances import deviations

LINE_POINTS = 400  # grid points of a curve
SIDE_POINTS = 72  # grid points along each side of a plane
FINE_SIDE_POINTS = 160  # the same where masses are to be exact
LEVELS = np.linspace(0.05, 0.95, 10)  # of the contour lines, as shares of the mass below
LOW = 0.02  # share of the peak below which a curve may end
ROUNDING = 1e-9  # values below zero by less than this share of the largest are rounding
TURN = np.linspace(0.0, 2.0 * np.pi, 33)  # corners of an ellipse as it is drawn, the last the first
CIRCLE = np.column_stack([np.cos(TURN), np.sin(TURN)])
EVERY = slice(None)
FINE_SIDE = 300  # pieces of each side of a plane by which masses are counted
MAX_CURVES = 8  # categories beside a number up to which each has a curve

Shape: TypeAlias = Literal["curve", "plane", "bars", "curves", "cells"]


class Side(NamedTuple):
    """What one side of a panel means, where it is more than a line of any numbers."""

    # where the domain ends or a period is over: the panel does not go on there
    ends: tuple[float | None, float | None] = (None, None)
    ticks: tuple[tuple[float, str], ...] = ()  # places with labels; none: as they are chosen
    categories: tuple[str, ...] = ()  # names at 0, 1, …; none: numbers
    # how much area a step along the other side covers at each grid point; None: the same at all
    stretch: Vector | None = None


class DensityView(NamedTuple):
    """A density or a kernel mean in one plane, or along one line: values on a grid, and the centres
    where the plane sees them.
    """

    axes: tuple[str, ...]  # names of the one or two directions
    grids: tuple[Vector, ...]  # a rising grid for each
    values: Points  # (second grid, first grid), or (grid,)
    centers: Points  # (k, 1 or 2)
    weights: Vector  # (k,)
    what: str  # "density", "probability" or "kernel mean"
    # "whole"; "marginal": the other directions are integrated out; "slice": they are held at the
    # highest centre
    kind: str
    # (k, 1 or 2, 1 or 2): what the plane sees of the covariances that are drawn; None for points
    covariances: NDArray[np.float64] | None = None
    upright: bool = False  # whether a line is drawn from below to above, its values to the right
    sides: tuple[Side, ...] = ()  # one for each direction; none for lines of any numbers
    rows: Points | None = None  # (m, 1 or 2) some rows of the sample, as the plane sees them
    # (k, points, 1 or 2): the outlines of the spreads, where they are no ellipses
    paths: NDArray[np.float64] | None = None

    @property
    def shape(self) -> Shape:
        """How it is drawn: a curve, bars of categories, a curve for each category, the contours of
        a plane, or its cells by colour.
        """
        named = [len(side.categories) for side in self.each_side]
        if len(self.axes) == 1:
            return "bars" if named[0] else "curve"
        if not any(named):
            return "plane"
        return "curves" if not named[0] and named[1] <= MAX_CURVES else "cells"

    @property
    def each_side(self) -> tuple[Side, ...]:
        """What each direction means."""
        return self.sides or (Side(),) * len(self.axes)

    @property
    def signed(self) -> bool:
        """Whether the mean is below zero somewhere in view, beyond rounding: then no mass can be
        told.
        """
        return bool(self.values.min() < -ROUNDING * self.values.max())

    @property
    def heights(self) -> Points:
        """What contour lines are drawn of: shares of the mass, or values where they are signed."""
        return self.values if self.signed else self.mass_below()

    @property
    def levels(self) -> Vector | None:
        """Where contour lines are drawn, so that each encloses another tenth of the mass in view;
        None for signed values, which have no mass.
        """
        return None if self.signed else LEVELS

    def levels_of(self, levels: int | Sequence[float] | None) -> Vector | int | None:
        """Where contour lines of :attr:`heights` are drawn for a number of regions or their masses.

        None stands for :attr:`levels`. Signed values have no mass: only a number of lines can be
        asked for.
        """
        if levels is None:
            return self.levels
        if not self.signed:
            # Where the share 1 − p lies below, the region above it holds p.
            return 1.0 - region_masses(levels)[::-1]
        if np.ndim(levels) > 0:
            raise ValueError(
                "levels as masses need a density, but this mean is below zero in places; give "
                "their number, or fit with constraint='simplex'."
            )
        return _checks.count(levels, "levels")

    @property
    def overflow(self) -> tuple[tuple[bool, bool], ...]:
        """For each direction, whether a contour line goes on beyond either end of its grid.

        Along a line, whether the curve is still high there.
        """
        if self.levels is None:
            return ((False, False),) * len(self.axes)
        if len(self.axes) == 1:
            low, high = self.values[[0, -1]] > LOW * self.values.max()
            return ((bool(low), bool(high)),)
        inside = self.heights > LEVELS[0]
        across = bool(inside[:, 0].any()), bool(inside[:, -1].any())
        up = bool(inside[0].any()), bool(inside[-1].any())
        return across, up

    @property
    def places(self) -> Points:
        """(k, 2) where the centres are drawn; along a line they stand on the axis."""
        if self.centers.shape[1] == 2:
            return self.centers
        return self._turned(np.column_stack([self.centers[:, 0], np.zeros(len(self.centers))]))

    @property
    def deviations(self) -> Vector | None:
        """(k,) the standard deviation of each spread, over the directions in view on average."""
        return None if self.covariances is None else deviations(self.covariances)

    def outlines(self, rows: IntVector | slice = EVERY) -> NDArray[np.float64]:
        """(rows, points, 2) one standard deviation of the spread around each of these centres.

        It is an ellipse in a plane, and a bar on the axis along a line, as far as the grid goes;
        for centres that are points there are none. Where an outline comes in again on the other
        side, its path has a gap of NaN.
        """
        if self.paths is not None:
            return self._turned(self.paths[rows])
        if self.covariances is None:
            return np.empty((0, 2, 2))
        if self.centers.shape[1] == 1:
            centers = self._turned(self.places[rows])
            reach = np.sqrt(self.covariances[rows, 0]) * [-1.0, 1.0]
            low, high = (self.grids[0][[0, -1]] - centers[:, :1]).T
            reach = np.clip(reach, np.minimum(low, 0)[:, None], np.maximum(high, 0)[:, None])
            steps = np.stack([reach, np.zeros_like(reach)], axis=2)
            return self._turned(centers[:, None, :] + steps)
        return self.places[rows, None, :] + ellipses(self.covariances[rows], CIRCLE)

    def _turned(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Places (…, 2) along and above a line, as they are drawn."""
        return places[..., ::-1] if self.upright else places

    @property
    def shares(self) -> Vector:
        """(k,) |α_a|/Σ|α|: the areas of the marks of the centres are in proportion to it."""
        sizes = np.abs(self.weights)
        shares: Vector = sizes / sizes.sum()
        return shares

    @property
    def heaviest(self) -> IntVector:
        """(k,) centres from the heaviest on."""
        return heaviest_first(self.weights)

    def mass_below(self) -> Points:
        """For each grid point the share of the mass in view where the density is lower: 0 in the
        tails, 1 at the peak.

        A line at level 1 − p of it encloses the smallest region of mass p (highest density region,
        Hyndman 1996). Between grid points the density is taken for linear along both sides.
        """
        values = np.maximum(self.values, 0.0)
        area = np.ones(())
        sides = zip(self.grids[::-1], self.each_side[::-1], strict=True)
        for axis, (grid, side) in enumerate(sides):
            pieces = _Pieces.of(grid)
            values = pieces.between(values, axis)
            stretch = 1.0 if side.stretch is None else pieces.between(side.stretch, 0)
            area = area[..., None] * (pieces.widths * stretch)
        order = np.argsort(values, axis=None, kind="stable")
        mass = np.concatenate([[0.0], np.cumsum((values * area).ravel()[order])])
        below = np.searchsorted(values.ravel()[order], self.values.ravel(), side="right")
        share: Points = (mass[below] / mass[-1]).reshape(self.values.shape)
        return share


class _Pieces(NamedTuple):
    """The middles of many pieces of a side, between its grid points."""

    left: IntVector  # the grid point before each
    share: Vector  # how far each is on the way to the next one
    widths: Vector

    @classmethod
    def of(cls, grid: Vector) -> _Pieces:
        cells = len(grid) - 1
        each = -(-FINE_SIDE // cells)
        left = np.repeat(np.arange(cells), each)
        share = np.tile((np.arange(each) + 0.5) / each, cells)
        return cls(left, share, np.diff(grid)[left] / each)

    def between(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Values at the pieces along an axis of an array."""
        moved = np.moveaxis(values, axis, -1)
        found = (1.0 - self.share) * moved[..., self.left] + self.share * moved[..., self.left + 1]
        return np.asarray(np.moveaxis(found, -1, axis))


def ellipses(covariances: NDArray[np.float64], circle: Points) -> NDArray[np.float64]:
    """(k, points, 2): the image of a circle, for each (2, 2) covariance, about 0."""
    values, vectors = np.linalg.eigh(covariances)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    found: NDArray[np.float64] = circle @ np.swapaxes(roots, 1, 2)
    return found


def region_masses(levels: int | Sequence[float]) -> Vector:
    """Rising masses of regions: those given, or for a number m the shares (i − ½)/m, i = 1..m."""
    if np.ndim(levels) == 0:
        m = _checks.count(levels, "levels")
        return (np.arange(m) + 0.5) / m
    masses = np.unique(_checks.points(np.reshape(levels, (-1, 1)), "levels"))
    if masses[0] <= 0.0 or masses[-1] >= 1.0:
        raise ValueError(
            f"levels are the masses of regions, between 0 and 1, got {masses.tolist()}."
        )
    return masses


def heaviest_first(weights: Vector) -> IntVector:
    """Centres in the order of |α_a|, the largest first; equal ones as they stand."""
    order: IntVector = np.argsort(-np.abs(weights), kind="stable")
    return order

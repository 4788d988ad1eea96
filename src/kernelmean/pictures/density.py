"""A density on grids: along one of its coordinates, or in planes of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Vector
from kernelmean.mean.covariances import covariances, deviations, seen_from_kernel
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.marginals import marginal
from kernelmean.pictures.ranges import Mean, drawn_blur, grid_along, sample_rows

MAX_PAIRED = 6  # dimensions up to which every pair of coordinates is drawn
LINE_POINTS = 400  # grid points of a curve
SIDE_POINTS = 72  # grid points along each side of a plane
LEVELS = np.linspace(0.05, 0.95, 10)  # of the contour lines, as shares of the mass below
ROUNDING = 1e-9  # values below zero by less than this share of the largest are rounding
TURN = np.linspace(0.0, 2.0 * np.pi, 33)  # corners of an ellipse as it is drawn, the last the first
CIRCLE = np.column_stack([np.cos(TURN), np.sin(TURN)])
EVERY = slice(None)
PRINCIPAL_AXES = ("first principal axis", "second principal axis")


class DensityView(NamedTuple):
    """A density or a kernel mean in one plane, or along one line: values on a grid, and the centres
    where the plane sees them.
    """

    axes: tuple[str, ...]  # names of the one or two directions
    grids: tuple[Vector, ...]  # a rising grid for each
    values: Points  # (second grid, first grid), or (grid,)
    centers: Points  # (k, 1 or 2)
    weights: Vector  # (k,)
    what: str  # "density" or "kernel mean"
    # "whole"; "marginal": the other directions are integrated out; "slice": they are held at the
    # highest centre
    kind: str
    # (k, 1 or 2, 1 or 2): what the plane sees of the covariances that are drawn; None for points
    covariances: NDArray[np.float64] | None = None
    upright: bool = False  # whether a line is drawn from below to above, its values to the right

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
    def places(self) -> Points:
        """(k, 2) where the centres are drawn; along a line they stand on the axis."""
        if len(self.axes) == 2:
            return self.centers
        return self._turned(np.column_stack([self.centers[:, 0], np.zeros(len(self.centers))]))

    @property
    def deviations(self) -> Vector | None:
        """(k,) the standard deviation of each spread, over the directions in view on average."""
        return None if self.covariances is None else deviations(self.covariances)

    def outlines(self, rows: IntVector | slice = EVERY) -> NDArray[np.float64]:
        """(rows, points, 2) one standard deviation of the spread around each of these centres.

        It is an ellipse in a plane, and a bar on the axis along a line, as far as the grid goes;
        for centres that are points there are none.
        """
        if self.covariances is None:
            return np.empty((0, 2, 2))
        if len(self.axes) == 1:
            centers = self._turned(self.places[rows])
            reach = np.sqrt(self.covariances[rows, 0]) * [-1.0, 1.0]
            low, high = (self.grids[0][[0, -1]] - centers[:, :1]).T
            reach = np.clip(reach, np.minimum(low, 0)[:, None], np.maximum(high, 0)[:, None])
            steps = np.stack([reach, np.zeros_like(reach)], axis=2)
            return self._turned(centers[:, None, :] + steps)
        values, vectors = np.linalg.eigh(self.covariances[rows])
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        outlines: NDArray[np.float64] = self.places[rows, None, :] + CIRCLE @ np.swapaxes(
            roots, 1, 2
        )
        return outlines

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
        Hyndman 1996).
        """
        flat = np.maximum(self.values.ravel(), 0.0)
        order = np.argsort(flat, kind="stable")
        below = np.empty_like(flat)
        below[order] = np.cumsum(flat[order])
        share: Points = (below / below.max()).reshape(self.values.shape)
        return share


def density_views(
    mean: Mean,
    sample: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    features: int | Sequence[int] | None = None,
) -> list[DensityView]:
    """The panels of the picture of a mean.

    ``features`` is a coordinate or a pair of them; without it, all that there is to see is shown:
    one curve, all pairs of up to six coordinates, or the principal plane of more. The sample sets
    the range, by default the centres do.
    """
    d = mean.dimension
    names = column_names(mean, columns)
    rows = sample_rows(mean, sample)
    if features is None and d > MAX_PAIRED:
        return [_view(mean, principal_plane(mean), rows, PRINCIPAL_AXES)]
    chosen = every_pair(d) if features is None else [_checked(features, d)]
    axes = np.eye(d)
    return [
        _view(mean, axes[list(which)], rows, tuple(names[i] for i in which)) for which in chosen
    ]


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


def column_names(mean: Mean, columns: Sequence[str] | None) -> list[str]:
    """Names of the coordinates: those given, those of the data, or x1, x2, …"""
    remembered = mean.columns if isinstance(mean, SparseKernelMean) else None
    names = columns if columns is not None else remembered
    if names is None:
        return [f"x{i + 1}" for i in range(mean.dimension)]
    if len(names) != mean.dimension:
        raise ValueError(
            f"columns names {len(names)} coordinates, but the mean has {mean.dimension}."
        )
    return [str(name) for name in names]


def counted_as(mean: Mean) -> str:
    """What is counted by k: centres, scalar atoms or full atoms; one of them where k is 1."""
    kind = mean.expansion.atoms.kind
    one = "centre" if kind is None else f"{kind} atom"
    return one if mean.k == 1 else f"{one}s"


def heaviest_first(weights: Vector) -> IntVector:
    """Centres in the order of |α_a|, the largest first; equal ones as they stand."""
    order: IntVector = np.argsort(-np.abs(weights), kind="stable")
    return order


def every_pair(d: int) -> list[tuple[int, ...]]:
    """The one coordinate there is, or all pairs of them."""
    return [(0,)] if d == 1 else list(combinations(range(d), 2))


def _checked(features: int | Sequence[int], d: int) -> tuple[int, ...]:
    """One coordinate, or a pair of different ones."""
    chosen = np.atleast_1d(np.asarray(features))
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or len(chosen) not in (1, 2):
        raise ValueError(
            f"features must be one coordinate or a pair of them, by number, got {features!r}."
        )
    found = tuple(chosen.tolist())
    if min(found) < 0 or max(found) >= d or len(set(found)) < len(found):
        raise ValueError(f"features must be different numbers from 0 to {d - 1}, got {features!r}.")
    return found


def _view(mean: Mean, P: Matrix, rows: Points | None, axes: tuple[str, ...]) -> DensityView:
    size = LINE_POINTS if len(P) == 1 else SIDE_POINTS
    grids = tuple(grid_along(mean, P, rows, axis, size) for axis in range(len(P)))
    return view_on(mean, P, grids, axes)


def view_on(mean: Mean, P: Matrix, grids: tuple[Vector, ...], axes: tuple[str, ...]) -> DensityView:
    """What the map P sees of a mean, with values on these grids."""
    evaluate, kind = _seen(mean, P)
    full = mean.expansion
    T = seen_from_kernel(full, P)
    mesh = np.stack([side.ravel() for side in np.meshgrid(*grids)], axis=1)
    values = evaluate(mesh).reshape([len(grid) for grid in reversed(grids)])
    return DensityView(
        axes,
        grids,
        values,
        mean.centers @ P.T,
        mean.weights,
        "density" if mean.is_density else "kernel mean",
        kind,
        None if full.spreads is None else covariances(full.spreads, T, drawn_blur(mean)),
    )


def _seen(mean: Mean, P: Matrix) -> tuple[Callable[[Points], Vector], str]:
    """The mean itself where P sees all of it, else its marginal, or where the kernel has none the
    slice at its peak.
    """
    m, d = P.shape
    if m == d:
        return mean, "whole"
    try:
        mean.kernel.marginal(d, m)
    except ValueError:  # a kernel without integral, or of the user's own
        base = mean.centers[np.argmax(mean(mean.centers))]
        return lambda Y: mean(base + (Y - base @ P.T) @ np.linalg.pinv(P).T), "slice"
    return marginal(mean, P), "marginal"


def principal_plane(mean: Mean) -> Matrix:
    """(2, d) leading principal axes of the centres by their weights, with their spreads where they
    have some; signs fixed by the largest entry.
    """
    w = np.abs(mean.weights) / np.abs(mean.weights).sum()
    centred = (mean.centers - w @ mean.centers) * np.sqrt(w)[:, None]
    if mean.spreads is not None:
        typical = np.tensordot(w, mean.spreads, axes=1)[None]
        T = seen_from_kernel(mean.expansion, np.eye(mean.dimension))
        within = np.linalg.eigh(covariances(typical, T)[0])
        # Rows whose squares add up to the covariance within the atoms.
        rows = (within[1] * np.sqrt(np.maximum(within[0], 0.0))).T
        centred = np.concatenate([centred, rows])
    axes = np.linalg.svd(centred, full_matrices=True)[2][:2]
    leading: Matrix = axes * np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    return leading

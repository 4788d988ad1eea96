"""A density on grids: along one of its coordinates, or in planes of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from kernelmean._types import ArrayLike, Matrix, Points, Vector
from kernelmean.mean.covariances import covariances, seen_from_kernel
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.marginals import marginal
from kernelmean.pictures.on_domain import inner_of, panels_of, sample_on_domain, views_on_domain
from kernelmean.pictures.ranges import Mean, drawn_blur, grid_along, sample_rows
from kernelmean.pictures.view import LINE_POINTS, SIDE_POINTS, DensityView

MAX_PAIRED = 6  # dimensions up to which every pair of coordinates is drawn
MAX_ROWS = 1500  # rows of the sample that are drawn in a plane
MAX_ALONE = 12  # coordinates that are shown by themselves
MAX_WIDENED = 4  # times that a plane is widened for a contour line that leaves it,
WIDENED = 0.15  # each by this share of its side
PRINCIPAL_AXES = ("first principal axis", "second principal axis")


def density_views(
    mean: Mean | DomainMean,
    sample: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    features: int | Sequence[int] | None = None,
) -> list[DensityView]:
    """The panels of the picture of a mean.

    ``features`` is a coordinate or a pair of them; without it, all that there is to see is shown:
    one curve, all pairs of up to six coordinates, or the principal plane of more. Of more columns
    with a domain, each is shown by itself. The sample sets the range, by default the centres do.
    """
    d = mean.dimension
    names = column_names(mean, columns)
    if isinstance(mean, DomainMean):
        on_domain = sample_on_domain(mean, sample)
        panels = panels_of(mean, MAX_PAIRED) if features is None else [_checked(features, d)]
        return views_on_domain(mean, panels, on_domain, names)
    rows = sample_rows(mean, sample)
    if features is None and d > MAX_PAIRED:
        return [_view(mean, principal_plane(mean), rows, PRINCIPAL_AXES)]
    chosen = every_pair(d) if features is None else [_checked(features, d)]
    axes = np.eye(d)
    return [
        _view(mean, axes[list(which)], rows, tuple(names[i] for i in which)) for which in chosen
    ]


def marginal_views(
    mean: Mean | DomainMean,
    views: Sequence[DensityView],
    sample: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
) -> list[DensityView]:
    """Each coordinate by itself, where planes are shown: none where a kernel has no marginals."""
    if mean.dimension == 1 or not any(len(view.axes) == 2 for view in views):
        return []
    if isinstance(mean, DomainMean):
        return []  # planes with categories show them by themselves, too
    try:
        mean.kernel.marginal(mean.dimension, 1)
    except ValueError:
        return []
    rows = sample_rows(mean, sample)
    names = column_names(mean, columns)
    axes = np.eye(mean.dimension)
    return [
        _view(mean, axes[[t]], rows, (names[t],)) for t in range(min(mean.dimension, MAX_ALONE))
    ]


def column_names(mean: Mean | DomainMean, columns: Sequence[str] | None) -> list[str]:
    """Names of the coordinates: those given, those of the data, or x1, x2, …"""
    remembered = mean.columns if isinstance(mean, SparseKernelMean | DomainMean) else None
    names = columns if columns is not None else remembered
    if names is None:
        return [f"x{i + 1}" for i in range(mean.dimension)]
    if len(names) != mean.dimension:
        raise ValueError(
            f"columns names {len(names)} coordinates, but the mean has {mean.dimension}."
        )
    return [str(name) for name in names]


def counted_as(mean: Mean | DomainMean) -> str:
    """What is counted by k: centres, scalar atoms or full atoms; one of them where k is 1."""
    kind = inner_of(mean).expansion.atoms.kind
    one = "centre" if kind is None else f"{kind} atom"
    return one if mean.k == 1 else f"{one}s"


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
    most = MAX_ROWS if len(P) > 1 else len(rows) if rows is not None else 0
    seen = None if rows is None else thinned(rows, most) @ P.T
    view = view_on(mean, P, grids, axes)._replace(rows=seen)
    for _ in range(MAX_WIDENED):
        if not any(map(any, view.overflow)):
            break
        grids = tuple(map(_widened, grids, view.overflow))
        view = view_on(mean, P, grids, axes)._replace(rows=seen)
    return view


def _widened(grid: Vector, beyond: tuple[bool, bool]) -> Vector:
    """A grid of as many points that reaches further where a contour line goes on."""
    step = WIDENED * (grid[-1] - grid[0])
    low, high = beyond
    return np.linspace(grid[0] - step * low, grid[-1] + step * high, len(grid))


def thinned(rows: Points, most: int) -> Points:
    """At most so many rows, evenly spread over all."""
    return rows[:: -(-len(rows) // most)]


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

"""Views of densities on a domain: no further than it goes, and with the masses they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

import kernelmean as km
from kernelmean.pictures.density import density_views
from kernelmean.pictures.indicator import indicator_curve
from kernelmean.pictures.view import LEVELS, MAX_CURVES

NUMBERS = ("size", "share", "hour")


def view_of(mean, X=None, features=None):
    (found,) = density_views(mean, X, features=features)
    return found


def rows_of(mean, view):
    mesh = np.stack([side.ravel() for side in np.meshgrid(*view.grids)], axis=1)
    assert mean.domain.embed(mesh).inside.all()
    return mesh


@pytest.mark.parametrize("with_rows", [False, True])
def test_no_grid_point_is_outside_and_ends_are_those_of_the_domain(fitted_on, with_rows):
    mean, X = fitted_on(*NUMBERS)
    lines = [view_of(mean, X if with_rows else None, i) for i in range(3)]
    size, share, hour = (view.grids[0][[0, -1]] for view in lines)
    assert size[0] == 0.0
    assert 5.0 < size[1] < 40.0
    np.testing.assert_array_equal([share, hour], [[0.0, 1.0], [0.0, 24.0]])
    assert [view.sides[0].ends for view in lines] == [(0.0, None), (0.0, 1.0), (0.0, 24.0)]
    ends = dict(zip(NUMBERS, (size, share, hour), strict=True))
    for view in density_views(mean, X if with_rows else None):
        for axis, grid in zip(view.axes, view.grids, strict=True):
            np.testing.assert_array_equal(grid[[0, -1]], ends[axis])


@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("spread", [None, "scalar"])
def test_a_curve_integrates_to_one_with_its_full_height_at_bounds(fitted_on, column, spread):
    mean, X = fitted_on(*NUMBERS, spread=spread)
    view = view_of(mean, X, column)
    assert np.trapezoid(view.values, view.grids[0]) == pytest.approx(1.0, abs=2e-3)
    alone = mean.marginal([column])
    np.testing.assert_allclose(view.values[[0, -1]], alone(view.grids[0][[0, -1], None]))
    assert column == 2 or view.values[0] > 0.1 * view.values.max()
    assert view.shape == "curve"
    assert view.kind == "marginal"


def test_a_period_is_shown_once_and_its_ends_meet(fitted_on):
    mean, X = fitted_on("hour", "share")
    plane = view_of(mean, X)
    np.testing.assert_allclose(plane.values[:, 0], plane.values[:, -1], rtol=1e-12)
    np.testing.assert_allclose(plane.heights[:, 0], plane.heights[:, -1], rtol=1e-12)
    np.testing.assert_allclose(plane.values.ravel(), mean(rows_of(mean, plane)))
    assert [label for _, label in plane.sides[0].ticks] == ["0", "6", "12", "18", "24"]
    line = view_of(mean, features=0)
    assert line.values[0] == pytest.approx(line.values[-1], rel=1e-12)


@pytest.mark.parametrize("names", [("hour", "share"), ("lon", "lat")])
def test_levels_hold_their_masses_of_drawn_points(fitted_on, names):
    mean, _ = fitted_on(*names, scale="std", bandwidth=0.3)
    if names == ("lon", "lat"):  # over both poles and the date line: the whole globe is in view
        rng = np.random.default_rng(1)
        places = np.column_stack([rng.uniform(-180, 180, 60), rng.normal(80, 8, 60)])
        places[:20] = np.column_stack([rng.normal(-179, 9, 20), rng.normal(-70, 9, 20)])
        places[:, 1] = np.clip(places[:, 1], -90, 90)
        mean = (
            km.SparseKDE(
                domain={(0, 1): km.Sphere()}, bandwidth=0.3, k=20, scale=None, random_state=0
            )
            .fit(places)
            .mean_
        )
    view = view_of(mean)
    drawn = mean.sample(2_000_000, random_state=0)
    steps = [(drawn[:, i] - grid[0]) / (grid[1] - grid[0]) for i, grid in enumerate(view.grids)]
    heights = map_coordinates(view.heights, steps[::-1], order=1, mode="nearest")
    for level in LEVELS:
        assert (heights >= level).mean() == pytest.approx(1.0 - level, abs=1e-3)


def test_a_map_counts_the_area_of_its_steps():
    """An even density over the globe: half of its mass is within 30 degrees of the equator."""
    rng = np.random.default_rng(0)
    u = rng.normal(size=(3000, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    places = np.degrees(np.column_stack([np.arctan2(u[:, 1], u[:, 0]), np.arcsin(u[:, 2])]))
    mean = (
        km.SparseKDE(domain={(0, 1): km.Sphere()}, bandwidth=1.5, scale=None, k=50, random_state=0)
        .fit(places)
        .mean_
    )
    view = view_of(mean, places)
    assert [tuple(grid[[0, -1]]) for grid in view.grids] == [(-180.0, 180.0), (-90.0, 90.0)]
    tilted = view._replace(values=np.repeat(-np.abs(view.grids[1])[:, None] + 91.0, 160, axis=1))
    latitude = np.abs(view.grids[1])
    weight = (91.0 - latitude) * view.sides[1].stretch
    for degrees in (10.0, 45.0, 80.0):
        inside = np.interp(degrees, view.grids[1][80:], tilted.heights[80:, 0])
        fine = np.linspace(0.0, 90.0, 10_001)
        whole = (91.0 - fine) * np.cos(np.radians(fine))
        expected = whole[fine > degrees].sum() / whole.sum()
        assert inside == pytest.approx(expected, abs=2e-3)
    assert weight.min() >= 0.0
    np.testing.assert_allclose(view.values[0], view.values[0, 0], rtol=1e-9)  # the pole is a point
    assert view.values.mean() == pytest.approx(1.0 / (4.0 * np.pi), rel=0.1)


def test_a_map_of_a_part_leads_across_the_date_line():
    rng = np.random.default_rng(0)
    east = np.mod(rng.normal(179.0, 3.0, 300) + 180.0, 360.0) - 180.0
    places = np.column_stack([east, rng.normal(-17.0, 2.0, 300)])
    mean = (
        km.SparseKDE(domain={(0, 1): km.Sphere()}, bandwidth=0.01, scale=None, k=30, random_state=0)
        .fit(places)
        .mean_
    )
    for rows in (None, places):
        view = view_of(mean, rows)
        west, end = view.grids[0][[0, -1]]
        assert 160.0 < west < 173.0
        assert 185.0 < end < 198.0
        assert ((view.centers[:, 0] > west) & (view.centers[:, 0] < end)).mean() > 0.9
        assert "−175°" in [label for _, label in view.sides[0].ticks]


def test_categories_are_bars_curves_or_cells(fitted_on):
    mean, X = fitted_on("species", "size", "island")
    bars = view_of(mean, X, 0)
    assert (bars.shape, bars.what) == ("bars", "probability")
    assert bars.sides[0].categories == ("Adélie", "Chinstrap of the far south", "Gentoo")
    assert bars.values.sum() == pytest.approx(1.0)
    curves = view_of(mean, X, (0, 1))
    assert curves.shape == "curves"
    assert curves.axes == ("size", "species")
    areas = np.trapezoid(curves.values, curves.grids[0], axis=1)
    np.testing.assert_allclose(areas, bars.values, atol=2e-3)
    cells = view_of(mean, X, (0, 2))
    assert (cells.shape, cells.what) == ("cells", "probability")
    np.testing.assert_allclose(cells.values.sum(axis=0), bars.values)
    assert cells.values[0, 0] > 2.0 * cells.values[1, 0]


def test_many_categories_are_cells_beside_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, MAX_CURVES + 1, 300), rng.normal(size=300)])
    density = km.SparseKDE(domain={0: km.Categorical(smoothing=0.1)}, k=20, bandwidth=0.3)
    view = view_of(density.fit(X).mean_, X)
    assert view.shape == "cells"
    assert view.what == "density"
    assert view.values.shape == (MAX_CURVES + 1, len(view.grids[0]))


def test_all_that_there_is_to_see(fitted_on):
    mean, X = fitted_on("size", "hour", "species", "lon", "lat")
    views = density_views(mean, X)
    assert [view.axes for view in views] == [
        ("lon", "lat"),
        ("size", "hour"),
        ("size", "species"),
        ("hour", "species"),
    ]
    mean, X = fitted_on("size", "lon", "lat")
    assert [view.axes for view in density_views(mean, X)] == [("lon", "lat"), ("size",)]
    assert view_of(mean, X, (2, 1)).axes == ("lon", "lat")
    with pytest.raises(ValueError, match="longitude and latitude belong together"):
        view_of(mean, X, (0, 1))
    with pytest.raises(ValueError, match="sample has 2 columns"):
        density_views(mean, np.zeros((3, 2)))


def test_of_many_columns_each_is_alone():
    X = np.random.default_rng(0).uniform(size=(60, 8))
    mean = km.SparseKDE(domain={0: (0, 1)}, k=5, bandwidth=0.3).fit(X).mean_
    views = density_views(mean, X)
    assert [view.axes for view in views] == [(f"x{i + 1}",) for i in range(8)]
    assert views[0].sides[0].ends == (0.0, 1.0)
    assert views[1].sides[0].ends == (None, None)


def test_bounds_that_are_far_are_not_shown():
    X = np.random.default_rng(0).normal(1000.0, 1.0, size=(200, 1))
    mean = km.SparseKDE(domain={0: (0, 5000)}, k=9, bandwidth=0.3).fit(X).mean_
    view = view_of(mean, X)
    assert view.sides[0].ends == (None, None)
    assert 990.0 < view.grids[0][0] < view.grids[0][-1] < 1010.0


@pytest.mark.parametrize("with_rows", [True, False])
def test_a_wide_component_that_ends_at_a_bound_sets_no_range(with_rows):
    """Its mean in the domain is far from all rows, and what it ends from is beyond the bound."""
    X = np.random.default_rng(0).exponential(size=(1000, 2))
    mean = km.SparseKDE(domain={0: (0, None), 1: (0, None)}, random_state=0).fit(X).mean_
    assert mean.centers.max() > 30.0
    view = density_views(mean, X if with_rows else None)[0]
    assert [side.ends for side in view.sides] == [(0.0, None), (0.0, None)]
    for grid in view.grids:
        assert 4.0 < grid[-1] < 15.0


def test_outlines_come_in_again_where_a_period_is_over(fitted_on):
    mean, X = fitted_on("hour", "share", spread="scalar")
    for view in (view_of(mean, X), view_of(mean, X, 0)):
        paths = view.outlines()
        assert len(paths) == mean.k
        hours = paths[..., 0]
        assert np.nanmin(hours) >= 0.0
        assert np.nanmax(hours) <= 24.0
        for path in hours:
            steps = [abs(b - a) for a, b in pairwise(path) if np.isfinite(a) and np.isfinite(b)]
            assert max(steps) < 12.0
    assert view.outlines(np.array([0])).shape[0] == 1


def test_components_that_stand_for_what_no_row_has_shown():
    """By likelihood one is as wide as all: it neither sets a range nor has an outline."""
    rng = np.random.default_rng(0)
    east = np.mod(rng.normal(179.0, 3.0, 400) + 180.0, 360.0) - 180.0
    X = np.column_stack([east, rng.normal(-17.0, 2.0, 400), np.mod(rng.normal(0, 1, 400), 24)])
    mean = (
        km.SparseKDE(domain={(0, 1): km.Sphere(), 2: km.Periodic(24)}, random_state=0).fit(X).mean_
    )
    places, hours = density_views(mean)
    assert 160.0 < places.grids[0][0] < places.grids[0][-1] < 200.0
    wide = np.isnan(hours.outlines()).all(axis=(1, 2))
    assert 1 <= wide.sum() < mean.k
    assert mean.weights[wide].sum() < 0.05


def test_the_indicator_is_that_of_the_mean_inside(fitted_on):
    for names, options in ((("size", "share"), {}), (("size", "species"), {"spread": None})):
        mean, _ = fitted_on(*names, **options)
        np.testing.assert_array_equal(indicator_curve(mean).values, mean.base.indicator)
    cells, _ = fitted_on("size", "species")
    with pytest.raises(TypeError, match=r"spread that takes in categories .* spread=None"):
        indicator_curve(cells)
    full, _ = fitted_on("size", sparse=False, k="auto")
    with pytest.raises(TypeError, match="this mean has no indicator"):
        indicator_curve(full)

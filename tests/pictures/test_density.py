"""A density on grids, against what it should say."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures.density import density_views
from kernelmean.pictures.view import LEVELS


def test_all_pairs_of_a_few_coordinates(cloud, fitted):
    found = density_views(fitted(cloud), cloud, ["a", "b", "c"])
    assert [view.axes for view in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {view.kind for view in found} == {"marginal"}
    for view in found:
        assert view.values.shape == (len(view.grids[1]), len(view.grids[0]))
        area = np.diff(view.grids[0])[0] * np.diff(view.grids[1])[0]
        assert view.values.sum() * area == pytest.approx(1.0, abs=0.03)  # the mass is in view


def test_a_plane_of_two_coordinates_shows_the_mean_itself(cloud, fitted):
    mean = fitted(cloud[:, :2])
    (view,) = density_views(mean, cloud[:, :2])
    assert view.kind == "whole"
    i, j = 5, 40
    assert view.values[i, j] == pytest.approx(
        float(mean([[view.grids[0][j], view.grids[1][i]]])[0])
    )
    np.testing.assert_array_equal(view.centers, mean.centers)


def test_one_coordinate_is_a_curve_and_many_a_principal_plane(cloud, fitted):
    (line,) = density_views(fitted(cloud[:, :1]))
    assert line.axes == ("x1",)
    assert np.trapezoid(line.values, line.grids[0]) == pytest.approx(1.0, abs=0.02)
    wide = np.hstack([cloud, 0.1 * np.random.default_rng(1).normal(size=(300, 5))])
    (plane,) = density_views(fitted(wide), wide)
    assert plane.axes == ("first principal axis", "second principal axis")
    spread = plane.centers.std(axis=0)
    assert spread[0] > spread[1]
    assert spread[0] > 1.0  # the direction from one blob to the other


def test_without_a_marginal_a_slice_through_the_highest_centre(cloud):
    mean = km.sparse_kernel_mean(
        cloud, kernel=km.Student(1.0, 1.0), k=8, random_state=0, engine="naive"
    )
    (view,) = density_views(mean, cloud, features=(0, 2))
    peak = mean.centers[np.argmax(mean(mean.centers))]
    assert view.kind == "slice"
    expected = mean([[view.grids[0][3], peak[1], view.grids[1][7]]])[0]
    assert view.values[7, 3] == pytest.approx(float(expected))


def test_a_full_kernel_mean_can_be_seen_too(cloud):
    full = km.kernel_mean(cloud[:, :2], space="l2", engine="naive")
    (view,) = density_views(full)
    assert len(view.centers) == len(cloud)


def test_a_column_too_many_is_refused(cloud, fitted):
    mean = fitted(cloud)
    with pytest.raises(ValueError, match="names 2 coordinates, but the mean has 3"):
        density_views(mean, columns=["a", "b"])
    with pytest.raises(ValueError, match="sample has 2 columns"):
        density_views(mean, cloud[:, :2])


def test_lines_enclose_their_share_of_the_mass(cloud, fitted):
    (view,) = density_views(fitted(cloud), cloud, features=(0, 1))
    level = view.mass_below()
    assert not view.signed
    assert level.max() == pytest.approx(1.0)
    for p in (0.1, 0.5, 0.9):
        inside = level > 1.0 - p
        assert view.values[inside].sum() / view.values.sum() == pytest.approx(p, abs=0.02)
        assert (
            view.values[inside].min() >= view.values[~inside].max()
        )  # the densest region of that mass


def test_signed_means_are_told_apart():
    X = np.random.default_rng(2).normal(size=(200, 2))
    mean = km.sparse_kernel_mean(X, k=30, random_state=0, engine="naive")
    (view,) = density_views(mean, X)
    assert view.signed == bool((view.values < -1e-9 * view.values.max()).any())
    far = view._replace(values=view.values - 0.5 * view.values.max())
    assert far.signed


def test_centres_are_drawn_by_weight_and_on_the_axis_of_a_line(cloud, fitted):
    mean = fitted(cloud)
    plane, line = (density_views(mean, features=which)[0] for which in ((0, 1), 2))
    np.testing.assert_array_equal(plane.places, mean.centers[:, :2])
    np.testing.assert_array_equal(line.places, [[c, 0.0] for c in mean.centers[:, 2]])
    assert plane.shares.sum() == pytest.approx(1.0)
    heavy = np.abs(mean.weights)[plane.heaviest]
    assert (np.diff(heavy) <= 0).all()


def test_contours_are_of_mass_or_of_signed_values(cloud, fitted):
    (view,) = density_views(fitted(cloud), features=(0, 1))
    assert view.levels is LEVELS
    np.testing.assert_array_equal(view.heights, view.mass_below())
    signed = view._replace(values=view.values - 0.5 * view.values.max())
    assert signed.levels is None
    assert signed.heights is signed.values


def test_atoms_are_outlined_by_one_standard_deviation(cloud, fitted):
    """In the plane of two of three coordinates, whatever the scale; singular spreads are lines."""
    mean = fitted(cloud, spread="full", scale="cov", selection="kmeans")
    (view,) = density_views(mean, cloud, features=(2, 0))
    back = np.linalg.inv(mean.scale)
    expected = (back @ mean.spreads @ back.T)[:, [2, 0]][:, :, [2, 0]]
    np.testing.assert_allclose(view.covariances, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        view.deviations, np.sqrt(0.5 * np.trace(expected, axis1=1, axis2=2)), rtol=1e-9
    )
    offsets = view.outlines(np.array([3, 5])) - view.centers[[3, 5], None]
    squares = np.einsum("ais,ast,ait->ai", offsets, np.linalg.inv(expected[[3, 5]]), offsets)
    np.testing.assert_allclose(squares, 1.0, rtol=1e-9)
    flat = view._replace(covariances=np.tile([[1.0, 1.0], [1.0, 1.0]], (12, 1, 1)))
    across = flat.outlines() - flat.centers[:, None]
    np.testing.assert_allclose(across[..., 0], across[..., 1], atol=1e-7)
    (points,) = density_views(fitted(cloud, spread=None), cloud, features=(2, 0))
    assert points.deviations is None
    assert points.outlines().shape[0] == 0


def test_without_a_sample_the_range_holds_the_spreads():
    """One atom for a wide cloud: the kernel is narrow, and the picture as wide as the cloud.

    Beyond it lies a thousandth of the mass: 3.3 standard deviations on either side, and a margin.
    """
    X = np.random.default_rng(0).normal(size=(500, 2)) * [3.0, 1.0]
    mean = km.sparse_kernel_mean(
        X, bandwidth=0.1, k=1, spread="full", space="l2", random_state=0, engine="naive"
    )
    (view,) = density_views(mean)
    for grid, deviation in zip(view.grids, (3.0, 1.0), strict=True):
        assert 6.5 * deviation < grid[-1] - grid[0] < 8.0 * deviation
    area = np.diff(view.grids[0])[0] * np.diff(view.grids[1])[0]
    assert view.values.sum() * area == pytest.approx(1.0, abs=0.01)


def test_the_principal_plane_sees_the_spreads():
    """Two atoms along the first axis; the second one is where the atoms themselves are wide."""
    X = np.random.default_rng(0).normal(size=(4000, 7)) * [1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0]
    X[:2000, 0] += 20.0
    mean = km.sparse_kernel_mean(
        X, k=2, spread="full", selection="kmeans", space="l2", random_state=0, engine="naive"
    )
    (view,) = density_views(mean)
    assert np.abs(np.diff(view.centers[:, 0])) == pytest.approx(20.0, abs=0.5)
    assert np.sqrt(view.covariances[:, 1, 1]) == pytest.approx([3.0, 3.0], abs=0.3)

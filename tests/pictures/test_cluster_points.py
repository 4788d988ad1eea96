"""Which points of clusters are drawn, and where."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures import cluster_points
from kernelmean.pictures.cluster_points import point_views


def fitted(d):
    X = np.random.default_rng(0).normal(size=(60, d))
    return km.MeanShift(bandwidth=1.0, random_state=0, engine="naive").fit(X), X


@pytest.mark.parametrize(("d", "planes"), [(1, 1), (2, 1), (4, 6), (5, 1)])
def test_planes_by_dimension(d, planes):
    shift, X = fitted(d)
    views = point_views(shift, X)
    assert len(views) == planes
    axes = {1: ("x1", "strength"), 5: ("first principal axis", "second principal axis")}
    assert views[0].axes == axes.get(d, ("x1", "x2"))
    assert all(view.places.shape == (60, 2) for view in views)


def test_points_are_where_they_are(bumps):
    X, shift = bumps
    (view,) = point_views(shift, X)
    np.testing.assert_array_equal(view.places, X)
    np.testing.assert_array_equal(view.labels, shift.labels_)


def test_of_many_points_some_are_drawn(bumps, monkeypatch):
    monkeypatch.setattr(cluster_points, "MAX_POINTS", 100)
    X, shift = bumps
    (view,) = point_views(shift, X)
    assert view.rows.tolist() == list(range(0, 250, 3))


def test_coordinates_have_the_names_of_the_data():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    shift = km.MeanShift(bandwidth=1.0, engine="naive").fit(X)
    assert point_views(shift, X)[0].axes == ("a", "b")
    assert point_views(shift, X, ["p", "q"])[0].axes == ("p", "q")


def test_other_points_are_refused(bumps):
    X, shift = bumps
    with pytest.raises(ValueError, match="X has 249 rows, but the mean shift was fitted to 250"):
        point_views(shift, X[1:])

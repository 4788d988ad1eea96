"""The numbers behind the pictures, against what they should say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import kernelmean as km
from kernelmean import pictures as views
from kernelmean.pictures.images import label_colors


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) * 0.4 + 3.0])


def fitted(X, **options):
    settings = {
        "space": "l2",
        "constraint": "simplex",
        "k": 12,
        "random_state": 0,
        "engine": "naive",
    } | options
    return km.sparse_kernel_mean(X, **settings)


def test_all_pairs_of_a_few_coordinates(cloud):
    found = views.density_views(fitted(cloud), cloud, ["a", "b", "c"])
    assert [view.axes for view in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {view.kind for view in found} == {"marginal"}
    for view in found:
        assert view.values.shape == (len(view.grids[1]), len(view.grids[0]))
        area = np.diff(view.grids[0])[0] * np.diff(view.grids[1])[0]
        assert view.values.sum() * area == pytest.approx(1.0, abs=0.03)  # the mass is in view


def test_a_plane_of_two_coordinates_shows_the_mean_itself(cloud):
    mean = fitted(cloud[:, :2])
    (view,) = views.density_views(mean, cloud[:, :2])
    assert view.kind == "whole"
    i, j = 5, 40
    assert view.values[i, j] == pytest.approx(
        float(mean([[view.grids[0][j], view.grids[1][i]]])[0])
    )
    np.testing.assert_array_equal(view.centers, mean.centers)


def test_one_coordinate_is_a_curve_and_many_a_principal_plane(cloud):
    (line,) = views.density_views(fitted(cloud[:, :1]))
    assert line.axes == ("x1",)
    assert np.trapezoid(line.values, line.grids[0]) == pytest.approx(1.0, abs=0.02)
    wide = np.hstack([cloud, 0.1 * np.random.default_rng(1).normal(size=(300, 5))])
    (plane,) = views.density_views(fitted(wide), wide)
    assert plane.axes == ("first principal axis", "second principal axis")
    spread = plane.centers.std(axis=0)
    assert spread[0] > spread[1]
    assert spread[0] > 1.0  # the direction from one blob to the other


def test_without_a_marginal_a_slice_through_the_highest_centre(cloud):
    mean = km.sparse_kernel_mean(
        cloud, kernel=km.Student(1.0, 1.0), k=8, random_state=0, engine="naive"
    )
    view = views.plane_view(mean, (0, 2), cloud)
    peak = mean.centers[np.argmax(mean(mean.centers))]
    assert view.kind == "slice"
    expected = mean([[view.grids[0][3], peak[1], view.grids[1][7]]])[0]
    assert view.values[7, 3] == pytest.approx(float(expected))


def test_a_full_kernel_mean_can_be_seen_too(cloud):
    full = km.kernel_mean(cloud[:, :2], space="l2", engine="naive")
    (view,) = views.density_views(full)
    assert len(view.centers) == len(cloud)


def test_a_column_too_many_is_refused(cloud):
    mean = fitted(cloud)
    with pytest.raises(ValueError, match="names 2 coordinates, but the mean has 3"):
        views.density_views(mean, columns=["a", "b"])
    with pytest.raises(ValueError, match="sample has 2 columns"):
        views.density_views(mean, cloud[:, :2])


def test_lines_enclose_their_share_of_the_mass(cloud):
    view = views.plane_view(fitted(cloud), (0, 1), cloud)
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
    view = views.plane_view(mean, (0, 1), X)
    assert view.signed == bool((view.values < -1e-9 * view.values.max()).any())
    far = view._replace(values=view.values - 0.5 * view.values.max())
    assert far.signed


def test_the_indicator_is_what_is_left(cloud):
    mean = fitted(cloud)
    curve = views.indicator(mean)
    E = mean.indicator
    np.testing.assert_array_equal(curve.centers, np.arange(1, 13))
    np.testing.assert_allclose(curve.left_over[:-1], (E[:-1] - E[-1]) / (E[0] - E[-1]))
    assert np.isnan(curve.left_over[-1])
    assert curve.chosen == 12
    single = views.indicator(fitted(cloud, k=1))
    assert np.isnan(single.left_over).all()


@pytest.fixture(scope="module")
def embedding():
    rng = np.random.default_rng(4)
    samples = {f"s{i}": rng.normal(size=(60, 2)) + 4.0 * (i % 2) for i in range(8)}
    return km.DistributionEmbedding(
        embedding="mds", random_state=0, engine="naive", error_bars=True
    ).fit(samples)


def test_a_collection_says_what_was_compared(embedding):
    found = views.collection(embedding)
    assert found.names == [f"s{i}" for i in range(8)]
    assert found.sizes.tolist() == [60.0] * 8
    assert found.counts.tolist() == [mean.k for mean in embedding.means_]
    assert found.errors is embedding.sample_errors_
    D = embedding.distances_
    for i, row in enumerate(found.nearest(3)):
        others = sorted((D[i, j], j) for j in range(8) if j != i)
        assert row.tolist() == [j for _, j in others[:3]]
    assert found.nearest(100).shape == (8, 7)


def test_the_order_keeps_groups_together(embedding):
    order = views.collection(embedding).order
    assert sorted(order.tolist()) == list(range(8))
    parity = [int(i) % 2 for i in order]
    assert sum(a != b for a, b in pairwise(parity)) == 1


@given(st.integers(1, 12), st.integers(0, 100))
def test_every_order_is_a_permutation(n, seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert sorted(views.clustered_order(D).tolist()) == list(range(n))


def test_only_a_fitted_embedding_is_a_collection():
    with pytest.raises(TypeError, match="DistributionEmbedding is needed, got SparseKDE"):
        views.collection(km.SparseKDE())
    with pytest.raises(NotFittedError):
        views.collection(km.DistributionEmbedding())


def test_other_names_must_be_as_many(embedding):
    with pytest.raises(ValueError, match="names has 2 entries, but 8 samples"):
        views.collection(embedding, ["a", "b"])


@pytest.fixture(scope="module")
def picture():
    rgb = np.zeros((12, 18, 3), dtype=np.uint8)
    rgb[:, 6:] = (200, 40, 40)
    rgb[8:, 12:] = (30, 60, 220)
    return rgb, km.segment_image(rgb, spatial=0.0, bandwidth=0.05, engine="naive")


def test_segments_are_shown_from_the_largest_on(picture):
    rgb, found = picture
    view = views.segment_view(rgb, found)
    assert view.palette.tolist() == [[200, 40, 40], [0, 0, 0], [30, 60, 220]]
    np.testing.assert_allclose(view.shares, [120 / 216, 72 / 216, 24 / 216])
    np.testing.assert_array_equal(view.original, rgb)
    np.testing.assert_array_equal(view.modes, found.image)
    np.testing.assert_array_equal(view.palette[view.labels], view.modes)
    assert len(np.unique(view.outlined.reshape(-1, 3), axis=0)) == 3


def test_large_images_are_thinned_and_grey_ones_have_three_channels(picture):
    rgb, found = picture
    assert views.segment_view(rgb, found, longest=9).original.shape == (6, 9, 3)
    grey = rgb[:, :, 0]
    assert views.segment_view(
        grey, km.segment_image(grey, spatial=0.0, bandwidth=0.05, engine="naive")
    ).modes.shape == (
        12,
        18,
        3,
    )
    with pytest.raises(ValueError, match="segmentation"):
        views.segment_view(rgb[:5], found)


def test_colours_of_segments_differ():
    assert len(np.unique(label_colors(60), axis=0)) == 60

"""An image, its segments, and the colours of their modes."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.pictures.segmentation import (
    label_colors,
    mode_picture,
    segment_view,
    segments_by_size,
)


def test_segments_are_shown_from_the_largest_on(picture):
    rgb, found = picture
    view = segment_view(rgb, found)
    assert view.segments.palette.tolist() == [[200, 40, 40], [0, 0, 0], [30, 60, 220]]
    np.testing.assert_allclose(view.segments.shares, [120 / 216, 72 / 216, 24 / 216])
    np.testing.assert_array_equal(view.original, rgb)
    np.testing.assert_array_equal(view.modes, found.image)
    np.testing.assert_array_equal(view.segments.palette[view.labels], view.modes)
    assert len(np.unique(view.outlined.reshape(-1, 3), axis=0)) == 3


def test_large_images_are_thinned_and_grey_ones_have_three_channels(picture):
    rgb, found = picture
    assert segment_view(rgb, found, longest=9).original.shape == (6, 9, 3)
    grey = rgb[:, :, 0]
    assert segment_view(
        grey, km.segment_image(grey, spatial=0.0, bandwidth=0.05, engine="naive")
    ).modes.shape == (
        12,
        18,
        3,
    )
    with pytest.raises(ValueError, match="segmentation"):
        segment_view(rgb[:5], found)


def test_colours_of_segments_differ():
    assert len(np.unique(label_colors(60), axis=0)) == 60


def test_segments_are_told_by_number_size_and_colour(picture):
    _, found = picture
    told = segments_by_size(found)
    assert told.codes == ["#c82828", "#000000", "#1e3cdc"]
    assert told.pixels.tolist() == [120, 72, 24]
    np.testing.assert_array_equal(found.sizes[told.numbers], told.pixels)


def test_the_picture_of_the_modes_is_grey_where_the_image_is(picture):
    rgb, found = picture
    np.testing.assert_array_equal(mode_picture(found), found.image)
    grey = km.segment_image(rgb[:, :, 0], spatial=0.0, bandwidth=0.05, engine="naive")
    np.testing.assert_array_equal(mode_picture(grey), grey.image)

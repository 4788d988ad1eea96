"""The display of an image and its segments."""

from __future__ import annotations

import numpy as np

import kernelmean as km


def test_an_image_and_its_segments(drawn):
    rgb = np.zeros((8, 10, 3), dtype=np.uint8)
    rgb[:, 5:] = 255
    found = km.segment_image(rgb, spatial=0.0, bandwidth=0.1, engine="naive")
    display = drawn(km.plot.SegmentationDisplay.from_predictions(rgb, found))
    assert [ax.get_title() for ax in display.axes_] == ["original", "2 segments", "mode colours"]
    np.testing.assert_array_equal(display.images_[2].get_array(), found.image)

"""Slivers along blurred edges are no segments; thin things of a colour of their own are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import kernelmean as km
from kernelmean.meanshift.regions import regions
from kernelmean.meanshift.slivers import without_slivers

PAPER, RED, BLUE = (240, 240, 230), (200, 30, 40), (20, 60, 160)


def shapes(blur):
    """A disc and a rectangle on paper, with edges that are not sharp."""
    i, j = np.mgrid[:150, :200]
    rgb = np.full((150, 200, 3), PAPER, dtype=float)
    rgb[(i - 60) ** 2 + (j - 60) ** 2 < 40**2] = RED
    rgb[70:130, 120:180] = BLUE
    return np.rint(gaussian_filter(rgb, (blur, blur, 0))).astype(np.uint8)


@pytest.mark.parametrize("blur", [0.0, 0.7, 1.5])
def test_a_blurred_edge_is_no_segment(blur):
    found = km.segment_image(shapes(blur))
    assert found.n_segments == 3
    assert found.sizes.sum() == 150 * 200
    expected = np.sort([np.pi * 40**2, 60 * 60])
    np.testing.assert_allclose(np.sort(found.sizes)[:2], expected, rtol=0.05)


def test_a_line_of_another_colour_stays():
    rgb = np.full((120, 160, 3), PAPER, dtype=np.uint8)
    rgb[:, 80:83] = RED
    found = km.segment_image(rgb)
    assert found.n_segments == 3
    assert set(found.labels[60, 80:83]) == {found.labels[60, 81]}


def test_only_mixtures_of_both_sides_are_slivers():
    """A stripe between black and white: grey is shared out, red is none of theirs."""
    labels = np.repeat([0] * 20 + [1] * 2 + [2] * 20, 30).reshape(42, 30)
    for middle, gone in (((0.5, 0.5, 0.5), True), ((0.9, 0.1, 0.1), False)):
        colors = np.array([(0.0, 0.0, 0.0), middle, (1.0, 1.0, 1.0)])[labels]
        shared = without_slivers(regions(labels, colors, colors, 1))
        assert (1 not in shared) == gone
        np.testing.assert_array_equal(shared[:20], 0)
        np.testing.assert_array_equal(shared[22:], 2)


def test_an_image_of_nothing_but_thin_regions_is_left_alone():
    labels = np.repeat([0, 1, 2], 4).reshape(3, 4)
    colors = np.linspace(0.0, 1.0, 3)[labels][:, :, None]
    assert without_slivers(regions(labels, colors, colors, 1)) is not None

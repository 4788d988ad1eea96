"""Segmentations as values: other levels of the tree."""

import numpy as np
import pytest

import kernelmean as km


@pytest.fixture(scope="module")
def found():
    rgb = np.random.default_rng(0).integers(0, 255, (5, 7, 3)).astype(np.uint8)
    return km.segment_image(np.kron(rgb, np.ones((4, 4, 1), np.uint8)))


def test_a_cut_is_what_segment_image_would_have_given(found):
    for options in ({"n_segments": 4}, {"contrast": 0.3}):
        other = found.cut(**options)
        again = other.cut(contrast=0.05)
        np.testing.assert_array_equal(again.labels, found.labels)
        np.testing.assert_array_equal(again.image, found.image)
        assert other.n_segments < found.n_segments
        assert other.clustering is found.clustering


def test_colours_and_sizes_are_those_of_the_pixels(found):
    cut = found.cut(n_segments=5)
    whole = found.cut(n_segments=10**6)
    for segment in range(5):
        inside = cut.labels == segment
        assert cut.sizes[segment] == inside.sum()
        pixels = whole.colors[whole.labels][inside]
        np.testing.assert_allclose(cut.colors[segment], pixels.mean(axis=0))
    assert cut.image.dtype == np.uint8


def test_a_level_or_a_tree_that_is_missing_is_said(found):
    with pytest.raises(ValueError, match="number of segments"):
        found.cut()
    plain = km.segment_image(found.image, contrast=None, bandwidth=0.3)
    assert plain.tree is None
    with pytest.raises(ValueError, match="contrast=None"):
        plain.cut(n_segments=2)

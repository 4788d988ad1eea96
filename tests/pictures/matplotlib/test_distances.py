"""The display of the distances of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km


def test_distances_stand_in_the_order_of_the_clustering(named_embedding, drawn):
    display = drawn(km.plot.DistancesDisplay.from_estimator(named_embedding))
    order = display.order
    np.testing.assert_array_equal(
        display.image_.get_array(), named_embedding.distances_[np.ix_(order, order)]
    )
    matrix = drawn(
        km.plot.DistancesDisplay.from_distances(named_embedding.distances_, names=range(8))
    )
    assert [label.get_text() for label in matrix.ax_.get_xticklabels()] == [str(i) for i in order]
    with pytest.raises(ValueError, match="symmetric"):
        km.plot.DistancesDisplay.from_distances(np.ones((2, 3)))
    with pytest.raises(ValueError, match="names has 1 entries"):
        km.plot.DistancesDisplay.from_distances(np.zeros((2, 2)), names=["a"])

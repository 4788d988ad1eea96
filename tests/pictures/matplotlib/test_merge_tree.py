"""The display of how peaks merge."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import kernelmean as km
from kernelmean.pictures.matplotlib.merge_tree import GREY
from kernelmean.pictures.merge_tree import merge_view


def test_a_dot_and_a_line_for_each_peak(bumps, drawn):
    display = drawn(km.plot.MergeTreeDisplay.from_estimator(bumps[1]))
    peaks = len(bumps[1].tree_)
    assert sum(len(dots.get_offsets()) for dots in display.dots_) == peaks
    assert len(display.lines_.get_segments()) == peaks
    assert display.ax_.get_title() == f"2 clusters of {peaks} modes"
    assert sorted(text.get_text() for text in display.texts_) == ["0", "1"]
    grey = np.all(np.isclose(display.lines_.get_colors(), to_rgba(GREY)), axis=1)
    assert grey.sum() == peaks - 2


def test_the_last_peak_stands_at_the_lower_edge(bumps, drawn):
    display = drawn(km.plot.MergeTreeDisplay.from_estimator(bumps[1]))
    low, _ = display.ax_.get_ylim()
    heights = np.concatenate([np.asarray(dots.get_offsets())[:, 1] for dots in display.dots_])
    assert low < heights.min() == merge_view(bumps[1]).floor


def test_many_clusters_have_colours_and_no_numbers(drawn):
    X = 10.0 * np.arange(50)[:, None] + np.array([0.0, 0.1])
    shift = km.MeanShift(bandwidth=1.0, significance=None, sparse=False, engine="naive")
    display = drawn(km.plot.MergeTreeDisplay.from_estimator(shift.fit(X.reshape(-1, 1))))
    assert display.texts_ == []
    assert display.axes_[1].get_title() == "the 40 clearest modes"
    assert len({dots.get_paths()[0].vertices.tobytes() for dots in display.dots_}) == 5


def test_two_axes_are_needed(bumps):
    from matplotlib.figure import Figure

    with pytest.raises(ValueError, match="ax holds 1 axes, but this display draws 2 panels"):
        km.plot.MergeTreeDisplay.from_estimator(bumps[1], ax=Figure().subplots())

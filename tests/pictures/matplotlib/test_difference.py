"""The display of a difference."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.comparison.examples import alike, planted

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def found():
    return planted(columns=("age", "$in$come", "height", "score")).found


def test_the_map_with_its_regions_and_rows(found, drawn):
    display = drawn(km.plot.DifferenceDisplay.from_difference(found))
    assert display.ax_.get_xlabel() == r"\$in\$come"
    assert display.ax_.get_ylabel() == "age"
    assert len(display.regions_) == len(display.texts_) == len(found.regions) == 2
    assert [text.get_text() for text in display.texts_] == [
        "after +10 points",
        "before +7.9 points",
    ]
    np.testing.assert_array_equal(
        display.typical_[1].get_offsets(), found.typical_b.points[:, [1, 0]]
    )
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["more in before", "more in after", "typical of before", "typical of after"]


def test_colours_are_even_on_both_sides_of_zero(found):
    contours = km.plot.DifferenceDisplay.from_difference(found).contours_
    np.testing.assert_allclose(contours.levels, -contours.levels[::-1])
    ends = np.array([contours.cmap(0.0)[:3], contours.cmap(1.0)[:3]])
    assert ends[0][0] > ends[0][2]  # orange where the second sample has more
    assert ends[1][2] > ends[1][0]  # blue where the first has
    np.testing.assert_allclose(contours.cmap(0.5)[:3], 1.0, atol=0.02)


def test_on_axes_of_ones_own(found, drawn):
    figure, (left, right) = plt.subplots(1, 2)
    first = km.plot.DifferenceDisplay.from_difference(
        found, columns=("height", 0), ax=left, regions=False, typical=False, cmap="PuOr"
    )
    assert (first.ax_, first.figure_) == (left, figure)
    assert (first.regions_, first.texts_, first.typical_) == ([], [], [])
    assert left.get_xlabel() == "height"
    second = drawn(km.plot.DifferenceDisplay.from_difference(found, columns="age", ax=right))
    assert right.get_ylabel() == "difference of the densities"
    np.testing.assert_array_equal(second.contours_.get_ydata(), second.drawn.values)


def test_one_column(drawn):
    display = drawn(km.plot.DifferenceDisplay.from_difference(planted(d=1).found))
    assert display.ax_.get_xlabel() == "age"
    assert [text.get_text() for text in display.texts_] == [
        "after +9.4 points",
        "before +6.8 points",
    ]


def test_a_legend_without_rows_that_there_are_not(drawn):
    display = drawn(km.plot.DifferenceDisplay.from_difference(alike()))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["more in A", "more in B"]

"""What is drawn of a difference: maps, histograms, bars, permutations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.comparison.columns import Effect
from kernelmean.pictures.difference import difference_map, difference_maps, main_columns
from kernelmean.pictures.effects import effect_bars, marginal_histograms, null_view
from tests.comparison.examples import planted, with_regions


@pytest.fixture(scope="module")
def found():
    return planted().found


def test_the_map_shows_the_columns_that_explain_most(found):
    view = difference_map(found)
    assert view.axes == ("income", "age")
    assert view.values.shape == (len(view.grids[1]), len(view.grids[0]))
    i, j = 50, 20
    whole = found.marginal((1, 0))(np.array([[view.grids[0][j], view.grids[1][i]]]))
    assert view.values[i, j] == pytest.approx(whole[0])


def test_the_sign_of_the_map_is_that_of_the_regions(found):
    view = difference_map(found)
    assert {mark.more for mark in view.regions} == {0, 1}
    for mark in view.regions:
        value = found.marginal((1, 0))(mark.center[None])[0]
        assert (value > 0) == (mark.more == 0)
        assert mark.label.startswith(f"{found.names[mark.more]} +")


def test_outlines_lie_within_the_quantiles(found):
    for mark in difference_map(found).regions:
        np.testing.assert_allclose(mark.outline.min(axis=0), mark.lower)
        np.testing.assert_allclose(mark.outline.max(axis=0), mark.upper)
        assert mark.outline[mark.top, 1] == pytest.approx(mark.upper[1])


def test_labels_that_would_lie_on_another_are_left_out(found):
    near = replace(found.regions[0], upper=found.regions[0].upper * 1.001)
    view = difference_map(with_regions(found, *found.regions, near))
    assert [mark.labelled for mark in view.regions] == [True, True, False]


def test_levels_are_even_and_leave_zero_in_the_middle_of_a_step(found):
    levels = difference_map(found).levels
    np.testing.assert_allclose(levels, -levels[::-1])
    np.testing.assert_allclose(np.diff(levels), levels[1] - levels[0])
    assert 0.0 not in levels


def test_regions_that_stand_apart_elsewhere_are_left_out(found):
    view = difference_map(found, ("height", "score"))
    assert view.regions == ()
    assert view.left_out == len(found.regions) > 0


def test_further_planes_are_those_of_further_regions(found):
    other = replace(found.regions[0], columns=(2,))
    maps = difference_maps(with_regions(found, *found.regions, other, other))
    assert [set(view.axes) for view in maps] == [{"age", "income"}, {"height", "income"}]


def test_a_pair_can_explain_more_than_the_two_first_columns(found):
    pair = Effect(("income", "score"), 0.9, 0.8, 1.0, 0.001, 0.0, 0.5)
    assert main_columns(replace(found, pairs=(pair,))) == (1, 3)


def test_one_column_is_a_line():
    one = planted(d=1).found
    view = difference_map(one)
    assert view.axes == ("age",)
    assert view.values.ndim == 1
    np.testing.assert_allclose(view.values, one(view.grids[0][:, None]))
    assert all((mark.outline[:, 1] == 0.0).all() for mark in view.regions)
    assert view.typical[0][:, 1].max() < view.values.min()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("weight", "no column 'weight'; the columns are 'age', 'income'"),
        ((0, 4), "numbers from 0 to 3"),
        (("age", 0), "two different ones"),
        ((0, 1, 2), "one column or two"),
    ],
)
def test_columns_that_are_not_there_are_refused(found, columns, said):
    with pytest.raises(ValueError, match=said):
        difference_map(found, columns)


def test_histograms_of_the_columns_that_explain_most(found):
    drawn = marginal_histograms(found)
    assert [one.column for one in drawn] == [effect.columns[0] for effect in found.columns]
    for one in drawn:
        assert one.shares[0].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(one.heights[0][1:-1], one.shares[0][1:-1])


@pytest.mark.parametrize(
    ("edges", "heights"),
    [
        ([0.0, 3.0, 4.0, 5.0, 5.5], [0.1, 0.2, 0.3, 0.2]),  # the first bin is three times as wide
        ([0.5, 1.5, 3.0, 7.0, 13.0], [0.3, 0.2, 0.3, 0.2]),  # around four values
    ],
)
def test_heights_are_shares_but_for_wide_ends(found, edges, heights):
    shares = np.array([0.3, 0.2, 0.3, 0.2])
    one = marginal_histograms(found)[0]._replace(edges=np.array(edges), shares=(shares, shares))
    np.testing.assert_allclose(one.heights, [heights, heights])


def test_coarser_bins_are_even_and_lose_nothing(found):
    for one in marginal_histograms(found):
        few = one.coarser(8)
        widths = np.diff(few.edges)[1:-1]
        assert 8 <= len(widths) < 16
        np.testing.assert_allclose(widths, widths[0])
        assert few.edges[[0, -1]].tolist() == one.edges[[0, -1]].tolist()
        for before, after in zip(one.shares, few.shares, strict=True):
            whole = np.interp(few.edges, one.edges, np.append(0.0, np.cumsum(before)))
            np.testing.assert_allclose(after, np.diff(whole), atol=1e-12)
    assert one.coarser(30) is one
    uneven = one._replace(edges=np.arange(len(one.edges)) ** 2.0)
    assert uneven.coarser(8) is uneven


def test_bars_reach_from_end_to_end_of_the_intervals(found):
    columns, pairs = effect_bars(found)
    assert columns.labels[0] == "income"
    assert pairs.labels[0] == "age × income"
    below, above = columns.reach
    np.testing.assert_allclose(columns.shares - below, [e.low for e in found.columns])
    np.testing.assert_allclose(columns.shares + above, [e.high for e in found.columns])


def test_the_permutations_are_all_counted(found):
    view = null_view(found)
    assert view.counts.sum() == len(found.test.null)
    assert view.threshold == found.test.threshold(found.level)


def test_few_permutations_have_no_threshold(found):
    few = replace(found.test, null=np.array([0.1, 0.2]), statistic=0.3, p_value=1 / 3)
    assert null_view(replace(found, test=few)).threshold == np.inf

"""The page of a difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kernelmean as km
from kernelmean.comparison.words import percent
from tests.comparison.examples import alike, planted, three_groups, with_p_value, with_regions
from tests.pictures.html.reading import Reader, charts, packed


@pytest.fixture(autouse=True)
def _light(monkeypatch):
    monkeypatch.setattr("kernelmean.pictures.html.page.plotly_packed", lambda: b"")


@pytest.fixture(scope="module")
def found():
    return planted().found


def plain(page):
    return Reader(page).words.replace("\u00a0", " ")


def test_the_answer_comes_first_then_numbers(found):
    page = km.report.difference_page(found)
    words = plain(page)
    assert "Where before and after differ" in words
    assert words.index(found.describe()) < words.index("In numbers")
    for name in ("p-value0.001", "rows of before1\u202f005", "regions found2", "rate5 %"):
        assert name in words


def test_regions_are_told_in_the_units_of_the_data(found):
    words = plain(km.report.difference_page(found))
    assert "age 71 (68 to 74); income 19 000 (16 000 to 22 000)" in words
    assert "10 (6.6 to 15)" in words
    assert "7.9 (1.9 to 15)" in words  # of the sample that has more, so above zero
    assert "e-0" not in words


def test_figures(found):
    drawn = charts(km.report.difference_page(found))
    assert [chart["id"] for chart in drawn] == [
        "map", "column-0", "column-1", "column-2", "column-3", "effects-column", "effects-pair",
        "null",
    ]  # fmt: skip
    ground, before, after, _, labels, *dots = drawn[0]["traces"]
    assert ground["zmin"] == -ground["zmax"]
    assert ground["contours"]["start"] == pytest.approx(-ground["contours"]["end"])
    assert labels["text"] == ["1: after +10 points"]
    assert [len(packed(line["x"])[0]) for line in (before, after)] == [34, 34]
    assert len(dots) == 2
    trace, point, said = drawn[0]["walk"][0]
    assert drawn[0]["traces"][trace]["text"][point] == "2: before +7.9 points"
    assert said.startswith("region 2, before +7.9 points: income 57 000, age 28")
    regions = [item["trace"] for item in drawn[0]["legend"] if "region" in item["name"]]
    assert regions == [[1, 3], [2, 4]]


def test_several_planes_can_be_chosen_from(found):
    other = replace(found.regions[0], columns=(2,))
    page = km.report.difference_page(with_regions(found, *found.regions, other))
    chart = charts(page)[0]
    assert list(chart["variants"]) == ["income × age", "height × income"]
    assert chart["variants"]["height × income"]["layout"]["xaxis"]["title"]["text"] == "height"
    options = [attrs["value"] for attrs in Reader(page).all("option")]
    assert options == list(chart["variants"])
    assert "1 region of the table is not drawn here." in plain(page)


def test_one_column_has_a_curve_and_nothing_to_rank():
    page = km.report.difference_page(planted(d=1).found)
    assert [chart["id"] for chart in charts(page)] == ["map", "column-0", "null"]
    assert "above zero before has more of its rows" in plain(page)
    assert "What explains" not in plain(page)


def test_no_difference():
    found = alike()
    words = plain(km.report.difference_page(found))
    said = "No difference was found between A (450 rows) and B (450 rows): p = "
    assert f"{said}{found.test.p_value:.2g}." in words
    assert "No region was found in which the shares of the rows differ" in words
    assert "No difference found between A and B" in words
    assert "such colours come by chance" in words
    assert "Ellipses" not in words
    assert "No column stands out, and no pair of columns" in words
    assert "95 % interval" not in words  # of shares that are all zero
    assert "No row of A or of B lies where the difference of the densities clearly exceeds" in words


def test_no_bars_and_no_dots_where_there_are_none():
    drawn = charts(km.report.difference_page(alike()))
    assert [chart["id"] for chart in drawn] == ["map", *(f"column-{i}" for i in range(4)), "null"]
    assert [item["name"] for item in drawn[0]["legend"]] == ["difference of the densities"]


def test_shares_of_samples_that_may_be_alike_are_told_with_care(found):
    words = plain(km.report.difference_page(with_p_value(found, 0.3)))
    assert "Take them with care: taken as a whole the samples may be alike (p = 0.3)." in words


def test_hovering_tells_the_share_of_a_bin(found):
    trace = charts(km.report.difference_page(found))[1]["traces"][0]
    edges, shares = found.histograms.edges[1], found.histograms.shares_a[1]
    assert len(trace["customdata"]) == len(packed(trace["x"])[0]) == len(edges) + 1
    told = [f"{edges[0]:.4g}", f"{edges[1]:.4g}", percent(shares[0])]
    assert trace["customdata"][1] == told
    assert packed(trace["y"])[0][1] < shares[0]  # the first bin is wide, and so drawn lower


def test_typical_rows_are_rows_of_the_data(found):
    words = plain(km.report.difference_page(found))
    assert "Rows of after, counted from 0" in words
    assert str(int(found.typical_b.indices[0])) in words


def test_how_it_was_computed(found):
    words = plain(km.report.difference_page(found, settings={"seed": 7}, title="Mine"))
    for told in ("Mine", "permutations999", "bandwidthsage 5.43, income 3937", "seed7"):
        assert told in words


def test_groups():
    found = three_groups()
    page = km.report.difference_page(found)
    words = plain(page)
    assert "How 3 groups differ" in words
    assert found.describe() in words
    first, second, third = (found.names[i] for i in found.order)
    assert f"Below is the group that differs most: {first} against the rest." in words
    assert words.index(f"{second} against the rest") < words.index(f"{third} against the rest")
    ids = [attrs["id"] for _, attrs in Reader(page).tags if "id" in attrs]
    assert len(set(ids)) == len(ids)

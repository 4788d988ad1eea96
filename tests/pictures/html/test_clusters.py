"""The page of clusters."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.pictures.html.reading import Reader, charts


@pytest.fixture(autouse=True)
def _light(monkeypatch):
    monkeypatch.setattr("kernelmean.pictures.html.page.plotly_packed", lambda: b"")


def test_facts_and_clusters(bumps):
    X, shift = bumps
    words = Reader(km.report.clusters_page(shift, X)).words
    assert "250 points in 2 clusters" in words
    assert f"{len(shift.tree_)} peaks, of which 2 are clusters at the level 0.05." in words
    for size in np.bincount(shift.labels_):
        assert f"{100.0 * size / 250:.1f} %" in words


def test_figures_are_the_diagram_the_tree_and_the_points(bumps):
    X, shift = bumps
    with_points = charts(km.report.clusters_page(shift, X))
    assert [chart["id"] for chart in with_points] == ["diagram", "tree", "points-0"]
    without = charts(km.report.clusters_page(shift))
    assert [chart["id"] for chart in without] == ["diagram", "tree"]


def test_one_button_serves_the_same_group_in_both_pictures(bumps):
    diagram, tree = charts(km.report.clusters_page(bumps[1]))
    assert [item["name"] for item in diagram["legend"]] == ["no cluster", "cluster 0", "cluster 1"]
    for first, second in zip(diagram["traces"], tree["traces"], strict=True):
        assert len(second["x"]) == 4 * len(first["x"])
        assert first["customdata"][0][0] == second["customdata"][0][0]


def test_words_for_one_peak_and_for_no_test():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
    one = km.MeanShift(bandwidth=9.0, engine="naive").fit(X)
    assert "The density of 1 column has 1 peak." in km.report.clusters_page(one)
    all_kept = km.MeanShift(bandwidth=0.5, significance=None, engine="naive").fit(X)
    assert "2 peaks; no test has asked" in km.report.clusters_page(all_kept, X)


def test_points_between_clusters_are_counted():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 1)), rng.normal(size=(100, 1)) + 3.5])
    shift = km.MeanShift(bandwidth=0.6, noise=True, random_state=0, engine="naive").fit(X)
    page = km.report.clusters_page(shift, X)
    assert (shift.labels_ < 0).any()
    assert "between clusters" in Reader(page).words
    points = charts(page)[-1]
    assert len(points["traces"][0]["customdata"]) == (shift.labels_ < 0).sum()
    assert points["layout"]["yaxis"]["title"]["text"] == "strength"

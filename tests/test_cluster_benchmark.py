"""The sets, peers and tables of clusterings are made on little data, so that scripts do not
rot.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import cluster_peers, cluster_sets, clusters, segmentations
from benchmarks.grid_shift import file, grid_shift, mean_shift_pp
from benchmarks.tables import AbsentError
from sklearn.metrics import adjusted_rand_score


@pytest.fixture(scope="module")
def blobs() -> cluster_sets.Labelled:
    """Three clusters ten widths apart."""
    return cluster_sets.gaussians(300, cluster_sets.polygon(3, 10.0), 0)


def test_sets_for_tuning_and_for_figures_differ():
    assert len(cluster_sets.REPORT) == 20
    assert not set(cluster_sets.REPORT) & set(cluster_sets.TUNING)
    with pytest.raises(KeyError, match="no set 'nowhere'"):
        cluster_sets.load("nowhere")


@pytest.mark.parametrize("name", [*cluster_sets.REPORT, *cluster_sets.TUNING])
def test_a_set_has_scaled_columns_and_classes_from_zero(name):
    try:
        X, y = cluster_sets.load(name)
    except AbsentError as reason:
        pytest.skip(str(reason))
    assert 150 <= len(X) == len(y) <= 20_000
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=1e-9)
    np.testing.assert_array_equal(np.unique(y), np.arange(y.max() + 1))


@pytest.mark.parametrize("family", cluster_sets.NULLS)
def test_samples_of_one_cluster_differ_by_seed(family):
    first, second = (cluster_sets.null(family, 50, 3, seed) for seed in (0, 1))
    assert first.shape == second.shape == (50, 3)
    assert not np.isclose(first, second).any()
    np.testing.assert_array_equal(first, cluster_sets.null(family, 50, 3, 0))


@pytest.mark.parametrize("method", [grid_shift, mean_shift_pp])
def test_methods_on_grids_find_blobs(method, blobs):
    assert adjusted_rand_score(blobs.y, method(blobs.X, 2.5)) == 1.0
    assert method(blobs.X, 100.0).max() == 0  # one cell and its neighbours hold everything
    assert method(blobs.X, 1e-3).max() == len(blobs.X) - 1  # every point alone


def test_a_cell_moves_to_the_mean_of_the_cells_that_touch_it():
    X = np.array([[0.5, 0.5], [1.4, 1.6], [2.5, 0.5], [9.5, 0.5]])
    cells, cell = file(X, np.ones(4), 1.0)
    means = cells.around()[cell]
    np.testing.assert_allclose(means[0], X[:2].mean(axis=0))  # (0, 0) touches (1, 1)
    np.testing.assert_allclose(means[1], X[:3].mean(axis=0))  # which touches (2, 0) too
    np.testing.assert_allclose(means[3], X[3])


def test_cells_stand_for_their_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    cells, cell = file(X, np.ones(200), 0.7)
    again, places = file(cells.means, cells.counts, 0.7)
    np.testing.assert_array_equal(again.counts[places], cells.counts)
    np.testing.assert_allclose(again.sums, cells.sums)
    np.testing.assert_allclose(cells.sums.sum(axis=0), X.sum(axis=0))
    with pytest.raises(ValueError, match="cells from its origin"):
        file(X, np.ones(200), 1e-5)
    assert len(cell) == 200


def test_peers_are_computed_once(blobs, tmp_path, monkeypatch):
    cache = tmp_path / "kept.json"
    first = cluster_peers.of("blobs", *blobs, cache)
    assert set(first) == set(cluster_peers.PEERS)
    assert all(0.0 <= figures["ari"] <= 1.0 for figures in first.values())
    monkeypatch.setattr(cluster_peers, "compute", None)
    assert cluster_peers.of("blobs", *blobs, cache) == first
    with pytest.raises(TypeError):
        cluster_peers.of("blobs", blobs.X + 1.0, blobs.y, cache)  # other rows


def test_methods_on_grids_are_tried_with_several_bandwidths(blobs, monkeypatch):
    monkeypatch.setattr(cluster_sets, "load", lambda name: blobs)
    found = cluster_peers.factors(["blobs"])
    assert list(found) == list(cluster_peers.FACTORS)
    assert max(scores["GridShift"] for scores in found.values()) == 1.0


def test_noise_is_a_cluster_of_its_own():
    y = np.repeat([0, 1], 4)
    assert cluster_peers.judged(y - 1, y) == {"clusters": 2, "ari": 1.0}
    assert cluster_peers.judged(np.full(8, -1), None) == {"clusters": 1}


def test_labelled_sets(blobs, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_sets, "load", lambda name: blobs)
    row, mean = clusters.labelled(["blobs"], tmp_path / "kept.json")
    assert row.case == "blobs, 300 × 2, 3 classes"
    assert row.ratio == mean.ratio == "1.000"
    assert "HDBSCAN 1.000" in row.detail


def test_a_set_that_is_absent_is_a_line_on_the_page(tmp_path, monkeypatch):
    def absent(name: str) -> cluster_sets.Labelled:
        raise AbsentError("no data here")

    monkeypatch.setattr(cluster_sets, "load", absent)
    (row,) = clusters.labelled(["blobs"], tmp_path / "kept.json")
    assert row.detail == "skipped: no data here"


def test_samples_of_one_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "DIMENSIONS", (2,))
    monkeypatch.setattr(clusters, "SIZES", (60, 80))
    monkeypatch.setattr(clusters, "ours", lambda X: np.arange(len(X)) >= 70)
    *totals, all_of_them, first, second = clusters.nulls(2, 80, tmp_path / "kept.json")[:6]
    assert [row.ratio for row in totals] == ["50%"] * 3
    assert (all_of_them.ratio, all_of_them.goal) == ("50%", "≥ 95%")
    assert (first.case, first.ratio, second.ratio) == ("one Gaussian, d = 2, n = 60", "100%", "0%")
    assert "MeanShift++" in first.detail
    assert "MeanShift++" not in second.detail


def test_many_rows(monkeypatch):
    for name, value in {"ROWS": 2000, "WARM_ROWS": 200, "SCIKIT_ROWS": (100,)}.items():
        monkeypatch.setattr(clusters, name, value)
    mine, theirs = clusters.large()
    assert mine.case == "kernelmean, n = 2000"
    assert "with kernelmean's labels of these rows" in theirs.detail


@pytest.fixture
def photograph(monkeypatch) -> segmentations.Photograph:
    """Two halves of different colour, on which three people nearly agree."""
    rgb = np.zeros((12, 20, 3), dtype=np.uint8)
    rgb[:, 10:] = 200
    drawn = np.zeros((3, 12, 20), dtype=int)
    drawn[:, :, 10:] = 1
    drawn[2, :3, 10:] = 2
    image = segmentations.Photograph("halves", rgb, drawn)
    monkeypatch.setattr(segmentations, "photographs", lambda: (image,))
    return image


def test_segments_are_compared_with_what_people_drew(photograph):
    assert photograph.usual_count() == 2
    assert photograph.agreement(photograph.people[0]) == pytest.approx(
        (2.0 + adjusted_rand_score(photograph.people[0].ravel(), photograph.people[2].ravel())) / 3
    )
    assert photograph.among_people() < 1.0


def test_the_best_setting_of_a_peer_is_shown(photograph, tmp_path, monkeypatch):
    pytest.importorskip("skimage")
    cut = segmentations.Peer(
        lambda rgb, at=5: np.arange(rgb.shape[1]) * np.ones((len(rgb), 1)) >= at, "at", (7, 10)
    )
    monkeypatch.setattr(segmentations, "peers", lambda: {"felzenszwalb": cut})
    monkeypatch.setattr(segmentations, "with_count", lambda image: image.people[2])
    monkeypatch.setattr(segmentations, "photographs", lambda: (photograph, photograph))
    cache = tmp_path / "kept.json"
    ours, left, given, default, best, each, among, ratio = segmentations.people(cache)
    assert (ours.ratio, given.goal) == (best.ratio, "≥ 0.57")
    assert best.case == "felzenszwalb, at = 10"
    assert best.detail.endswith("best of 3 settings")
    assert float(default.ratio) < float(best.ratio) == float(each.ratio)
    assert float(among.ratio) == pytest.approx(photograph.among_people(), abs=1e-3)
    assert ratio.ratio > 0.0
    assert float(left.ratio) >= float(ours.ratio)  # the other image is the same
    found = segmentations.tried("felzenszwalb", cache)
    monkeypatch.setattr(segmentations, "score", None)
    assert segmentations.tried("felzenszwalb", cache) == found

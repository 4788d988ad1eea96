"""What the pictures of a merge tree show."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kernelmean as km
from kernelmean.meanshift.tree import MergeTree
from kernelmean.pictures import merge_tree
from kernelmean.pictures.merge_tree import MAX_BRANCHES, MAX_COLORED, color_groups, merge_view


def random_tree(m, seed=0):
    """Hills of chance heights that end in one another, each where the other still stands."""
    rng = np.random.default_rng(seed)
    log_peak = -np.sort(rng.exponential(size=m))
    parent = np.full(m, -1)
    log_saddle = np.full(m, -np.inf)
    for i in range(1, m):
        parent[i] = rng.choice(np.flatnonzero(log_saddle[:i] < log_peak[i]))
        top = min(log_peak[i], log_peak[parent[i]])
        bottom = max(log_saddle[parent[i]], top - 3.0)
        log_saddle[i] = rng.uniform(bottom, top)
    z = np.where(parent < 0, np.inf, rng.exponential(size=m))
    place = np.zeros((m, 1))
    return MergeTree(place, log_peak, log_saddle, place, parent, z, rng.integers(1, 9, size=m))


@pytest.fixture
def viewed(monkeypatch):
    """A function that makes the view of a tree, of which some modes are clusters."""
    monkeypatch.setattr(merge_tree, "MeanShift", SimpleNamespace)
    monkeypatch.setattr(merge_tree, "check_is_fitted", lambda _: None)

    def view(tree, clusters=(0,)):
        return merge_view(SimpleNamespace(tree_=tree, cluster_modes_=np.array(clusters)))

    return view


def crossings(lines):
    """Pairs of a line across and another line down that meet elsewhere than at an end."""
    found = 0
    for _, (x0, y), (x1, _) in lines:
        left, right = min(x0, x1), max(x0, x1)
        for (x, top), (_, bottom), _ in lines:
            found += left < x < right and bottom < y < top
    return found


@pytest.mark.parametrize("m", [1, 2, 6, 40])
@pytest.mark.parametrize("seed", range(5))
def test_no_line_of_the_tree_crosses_another(viewed, m, seed):
    view = viewed(random_tree(m, seed))
    assert sorted(view.branches) == list(range(m))
    assert crossings(view.lines) == 0


def test_a_line_ends_on_the_one_it_joins(viewed):
    view = viewed(random_tree(30))
    spans = {line[0, 0]: (line[1, 1], line[0, 1]) for line in view.lines}
    for _, (_, y), (x, _) in view.lines:
        low, high = spans[x]
        assert low <= y <= high


def test_of_many_modes_the_clearest_are_drawn_with_what_they_join(viewed):
    tree = random_tree(300)
    view = viewed(tree)
    assert (len(view.branches), view.left_out) == (MAX_BRANCHES, 300 - MAX_BRANCHES)
    shown = set(view.branches.tolist())
    assert all(tree.parent[mode] in shown | {-1} for mode in shown)
    assert view.clearest[1] in shown
    assert crossings(view.lines) == 0


def test_what_has_no_saddle_to_speak_of_is_at_the_lower_edge(viewed):
    tree = random_tree(4)
    tree.log_saddle[3] = -400.0
    tree.parent[3] = 0
    view = viewed(tree)
    assert view.log_saddle[0] == view.log_saddle[3] == view.floor
    assert view.log_saddle[1:3].min() > view.floor > -20.0


def test_a_single_mode_has_a_picture(viewed):
    view = viewed(random_tree(1))
    assert view.floor == view.log_peak[0] - 1.0
    assert view.lines.shape == (1, 3, 2)


def test_clusters_have_looks_of_their_own_until_they_end():
    groups = color_groups(np.array([-1, 0, MAX_COLORED - 1, MAX_COLORED, 500]))
    assert groups.tolist() == [0, 1, MAX_COLORED, MAX_COLORED + 1, MAX_COLORED + 1]


def test_clusters_are_modes_of_the_tree(bumps):
    shift = bumps[1]
    view = merge_view(shift)
    assert view.n_clusters == len(shift.cluster_centers_) == 2
    assert len(view.clusters) > 2
    kept = np.flatnonzero(view.clusters >= 0)
    np.testing.assert_array_equal(view.log_peak[kept], shift.cluster_log_densities_)
    assert view.shares.sum() == pytest.approx(1.0)


def test_anything_else_is_refused():
    with pytest.raises(TypeError, match="a fitted MeanShift is needed, got SparseKDE"):
        merge_view(km.SparseKDE())
    with pytest.raises(NotFittedError):
        merge_view(km.MeanShift())

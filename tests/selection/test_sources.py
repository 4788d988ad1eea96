"""Which points become centres: exact farthest-first, and the other sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean import engines
from tests import brute
from tests.strategies import clouds, weighted_clouds


@given(clouds(), st.integers(1, 12), st.integers(0, 10**6))
def test_k_center_is_the_naive_farthest_first_loop_index_for_index(X, k, start):
    first = start % len(X)
    centers = km.k_center(X, k, first=first)
    indices, radii, cover = brute.farthest_first(X, k, first)
    assert centers.indices.tolist() == indices
    np.testing.assert_array_equal(centers.points, X[indices])
    np.testing.assert_array_equal(
        centers.radii, radii
    )  # direct differences in coordinate order: not a bit apart
    assert centers.cover == cover


@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_on_a_lattice_ties_go_to_the_lowest_row(engine):
    axis = np.arange(7.0)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for first in (0, 24, 48):
        assert (
            km.k_center(X, 49, first=first, engine=engine).indices.tolist()
            == brute.farthest_first(X, 49, first)[0]
        )


def test_binary_points_in_64_dimensions_are_picked_by_direct_differences():
    """Nearly every distance is shared; an expansion |x|² + |y|² − 2xy goes wrong from the seventh
    pick on (THEORY §2.1).
    """
    X = np.random.default_rng(0).integers(0, 2, size=(300, 64)).astype(float)
    assert km.k_center(X, 80, first=3).indices.tolist() == brute.farthest_first(X, 80, 3)[0]


def test_copies_of_fifty_points_give_fifty_centres():
    X = np.tile(np.random.default_rng(1).normal(size=(50, 3)) + 1e4, (4, 1))
    centers = km.k_center(X, 200, first=0)
    assert len(centers.indices) == 50
    assert len(np.unique(centers.points, axis=0)) == 50
    assert centers.cover == 0.0


@given(clouds(), st.integers(0, 5))
def test_every_distinct_point_is_a_centre_once_when_k_is_large(X, seed):
    centers = km.k_center(X, len(X) + 5, random_state=seed)
    np.testing.assert_array_equal(
        np.unique(centers.points + 0.0, axis=0), np.unique(X + 0.0, axis=0)
    )
    assert len(centers.points) == len(np.unique(X + 0.0, axis=0))


@given(clouds(min_points=3), st.integers(2, 10))
def test_radii_fall_and_each_is_the_cover_of_the_centres_before(X, k):
    centers = km.k_center(X, k, first=0)
    assert centers.radii[0] == np.inf
    assert (np.diff(centers.radii[1:]) <= 0).all()
    for m in range(1, len(centers.radii)):
        assert km.k_center(X, m, first=0).cover == centers.radii[m]


@given(clouds(), st.integers(1, 12))
def test_a_prefix_is_the_answer_for_every_smaller_k(X, k):
    long = km.k_center(X, k, first=0).indices
    for m in range(1, len(long) + 1):
        np.testing.assert_array_equal(km.k_center(X, m, first=0).indices, long[:m])


@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_a_traversal_can_be_asked_for_more_again_and_again(engine):
    X = np.random.default_rng(2).normal(size=(400, 2))
    cloud = engines.open(engine).load(X)
    whole, pieces = cloud.traverse(5), cloud.traverse(5)
    expected = whole.take(30)
    parts = [pieces.take(m) for m in (1, 0, 7, 22)]
    np.testing.assert_array_equal(
        np.concatenate([part.indices for part in parts]), expected.indices
    )
    np.testing.assert_array_equal(np.concatenate([part.radii for part in parts]), expected.radii)
    assert pieces.distances().cover == whole.distances().cover


def test_the_same_seed_gives_the_same_centres_in_every_engine():
    X = np.random.default_rng(3).normal(size=(300, 3))
    naive, cpu = (km.k_center(X, 20, random_state=11, engine=name) for name in ("naive", "cpu"))
    np.testing.assert_array_equal(naive.indices, cpu.indices)


def test_the_first_centre_is_drawn_by_weight():
    X = np.arange(4.0)[:, None]
    firsts = [
        km.k_center(X, 1, sample_weight=[1, 0, 0, 3], random_state=seed).indices[0]
        for seed in range(400)
    ]
    share = np.mean(np.array(firsts) == 3)
    assert set(firsts) == {0, 3}
    assert abs(share - 0.75) < 4 * np.sqrt(
        0.75 * 0.25 / 400
    )  # four standard deviations of a binomial share


@given(weighted_clouds(), st.integers(1, 8), st.integers(0, 50))
def test_integer_weights_pick_what_repeated_rows_pick(cloud, k, seed):
    X, w = cloud
    weighted = km.k_center(X, k, sample_weight=w, random_state=seed)
    copies = km.k_center(brute.repeated(X, w), k, random_state=seed)
    np.testing.assert_array_equal(weighted.points, copies.points)
    np.testing.assert_array_equal(weighted.radii, copies.radii)
    np.testing.assert_array_equal(weighted.indices, np.repeat(np.arange(len(X)), w)[copies.indices])
    assert weighted.cover == copies.cover


def test_centres_from_first_to_last_honour_first_with_zero_weights_around_it():
    X = np.arange(6.0)[:, None]
    centers = km.k_center(X, 2, first=2, sample_weight=[0, 1, 1, 0, 1, 0])
    assert centers.indices.tolist() == [2, 4]
    with pytest.raises(ValueError, match="weight is zero"):
        km.k_center(X, 2, first=0, sample_weight=[0, 1, 1, 0, 1, 0])


# The other sources, through the mean that records them


def fitted(X, selection, k, seed=0, **options):
    return km.sparse_kernel_mean(
        X, bandwidth=1.0, k=k, selection=selection, random_state=seed, **options
    )


@pytest.mark.parametrize("selection", ["kcenter", "greedy", "random", "kmeans++"])
def test_a_selection_on_the_data_takes_distinct_rows(selection):
    X = np.repeat(np.random.default_rng(4).normal(size=(30, 2)), 3, axis=0)
    mean = fitted(X, selection, 25)
    assert mean.selection == selection
    np.testing.assert_array_equal(mean.centers, X[mean.indices])
    assert len(np.unique(mean.centers, axis=0)) == 25


@pytest.mark.parametrize("selection", ["kcenter", "random", "kmeans++", "kmeans"])
def test_a_selection_finds_all_distinct_points_when_asked_for_more(selection):
    X = np.repeat(np.random.default_rng(5).normal(size=(12, 2)), 4, axis=0)
    mean = fitted(X, selection, 40)
    assert mean.stop_reason == "distinct"
    np.testing.assert_allclose(np.unique(mean.centers, axis=0), np.unique(X, axis=0), rtol=1e-14)


def test_given_rows_are_the_centres_in_the_order_given():
    X = np.random.default_rng(7).normal(size=(60, 2))
    mean = fitted(X, [40, 3, 17], 3)
    assert mean.indices.tolist() == [40, 3, 17]
    np.testing.assert_array_equal(mean.centers, X[[40, 3, 17]])
    assert mean.radii[0] == np.inf
    assert mean.radii[1] == pytest.approx(np.linalg.norm(X[40] - X[3]), rel=1e-14)


def test_random_draws_follow_the_weights():
    X = np.arange(10.0)[:, None]
    w = np.array([5, 1, 1, 1, 1, 1, 1, 1, 1, 7])
    first = np.array(
        [fitted(X, "random", 1, seed, sample_weight=w).indices[0] for seed in range(600)]
    )
    for row in (0, 9):
        share = w[row] / w.sum()
        assert abs(np.mean(first == row) - share) < 4 * np.sqrt(share * (1 - share) / 600)


def test_d2_sampling_draws_in_proportion_to_the_squared_distance():
    """From the first centre 0 the others lie at 1, 2 and 3: probabilities 1/14, 4/14, 9/14."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    seconds = []
    for seed in range(1500):
        rows = fitted(X, "kmeans++", 2, seed, sample_weight=[1e9, 1, 1, 1], engine="naive").indices
        seconds.append(rows[1] if rows[0] == 0 else rows[0])
    shares = np.bincount(seconds, minlength=4) / 1500
    expected = np.array([0, 1, 4, 9]) / 14
    assert (np.abs(shares - expected) <= 4 * np.sqrt(expected * (1 - expected) / 1500)).all()


def test_kmeans_centroids_are_the_means_of_their_cells_heaviest_first():
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.normal(size=(60, 2)) * 0.1 + c for c in ([0, 0], [5, 0], [0, 5])])[30:]
    mean = fitted(X, "kmeans", 3)
    assert mean.indices is None
    labels = brute.squared_distances(X, mean.centers).argmin(axis=1)
    counts = np.bincount(labels)
    assert (np.diff(counts) <= 0).all()
    np.testing.assert_allclose(
        mean.centers, [X[labels == a].mean(axis=0) for a in range(3)], rtol=1e-12
    )


@pytest.mark.parametrize("copies", [1, 1000])
def test_random_rows_of_very_unequal_integer_weight_come_as_repeated_rows_would(copies):
    """Rare rows may escape many draws; how the rest is swept up must not depend on how the weights
    are written.
    """
    X = np.random.default_rng(9).normal(size=(6, 2))
    w = np.array([1, 1, 1, 100, 1, 1]) * np.array([1, 1, 1, copies, 1, 1])
    weighted = fitted(X, "random", 6, sample_weight=w, engine="naive")
    repeated = fitted(brute.repeated(X, w), "random", 6, engine="naive")
    np.testing.assert_array_equal(weighted.centers, repeated.centers)


PROCESS = """
import sys, numpy as np
from kernelmean import engines, k_center, Gaussian
for d in map(int, sys.argv[1:]):
    X = np.random.default_rng(d).normal(size=(300, d))
    fast, slow = (engines.open(name).load(X) for name in ("cpu", "naive"))
    masses = [cloud.nearest(X[:7] + 0.1).masses() for cloud in (fast, slow)]
    np.testing.assert_array_equal(*masses, err_msg=f"d = {d}")
    g = Gaussian(1.0).formula(d)
    sums = [cloud.kernel_sum(g, X[:7]) for cloud in (fast, slow)]
    np.testing.assert_allclose(*sums, rtol=1e-12, err_msg=f"d = {d}")
    picks = [k_center(X, 20, first=0, engine=name).indices.tolist() for name in ("cpu", "naive")]
    assert picks[0] == picks[1], d
"""


def test_loops_compiled_by_different_processes_do_not_mix_in_another(tmp_path):
    """The disk cache must not hand one dimension's machine code to another because both carry the
    same symbol.
    """
    source = Path(km.__file__).parents[1]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(source)}
    for dimensions in (["1"], ["2"], ["1", "2"], ["2", "1"]):
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, *dimensions],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"a process with dimensions {dimensions}: {done.stderr[-600:]}"

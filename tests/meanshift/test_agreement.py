"""The distances between clusterings, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km

labelings = st.integers(1, 25).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 6), min_size=n, max_size=n) for _ in range(3)))
)


def hausdorff(a, b):
    """max over clusters of the one, min over clusters of the other, of the points in just one of
    the two: by sets.
    """
    A, B = ([{i for i, label in enumerate(x) if label == c} for c in set(x)] for x in (a, b))
    directed = [min(len(s ^ t) for t in B) for s in A] + [min(len(s ^ t) for s in A) for t in B]
    return max(directed) / len(a)


def test_the_golden_value():
    assert km.clustering_hausdorff([0, 0, 1, 1, 2], [0, 0, 0, 1, 1]) == pytest.approx(0.4)


@given(labelings)
def test_hausdorff_is_the_distance_of_sets_of_sets(three):
    a, b, c = three
    assert km.clustering_hausdorff(a, b) == pytest.approx(hausdorff(a, b))
    assert km.clustering_hausdorff(a, b) == km.clustering_hausdorff(b, a)
    assert km.clustering_hausdorff(a, [str(label + 10) for label in a]) == 0.0
    total = km.clustering_hausdorff(a, c) + km.clustering_hausdorff(c, b)
    assert km.clustering_hausdorff(a, b) <= total + 1e-12


def test_many_clusters_of_many_points_need_no_table_of_all_pairs():
    """10⁵ clusters each: a dense table would take 80 GB."""
    n = 100_000
    assert km.clustering_hausdorff(np.arange(n), np.arange(n)[::-1]) == 0.0
    assert km.clustering_hausdorff(np.arange(n), np.arange(n) // 2) == pytest.approx(1 / n)


def test_label_images_may_be_compared():
    assert km.clustering_hausdorff(
        np.zeros((4, 5), int), np.arange(20).reshape(4, 5) // 10
    ) == pytest.approx(0.5)


def test_the_discrepancy_index_counts_points_further_apart_than_delta():
    A = np.zeros((4, 2))
    B = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 5.1], [0.0, -4.0]])
    assert km.discrepancy_index(A, B, 5.0) == 0.25
    assert km.discrepancy_index(A, B, 0.0) == 0.75
    assert km.discrepancy_index(A, A, 0.0) == 0.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: km.clustering_hausdorff([0, 1], [0]), ValueError, "same points"),
        (lambda: km.clustering_hausdorff([], []), ValueError, "at least one"),
        (
            lambda: km.discrepancy_index(np.zeros((3, 2)), np.zeros((2, 2)), 1.0),
            ValueError,
            "same points",
        ),
        (
            lambda: km.discrepancy_index(np.zeros((3, 2)), np.zeros((3, 1)), 1.0),
            ValueError,
            "columns",
        ),
        (
            lambda: km.discrepancy_index(np.zeros((3, 2)), np.zeros((3, 2)), -1.0),
            ValueError,
            "delta",
        ),
        (
            lambda: km.discrepancy_index(np.zeros((3, 2)), np.zeros((3, 2)), "far"),
            TypeError,
            "delta",
        ),
        (
            lambda: km.discrepancy_index(np.array([[np.nan]]), np.zeros((1, 1)), 1.0),
            ValueError,
            "Y_a",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()

"""Distances of all pairs of samples, and their order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernelmean.pictures.distances import clustered_order, distance_map


def test_the_order_keeps_groups_together(parity_embedding):
    order = distance_map(parity_embedding.distances_, list("abcdefgh")).order
    assert sorted(order.tolist()) == list(range(8))
    parity = [int(i) % 2 for i in order]
    assert sum(a != b for a, b in pairwise(parity)) == 1


@given(st.integers(1, 12), st.integers(0, 100))
def test_every_order_is_a_permutation(n, seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert sorted(clustered_order(D).tolist()) == list(range(n))


def test_names_and_distances_follow_the_order():
    D = np.array([[0.0, 9.0, 1.0], [9.0, 0.0, 8.0], [1.0, 8.0, 0.0]])
    drawn = distance_map(D, ["a", "far", "b"], np.array([2, 0, 1]))
    assert drawn.names == ["b", "a", "far"]
    np.testing.assert_array_equal(drawn.distances, D[np.ix_([2, 0, 1], [2, 0, 1])])
    np.testing.assert_array_equal(distance_map(D, "abc").order, clustered_order(D))

"""Many samples: what was compared, where they lie, and in which colours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kernelmean as km
from kernelmean.pictures.embedding import ColorGroups, ColorScale, collection, sample_map


def test_a_collection_says_what_was_compared(parity_embedding):
    found = collection(parity_embedding)
    assert found.names == [f"s{i}" for i in range(8)]
    assert found.sizes.tolist() == [60.0] * 8
    assert found.counts.tolist() == [mean.k for mean in parity_embedding.means_]
    assert found.errors is parity_embedding.sample_errors_
    D = parity_embedding.distances_
    for i, row in enumerate(found.nearest(3)):
        others = sorted((D[i, j], j) for j in range(8) if j != i)
        assert row.tolist() == [j for _, j in others[:3]]
    assert found.nearest(100).shape == (8, 7)


def test_only_a_fitted_embedding_is_a_collection():
    with pytest.raises(TypeError, match="DistributionEmbedding is needed, got SparseKDE"):
        collection(km.SparseKDE())
    with pytest.raises(NotFittedError):
        collection(km.DistributionEmbedding())


def test_other_names_must_be_as_many(parity_embedding):
    with pytest.raises(ValueError, match="names has 2 entries, but 8 samples"):
        collection(parity_embedding, ["a", "b"])


def test_a_map_draws_the_first_two_coordinates():
    X = np.arange(12.0).reshape(4, 3)
    plane = sample_map(X, list("abcd"), {})
    np.testing.assert_array_equal(plane.places, X[:, :2])
    assert plane.axes == ("first coordinate", "second coordinate")
    line = sample_map(X[:, :1], list("abcd"), {})
    np.testing.assert_array_equal(line.places, [[x, 0.0] for x in X[:, 0]])
    assert line.axes == ("first coordinate",)


def colored(values):
    return sample_map(np.zeros((len(values), 1)), ["s"] * len(values), {"c": values}).colorings["c"]


def test_many_numbers_are_a_scale_and_those_missing_are_known():
    found = colored([3, 1.5, None, 2, math.inf, 5, 6, np.float32("nan"), 7, 8])
    assert isinstance(found, ColorScale)
    assert found.known == [0, 1, 3, 5, 6, 8, 9]
    assert found.missing == [2, 4, 7]
    assert found.values[found.known].tolist() == [3.0, 1.5, 2.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([10, 9, 10, None], ["9", "10", "missing"]),
        (["b", "a", "b", math.nan], ["a", "b", "missing"]),
        ([True, False, True, True], ["False", "True"]),
        (["10", "9", "x", "1"], ["1", "9", "10", "x"]),
        (list(map(str, range(8))), list(map(str, range(8)))),
    ],
)
def test_anything_else_is_groups_numbers_before_words(values, names):
    found = colored(values)
    assert isinstance(found, ColorGroups)
    assert found.names == names
    assert sorted(row for rows in found.members for row in rows) == list(range(len(values)))

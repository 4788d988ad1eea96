"""Rows for a domain as users give them: what is learned of them, and from which rows."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.samples import coded

WORDS = np.array([["b"], ["d"], ["a"], ["b"], ["c"]], dtype=object)


def test_categories_are_those_that_occur_in_order():
    found = coded.on_domain(WORDS, {0: km.Categorical()}, None).rows
    assert found.domain.levels == (("a", "b", "c", "d"),)
    np.testing.assert_array_equal(found.given.array()[:, 0], [1, 3, 0, 1, 2])


def test_categories_of_absent_rows_alone_are_none():
    w = np.array([1.0, 0.0, 1.0, 2.0, 1.0])
    found = coded.on_domain(WORDS, {0: km.Categorical()}, w).rows
    assert found.domain.levels == (("a", "b", "c"),)
    np.testing.assert_array_equal(found.sample.sample.array()[:, 0], [1, 0, 1, 2])
    np.testing.assert_array_equal(found.given.array()[:, 0], [1, -1, 0, 1, 2])


def test_categories_that_were_given_stay():
    every = ("a", "b", "c", "d", "e")
    w = np.array([1.0, 0.0, 1.0, 2.0, 1.0])
    found = coded.on_domain(WORDS, {0: km.Categorical(every)}, w).rows
    assert found.domain.levels == (every,)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 1.0, 2.0])])
def test_rows_outside_are_counted(weights):
    X = np.array([[-1.0], [0.0], [-0.5]])
    with pytest.raises(
        ValueError, match=r"column 0 has 2 of 3 values outside .* the first is row 0"
    ):
        coded.on_domain(X, {0: (0.0, None)}, weights)


def test_absent_rows_may_lie_outside():
    X = np.array([[-1.0], [0.0], [0.5]])
    found = coded.on_domain(X, {0: (0.0, None)}, np.array([0.0, 1.0, 1.0])).rows
    np.testing.assert_array_equal(found.sample.sample.array(), [[0.0], [0.5]])

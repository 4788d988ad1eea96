"""Farthest-first in rounds: the same picks whatever a pool holds and however many may wait."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmean as km
from kernelmean.engines import farthest_offers
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.engines.rounds import FarthestFirst, farthest
from tests.strategies import clouds

naive = km.engines.open("naive")


class PlainHolder:
    """Distances in an array, and picks from a pool in plain Python."""

    def __init__(self, X, first, pool, most):
        self.X, self._pool_size, self._most = X, pool, most
        self._nearest, self._waiting, self.updates = np.full(len(X), np.inf), [first], 0
        self.update()

    def capacity(self):
        return self._most - len(self._waiting)

    def pick(self, rows, squares):
        pool = self._pool
        for k in range(len(rows)):
            j = int(np.argmax(pool.nearest))
            far, row = pool.nearest[j], pool.rows[j]
            if far <= 0.0 or (far, -row) < (pool.bound, -pool.rival):
                return k
            rows[k], squares[k] = row, far
            self._waiting.append(int(row))
            np.minimum(pool.nearest, self._squares(pool.rows, row), out=pool.nearest)
        return len(rows)

    def exhausted(self):
        return not self._waiting

    def update(self):
        for row in self._waiting:
            lowered = self._squares(np.arange(len(self.X)), row)
            np.minimum(self._nearest, lowered, out=self._nearest)
        self._waiting, self.updates = [], self.updates + 1
        self._pool = farthest(self.X, self._nearest.copy(), self._pool_size)

    def _squares(self, rows, row):
        total = np.zeros(len(rows))
        for t in range(self.X.shape[1]):
            total += (self.X[row, t] - self.X[rows, t]) ** 2
        return total


@given(clouds(40, 2), st.integers(1, 12), st.integers(1, 9), st.integers(1, 7))
def test_rounds_pick_what_the_sequential_loop_picks(X, pool, most, piece):
    """Ties included, in pieces of any size, to exhaustion."""
    expected = naive.load(X).traverse(1).take(len(X) + 1)
    walk = FarthestFirst(PlainHolder(X, 1, pool, most), 1)
    taken = [walk.take(piece) for _ in range(-(-len(X) // piece) + 1)]
    np.testing.assert_array_equal(
        np.concatenate([picks.indices for picks in taken]), expected.indices
    )
    np.testing.assert_array_equal(np.concatenate([picks.radii for picks in taken]), expected.radii)


def test_all_points_hear_of_many_picks_at_once():
    X = np.random.default_rng(0).normal(size=(2000, 2))
    holder = PlainHolder(X, 0, 400, 100)
    FarthestFirst(holder, 0).take(101)
    assert holder.updates < 20


@given(clouds(60, 1, ("normal", "lattice", "duplicates")), st.integers(1, 70))
def test_offers_rank_before_all_that_is_kept_back(X, m):
    offers = farthest_offers(naive.load(X), WeightedPoints(X))
    offers.update(X[:1])
    pool, squared = offers.farthest(m), offers.distances().values()
    outside = np.setdiff1d(np.arange(len(X)), pool.rows)
    assert len(pool.rows) == min(m, len(X))
    for j in outside:
        assert (squared[j], -j) <= (pool.bound, -pool.rival)
    np.testing.assert_array_equal(pool.points, X[pool.rows].T)


@pytest.mark.parametrize("m", [0, 1])
def test_nothing_is_asked_of_the_holder_for_the_first_centre(m):
    holder = PlainHolder(np.eye(3), 2, 2, 2)
    picks = FarthestFirst(holder, 2).take(m)
    assert picks.indices.tolist() == [2] * m
    assert picks.radii.tolist() == [np.inf] * m
    assert holder.updates == 1

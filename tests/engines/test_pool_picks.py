"""Centres from a pool: NumPy finds those of the compiled loop, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.compiled.pool_picks import pick as compiled_pick
from kernelmean.engines.optional_protocols import Pool
from kernelmean.engines.pool_picks import pick


def a_pool(size, d, bound, seed, lattice):
    rng = np.random.default_rng(seed)
    points = (
        rng.integers(0, 4, size=(d, size)).astype(float) if lattice else rng.normal(size=(d, size))
    )
    rows = np.sort(rng.choice(10 * size + 1, size, replace=False)).astype(np.int64)
    nearest = ((points - points[:, :1]) ** 2).sum(axis=0) if size else np.empty(0)
    return Pool(rows, points, nearest, bound, int(rng.integers(10 * size + 1)))


@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize(("size", "d"), [(0, 2), (1, 1), (50, 1), (400, 2), (300, 9)])
@pytest.mark.parametrize("bound", [-1.0, 0.5, 2.0, 1e9])
def test_both_find_the_same(size, d, bound, lattice):
    for seed in range(3):
        found = []
        for function in (pick, compiled_pick):
            pool = a_pool(size, d, bound, seed, lattice)
            rows = np.full(60, -1, dtype=np.int64)
            squares = np.zeros(60)
            many = function(pool, rows, squares)
            found.append((many, rows, squares))
        assert found[0][0] == found[1][0]
        np.testing.assert_array_equal(found[0][1], found[1][1])
        np.testing.assert_array_equal(found[0][2], found[1][2])

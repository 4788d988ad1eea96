"""Traversals and nearest centres of the cpu engine: the bits of the naive ones, by tree and by
filter, for any number of threads.
"""

import numpy as np
import pytest

from tests.engines.cases import CLOUDS, DIMENSIONS, cloud, same_bits
from tests.engines.cpu.seams import engines, naive, sizes


@pytest.mark.parametrize("name", CLOUDS)
def test_traversals_agree_index_for_index_and_bit_for_bit(name):
    X, k = CLOUDS[name]
    for first in sorted({0, len(X) // 2, len(X) - 1}) if len(X) < 1000 else (0, len(X) - 1):
        expected = naive.load(X).traverse(first)
        picks = expected.take(k)
        for engine in engines.values():
            traversal = engine.load(X).traverse(first)
            actual = traversal.take(k)
            np.testing.assert_array_equal(actual.indices, picks.indices)
            assert same_bits(actual.radii, picks.radii)
            assert same_bits(traversal.distances().values(), expected.distances().values())


@pytest.mark.parametrize("seed", range(6))
def test_traversals_agree_on_coarse_random_lattices(seed):
    """A few values per column: nearly every pick is a tie, decided by the row alone."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 2, 3, 6, 10, 11, 20]))
    X = rng.integers(
        0, int(rng.integers(2, 40)), size=(int(rng.integers(500, 6000)), d)
    ) * rng.choice([1.0, 0.1, 1 / 3])
    first = int(rng.integers(len(X)))
    expected = naive.load(X).traverse(first).take(280)
    for engine in engines.values():
        actual = engine.load(X).traverse(first).take(280)
        np.testing.assert_array_equal(actual.indices, expected.indices)
        assert same_bits(actual.radii, expected.radii)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_nearest(d):
    """Masses, means and squared distances, the centres given at once or in two parts."""
    for n in sizes(d):
        X, Q, w = cloud(n, d)
        for weights in (None, w):
            expected = naive.load(X, weights).nearest(Q)
            for engine in engines.values():
                at_once, in_parts = (
                    engine.load(X, weights).nearest(Q),
                    engine.load(X, weights).nearest(Q[:2]),
                )
                in_parts.add(Q[2:])
                for nearest in (at_once, in_parts):
                    assert same_bits(nearest.distances().values(), expected.distances().values())
                    assert same_bits(nearest.masses(), expected.masses())
                    assert same_bits(nearest.means(), expected.means())

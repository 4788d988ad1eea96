"""Many coordinates: distances of tiles, on data that punishes all but direct differences.

Error bound. A difference x_t − q_t is rounded once, its square and every addition once more, so r²
is within (d + 2)·2⁻⁵³ of itself, wherever the points lie; a term g moves by |d log g / d log r²| as
much. With exponents up to 4 here, (d + 2)·4·2⁻⁵³ is 4.5e-13 at d = 1000 in the worst case, and
roundings of either sign leave a small part of that: sums are held to 1e-13 of the sum of the
absolute terms, against sums in extended precision.
"""

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _work
from kernelmean.compiled.compiling import EXACT_MATH, SAFE_MATH, entry
from kernelmean.engines.cpu.blocks import LINE, Blocks, aligned_zeros, queries, width
from kernelmean.engines.cpu.tiles import GROUP, TILE, distances
from tests.engines.cases import same_bits
from tests.engines.cpu.seams import engines

TOLERANCE = 1e-13
DIMENSIONS = (1, 2, 5, 16, 17, 24, 25, 50, 100, 784, 1000)
COUNTS = (1, 2, GROUP, GROUP + 1, TILE - 1, TILE, TILE + 1, 2 * TILE + 2)


def near_zero(rng, n, d):
    return rng.normal(size=(n, d))


def far_from_zero(rng, n, d):
    """Where |x|² + |q|² − 2x·q would lose every digit."""
    return 1e8 + rng.normal(size=(n, d))


def nearly_equal(rng, n, d):
    """Differences of a few units in the last place of the coordinates."""
    return 1.0 + 2.0**-50 * rng.integers(0, 9, size=(n, d))


def of_huge_norm(rng, n, d):
    return 1e140 * rng.normal(size=(n, d))


def with_ties(rng, n, d):
    return rng.integers(0, 2, size=(n, d)).astype(float)


DATA = (near_zero, far_from_zero, nearly_equal, of_huge_norm, with_ties)


def in_coordinate_order(X, Q):
    """(q, n) Σ_t (x_t − q_t)², one addition after the other."""
    squared = np.zeros((len(Q), len(X)))
    for t in range(X.shape[1]):
        squared += (X[:, t] - Q[:, None, t]) ** 2
    return squared


def by_loop(d, fastmath):
    """All squared distances, tile by tile and block by block."""
    reserve, gather, meet, row = distances(d, fastmath)

    @entry(fastmath, None)
    def loop(X, Q, out):
        scratch = reserve(Q.shape[1])
        for first in range(0, len(Q), TILE):
            last = min(first + TILE, len(Q))
            gather(Q, first, last, scratch)
            for b in range(len(X)):
                meet(X[b], Q, first, last, scratch)
                for i in range(first, last):
                    out[b, i] = row(X[b], Q[i], i - first, scratch)

    def found(X, Q):
        blocks = Blocks.of(X, 1)
        out = np.empty((len(blocks.points), len(Q), width(d)))
        loop(blocks.points, queries(Q), out)
        return np.concatenate(list(out), axis=1)[:, : len(X)]

    return found


@pytest.mark.parametrize("d", [3, 17, 24, 25, 130])
def test_distances_of_a_tile_are_those_of_the_formula_bit_for_bit(d):
    found = by_loop(d, EXACT_MATH)
    for make in DATA:
        rng = np.random.default_rng(d)
        X = make(rng, width(d) + 5, d)
        for count in COUNTS:
            Q = np.concatenate([X[:count], make(rng, max(count - len(X), 0), d)])
            assert same_bits(found(X, Q), in_coordinate_order(X, Q)), f"{make.__name__}, {count}"


def test_a_query_gets_the_same_bits_alone_and_in_any_tile():
    """Whether it is one of a group or left over, with fused multiply-adds too."""
    rng = np.random.default_rng(0)
    found = by_loop(100, SAFE_MATH)
    X, Q = rng.normal(size=(70, 100)), rng.normal(size=(2 * TILE + 2, 100))
    together = found(X, Q)
    for i in (0, 1, GROUP, TILE - 1, TILE, 2 * TILE + 1):
        assert same_bits(found(X, Q[i : i + 1])[0], together[i])
        assert same_bits(found(X, Q[i:])[0], together[i])


def spread(make):
    """A typical distance in one coordinate."""
    return {nearly_equal: 2.0**-48, of_huge_norm: 1e140}.get(make, 1.0)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_kernel_sums_of_adversarial_data(d):
    """Within the bound of sums in extended precision, bitwise equal for any number of threads."""
    for make in DATA:
        rng = np.random.default_rng(d)
        X = make(rng, 300, d)
        Q = np.concatenate([X[:3], make(rng, TILE + 3, d)])
        w = rng.normal(size=len(X))
        radial = km.Gaussian(spread(make) * d**0.5).formula(d)
        differences = X[None].astype(np.longdouble) - Q[:, None]
        squared = (differences**2).sum(axis=2)
        g = np.exp(-radial.rate * squared)
        assert 0.01 < float(g.max()) <= 1.0
        with _work.settled(True):
            sums = [engine.load(X).kernel_sum(radial, Q, w) for engine in engines.values()]
        for other in sums[1:]:
            assert same_bits(other, sums[0])
        assert (np.abs(sums[0] - g @ w) <= TOLERANCE * (g @ np.abs(w))).all(), make.__name__


@pytest.mark.parametrize("d", [2, 16, 17, 100])
def test_nearest_centres_are_exact(d):
    """Distances and labels of the formula; of equally near centres the first."""
    for make in DATA:
        rng = np.random.default_rng(d)
        X = make(rng, 200, d)
        C = np.concatenate([make(rng, TILE + 1, d), X[:5], X[:5]])
        squared = in_coordinate_order(C, X)
        labels = squared.argmin(axis=1)
        with _work.settled(True):
            for engine in engines.values():
                found = engine.load(X, np.arange(1.0, 201.0)).nearest(C)
                assert same_bits(found.distances().values(), squared.min(axis=1))
                masses = np.bincount(labels, np.arange(1.0, 201.0), len(C)) / 20100.0
                np.testing.assert_allclose(found.masses(), masses, rtol=1e-15)


def test_blocks_begin_with_a_cache_line():
    for shape in ((1,), (3, 17, 64), (7, 5)):
        assert aligned_zeros(shape).ctypes.data % (8 * LINE) == 0
        assert aligned_zeros(shape).shape == shape

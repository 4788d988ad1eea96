"""The farthest points, by tree and by filter; and rows read back from blocks."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.rounds import CloudOffers

naive, cpu = km.engines.open("naive"), km.engines.open("cpu", threads=2)


def cloud(n=6000, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def lattice(n=6000, d=3):
    """Every distance is shared by many pairs: ties decide."""
    return np.random.default_rng(1).integers(-4, 5, size=(n, d)).astype(float)


@pytest.mark.parametrize(("n", "d"), [(5000, 3), (40_000, 2), (3000, 12)])
def test_offers_of_the_cpu_engine_agree_with_the_plain_ones(n, d):
    X, C = (
        cloud(n, d),
        np.concatenate([cloud(70, d, 1), 1e3 + cloud(2, d, 2), 1e9 + cloud(1, d, 3)]),
    )
    plain = CloudOffers(naive.load(X), np.full(n, 1 / n), np.full(n, np.inf))
    ways = [cpu.load(X).farthest_offers(), cpu.load(X).farthest_offers(np.full(n, np.inf)), plain]
    for some in (C[-1:], C[-3:-1], C[:1], C[1:70]):
        for offers in ways:
            offers.update(some)
        first, second, reference = (offers.distances().values() for offers in ways)
        np.testing.assert_array_equal(first, reference)
        np.testing.assert_array_equal(second, reference)
        pools = [offers.farthest(40) for offers in ways]
        for pool in pools:
            np.testing.assert_array_equal(pool.rows, pools[-1].rows)
            np.testing.assert_array_equal(pool.nearest, pools[-1].nearest)


@pytest.mark.parametrize("m", [1, 40, 5000, 6000, 7000])
@pytest.mark.parametrize("make", [cloud, lattice])
def test_trees_offer_the_farthest_however_far_the_farthest_is(make, m):
    """A few points so far away that all others fall into the last class of distances; ties; more
    asked for than there are.
    """
    X = make()
    X[:3] *= 1e6
    offers, plain = (
        cpu.load(X).farthest_offers(),
        CloudOffers(naive.load(X), np.full(len(X), 1 / len(X)), np.full(len(X), np.inf)),
    )
    for some in (X[10:11], X[50:300]):
        offers.update(some)
        plain.update(some)
        found, expected, squared = offers.farthest(m), plain.farthest(m), plain.distances().values()
        np.testing.assert_array_equal(found.rows, expected.rows)
        np.testing.assert_array_equal(found.nearest, expected.nearest)
        np.testing.assert_array_equal(found.points, X[found.rows].T)
        outside = np.setdiff1d(np.arange(len(X)), found.rows)
        assert found.bound <= found.nearest.min()
        assert all((squared[j], -j) <= (found.bound, -found.rival) for j in outside)


@pytest.mark.parametrize("weighted", [False, True])
def test_distances_in_the_order_of_a_tree_reduce_like_those_of_the_rows(weighted):
    X = np.repeat(cloud(2500), 2, axis=0)
    w = np.random.default_rng(4).integers(1, 5, len(X)).astype(float) if weighted else None
    offers, plain = cpu.load(X, w).farthest_offers(), naive.load(X, w).nearest(X[:40])
    offers.update(X[:40])
    found, expected = offers.distances(), plain.distances()
    assert found.cover == expected.cover
    np.testing.assert_allclose(found.mean(np.sqrt), expected.mean(np.sqrt), rtol=1e-13)
    for one, other in zip(found.coincident(), expected.coincident(), strict=True):
        np.testing.assert_array_equal(one, other)
    u = np.random.default_rng(5).random(20)
    np.testing.assert_array_equal(found.draws(u), expected.draws(u))


@pytest.mark.parametrize(("n", "d"), [(5000, 3), (4096, 9)])
def test_rows_are_read_back_from_blocks(n, d):
    """A point cloud that keeps its points once hands out the same rows, coordinates and moments."""
    X, w = cloud(n, d), np.random.default_rng(1).uniform(size=n)
    whole = cpu.load(X, w)
    loaded, rows = whole.compact(), np.array([n - 1, 0, 7, 7])
    back = loaded.stored_rows()
    assert back is not X
    assert (back.shape, len(back)) == (X.shape, n)
    np.testing.assert_array_equal(np.asarray(back), X)
    for key in (rows, rows[:0], slice(5, 4000, 3), 11, (slice(None), 1)):
        np.testing.assert_array_equal(back[key], X[key])
    np.testing.assert_array_equal(loaded.rows(rows), X[rows])
    np.testing.assert_array_equal(loaded.summary.covariance, whole.summary.covariance)
    np.testing.assert_array_equal(
        loaded.summary.quantiles(np.array([0.3])), whole.summary.quantiles(np.array([0.3]))
    )
    np.testing.assert_array_equal(loaded.nearest(X[:9]).means(), whole.nearest(X[:9]).means())
    high = cpu.load(cloud(50, 20))
    assert high.compact() is high

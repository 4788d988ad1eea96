"""Regions: against brute force, at their level, with power, and on odd samples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean.comparison import pooled_cells
from kernelmean.comparison.claims import PRICE, best_places, claim, standing_cells
from kernelmean.comparison.local_tests import (
    LocalTests,
    Side,
    compare,
    count,
    difference_interval,
    hypergeometric,
)
from kernelmean.comparison.pooled_cells import Tree, join_cells, two_nearest
from kernelmean.comparison.regions import Regions, find_regions
from kernelmean.comparison.standing_apart import columns_apart
from kernelmean.mean import scaling
from kernelmean.mean.loaded import LoadedSample
from kernelmean.samples import ArraySample, WeightedSample

LEVEL = 0.05


def load(A, B, w_a=None, w_b=None, engine="cpu"):
    """Both samples with one scale and one origin."""
    weights = [np.ones(len(X)) if w is None else w for X, w in ((A, w_a), (B, w_b))]
    pooled = WeightedSample.of(ArraySample(np.concatenate([A, B])), np.concatenate(weights))
    scale = scaling.resolve("auto", pooled.summary)
    opened = engines.open(engine)
    return tuple(
        LoadedSample.of(WeightedSample.of(ArraySample(X), w), opened, scale, pooled.sample.first)
        for X, w in ((A, w_a), (B, w_b))
    )


def regions(A, B, w_a=None, w_b=None, level=LEVEL, seed=0, engine="cpu") -> Regions:
    return find_regions(*load(A, B, w_a, w_b, engine), level, Streams(seed))


def planted(seed=0, n=1000, d=3, share=0.08, sd=0.25, at=2.5):
    """A normal; B the same with a cluster on the first axis, and which rows are the cluster's."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, n, d))
    m = int(share * n)
    B[:m] = at * np.eye(d)[0] + sd * rng.normal(size=(m, d))
    return A, B, np.arange(n) < m


def same(one: Regions, other: Regions) -> bool:
    return (
        len(one) == len(other)
        and np.array_equal(one.cells, other.cells)
        and np.array_equal(one.cell_labels, other.cell_labels)
        and all(
            (a.shares, a.counts, a.low, a.high, a.q_value, a.columns)
            == (b.shares, b.counts, b.low, b.high, b.q_value, b.columns)
            and np.array_equal(a.center, b.center)
            for a, b in zip(one, other, strict=True)
        )
    )


# The parts, against brute force


def exact_p(a: int, size: int, n_a: int, n_b: int) -> float:
    """Fisher's p by fractions: twice the smaller tail."""
    ways = {x: comb(n_a, x) * comb(n_b, size - x) for x in range(size + 1)}
    total = comb(n_a + n_b, size)
    below = Fraction(sum(w for x, w in ways.items() if x <= a), total)
    above = Fraction(sum(w for x, w in ways.items() if x >= a), total)
    return float(min(1, 2 * min(below, above)))


@pytest.mark.parametrize(
    ("n_a", "n_b", "size"), [(20, 30, 7), (5, 300, 12), (40, 3, 10), (400, 400, 60)]
)
def test_p_values_are_those_of_fractions(n_a, n_b, size):
    lowest, chance, p = hypergeometric(float(size), float(n_a), float(n_b))
    assert chance.sum() == pytest.approx(1.0)
    for i, value in enumerate(p):
        assert value == pytest.approx(exact_p(int(lowest) + i, size, n_a, n_b), rel=1e-9)


def test_counts_and_expected_false_claims_are_sums_over_rows_and_places():
    A, B, _ = planted(n=300)
    first, second = load(A, B)
    centers = first.map(np.random.default_rng(3).normal(size=(12, 3)))
    tree = join_cells(centers)
    sides = [count(data, centers, tree) for data in (first, second)]
    for data, X, side in zip((first, second), (A, B), sides, strict=True):
        squared = ((data.map(X)[:, None] - centers) ** 2).sum(axis=2)
        cells = np.bincount(squared.argmin(axis=1), minlength=12)
        for place in range(23):
            assert side.counts[place] == cells[tree.cells_of(place)].sum()
    tests = compare(*sides, tree, LEVEL, counted=True)
    sizes = sides[0].counts + sides[1].counts
    tested = [i for i in range(23) if sizes[i] > 0 and (i < 12 or sizes[i] <= 60)]
    assert tests.number == len(tested)
    threshold = np.array([0.001, 0.01, 0.04])
    expected = np.zeros(3)
    for place in tested:
        _, chance, p = hypergeometric(sizes[place], 300.0, 300.0)
        expected += [chance[p <= t * (1 + 1e-9)].sum() for t in threshold]
        own = exact_p(int(sides[0].counts[place]), int(sizes[place]), 300, 300)
        assert tests.p_values[place] == pytest.approx(own, rel=1e-8)
    assert tests.false_claims(threshold) == pytest.approx(expected)


def chain(k: int) -> Tree:
    """Cell 1 joins cell 0, then cell 2 joins them, …"""
    lefts = [0, *range(k, 2 * k - 2)]
    return Tree(np.array([[left, i + 1] for i, left in enumerate(lefts)], dtype=np.intp))


def disjoint_sets(tree: Tree, places):
    """Every set of disjoint places among those given."""
    if not places:
        yield ()
        return
    head, *tail = places
    own = set(tree.below(head)) | {p for p in tail if head in set(tree.below(p))}
    yield from disjoint_sets(tree, tail)
    for rest in disjoint_sets(tree, [p for p in tail if p not in own]):
        yield (head, *rest)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_places_are_the_best_of_all_disjoint_sets(seed):
    rng = np.random.default_rng(seed)
    tree = join_cells(rng.normal(size=(6, 2)))
    ratios = rng.exponential(5.0, size=11)
    allowed = rng.random(11) < 0.7
    best = max(
        sum(ratios[list(chosen)] - PRICE)
        for chosen in disjoint_sets(tree, list(np.flatnonzero(allowed)))
    )
    found = best_places(tree, allowed, ratios)
    assert (ratios[found] - PRICE).sum() == pytest.approx(best)


def test_claims_of_cells_alone_are_those_of_benjamini_and_hochberg():
    rng = np.random.default_rng(0)
    k = 40
    tree = chain(k)
    p = np.where(np.arange(k) < 8, rng.random(k) * 1e-3, rng.random(k))
    p_values = np.concatenate([p, np.ones(k - 1)])
    tests = LocalTests(p_values, k, np.empty(0), np.empty(0))
    ratios = np.concatenate([np.full(k, 10.0), np.zeros(k - 1)])
    order = np.sort(p)
    passed = np.flatnonzero(order <= LEVEL * np.arange(1, k + 1) / k)
    claims = claim(tree, tests, ratios, LEVEL)
    assert claims.places.tolist() == np.flatnonzero(p <= order[passed[-1]]).tolist()
    adjusted = np.minimum.accumulate((order * k / np.arange(1, k + 1))[::-1])[::-1]
    assert claims.q_values.max() <= LEVEL
    assert (claims.q_values >= adjusted[np.searchsorted(order, p[claims.places])] - 1e-12).all()


def side(tree: Tree, counts, total: float) -> Side:
    sums = tree.sums(np.array(counts, dtype=float))
    return Side(sums / total, sums, np.full(len(sums), total))


def test_a_part_of_a_place_that_is_like_everything_is_left_out():
    tree = chain(4)
    everything = 6  # the last place of four cells
    mixed = side(tree, [2, 1, 30, 0], 400.0), side(tree, [30, 25, 30, 1], 400.0)
    # 30 : 30 is far likelier at 1 : 1 than at the place's 33 : 86; one row of B tells nothing
    assert standing_cells(tree, everything, *mixed).tolist() == [0, 1, 3]
    alike = side(tree, [2, 1, 2, 0], 400.0), side(tree, [30, 25, 20, 1], 400.0)
    assert standing_cells(tree, everything, *alike).tolist() == [0, 1, 2, 3]


def test_two_nearest_are_those_of_all_distances():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(500, 4)) + 1e6, rng.normal(size=(30, 4)) + 1e6
    squared = ((X[:, None] - C) ** 2).sum(axis=2)
    assert np.array_equal(two_nearest(X, C), np.argsort(squared, axis=1)[:, :2])
    assert two_nearest(X[:0], C).shape == (0, 2)


def test_intervals_cover_the_difference_at_their_level():
    rng = np.random.default_rng(0)
    a, b = rng.binomial(300, 0.02, 2000) / 300, rng.binomial(500, 0.08, 2000) / 500
    bounds = np.array(
        [difference_interval(pair, (300.0, 500.0), 0.1) for pair in zip(a, b, strict=True)]
    )
    covered = (bounds[:, 0] <= 0.06) & (bounds[:, 1] >= 0.06)
    assert 0.87 < covered.mean() < 0.95
    assert (bounds[:, 0] >= -1).all()
    assert (bounds[:, 1] <= 1).all()


def test_columns_apart_are_those_that_moved_or_narrowed_whatever_the_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4)) * [1.0, 1e6, 1e-3, 0.0] + [0.0, 5.0, 1.0, 7.0]
    some = X[:200] * [1.0, 0.1, 1.0, 1.0] + [0.0, 0.0, 4e-3, 0.0]
    quantiles = np.quantile(some, [0.1, 0.5, 0.9], axis=0)
    assert columns_apart(quantiles, ArraySample(X).summary()) == (2,)
    some = X[:200] * [1.0, 0.1, 1.0, 1.0]
    quantiles = np.quantile(some, [0.1, 0.5, 0.9], axis=0)
    assert columns_apart(quantiles, ArraySample(X).summary()) == (1,)


# What is found


def test_a_planted_cluster_is_found_with_its_sign_place_and_columns():
    A, B, inside = planted()
    found = regions(A, B)
    region = found[0]
    assert region.more == 1
    assert region.difference == region.shares[1] - region.shares[0] > 0.05
    assert 0.0 < region.low < region.difference < region.high
    assert region.columns == (0,)
    assert np.abs(region.center - [2.5, 0, 0]).max() < 0.3
    assert (region.lower < region.center).all()
    assert (region.center < region.upper).all()
    assert 0.0 <= region.q_value < 1e-6
    labels = found.labels(B)
    assert (labels[inside] == 0).mean() > 0.8
    assert (labels[~inside] == 0).mean() < 0.02
    assert region.counts == ((found.labels(A) == 0).sum(), (labels == 0).sum())
    assert region.shares == pytest.approx((region.counts[0] / 1000, region.counts[1] / 1000))
    assert np.array_equal(np.flatnonzero(found.cell_labels == 0), region.cells)


def test_no_interval_of_a_difference_of_shares_reaches_beyond_one():
    """Where samples have nothing in common, in several places."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(900, 2)) + np.repeat([[0, 0], [0, 6]], 450, axis=0)
    B = rng.normal(size=(900, 2)) + np.array([6.0, 3.0])
    found = regions(A, B)
    assert max(abs(region.difference) for region in found) > 0.9
    assert all(-1.0 <= region.low <= region.high <= 1.0 for region in found)


def test_samples_that_change_places_change_the_sign_only():
    A, B, _ = planted()
    one, other = regions(A, B), regions(B, A)
    assert np.allclose(one.cells, other.cells, rtol=1e-12)
    assert np.array_equal(one.cell_labels, other.cell_labels)
    for a, b in zip(one, other, strict=True):
        assert a.more == 1 - b.more
        assert a.shares == pytest.approx(b.shares[::-1])
        assert (a.low, a.high) == pytest.approx((-b.high, -b.low))


def test_regions_are_ordered_disjoint_and_of_both_signs():
    A, B, _ = planted(share=0.1)
    A[:60] = [-3.0, 0.0, 0.0] + 0.2 * np.random.default_rng(1).normal(size=(60, 3))
    found = regions(A, B)
    sizes = [abs(region.difference) for region in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {region.more for region in found[:2]} == {0, 1}
    cells = np.concatenate([region.cells for region in found])
    assert len(np.unique(cells)) == len(cells)


def test_equal_distributions_have_regions_in_one_of_twenty_pairs_at_most():
    rng = np.random.default_rng(0)
    claims = [len(regions(*rng.normal(size=(2, 200, 2)), level=0.2, seed=s)) > 0 for s in range(60)]
    # a binomial with 60 draws at 0.2 exceeds 20 with probability 0.006
    assert sum(claims) <= 20


def test_weights_repeat_rows():
    A, B, _ = planted(n=400)
    rng = np.random.default_rng(2)
    w_a, w_b = rng.integers(0, 4, size=(2, 400))
    weighted = regions(A, B, w_a.astype(float), w_b.astype(float))
    repeated = regions(np.repeat(A, w_a, axis=0), np.repeat(B, w_b, axis=0))
    assert len(weighted) == len(repeated) > 0
    assert np.array_equal(weighted.cell_labels, repeated.cell_labels)
    for a, b in zip(weighted, repeated, strict=True):
        assert a.counts == b.counts
        assert a.center == pytest.approx(b.center)
        assert (a.low, a.high, a.q_value) == pytest.approx((b.low, b.high, b.q_value))


def test_other_weights_stand_for_effective_rows():
    A, B, inside = planted(n=1500)
    rng = np.random.default_rng(2)
    w = rng.gamma(2.0, size=1500)
    found = regions(A, B, None, w)
    assert found[0].more == 1
    assert (found.labels(B)[inside] == 0).mean() > 0.8
    assert found[0].shares[1] == pytest.approx(w[found.labels(B) == 0].sum() / w.sum())
    # Kish's size of Gamma(2) weights is two thirds of the rows
    assert found[0].counts[1] == pytest.approx(2 / 3 * (found.labels(B) == 0).sum(), rel=0.25)
    # weights that undo the cluster undo the difference
    assert len(regions(A, B, None, np.where(inside, 1e-3, 1.0))) == 0


def test_one_heavy_row_is_no_region():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 500, 2))
    w = np.full(500, 0.7)
    w[0] = 60.0
    assert len(regions(A, B, None, w)) == 0


def test_other_units_and_places_change_nothing_else():
    A, B, _ = planted()
    factors = np.array([2.0**10, 2.0**-12, 1.0])
    found, scaled = regions(A, B), regions(A * factors, B * factors)
    assert np.array_equal(found.cell_labels, scaled.cell_labels)
    assert scaled[0].center == pytest.approx(found[0].center * factors)


def test_every_engine_finds_the_same():
    A, B, _ = planted(n=300)
    assert np.array_equal(regions(A, B).cell_labels, regions(A, B, engine="naive").cell_labels)


def test_a_seed_decides_everything():
    A, B, _ = planted(n=500)
    kept = A.copy(), B.copy()
    assert same(regions(A, B, seed=1), regions(A, B, seed=1))
    assert np.array_equal(A, kept[0])
    assert np.array_equal(B, kept[1])


def test_more_rows_than_are_drawn_are_all_counted(monkeypatch):
    A, B, inside = planted(n=2000)
    monkeypatch.setattr(pooled_cells, "MOST_ROWS", 1000)
    found = regions(A, B)
    assert found[0].counts == ((found.labels(A) == 0).sum(), (found.labels(B) == 0).sum())
    assert (found.labels(B)[inside] == 0).mean() > 0.8


# Odd samples


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (5, 5), (10, 3), (5, 500), (60, 3000)])
def test_small_and_uneven_samples(n_a, n_b):
    rng = np.random.default_rng(0)
    found = regions(rng.normal(size=(n_a, 3)), rng.normal(size=(n_b, 3)))
    assert len(found) == 0
    assert found.labels(np.zeros((2, 3))).tolist() == [-1, -1]


def test_a_few_rows_apart_are_found_beside_many():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(60, 3)), rng.normal(size=(3000, 3))
    A[:20] = 3.0 + 0.2 * rng.normal(size=(20, 3))
    found = regions(A, B)
    assert found[0].more == 0
    assert (found.labels(A)[:20] == 0).all()


def test_values_that_many_rows_share():
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, size=(600, 2)).astype(float)
    B = rng.integers(0, 3, size=(600, 2)).astype(float)
    assert len(regions(A, B)) == 0
    B[:60] = [2.0, 2.0]
    found = regions(A, B)
    assert found[0].more == 1
    assert found.labels([[2.0, 2.0]]).tolist() == [0]
    assert found[0].center.tolist() == found[0].lower.tolist() == [2.0, 2.0]


def test_constant_columns_and_equal_rows():
    A, B, inside = planted()
    constant = np.full((1000, 1), 3.0)
    A, B = np.hstack([A, constant]), np.hstack([B, constant])
    found = regions(A, B)
    assert found[0].columns == (0,)
    assert (found.labels(B)[inside] == 0).mean() > 0.8
    assert len(regions(np.ones((50, 2)), np.ones((70, 2)))) == 0


def test_a_column_that_one_sample_holds_constant():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 500, 2))
    B[:, 1] = 0.0
    found = regions(A, B)
    assert found[0].more == 1
    assert all(1 in region.columns for region in found if region.more == 1)


def test_two_far_places_are_two_regions():
    A, B = (np.repeat([[0.0], [1.0]], shares, axis=0) for shares in ((40, 60), (80, 20)))
    found = regions(A, B)
    assert sorted(region.more for region in found) == [0, 1]
    assert found[0].difference == pytest.approx(-found[1].difference)


def test_a_region_is_a_value():
    found = regions(*planted()[:2])
    with pytest.raises(AttributeError):
        found.items = ()
    with pytest.raises(ValueError, match="read-only"):
        found[0].center[0] = 1.0
    assert isinstance(replace(found), Regions)
    assert list(found) == list(found.items)

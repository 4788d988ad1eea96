"""The search for the likeliest mixture."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean.mixtures import Limits, Rows, likeliest, starts
from kernelmean.mixtures.novelty import novelty, without_gross
from kernelmean.mixtures.rows import drawn

FLOOR = np.full(2, 1e-4)


def clusters(n: int = 600, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * 0.3 + rng.integers(0, 3, n)[:, None] * [2.0, -2.0]


def found(X, k=None, k_max=100, shape="full", engine="naive", seed=0):
    rows = Rows(X, np.ones(len(X)))
    limits = Limits(k, k_max, shape)
    return likeliest(rows, rows, FLOOR, limits, engines.open(engine), Streams(seed))


@pytest.mark.parametrize("shape", ["scalar", "full"])
def test_three_clusters_are_found(shape):
    mixed = found(clusters(), k=3, shape=shape)
    assert len(mixed) == 3
    order = np.argsort(mixed.means[:, 0])
    np.testing.assert_allclose(mixed.means[order], [[0, 0], [2, -2], [4, -4]], atol=0.15)
    np.testing.assert_allclose(mixed.weights, 1 / 3, atol=0.06)


def test_the_stack_beats_each_single_size_on_new_rows():
    """It does so where there is something to learn: a curve, which no number of normals is."""
    rng = np.random.default_rng(0)

    def curve(n):
        t = rng.random(n) * 6.28
        return np.stack([np.cos(t), np.sin(2 * t)], axis=1) + 0.05 * rng.normal(size=(n, 2))

    X, Q = curve(1500), curve(3000)
    stacked = found(X).log_density(Q).mean()
    single = max(found(X, k=k).log_density(Q).mean() for k in (1, 4, 16))
    assert stacked > single


def test_no_more_atoms_than_allowed():
    assert len(found(clusters(), k_max=7)) <= 7
    assert len(found(clusters(5), k=9)) <= 5


def test_engines_and_threads_agree():
    naive = found(clusters())
    cpu = found(clusters(), engine="cpu")
    alone = found(clusters(), engine=engines.open("cpu", threads=1))
    X = clusters(seed=5)
    np.testing.assert_allclose(cpu.log_density(X), naive.log_density(X), rtol=1e-6)
    np.testing.assert_array_equal(cpu.weights, alone.weights)
    np.testing.assert_array_equal(cpu.covariances, alone.covariances)


def test_one_component_for_each_row_is_a_density_left_out():
    """The bandwidth is that of most likelihood among those tried, copies left out together."""
    X = np.random.default_rng(3).normal(size=(40, 1))
    mixed = starts.each_row(Rows(X, np.ones(40)), np.zeros(1))
    V = (40 * X.var() + 2 * X.var()) / 42
    squared = (X - X.T) ** 2
    np.fill_diagonal(squared, np.inf)
    tried = starts.FACTORS * 40 ** (-1 / 5)
    values = [np.log(np.exp(-0.5 * squared / (h**2 * V)).sum(axis=1) / h).mean() for h in tried]
    assert mixed.covariances[0, 0, 0] == pytest.approx(tried[int(np.argmax(values))] ** 2 * V)
    assert len(mixed) == 40


def test_gross_rows_are_left_to_wide_components():
    X = clusters()
    X -= np.median(X, axis=0)
    gross = np.vstack([X, [[1e6, -1e6]]])
    rows = Rows(gross, np.ones(len(gross)))
    widths = np.ones(2)
    kept = without_gross(rows, widths)
    assert len(kept) == len(X)
    wide = novelty(rows, kept, widths, FLOOR, "full")
    assert wide.share == pytest.approx(2 / (len(gross) + 1))
    assert wide.mixture.covariances[-1, 0, 0] >= 1e12
    assert np.isfinite(wide.mixture.log_density(gross)).all()
    many = Rows(np.vstack([X, np.full((60, 2), 1e6)]), np.ones(660))
    assert len(without_gross(many, widths)) == 660


@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_integer_weights_are_repeated_rows(engine):
    X = clusters(50)
    w = np.random.default_rng(1).integers(1, 4, 50).astype(float)
    opened = engines.open(engine)
    rng = np.random.default_rng(0)
    weighted = drawn(opened.load(X, w), w, 1000, rng)
    repeated = drawn(opened.load(np.repeat(X, w.astype(int), axis=0)), None, 1000, rng)
    np.testing.assert_array_equal(weighted.points, repeated.points)
    np.testing.assert_array_equal(weighted.masses, repeated.masses)


def test_other_weights_are_masses_and_many_rows_are_thinned():
    X = clusters(200)
    w = np.random.default_rng(1).random(200)
    cloud = engines.open("naive").load(X, w)
    rng = np.random.default_rng(0)
    rows = drawn(cloud, w, 1000, rng)
    np.testing.assert_allclose(rows.masses, w * cloud.summary.size / w.sum())
    few = drawn(cloud, w, 50, rng)
    assert len(few) == 50
    assert few.size == pytest.approx(cloud.summary.size)


def test_folds_are_disjoint_and_a_single_row_does_both():
    rows = Rows(clusters(23), np.ones(23))
    pairs = rows.folds(np.random.default_rng(0))
    assert len(pairs) == 5
    assert sorted(np.concatenate([judged for _, judged in pairs])) == list(range(23))
    assert all(not set(fit) & set(judged) for fit, judged in pairs)
    many = Rows(np.zeros((2001, 1)), np.ones(2001)).folds(np.random.default_rng(0))
    assert len(many) == 1
    assert len(Rows(np.zeros((1, 1)), np.ones(1)).folds(np.random.default_rng(0))) == 1

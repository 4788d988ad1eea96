"""Scores and features of rows: ranks, no effect of units, and the same bits in any batch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from kernelmean.monitoring.features import Features, affordable
from kernelmean.monitoring.scores import NormalScores


@pytest.fixture(params=[0.0, np.inf], ids=["compiled", "plain"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr("kernelmean._work.LEAST_WORK", request.param)


@pytest.mark.parametrize("d", [1, 3, 20])
def test_scores_are_those_of_ranks(d):
    X = np.round(np.random.default_rng(0).normal(size=(200, d)) * 5)
    u = (rankdata(X, axis=0) - 0.5) / 200
    expected = ndtri(np.clip(u, 5 / 200, 1 - 5 / 200))
    np.testing.assert_allclose(NormalScores.of(X)(X), expected, atol=1e-12)


def test_scores_of_new_values_lie_between_those_of_their_neighbours():
    X = np.arange(1000.0)[:, None]
    scores = NormalScores.of(X)
    Q = np.sort(np.random.default_rng(0).uniform(-10.0, 1010.0, size=(300, 1)), axis=0)
    found = scores(Q)
    assert (np.diff(found, axis=0) >= 0.0).all()
    np.testing.assert_allclose(found, ndtri(np.clip((Q + 0.5) / 1000, 0.005, 0.995)), atol=0.05)


def test_a_constant_column_has_score_zero_and_any_other_value_the_outermost():
    scores = NormalScores.of(np.full((100, 1), 7.0))
    found = scores(np.array([[7.0], [7.0 + 1e-5], [-3.0]]))[:, 0]
    np.testing.assert_allclose(found, [0.0, ndtri(0.95), ndtri(0.05)], atol=1e-12)


def test_units_and_monotone_maps_of_columns_do_not_matter():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))
    units = np.array([1e-6, 1.0, 1e9])
    plain = Features.of(X, np.random.default_rng(0))
    other = Features.of(X * units, np.random.default_rng(0))
    np.testing.assert_allclose(other(Q * units), plain(Q), atol=1e-6)
    cubed = Features.of(X**3, np.random.default_rng(0))
    np.testing.assert_allclose(cubed(X**3), plain(X), atol=1e-9)


@pytest.mark.parametrize("d", [1, 10, 40])
def test_features_of_the_reference_are_centred_and_scaled(d, both_ways):
    X = np.random.default_rng(2).standard_t(3, size=(600, d)) @ (np.eye(d) + 0.3)
    features = Features.of(X, np.random.default_rng(0))
    Z = features(X)
    assert Z.shape[1] == features.starts[-1]
    assert len(features.components) + 1 == len(features.starts)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-8)
    assert Z.var(axis=0).max() < 1.0 + 1e-9
    assert np.median(Z.var(axis=0)[: 3 * d]) > 0.8


@pytest.mark.parametrize("d", [1, 10, 40])
def test_a_row_has_the_same_features_in_every_batch(d, both_ways):
    rng = np.random.default_rng(3)
    features = Features.of(rng.normal(size=(1000, d)), np.random.default_rng(0))
    Q = rng.normal(size=(600, d))
    whole = features(Q)
    for batch in (1, 7, 256):
        parts = [features(Q[i : i + batch]) for i in range(0, len(Q), batch)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_few_rows_pay_for_few_whitened_features():
    assert affordable(100) < affordable(1000) < affordable(10_000)
    r = affordable(5000)
    assert r * r / 5000 == pytest.approx(0.03 * np.sqrt(2 * r))
    rng = np.random.default_rng(4)
    few, many = (Features.of(rng.normal(size=(n, 3)), rng) for n in (60, 6000))
    assert len(few.kernels[0].mean) < len(many.kernels[0].mean) <= 64


@pytest.mark.parametrize("n", [2, 3, 10])
def test_a_handful_of_rows_or_equal_ones_have_features(n):
    for X in (np.random.default_rng(5).normal(size=(n, 2)), np.ones((n, 2))):
        assert np.isfinite(Features.of(X, np.random.default_rng(0))(X)).all()


@pytest.mark.parametrize("d", [1, 3, 30])
def test_compiled_features_are_those_of_numpy(d, monkeypatch):
    """Of rows among which are knots, what is almost one, and what lies beyond."""
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(400, d)), 1 + d % 3)
    Q = np.concatenate([X[:50], X[50:100] * (1.0 + 5e-8), 3.0 * rng.normal(size=(300, d))])
    features = Features.of(X, np.random.default_rng(0))
    scores = [features.scores(Q, compiled) for compiled in (False, True)]
    np.testing.assert_allclose(*scores, rtol=1e-14, atol=1e-14)
    found = []
    for least in (0.0, np.inf):
        monkeypatch.setattr("kernelmean._work.LEAST_WORK", least)
        features.__dict__.pop("compiled", None)
        found.append(features(Q))
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-9)

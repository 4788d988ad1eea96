"""Mixtures of Gaussians against SciPy's normal distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from kernelmean.mixtures import gaussians
from kernelmean.mixtures.gaussians import Gaussians

SHAPES = ("scalar", "full")


def mixture(shape: str, k: int = 4, d: int = 3, seed: int = 0) -> Gaussians:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(k))
    roots = rng.normal(size=(k, d, d))
    covariances = roots @ np.swapaxes(roots, 1, 2) + 0.2 * np.eye(d)
    if shape == "scalar":
        covariances = rng.uniform(0.3, 2.0, k)
    return Gaussians(weights, rng.normal(size=(k, d)), covariances)


def matrices(mixed: Gaussians) -> np.ndarray:
    d = mixed.means.shape[1]
    if mixed.kind == "full":
        return mixed.covariances
    return mixed.covariances[:, None, None] * np.eye(d)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_log_densities_are_those_of_scipy(shape, d):
    mixed = mixture(shape, d=d)
    X = np.random.default_rng(1).normal(size=(50, d)) * 3
    parts = [
        np.log(w) + multivariate_normal(c, V).logpdf(X)
        for w, c, V in zip(mixed.weights, mixed.means, matrices(mixed), strict=True)
    ]
    np.testing.assert_allclose(mixed.log_density(X), logsumexp(parts, axis=0), rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_change_nothing(shape, monkeypatch):
    mixed = mixture(shape)
    X = np.random.default_rng(1).normal(size=(301, 3))
    whole = mixed.log_density(X)
    monkeypatch.setattr(gaussians, "BLOCK_FEATURES", 64)
    np.testing.assert_allclose(mixed.log_density(X), whole, rtol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("d", [1, 3])
def test_moments_are_those_of_the_weighted_rows(shape, d):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, d)) + 5.0
    R = rng.random((2, 40))
    found = gaussians.moments(R @ gaussians.features(X, shape).T, d, shape)
    for a in range(2):
        mean = np.average(X, axis=0, weights=R[a])
        scatter = ((X - mean).T * R[a]) @ (X - mean)
        expected = np.trace(scatter) / d if shape == "scalar" else scatter
        assert found.masses[a] == pytest.approx(R[a].sum())
        np.testing.assert_allclose(found.means[a], mean)
        np.testing.assert_allclose(found.scatters[a], expected, atol=1e-10)


def test_a_mixture_of_mixtures_is_one():
    parts = [mixture("full", seed=1), mixture("full", k=2, seed=2)]
    X = np.random.default_rng(3).normal(size=(20, 3))
    together = gaussians.joined(parts, np.array([0.3, 0.7]))
    logs = [np.log(s) + part.log_density(X) for s, part in zip((0.3, 0.7), parts, strict=True)]
    np.testing.assert_allclose(together.log_density(X), logsumexp(logs, axis=0), rtol=1e-12)
    assert together.weights.sum() == pytest.approx(1.0)

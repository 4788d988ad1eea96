"""EM against its definition, and what its prior promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from kernelmean.mixtures import Gaussians, Rows, expectation
from kernelmean.mixtures.expectation import Prior
from kernelmean.mixtures.gaussians import features


def rows(n: int = 200, d: int = 2, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4.0 * (rng.random(n) < 0.4)[:, None]
    return Rows(X, rng.uniform(0.5, 2.0, n))


def naive_shares(data: Rows, mixed: Gaussians) -> np.ndarray:
    logs = np.stack(
        [
            np.log(w) + multivariate_normal(c, V).logpdf(data.points)
            for w, c, V in zip(mixed.weights, mixed.means, mixed.covariances, strict=True)
        ]
    )
    return np.exp(logs - logsumexp(logs, axis=0))


def two() -> Gaussians:
    return Gaussians(
        np.array([0.5, 0.5]), np.array([[0.0, 0.0], [3.0, 3.0]]), np.stack([np.eye(2)] * 2)
    )


def test_one_step_is_that_of_the_definition():
    data = rows()
    prior = Prior(np.array([0.1, 0.2]), 5.0)
    sums, value = expectation.shared_out(data, two())
    found = expectation.fitted(sums, 2, prior, "full")
    R = naive_shares(data, two()) * data.masses
    N = R.sum(axis=1)
    means = (R @ data.points) / N[:, None]
    scatter = np.stack(
        [((data.points - c).T * r) @ (data.points - c) for c, r in zip(means, R, strict=True)]
    )
    n = N.sum()
    W = scatter.sum(axis=0) / n
    W = (n * W + 3 * np.diag(np.diag(W))) / (n + 3)
    V = (scatter + 5.0 * W) / (N + 5.0)[:, None, None] + np.diag([0.1, 0.2])
    np.testing.assert_allclose(found.weights, N / n)
    np.testing.assert_allclose(found.means, means)
    np.testing.assert_allclose(found.covariances, V)
    expected = np.average(two().log_density(data.points), weights=data.masses)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize("shape", ["scalar", "full"])
def test_the_likelihood_never_falls(shape):
    data = rows(400, 3, seed=2)
    psi = features(data.points, shape)
    R = np.random.default_rng(1).dirichlet(np.ones(3), len(data)).T * data.masses
    prior = Prior(np.zeros(3), 0.0)
    values = []
    sums = R @ psi.T
    for _ in range(15):
        sums, value = expectation.shared_out(data, expectation.fitted(sums, 3, prior, shape))
        values.append(value)
    # The pull of W towards its diagonal is no part of the likelihood, but acts on W alone.
    assert (np.diff(values) > -1e-10).all()


def test_no_component_is_narrower_than_the_floor():
    data = Rows(np.repeat(rows(6).points, 10, axis=0), np.ones(60))
    psi = features(data.points, "full")
    owner = np.repeat(np.eye(6), 10, axis=0).T  # each component has copies of one row
    found = expectation.fitted(owner @ psi.T, 2, Prior(np.array([0.04, 0.09]), 0.0), "full")
    np.testing.assert_allclose(found.covariances, np.stack([np.diag([0.04, 0.09])] * 6), atol=1e-9)


def test_a_strong_prior_gives_all_components_the_common_covariance():
    data = rows()
    sums, _ = expectation.shared_out(data, two())
    found = expectation.fitted(sums, 2, Prior(np.full(2, 1e-9), 1e9), "full")
    np.testing.assert_allclose(found.covariances[0], found.covariances[1], rtol=1e-6)


def test_components_that_stand_for_nothing_are_dropped():
    far = Gaussians(two().weights, np.array([[0.0, 0.0], [900.0, 0.0]]), two().covariances)
    sums, _ = expectation.shared_out(rows(), far)
    assert len(expectation.fitted(sums, 2, Prior(np.full(2, 0.1), 0.0), "full")) == 1


def test_rows_far_out_leave_covariances_that_can_be_inverted():
    data = Rows(np.array([[1e9, 1e9], [1e9, 1e9 + 1e-3], [0.0, 0.0], [0.1, 0.3]]), np.ones(4))
    owner = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    sums = owner @ features(data.points, "full").T
    found = expectation.fitted(sums, 2, Prior(np.full(2, 1e-6), 0.0), "full")
    np.linalg.cholesky(found.covariances)
    assert np.isfinite(found.log_density(data.points)).all()

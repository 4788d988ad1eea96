"""Densities on centres with a width of their own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone

import kernelmean as km
from kernelmean.fitting.fit import sparse_density

SCALE = np.array([[1.0, 0.3], [-0.2, 2.0]])
ESTIMATORS = [km.SparseKDE, km.SparseKDEClassifier, km.SparseKDEOutlierDetector]


def cloud(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n // 2, 2)), 0.4 * rng.normal(size=(n // 2, 2)) + 2.0])


def brute_log_density(mean, Q):
    """log Σ_a α_a N(q; c_a, A⁻¹(S_a + σ²I)A⁻ᵀ), term by term."""
    d = mean.dimension
    back = np.eye(d) if mean.scale is None else np.linalg.inv(mean.scale)
    spreads = mean.expansion.atoms.as_kind("full").spreads
    live = np.flatnonzero(mean.weights)
    terms = [
        np.log(mean.weights[a])
        + multivariate_normal(
            mean.centers[a], back @ (spreads[a] + mean.kernel.bandwidth**2 * np.eye(d)) @ back.T
        ).logpdf(Q)
        for a in live
    ]
    return logsumexp(terms, axis=0)


@pytest.mark.parametrize("spread", ["scalar", "full"])
@pytest.mark.parametrize("scale", [None, SCALE], ids=["plain", "mapped"])
@pytest.mark.parametrize("bandwidth", [0.1, "scott"])
def test_a_density_is_its_mixture(spread, scale, bandwidth):
    X = cloud()
    density = km.SparseKDE(
        k=20, spread=spread, scale=scale, bandwidth=bandwidth, random_state=0
    ).fit(X)
    assert density.mean_.spreads.ndim == {"scalar": 1, "full": 3}[spread]
    assert density.mean_.weights.min() >= 0.0
    assert density.mean_.weights.sum() == pytest.approx(1.0, abs=1e-12)
    Q = np.concatenate([X, 10.0 * X])
    np.testing.assert_allclose(density.score_samples(Q), brute_log_density(density.mean_, Q))
    h = 1e-6
    slopes = [
        (density.score_samples(X + h * e) - density.score_samples(X - h * e)) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(density.score_gradient(X).T, slopes, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_spreads_are_fitted_at_the_bandwidth_that_is_used(spread):
    """Points are those for Scott's bandwidth; refined spreads would not do at another one."""
    X = cloud()
    given = {"k": 15, "spread": spread, "bandwidth": 0.15, "random_state": 0}
    fitted = km.SparseKDE(**given).fit(X).mean_
    expected = sparse_density(X, **given)
    np.testing.assert_array_equal(fitted.centers, expected.centers)
    np.testing.assert_array_equal(fitted.weights, expected.weights)
    assert fitted.kernel.length == 0.15


@pytest.mark.parametrize("options", [{"kernel": "laplacian"}, {"selection": "kcenter"}])
def test_where_there_are_no_spreads_auto_changes_nothing(options):
    X = cloud()
    auto, points = (
        km.SparseKDE(bandwidth=0.2, k=25, random_state=0, spread=spread, **options).fit(X)
        for spread in ("auto", None)
    )
    assert auto.mean_.spreads is None
    np.testing.assert_array_equal(auto.mean_.centers, points.mean_.centers)
    np.testing.assert_array_equal(auto.score_samples(X), points.score_samples(X))


def test_at_a_narrow_bandwidth_spreads_reach_what_points_do_not():
    X = np.random.default_rng(0).normal(size=(6000, 4))
    train, test = X[:5000], X[5000:]
    likelihoods = {
        spread: km.SparseKDE(k=50, spread=spread, bandwidth=0.3, random_state=0)
        .fit(train)
        .score_samples(test)
        .mean()
        for spread in (None, "scalar", "full", "auto")
    }
    full = km.SparseKDE(sparse=False, bandwidth=0.3).fit(train).score_samples(test).mean()
    assert likelihoods[None] < full - 1.0
    assert likelihoods["scalar"] > full - 0.3
    assert likelihoods["full"] > full - 0.3
    assert likelihoods["auto"] > full - 0.3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_is_a_parameter_like_any_other(estimator):
    X = cloud()
    y = (np.arange(len(X)) >= len(X) // 2).astype(int)
    model = estimator(spread="scalar", k=10, random_state=0)
    assert clone(model).get_params()["spread"] == "scalar"
    assert estimator().spread == "auto"
    fitted = model.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_params() == fitted.get_params()
    with pytest.raises(ValueError, match="unknown spread"):
        estimator(spread="round").fit(X, y)
    with pytest.raises(ValueError, match="needs a Gaussian kernel"):
        estimator(spread="full", kernel="cauchy").fit(X, y)


def test_classes_and_outliers_are_told_by_densities_with_spreads():
    X = cloud()
    y = (np.arange(len(X)) >= len(X) // 2).astype(int)
    classes = km.SparseKDEClassifier(spread="full", k=6, random_state=0).fit(X, y)
    assert {mean.expansion.atoms.kind for mean in classes.means_} == {"full"}
    joint = np.stack([brute_log_density(mean, X) for mean in classes.means_], axis=1)
    expected = joint - logsumexp(joint, axis=1, keepdims=True)  # equal priors
    np.testing.assert_allclose(classes.predict_log_proba(X), expected, atol=1e-9)
    detector = km.SparseKDEOutlierDetector(spread="scalar", k=6, random_state=0).fit(X)
    assert detector.density_.mean_.expansion.atoms.kind == "scalar"
    scores = brute_log_density(detector.density_.mean_, X)
    np.testing.assert_allclose(detector.score_samples(X), scores)
    assert np.mean(detector.predict(X) == -1) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_files_and_batches_keep_the_kind(spread, tmp_path):
    X = cloud(1200)
    density = km.SparseKDE(spread=spread, k=20, bandwidth=0.3, random_state=0)
    for batch in np.array_split(np.random.default_rng(1).permutation(X), 3):
        density.partial_fit(batch)
    assert density.mean_.expansion.atoms.kind == spread
    whole = km.SparseKDE(spread=spread, k=20, bandwidth=0.3, random_state=0).fit(X)
    gap = np.abs(density.score_samples(X) - whole.score_samples(X)).mean()
    assert gap < 0.2
    density.save(tmp_path / "density.km")
    loaded = km.SparseKDE.load(tmp_path / "density.km")
    assert loaded.spread == spread
    np.testing.assert_array_equal(loaded.score_samples(X), density.score_samples(X))
    assert loaded.partial_fit(X).mean_.expansion.atoms.kind == spread


def test_samples_have_the_moments_of_the_cloud():
    """The mixture of the cells has the mean of the cloud, and its covariance with that of the
    kernel.
    """
    X = cloud(2000)
    density = km.SparseKDE(spread="full", k=4, bandwidth=0.2, random_state=0).fit(X)
    drawn = density.sample(100_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T) + 0.04 * np.eye(2), atol=0.05)

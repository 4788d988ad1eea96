"""A density as scikit-learn's Gaussian mixture."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import kernelmean as km

KINDS = [None, "scalar", "full"]


def cloud(d, n=300, seed=0):
    """Two blobs, one of them narrow and turned."""
    rng = np.random.default_rng(seed)
    turned = rng.normal(size=(n // 3, d)) @ rng.normal(size=(d, d)) * 0.2 + 2.0
    return np.concatenate([rng.normal(size=(n - n // 3, d)), turned])


def scale_of(name, d):
    if name != "matrix":
        return name
    return np.eye(d) + 0.4 * np.random.default_rng(5).normal(size=(d, d))


def fitted(X, **options):
    settings = {"k": 15, "random_state": 0, "engine": "naive"}
    return km.SparseKDE(**(settings | options)).fit(X)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("scale", [None, "std", "cov", "matrix"])
@pytest.mark.parametrize("spread", KINDS)
def test_it_is_the_same_density(spread, scale, d):
    X = cloud(d)
    density = fitted(X, spread=spread, scale=scale_of(scale, d), bandwidth=0.4)
    assert density.mean_.expansion.atoms.kind == spread
    mixture = density.to_gaussian_mixture()
    Q = np.concatenate([X, 4.0 * X])
    np.testing.assert_allclose(
        mixture.score_samples(Q), density.score_samples(Q), rtol=1e-10, atol=1e-10
    )
    assert mixture.covariances_.shape == (mixture.n_components, d, d)
    np.testing.assert_allclose(
        mixture.precisions_ @ mixture.covariances_,
        np.broadcast_to(np.eye(d), mixture.covariances_.shape),
        atol=1e-8,
    )


@pytest.mark.parametrize("spread", KINDS)
def test_it_predicts_draws_and_is_judged_as_any_mixture(spread):
    X = cloud(3, 600)
    density = fitted(X, spread=spread, scale="cov", k=10)
    mixture = density.to_gaussian_mixture()
    assert mixture.predict_proba(X).shape == (len(X), mixture.n_components)
    mixture.set_params(random_state=0)
    drawn, labels = mixture.sample(20_000)
    np.testing.assert_array_equal(
        mixture.weights_[np.unique(labels)] > 0.0, True
    )  # only centres that are there
    ours = density.sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), ours.mean(axis=0), atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(ours.T), atol=0.12)
    parameters = mixture.n_components * 10 - 1  # weights, means and covariances in 3-D
    expected = -2.0 * density.score(X) + parameters * np.log(len(X))
    assert mixture.bic(X) == pytest.approx(expected)
    assert mixture.converged_
    assert mixture.n_iter_ == 0
    assert mixture.lower_bound_ == pytest.approx(density.score_samples(X).mean(), abs=0.02)
    assert not hasattr(clone(mixture), "means_")


def test_centres_of_weight_zero_are_left_out():
    X = np.concatenate([cloud(2), np.tile([[9.0, 9.0]], (3, 1))])
    density = fitted(X, spread=None, selection="kcenter", k=60, bandwidth=2.0)
    weights = density.mean_.weights
    assert (weights == 0.0).any()
    mixture = density.to_gaussian_mixture()
    assert mixture.n_components == np.count_nonzero(weights)
    np.testing.assert_allclose(mixture.score_samples(X), density.score_samples(X), atol=1e-10)


def test_a_full_density_and_names_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(cloud(2), columns=["a", "b"])
    full = km.SparseKDE(sparse=False, engine="naive").fit(X)
    mixture = full.to_gaussian_mixture()
    assert mixture.n_components == len(X)
    np.testing.assert_allclose(mixture.score_samples(X), full.score_samples(X), atol=1e-10)
    assert mixture.feature_names_in_.tolist() == ["a", "b"]
    sparse = fitted(X, spread="full")
    sparse.save(tmp_path / "density.km")
    loaded = km.SparseKDE.load(tmp_path / "density.km")
    assert loaded.spread == "full"
    np.testing.assert_allclose(
        loaded.to_gaussian_mixture().score_samples(X), sparse.score_samples(X), atol=1e-10
    )


def test_what_is_no_gaussian_mixture_is_refused():
    X = cloud(2)
    with pytest.raises(ValueError, match="needs a Gaussian kernel"):
        fitted(X, kernel="laplacian").to_gaussian_mixture()
    signed = fitted(X)
    signed.mean_ = km.sparse_kernel_mean(X, space="l2", k=40, engine="naive", random_state=0)
    assert (signed.mean_.weights < 0).any()
    with pytest.raises(ValueError, match="nonnegative weights"):
        signed.to_gaussian_mixture()
    half = fitted(X)
    half.mean_ = km.KernelMean(X[:2], np.array([0.2, 0.3]), km.Gaussian(1.0), "l2", None, 2)
    with pytest.raises(ValueError, match=r"sum to one, and these sum to 0\.5"):
        half.to_gaussian_mixture()


def test_covariances_beyond_memory_are_refused(monkeypatch):
    density = fitted(cloud(2))
    monkeypatch.setattr("kernelmean._checks.fits_in_memory", lambda numbers: False)
    with pytest.raises(ValueError, match="does not fit memory"):
        density.to_gaussian_mixture()

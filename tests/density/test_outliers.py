"""SparseKDEOutlierDetector: thresholds are quantiles of the training log-density."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km


def with_outliers(n=1000, outliers=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(n, d)), rng.uniform(-8, 8, size=(outliers, d))])
    return X, np.repeat([0, 1], [n, outliers])


@parametrize_with_checks([km.SparseKDEOutlierDetector()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.37, 0.5])
def test_the_share_of_training_outliers_is_the_contamination(contamination):
    X, _ = with_outliers()
    fitted = km.SparseKDEOutlierDetector(contamination=contamination, random_state=0).fit(X)
    assert np.mean(fitted.predict(X) == -1) == pytest.approx(contamination, abs=2 / len(X))
    assert fitted.offset_ == pytest.approx(
        np.quantile(fitted.score_samples(X), contamination), abs=1e-9
    )
    np.testing.assert_allclose(
        fitted.decision_function(X), fitted.score_samples(X) - fitted.offset_
    )
    np.testing.assert_array_equal(
        fitted.predict(X), np.where(fitted.decision_function(X) < 0, -1, 1)
    )


def test_outliers_are_found_nearly_as_well_as_by_the_exact_density():
    """The exact estimate keeps a centre at each of these training points; about ninety centres for
    a thousand cannot.
    """
    X, y = with_outliers()
    sparse = roc_auc_score(y, -km.SparseKDEOutlierDetector(random_state=0).fit(X).score_samples(X))
    exact = roc_auc_score(y, -km.SparseKDEOutlierDetector(sparse=False).fit(X).score_samples(X))
    assert sparse > exact - 0.03
    assert sparse > 0.95


@pytest.mark.data
def test_on_real_data_the_ranking_is_that_of_the_exact_density(data):
    with np.load(data / "large" / "skin.npz", allow_pickle=False) as file:
        X, y = file["X"][::12].astype(float), file["y"][::12]
    sparse = roc_auc_score(
        y, -km.SparseKDEOutlierDetector(scale="std", random_state=0).fit(X).score_samples(X)
    )
    exact = roc_auc_score(
        y, -km.SparseKDEOutlierDetector(scale="std", sparse=False).fit(X).score_samples(X)
    )
    assert sparse > exact - 0.005


def test_weights_count_in_the_threshold():
    X, _ = with_outliers()
    w = np.random.default_rng(1).integers(0, 3, len(X))
    fitted = km.SparseKDEOutlierDetector(random_state=0).fit(X, sample_weight=w)
    assert w[fitted.predict(X) == -1].sum() / w.sum() == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("bad", [0.0, 0.6, -0.1, np.nan, "auto", None])
def test_a_contamination_that_is_none(bad):
    with pytest.raises((ValueError, TypeError), match="contamination"):
        km.SparseKDEOutlierDetector(contamination=bad).fit(with_outliers()[0])


def test_the_automatic_bandwidth_depends_on_the_dimension():
    for d, rule in ((2, "scott"), (4, "scott"), (5, "iqr")):
        X, _ = with_outliers(200, 5, d)
        found = km.SparseKDEOutlierDetector(random_state=0).fit(X).density_.bandwidth_
        assert found == pytest.approx(getattr(km.bandwidth, rule)(X), rel=1e-12)
    own = km.SparseKDEOutlierDetector(kernel=km.Student(6.0, 2.0), random_state=0).fit(
        with_outliers(200, 5, 6)[0]
    )
    assert own.density_.mean_.kernel == km.Student(6.0, 2.0)


def test_pickle_and_determinism():
    X, _ = with_outliers()
    one, two = (km.SparseKDEOutlierDetector(random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))

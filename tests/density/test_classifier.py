"""SparseKDEClassifier against Bayes' rule written out."""

from __future__ import annotations

import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km


def classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(n, 2)) + np.array(
        [{"a": (0, 0), "b": (3, 0), "c": (0, 3)}[c] for c in y]
    ), y


@parametrize_with_checks([km.SparseKDEClassifier(engine="naive")])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_posteriors_are_bayes_rule_with_class_densities():
    X, y = classes()
    Q = np.random.default_rng(1).normal(size=(30, 2)) * 3
    fitted = km.SparseKDEClassifier(bandwidth=0.5, sparse=False).fit(X, y)
    joint = np.stack(
        [
            np.mean(y == c) * np.exp(KernelDensity(bandwidth=0.5).fit(X[y == c]).score_samples(Q))
            for c in "abc"
        ],
        1,
    )
    np.testing.assert_allclose(
        fitted.predict_proba(Q), joint / joint.sum(axis=1, keepdims=True), rtol=1e-7, atol=1e-12
    )
    np.testing.assert_array_equal(fitted.predict(Q), np.array(list("abc"))[joint.argmax(axis=1)])
    np.testing.assert_allclose(fitted.class_prior_, [np.mean(y == c) for c in "abc"])


def test_the_sparse_rule_is_nearly_the_exact_and_nearly_the_best():
    X, y = classes(3000)
    Q, truth = classes(2000, seed=1)
    sparse = km.SparseKDEClassifier(random_state=0).fit(X, y).predict(Q)
    exact = km.SparseKDEClassifier(sparse=False).fit(X, y).predict(Q)
    densities = [
        multivariate_normal(m).pdf(Q) * p for m, p in (((0, 0), 0.5), ((3, 0), 0.3), ((0, 3), 0.2))
    ]
    best = np.array(list("abc"))[np.argmax(densities, axis=0)]
    assert np.mean(sparse != exact) < 0.01
    assert np.mean(sparse == truth) > np.mean(best == truth) - 0.01


def test_no_row_is_zero_over_zero():
    X, y = classes()
    fitted = km.SparseKDEClassifier(bandwidth=0.3, random_state=0).fit(X, y)
    p = fitted.predict_proba([[1e5, 1e5], [-1e6, 3.0]])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(fitted.predict_log_proba([[1e5, 1e5]])).any()


def test_priors_are_shares_weights_or_given():
    X, y = classes()
    w = np.where(y == "c", 4.0, 1.0)
    weighted = km.SparseKDEClassifier(k=10, random_state=0).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(weighted.class_prior_, [w[y == c].sum() / w.sum() for c in "abc"])
    given = km.SparseKDEClassifier(priors=[0.0, 0.5, 0.5], k=10, random_state=0).fit(X, y)
    assert set(given.predict(X)) <= {"b", "c"}
    with pytest.raises(ValueError, match="priors must be 3 nonnegative numbers"):
        km.SparseKDEClassifier(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="sum to one"):
        km.SparseKDEClassifier(priors=[0.5, 0.5, 0.5]).fit(X, y)


def test_bandwidths_are_per_class_by_rule_or_common():
    X, y = classes()
    rule = partial(km.SparseKDEClassifier, scale=None, k=5, random_state=0)
    per_class = rule(bandwidth="scott").fit(X, y)
    for c, mean in zip("abc", per_class.means_, strict=True):
        assert mean.kernel == km.Gaussian(km.bandwidth.scott(X[y == c]))
    common = rule(bandwidth="jaakkola").fit(X, y)
    assert {mean.kernel for mean in common.means_} == {km.Gaussian(km.bandwidth.jaakkola(X, y))}


@pytest.mark.parametrize("scale", ["std", "cov"])
def test_the_scale_is_common_to_all_classes(scale):
    X, y = classes()
    fitted = km.SparseKDEClassifier(scale=scale, k=20, random_state=0).fit(X, y)
    moved = km.SparseKDEClassifier(scale=scale, k=20, random_state=0).fit(X * [1e3, 1e-2], y)
    np.testing.assert_array_equal(fitted.means_[0].scale, fitted.means_[2].scale)
    np.testing.assert_allclose(
        moved.predict_proba(X * [1e3, 1e-2]), fitted.predict_proba(X), atol=1e-6
    )


def test_a_class_of_one_point_and_a_single_class():
    X, y = classes()
    X, y = np.vstack([X, [[8.0, 8.0]]]), np.append(y, "d")
    fitted = km.SparseKDEClassifier(random_state=0).fit(X, y)
    assert fitted.predict([[8.0, 8.0]])[0] == "d"
    assert set(
        km.SparseKDEClassifier(random_state=0).fit(X, np.full(len(X), "one")).predict(X[:3])
    ) == {"one"}


def test_rows_of_weight_zero_are_absent_even_as_a_class():
    X, y = classes()
    w = np.where(y == "c", 0.0, 1.0)
    fitted = km.SparseKDEClassifier(random_state=0).fit(X, y, sample_weight=w)
    assert list(fitted.classes_) == ["a", "b"]


def test_frames_and_pickle():
    X, y = classes()
    frame = pd.DataFrame(X, columns=["u", "v"])
    fitted = km.SparseKDEClassifier(k=10, random_state=0).fit(frame, pd.Series(y))
    assert list(fitted.feature_names_in_) == ["u", "v"]
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).predict(frame), fitted.predict(frame)
    )
    assert fitted.score(frame, y) > 0.8


def test_where_every_density_vanishes_the_priors_decide():
    """A profile of the user's own has no logarithm: far out it is zero in all classes, and 0/0 says
    nothing.
    """
    kernel = km.Radial(
        lambda s: math.exp(-0.5 * s),
        0.5,
        log_constant=lambda d: -0.5 * d * math.log(2 * math.pi),
        l2_profile=lambda s: math.exp(-0.25 * s),
        l2_constant=lambda d: -0.5 * d * math.log(4 * math.pi),
    )
    X, y = np.array([[0.0], [0.5], [1.0], [3.0]]), [0, 0, 0, 1]
    fitted = km.SparseKDEClassifier(kernel=kernel, random_state=0).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba([[1e3]]), [[0.75, 0.25]])
    assert fitted.predict_proba([[3.0]])[0, 1] > 0.99

"""The classifier and the detector on a domain."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import kernelmean as km

DOMAIN = {"share": (0, 1), "kind": km.Categorical(), "hour": km.Periodic(24)}
WAYS = {
    "likelihood": {"target": "likelihood", "k": 2},
    "copy": {"target": "kde", "k": 20},
    "full": {"sparse": False},
}
EVERY_WAY = pytest.mark.parametrize("way", WAYS)


def labelled(n: int = 160, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two classes that differ a little in every column."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    X = pd.DataFrame(
        {
            "share": rng.beta(1.0 + 2.0 * y, 3.0 - 2.0 * y),
            "kind": np.where(rng.random(n) < 0.3 + 0.4 * y, "u", "v").astype(object),
            "hour": rng.normal(5.0 * y, 2.0) % 24.0,
        }
    )
    return X, y


def classifier(way: str = "copy", **options) -> km.SparseKDEClassifier:
    return km.SparseKDEClassifier(**{"domain": DOMAIN, "random_state": 0, **WAYS[way], **options})


def detector(**options) -> km.SparseKDEOutlierDetector:
    return km.SparseKDEOutlierDetector(**{"domain": DOMAIN, "random_state": 0, **options})


@EVERY_WAY
def test_the_classifier_beats_the_prior(way):
    X, y = labelled()
    new, truth = labelled(seed=1)
    fitted = classifier(way).fit(X, y)
    chances = fitted.predict_proba(new)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    loss = -np.log(chances[np.arange(len(new)), truth]).mean()
    prior = -np.log(fitted.class_prior_[truth]).mean()
    assert loss < 0.6 * prior
    assert fitted.score(new, truth) > max(np.bincount(truth)) / len(truth) + 0.05


@EVERY_WAY
def test_classes_by_categories_alone(way):
    """Bayes' rule on the table of frequencies."""
    X, y = labelled()
    fitted = classifier(way, domain={"kind": km.Categorical()}).fit(X[["kind"]], y)
    chances = fitted.predict_proba(pd.DataFrame({"kind": ["u", "v"]}))[:, 1]
    expected = [y[X["kind"] == kind].mean() for kind in "uv"]
    np.testing.assert_allclose(chances, expected, atol=0.05)


@EVERY_WAY
def test_a_class_that_lacks_a_category_of_another(way):
    X, y = labelled()
    X["kind"] = np.where(y == 1, "w", X["kind"])
    fitted = classifier(way).fit(X, y)
    levels = {mean.domain.levels for mean in fitted.means_}
    assert levels == {(("u", "v", "w"),)}
    assert np.isfinite(fitted.predict_proba(X)).all()
    assert fitted.score(X, y) > 0.95


@pytest.mark.parametrize("way", ["likelihood", "copy"])
def test_a_class_of_a_single_row(way):
    X, y = labelled()
    y = y.copy()
    y[7] = 2
    fitted = classifier(way).fit(X, y)
    chances = fitted.predict_proba(X)
    assert np.isfinite(chances).all()
    assert chances[7, 2] == chances[:, 2].max()


def test_where_no_class_has_anything_the_priors_hold():
    X, y = labelled()
    fitted = classifier().fit(X, y)
    unseen = X.head(2).assign(kind="fox")
    np.testing.assert_allclose(fitted.predict_proba(unseen), [fitted.class_prior_] * 2)


def test_absent_rows_and_repeated_rows_of_the_classifier():
    X, y = labelled(60)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    X.loc[np.flatnonzero(weights == 0)[0], "share"] = -1.0
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = classifier().fit(X, y, sample_weight=weights)
    repeated = classifier().fit(X.iloc[rows], y[rows])
    new, _ = labelled(20, seed=1)
    np.testing.assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new), atol=1e-6)


def test_the_classifier_in_scikit_learn():
    X, y = labelled()
    fitted = classifier().fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X, y)):
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    assert (cross_val_score(classifier(), X, np.array(["a", "b"])[y], cv=3) > 0.7).all()
    search = GridSearchCV(classifier(), {"bandwidth": [0.3, 3.0], "domain": [DOMAIN]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.7
    with pytest.raises(ValueError, match="in this order"):
        fitted.predict(X[["kind", "share", "hour"]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().fit(X, y[:-1])


@pytest.mark.parametrize("options", [{}, {"k": 20}, {"sparse": False}], ids=str)
def test_the_detector_flags_what_was_planted(options):
    X, _ = labelled()
    X.loc[len(X)] = 0.5, "v", 14.0  # an hour at which nothing is
    X.loc[len(X)] = 0.2, "strange", 0.0
    fitted = detector(contamination=0.02, **options)
    labels = fitted.fit_predict(X)
    np.testing.assert_array_equal(labels[-2:], -1)
    assert (labels == -1).sum() <= 4
    np.testing.assert_array_equal(labels == -1, fitted.training_scores_ < fitted.offset_)
    new = pd.DataFrame({"share": 0.2, "kind": ["v", "fox", "v"], "hour": [0.1, 0.1, 13.0]})
    np.testing.assert_array_equal(fitted.predict(new), [1, -1, -1])
    assert np.isneginf(fitted.score_samples(new)[1])


@pytest.mark.parametrize("options", [{}, {"k": 20}, {"sparse": False}], ids=str)
@pytest.mark.parametrize("domain", [(0, None), (0, 10), km.Periodic(10)], ids=str)
def test_a_lone_row_at_a_bound_is_no_inlier(domain, options):
    """Its own images are no company."""
    rng = np.random.default_rng(0)
    X = np.append(5.0 + rng.random(100), 0.0)[:, None]
    fitted = detector(domain={0: domain}, contamination=0.02, **options)
    assert fitted.fit_predict(X)[-1] == -1
    assert fitted.training_scores_[-1] < fitted.training_scores_[:-1].min() - 10.0


@pytest.mark.parametrize("options", [{}, {"sparse": False}], ids=str)
@pytest.mark.parametrize("domain", [None, {0: (0, None)}], ids=str)
def test_a_single_row_leaves_nothing_to_compare_it_with(domain, options):
    fitted = km.SparseKDEOutlierDetector(bandwidth=1.0, domain=domain, **options).fit([[1.0]])
    assert fitted.training_scores_[0] < -1e299
    np.testing.assert_array_equal(fitted.predict([[1.0], [2.0]]), 1)


def test_training_scores_of_a_full_estimate_leave_each_row_out():
    X, _ = labelled(40)
    fixed = {**DOMAIN, "kind": km.Categorical(["u", "v"], smoothing=0.1)}
    options = {"domain": fixed, "bandwidth": 1.0, "sparse": False}
    scores = detector(**options).fit(X).training_scores_
    for i in (0, 7, 31):
        others = X.drop(index=i)
        expected = km.SparseKDE(**options).fit(others).score_samples(X.iloc[[i]])
        np.testing.assert_allclose(scores[i], expected[0], rtol=1e-9)


def test_absent_rows_of_the_detector_are_scored_as_new():
    X, _ = labelled(60)
    expected = detector().fit(X)
    absent = pd.DataFrame({"share": [-5.0, 0.5, 0.5, 0.1], "kind": ["u", "strange", None, "v"]})
    absent["hour"] = 1.0
    weights = np.repeat([0.0, 1.0], [4, len(X)])
    fitted = detector().fit(pd.concat([absent, X], ignore_index=True), sample_weight=weights)
    np.testing.assert_array_equal(fitted.training_scores_[:3], -np.inf)
    new = expected.score_samples(absent.iloc[[3]])
    np.testing.assert_allclose(fitted.training_scores_[3], new[0])
    np.testing.assert_allclose(fitted.training_scores_[4:], expected.training_scores_)
    assert fitted.offset_ == pytest.approx(expected.offset_)


def test_repeated_rows_of_the_detector():
    X, _ = labelled(60)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = X.loc[np.repeat(np.arange(len(X)), weights)]
    weighted = detector().fit(X, sample_weight=weights)
    assert weighted.offset_ == pytest.approx(detector().fit(repeated).offset_, abs=1e-4)


def test_the_detector_in_scikit_learn():
    X, _ = labelled(60)
    fitted = detector().fit(X)
    other = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clone(fitted).fit(X).score_samples(X), fitted.score_samples(X))
    assert fitted.get_params()["domain"] == DOMAIN
    turned = X.assign(hour=X["hour"] - 48.0)
    np.testing.assert_allclose(fitted.score_samples(turned), fitted.score_samples(X), rtol=1e-9)


def test_a_category_of_a_single_row_is_left_out_with_it():
    """By the share that others lend it, the centre of the frequent category adds more there."""
    X = np.array([["a"]] * 99 + [["b"]], dtype=object)
    options = {"domain": {0: km.Categorical()}, "contamination": 0.05}
    sparse, full = (detector(sparse=sparse, **options).fit(X) for sparse in (True, False))
    np.testing.assert_allclose(sparse.training_scores_, full.training_scores_)
    np.testing.assert_array_equal(sparse.predict([["a"], ["b"]]), [1, -1])


def slopes_and_lines(n: int = 1500) -> np.ndarray:
    """Waiting times that slope at their bound, beside numbers that lean, and places."""
    rng = np.random.default_rng(5)
    line = rng.normal(size=n)
    return np.column_stack(
        [
            line,
            rng.exponential(2.0, n),
            line + 0.3 * rng.normal(size=n),
            rng.uniform(size=n),
            rng.normal(10.0, 5.0, n),
            rng.normal(40.0, 5.0, n),
        ]
    )


@pytest.mark.parametrize("part", ["whole", "marginal", "conditional"])
def test_components_that_end_at_bounds_come_back_from_a_file(part, tmp_path):
    X = slopes_and_lines()
    domain = {1: (0, None), 3: (0, 1), (4, 5): km.Sphere()}
    density = km.SparseKDE(domain=domain, random_state=0).fit(X)
    assert density.mean_.cut.any()
    asked = X
    if part == "marginal":
        density = density.marginal([0, 1, 2, 3])
        asked = X[:, :4]
    if part == "conditional":
        density = density.conditional({0: 0.3})
        asked = np.delete(X, 0, axis=1)
    density.save(tmp_path / "density.km")
    loaded = km.load(tmp_path / "density.km")
    np.testing.assert_array_equal(
        density.score_samples(asked) if hasattr(density, "score_samples") else density.log(asked),
        loaded.log(asked),
    )

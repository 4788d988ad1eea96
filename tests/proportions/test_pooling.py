"""The pool: out-of-fold posteriors, trust, determinism, and a classifier that others can use."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from kernelmean.proportions import families, pooling
from kernelmean.proportions.calibration import log_loss
from kernelmean.proportions.families import Family
from kernelmean.proportions.pooling import CalibratedPool


def rows(n, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + 2.0 * np.eye(3)[y], y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows(240, classes=3)
    return CalibratedPool(random_state=3).fit(X, np.array(["a", "b", "c"])[y])


def test_posteriors_are_those_of_rows_that_were_not_seen():
    """One nearest neighbour is sure of every row that it knows, and wrong about some others."""
    X, y = rows(200)
    pool = CalibratedPool(KNeighborsClassifier(1)).fit(X, y)
    own = pool.out_of_fold_[np.arange(200), y]
    assert 0.02 < (own < 0.5).mean() < 0.3
    assert pool.out_of_fold_.max() < 0.999  # and so it is not believed altogether
    np.testing.assert_allclose(pool.out_of_fold_.sum(axis=1), 1.0)


def test_the_pool_is_a_classifier(fitted):
    X, y = rows(300, seed=1, classes=3)
    P = fitted.predict_proba(X)
    assert P.shape == (300, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert fitted.score(X, np.array(["a", "b", "c"])[y]) > 0.8
    assert list(fitted.classes_) == ["a", "b", "c"]
    assert clone(fitted).get_params() == {"classifier": None, "random_state": 3}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), P)


def test_the_pool_is_no_worse_than_its_best_family(fitted):
    _, y = rows(240, classes=3)
    assert set(fitted.names_) <= set(fitted.losses_)
    assert {"linear", "kernel", "neighbours", "trees", "boosting"} == set(fitted.losses_)
    assert log_loss(fitted.out_of_fold_, y) <= min(fitted.losses_.values()) + 1e-3


def test_a_family_that_knows_nothing_is_left_out(monkeypatch):
    tried = [
        Family("clever", LogisticRegression),
        Family("blind", lambda: DummyClassifier(strategy="prior")),
    ]
    monkeypatch.setattr(pooling, "families", lambda *_: tried)
    X, y = rows(120)
    pool = CalibratedPool().fit(X, y)
    assert pool.names_ == ["clever"]
    assert len(pool.members_) == 1


def test_where_no_family_knows_anything_one_is_kept(monkeypatch):
    class Mute(DummyClassifier):
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    blind = [Family(name, Mute) for name in ("blind", "as blind")]
    monkeypatch.setattr(pooling, "families", lambda *_: blind)
    X, y = rows(90)
    pool = CalibratedPool().fit(X, y)
    assert pool.names_ == ["blind"]
    np.testing.assert_allclose(pool.predict_proba(X), 0.5, atol=0.02)


def test_frames_and_lists_are_rows():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = rows(60)
    P = CalibratedPool(LogisticRegression()).fit(X, y).predict_proba(X)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    pool = CalibratedPool(LogisticRegression()).fit(frame, y)
    np.testing.assert_allclose(pool.predict_proba(frame), P)
    np.testing.assert_allclose(
        CalibratedPool(LogisticRegression()).fit(X.tolist(), y).predict_proba(X), P
    )
    with pytest.raises(ValueError, match="feature names"):
        pool.predict_proba(frame[["b", "a", "c"]])


def test_the_number_of_threads_does_not_matter(monkeypatch, fitted):
    X, y = rows(240, classes=3)
    monkeypatch.setattr(pooling.os, "cpu_count", lambda: 1)
    alone = CalibratedPool(random_state=3).fit(X, y)
    assert alone.names_ == fitted.names_
    np.testing.assert_allclose(alone.out_of_fold_, fitted.out_of_fold_, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_decision_values_are_calibrated(classes):
    X, y = rows(300, classes=classes)
    pool = CalibratedPool(RidgeClassifier()).fit(X, y)
    assert log_loss(pool.predict_proba(X), y) < 0.45
    assert pool.names_ == ["RidgeClassifier"]


def test_classes_of_few_rows_take_fewer_folds():
    X, y = rows(100)
    y = np.concatenate([y[:-2], [2, 2]])
    assert CalibratedPool(LogisticRegression()).fit(X, y).out_of_fold_.shape == (100, 3)
    with pytest.raises(ValueError, match="class 2 has one point"):
        CalibratedPool(LogisticRegression()).fit(X[:-1], y[:-1])


def test_units_outliers_and_constant_columns_change_little():
    X, y = rows(200)
    foreign = np.column_stack([X * [1e-6, 1.0, 1e6], np.ones(200)])
    foreign[0, 0] = 1.0  # a million widths away
    for name in ("linear", "kernel", "neighbours"):
        P, Q = (
            next(f for f in families.families(Z, 2, 0) if f.name == name).make().fit(Z, y)
            for Z in (X, foreign)
        )
        agree = P.predict(X[1:]) == Q.predict(foreign[1:])
        assert agree.mean() > 0.85


def test_boosting_is_left_out_where_it_takes_too_long(monkeypatch):
    X, _ = rows(50)
    monkeypatch.setattr(families, "MOST_BOOSTING", 50 * 3 * 2 - 1)
    assert "boosting" not in [f.name for f in families.families(X, 2, 0)]
    assert "boosting" in [f.name for f in families.families(X[:-1], 2, 0)]

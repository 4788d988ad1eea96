"""The sets, peers and tables of class proportions are made on little data, so that scripts do not
rot.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from benchmarks import (
    cluster_sets,
    quantification,
    quantification_doubt,
    quantification_peers,
    quantification_sets,
    quantification_time,
)
from benchmarks.quantification_peers import METHODS, OWN, Posteriors
from benchmarks.quantification_sets import Split
from benchmarks.tables import AbsentError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict


def blobs(classes: int, n: int = 400) -> Split:
    """Clusters of different size that overlap a little."""
    shares = np.arange(1, classes + 1) / np.arange(1, classes + 1).sum()
    centers = cluster_sets.polygon(max(classes, 3), 3.0)[:classes]
    rows = cluster_sets.gaussians(n, centers, 0, shares=tuple(shares))
    return quantification_sets.standardised(quantification_sets.split(rows))


@pytest.fixture
def quapy():
    pytest.importorskip("quadprog", reason="quadprog is not installed")
    pytest.importorskip("quapy", reason="quapy is not installed")
    return quantification_peers.quapy()


class Interval(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray


class Fit(NamedTuple):
    p_value: float


class StandIn:
    """An estimator that counts what a logistic regression says, and doubts far rows."""

    def __init__(self, **options):
        self.options = options

    def fit(self, X, y):
        self.classifier_ = LogisticRegression().fit(X, y)
        self.classifier_.out_of_fold_ = cross_val_predict(
            self.classifier_, X, y, method="predict_proba"
        )
        return self

    def predict(self, X):
        if isinstance(X, list):
            return np.array([self.predict(sample) for sample in X])
        return self.classifier_.predict_proba(X).mean(axis=0)

    def predict_interval(self, X, *, level):
        assert level == 0.95
        return [Interval(found - 0.2, found + 0.2) for found in self.predict(X)]

    def goodness_of_fit(self, X):
        return Fit(float(np.abs(X).max() < 4.0))


@pytest.fixture
def made_up(monkeypatch):
    """Little data instead of the real sets, a stand-in for the estimator, and few samples."""
    sets = {"two": blobs(2), "three": blobs(3)}

    def load(name: str) -> Split:
        if name not in sets:
            raise AbsentError("no data here")
        return sets[name]

    monkeypatch.setattr(quantification_sets, "load", load)
    monkeypatch.setattr(quantification_doubt.km, "ClassProportions", StandIn)
    monkeypatch.setattr(quantification_peers, "SMALL_SIZE", 40)
    quantification.errors.cache_clear()
    yield ("two", "three", "nowhere")
    quantification.errors.cache_clear()


def test_sets_for_tuning_and_for_figures_differ():
    assert len(quantification_sets.REPORT) == 15
    assert len(quantification_sets.TUNING) == 22
    assert not set(quantification_sets.REPORT) & set(quantification_sets.TUNING)
    with pytest.raises(KeyError, match="no set 'nowhere'"):
        quantification_sets.load("nowhere")


@pytest.mark.parametrize("name", [*quantification_sets.REPORT, *quantification_sets.TUNING])
def test_a_set_has_scaled_columns_and_classes_from_zero(name):
    try:
        split = quantification_sets.load(name)
    except AbsentError as reason:
        pytest.skip(str(reason))
    assert 80 <= len(split.X) == len(split.y) <= quantification_sets.TRAINING_ROWS
    assert len(split.X) - 1 <= len(split.pool) == len(split.pool_labels) <= 20_000
    everything = np.concatenate([split.y, split.pool_labels])
    np.testing.assert_array_equal(np.unique(split.y), np.arange(split.classes))
    assert np.bincount(everything).min() >= quantification_sets.FEWEST
    if name != "MNIST":
        np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(split.X.std(axis=0), 1.0, atol=1e-9)


def test_small_classes_are_left_out_and_the_pool_is_scaled_by_the_training_rows():
    X = np.column_stack([np.arange(100.0), np.ones(100)])
    y = np.repeat(["a", "b", "c"], [45, 10, 45])
    split = quantification_sets.split(cluster_sets.Labelled(X, y))
    assert (len(split.X), len(split.pool), split.classes) == (45, 45, 2)
    assert not set(split.X[:, 0]) & set(split.pool[:, 0])
    scaled = quantification_sets.standardised(split)
    mean, size = split.X[:, 0].mean(), split.X[:, 0].std()
    np.testing.assert_allclose(scaled.pool, (split.pool[:, :1] - mean) / size)


@pytest.mark.parametrize(
    ("method", "classes"),
    # QuaPy labels one class against all others True and False, which HDy takes for a mask.
    [(name, count) for name in METHODS for count in (2, 3) if (name, count) != ("HDy", 3)],
)
def test_peers_given_posteriors_are_quapys_own(quapy, method, classes):
    """QuaPy's fit makes the same folds, and its predict the same posteriors."""
    split = blobs(classes)
    P = quantification_peers.by_default(split)
    options = {name: value for name, value in METHODS[method].items() if name != "val_split"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = vars(quapy.method.aggregative)[method](LogisticRegression(), **options)
        own.fit(split.X, split.y)
        given = quantification_peers.fitted(method, P.training, split.y)
        for sample in quantification_peers.drawn(split.pool_labels, 2):
            np.testing.assert_allclose(
                given(P.pool[sample.rows]), own.predict(split.pool[sample.rows]), atol=1e-6
            )


def test_one_class_against_all_others(quapy):
    split = blobs(3, 1000)
    P = quantification_peers.by_default(split)
    estimate = quantification_peers.fitted("HDy", P.training, split.y)
    sample, _ = quantification_peers.drawn(split.pool_labels, 2)
    found = estimate(P.pool[sample.rows])
    assert found.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found, sample.truth, atol=0.2)


def test_samples_are_those_of_quapys_protocol(quapy):
    labels = blobs(3).pool_labels
    first, second = (quantification_peers.drawn(labels, 3) for _ in range(2))
    for sample, again in zip(first, second, strict=True):
        np.testing.assert_array_equal(sample.rows, again.rows)
        counts = np.bincount(labels[sample.rows], minlength=3)
        np.testing.assert_allclose(sample.truth, counts / quantification_peers.SMALL_SIZE)
    off = [sample._replace(truth=1.0 - sample.truth) for sample in first]
    errors = quantification_peers.absolute_errors(first, [sample.truth for sample in off])
    truth = np.array([sample.truth for sample in first])
    np.testing.assert_allclose(errors, np.abs(1.0 - 2.0 * truth).mean(axis=1))


def test_peers_are_computed_once(quapy, tmp_path, monkeypatch):
    split, cache = blobs(2), tmp_path / "kept.json"
    P = quantification_peers.by_default(split)
    samples = quantification_peers.drawn(split.pool_labels, 2)
    first = quantification_peers.errors("two", OWN, P, split, samples, cache)
    assert list(first) == list(METHODS)
    assert all(0.0 <= error < 0.5 for error in first.values())
    monkeypatch.setattr(quantification_peers, "fitted", None)
    assert quantification_peers.errors("two", OWN, P, split, samples, cache) == first
    other = Posteriors(P.training[:, ::-1], P.pool)
    with pytest.raises(TypeError):
        quantification_peers.errors("two", OWN, other, split, samples, cache)


def test_without_quapy_a_table_says_so(monkeypatch, made_up, tmp_path):
    monkeypatch.setattr(quantification_peers.importlib.util, "find_spec", lambda name: None)
    (row,) = quantification.by_set(["two"], tmp_path / "kept.json")
    assert row.detail == "skipped: the package quapy is not installed"
    (row,) = quantification.summary(["two"], tmp_path / "kept.json")
    assert row.detail == "no set or no QuaPy here"


def test_errors_and_ranks(quapy, made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(quantification_peers.drawn, "__defaults__", (3,))
    cache = tmp_path / "kept.json"
    two, three, nowhere = quantification.by_set(made_up, cache)
    assert (two.case, three.goal) == ("two, 200 × 2, 2 classes", "≤ 1.1")
    assert nowhere.detail == "skipped: no data here"
    found = quantification.errors("two", cache)
    assert len(found) == 1 + 2 * len(METHODS)
    # The stand-in is PCC with the classifier that it chose.
    assert found["kernelmean"] == pytest.approx(found["PCC, our classifier"])
    rank, single, worst, *lines = quantification.summary(made_up, cache)
    assert rank.case == "our mean rank among 23 on 2 sets"
    assert worst.ratio == pytest.approx(max(two.ratio, three.ratio))
    assert [float(line.ratio) for line in lines] == sorted(float(line.ratio) for line in lines)
    least = min(_factor(line.detail) for line in lines)
    assert 1.0 / single.ratio == pytest.approx(least, abs=1e-3)


def _factor(detail: str) -> float:
    return float(detail.partition(" ")[0])


def test_the_estimator_itself_takes_part(quapy, tmp_path, monkeypatch):
    """Attributes that peers are given, and the calls that the tables make."""
    split = blobs(3)
    monkeypatch.setattr(quantification_sets, "load", lambda name: split)
    monkeypatch.setattr(quantification_peers.drawn, "__defaults__", (3,))
    monkeypatch.setattr(quantification_doubt, "SAMPLES", 3)
    monkeypatch.setattr(quantification_doubt, "TESTED", 3)
    quantification.errors.cache_clear()
    found = quantification.errors("blobs", tmp_path / "kept.json")
    quantification.errors.cache_clear()
    assert found["kernelmean"] < 0.15
    model = quantification_doubt.ours(split.X, split.y)
    P = quantification.chosen(model, split)
    assert P.training.shape == (len(split.X), 3)
    np.testing.assert_allclose(P.training.sum(axis=1), 1.0)
    assert quantification_doubt.covered("blobs").detail.startswith("9 intervals")
    assert 0.0 <= quantification_doubt.alarms(split).prior <= 1.0


def test_time_with_the_same_classifier(quapy, made_up):
    two, three, nowhere = quantification_time.same_classifier(made_up)
    assert (two.case, two.goal) == ("two", "≤ 1")
    assert three.ratio > 0.0
    assert "with the choice of a classifier" in three.detail
    assert nowhere.detail == "skipped: no data here"


def test_many_training_rows(quapy, made_up, monkeypatch):
    constants = {"TIMED": 2, "ROWS": 1000, "POOL": 300, "SUBSET": 250}
    for name, value in constants.items():
        monkeypatch.setattr(quantification_time, name, value)
    monkeypatch.setattr(quantification_time, "cover", lambda: quantification_sets.load("nowhere"))
    predict, in_all, error, absent = quantification_time.large()
    assert (predict.case, predict.goal) == ("drawn Gaussians, 1000 rows: predict", "≥ 50")
    assert "with 250 rows, times 4.0" in predict.detail
    assert in_all.goal == absent.goal == "–"
    assert error.ratio > 0.0


def test_prevalences_of_mixtures_are_those_of_the_population():
    labels = np.repeat([0, 1, 2], 1000)
    first, *_ = found = quantification_doubt.mixtures(labels, 50, 0)
    counts = np.bincount(labels[first.rows], minlength=3)
    assert counts.sum() == quantification_peers.SIZE
    np.testing.assert_allclose(counts / counts.sum(), first.truth, atol=0.1)
    assert any(not np.isclose(sample.truth * 500 % 1.0, 0.0).all() for sample in found)


def test_coverage(made_up, monkeypatch):
    monkeypatch.setattr(quantification_doubt, "SAMPLES", 10)
    mean, two, three, nowhere = quantification_doubt.coverage(made_up)
    assert mean.goal == "0.93 to 0.97"
    assert float(mean.ratio) == pytest.approx((float(two.ratio) + float(three.ratio)) / 2, abs=1e-3)
    assert three.detail == "30 intervals, mean width 0.400"
    assert nowhere.ratio is None


def test_goodness_of_fit(made_up, monkeypatch):
    monkeypatch.setattr(quantification_doubt, "TESTED", 4)
    monkeypatch.setattr(quantification_doubt, "NOISE", 20.0)
    prior, noise, unseen, two, three, nowhere = quantification_doubt.goodness(made_up)
    assert (float(prior.ratio), prior.goal) == (0.0, "about 0.05")
    assert float(noise.ratio) == 1.0
    assert float(unseen.ratio) == 0.0  # a third blob is not far
    assert two.detail == "noise 1.00, no third class"
    assert three.detail == "noise 1.00, unseen class 0.00"
    assert nowhere.ratio is None


def test_rows_of_an_unseen_class_are_in_every_sample(made_up):
    labels = quantification_sets.load("three").pool_labels
    for seed in range(5):
        rows = quantification_doubt._with_unseen(labels, 2, np.random.default_rng(seed))
        assert (labels[rows] == 2).mean() == pytest.approx(0.2, abs=0.5 / len(rows))
        assert len(np.unique(rows)) == len(rows)

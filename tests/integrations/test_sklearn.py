"""scikit-learn's conventions: names and frames out, weights through searches, bars on request."""

from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelmean as km
from kernelmean import _progress

X = np.random.default_rng(0).normal(size=(240, 2))
Y = (X[:, 0] > 0).astype(int)
SAMPLES = {
    name: X[i * 60 : (i + 1) * 60] + i for i, name in enumerate(["anna", "bert", "carl", "dora"])
}

ESTIMATORS = {
    "SparseKDE": (km.SparseKDE(k=8, random_state=0), (X,)),
    "KernelDensity": (km.KernelDensity(), (X,)),
    "SparseKDEClassifier": (km.SparseKDEClassifier(k=8, random_state=0), (X, Y)),
    "SparseKDEOutlierDetector": (km.SparseKDEOutlierDetector(k=8, random_state=0), (X,)),
    "MeanShift": (km.MeanShift(k=8, random_state=0), (X,)),
    "ClassProportions": (km.ClassProportions(representation="raw", random_state=0), (X, Y)),
    "DistributionEmbedding": (km.DistributionEmbedding(n_neighbors=2, random_state=0), (SAMPLES,)),
}


def answers(model, data):
    """What a fitted estimator says, as arrays."""
    if isinstance(model, km.DistributionEmbedding):
        return model.transform(data[0])
    ask = getattr(model, "predict", None) or model.score_samples
    return ask(data[0])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# --- files


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_estimators_survive_joblib_and_pickle(name, tmp_path):
    model, data = ESTIMATORS[name]
    fitted = clone(model).fit(*data)
    expected = answers(fitted, data)
    joblib.dump(fitted, tmp_path / "model.joblib", compress=3)
    for again in (joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(answers(again, data), expected)


# --- progress


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bars_on_request(name, monkeypatch):
    """``verbose`` asks for bars during the fit alone; what a caller asked for stays asked for."""
    model, data = ESTIMATORS[name]
    assert model.get_params()["verbose"] is False
    wanted = []
    original = km.engines.open

    def watched(*arguments, **options):
        wanted.append(_progress.wanted())
        return original(*arguments, **options)

    monkeypatch.setattr("kernelmean.engines.open", watched)
    for verbose, around, expected in [
        (False, False, False),
        (True, False, True),
        (False, True, True),
    ]:
        wanted.clear()
        with _progress.shown(around):
            clone(model).set_params(verbose=verbose).fit(*data)
        assert expected in wanted  # of samples that are fitted side by side, the thread that waits
        assert expected or set(wanted) == {False}
        assert _progress.wanted() is False


def test_a_long_fit_says_how_far_it_is(monkeypatch):
    told = io.StringIO()
    bar = _progress.bar
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(
        _progress, "bar", lambda name, **options: bar(name, file=told, mininterval=0, **options)
    )
    km.SparseKDE(k=20, spread=None, bandwidth=0.5, verbose=True, random_state=0).fit(X)
    assert "centres" in told.getvalue()


# --- frames out


def test_coordinates_have_names():
    model = km.DistributionEmbedding(n_neighbors=2, random_state=0).fit(SAMPLES)
    names = ["distributionembedding0", "distributionembedding1"]
    assert model.get_feature_names_out().tolist() == names
    plain = model.transform(SAMPLES)
    found = model.set_output(transform="pandas").transform(SAMPLES)
    pd.testing.assert_frame_equal(found, pd.DataFrame(plain, index=list(SAMPLES), columns=names))
    again = clone(model).fit_transform(samples=SAMPLES)
    assert again.index.tolist() == list(SAMPLES)
    assert model.set_output(transform="polars").transform(SAMPLES).columns == names
    np.testing.assert_array_equal(model.set_output(transform="default").transform(SAMPLES), plain)
    with pytest.raises(ValueError, match="unknown output 'list'"):
        model.set_output(transform="list")


def test_distances_have_the_names_of_samples():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(who=np.repeat(list(SAMPLES), 60))
    model = km.DistributionEmbedding(embedding=None, group="who", random_state=0)
    with sklearn.config_context(transform_output="pandas"):
        found = model.fit_transform(frame)
    assert found.columns.tolist() == [f"distance_{name}" for name in SAMPLES]
    assert found.index.tolist() == list(SAMPLES)
    assert isinstance(model.set_output(transform="polars").transform(frame), pl.DataFrame)


def test_frames_in_a_pipeline():
    pipeline = make_pipeline(km.DistributionEmbedding(n_neighbors=2, random_state=0))
    found = pipeline.set_output(transform="pandas").fit_transform(SAMPLES)
    assert found.shape == (4, 2)
    assert found.index.tolist() == list(SAMPLES)


# --- metadata routing


def test_weights_in_fits_and_scores_of_a_search(routing):
    """Weights of zero are absent rows: with them half of the rows have no part in anything."""
    w = np.tile([1.0, 0.0], len(X) // 2)
    density = km.SparseKDE(k=8, random_state=0)
    density = density.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(density, {"bandwidth": [0.3, 0.6]}, cv=2, refit=False)
    found = search.fit(X, sample_weight=w).cv_results_["mean_test_score"]
    halves = [(slice(0, 120), slice(120, 240)), (slice(120, 240), slice(0, 120))]
    for bandwidth, score in zip([0.3, 0.6], found, strict=True):
        expected = [
            km.SparseKDE(k=8, bandwidth=bandwidth, random_state=0)
            .fit(X[train][::2])
            .score(X[test][::2])
            for test, train in halves
        ]
        assert score == pytest.approx(np.mean(expected), rel=1e-9)


def test_weights_in_a_pipeline(routing):
    w = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    density = km.SparseKDE(k=8, random_state=0).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(scaler, density.set_score_request(sample_weight=True))
    fitted = pipeline.fit(X, sample_weight=w)
    Z = StandardScaler().fit(X, sample_weight=w).transform(X)
    expected = km.SparseKDE(k=8, random_state=0).fit(Z, sample_weight=w)
    assert fitted.score(X, sample_weight=w) == pytest.approx(expected.score(Z, sample_weight=w))


def test_weights_that_nobody_asked_for_are_refused(routing):
    search = GridSearchCV(km.SparseKDE(), {"bandwidth": [0.3]})
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        search.fit(X, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize(
    "model",
    [km.SparseKDEClassifier(k=8, random_state=0), km.SparseKDEOutlierDetector(k=8), km.MeanShift()],
    ids=lambda model: type(model).__name__,
)
def test_every_fit_with_weights_can_be_asked_for_them(routing, model):
    asked = model.set_fit_request(sample_weight=True)
    assert asked.get_metadata_routing().fit.requests["sample_weight"] is True


def test_weights_of_a_classifier(routing):
    model = km.SparseKDEClassifier(k=8, random_state=0).set_fit_request(sample_weight=True)
    model = model.set_score_request(sample_weight=True)
    w = np.ones(len(X))
    found = cross_validate(model, X, Y, params={"sample_weight": w}, cv=2)
    assert found["test_score"].min() > 0.9


def test_groups_of_an_embedding_are_metadata(routing):
    model = km.DistributionEmbedding(embedding=None, random_state=0).set_fit_request(groups=True)
    pipeline = make_pipeline(StandardScaler(), model)
    fitted = pipeline.fit(X, groups=np.repeat(list(SAMPLES), 60))
    assert fitted[-1].names_ == list(SAMPLES)


def test_integer_weights_of_a_score_are_repeated_rows():
    density = km.SparseKDE(k=8, random_state=0).fit(X)
    w = np.random.default_rng(1).integers(0, 4, size=len(X))
    repeated = density.score(np.repeat(X, w, axis=0))
    assert density.score(X, sample_weight=w) == pytest.approx(repeated)
    with pytest.raises(ValueError, match="nonnegative"):
        density.score(X, sample_weight=-w)

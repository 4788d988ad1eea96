"""SparseKDEOutlierDetector: thresholds are quantiles of the training log-density."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

import kernelmean as km
from kernelmean import _checks
from kernelmean.bandwidth import RANKING_SHARE
from kernelmean.density import quantiles
from kernelmean.mean import scaling


def with_outliers(n=1000, outliers=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(n, d)), rng.uniform(-8, 8, size=(outliers, d))])
    return X, np.repeat([0, 1], [n, outliers])


NOT_APPLICABLE = {
    "check_outliers_train": "predict treats rows as new, so of the fitted rows it flags not just "
    "the share that contamination says",
    "check_outliers_fit_predict": "fit_predict leaves each row out, and predict treats it as new",
}


def test_scikit_learns_checks():
    results = check_estimator(
        km.SparseKDEOutlierDetector(), expected_failed_checks=NOT_APPLICABLE, on_skip=None
    )
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(NOT_APPLICABLE)
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.37, 0.5])
def test_the_share_of_training_outliers_is_the_contamination(contamination):
    X, _ = with_outliers()
    fitted = km.SparseKDEOutlierDetector(contamination=contamination, random_state=0)
    flagged = fitted.fit_predict(X) == -1
    assert flagged.sum() in {int(contamination * len(X)), int(contamination * len(X)) + 1}
    np.testing.assert_array_equal(flagged, fitted.training_scores_ < fitted.offset_)
    np.testing.assert_allclose(
        fitted.decision_function(X), fitted.score_samples(X) - fitted.offset_
    )
    np.testing.assert_array_equal(
        fitted.predict(X), np.where(fitted.decision_function(X) < 0, -1, 1)
    )
    np.testing.assert_allclose(
        fitted.log_quantiles_, np.quantile(fitted.training_scores_, np.linspace(0, 1, 1001))
    )


@pytest.mark.parametrize("d", [20, 50])
@pytest.mark.parametrize("options", [{}, {"bandwidth": "scott", "scale": None}], ids=str)
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # a narrow kernel, on purpose
def test_outliers_that_become_centres_do_not_score_themselves(d, options):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(1000, d)), 2.0 * rng.normal(size=(20, d))])
    y = np.repeat([0, 1], [1000, 20])
    fitted = km.SparseKDEOutlierDetector(random_state=0, **options).fit(X)
    assert roc_auc_score(y, -fitted.training_scores_) > 0.95
    if options:  # a narrow kernel: what was wrong
        assert roc_auc_score(y, -fitted.score_samples(X)) < 0.5


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("options", [{}, {"bandwidth": "scott", "scale": None}], ids=str)
@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # a narrow kernel, on purpose
def test_contamination_is_true_of_new_inliers(d, options):
    """The share below a rank of n scores is a beta variable: √(c(1 − c)/n) about c, per draw.

    Averaged over draws, with a margin of three of its standard deviations.
    """
    draws, n = 4, 1000
    shares = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        fitted = km.SparseKDEOutlierDetector(random_state=0, **options)
        fitted.fit(rng.normal(size=(n, d)))
        shares.append(np.mean(fitted.predict(rng.normal(size=(5000, d))) == -1))
    error = (0.1 * 0.9 * (1 / n + 1 / 5000) / draws) ** 0.5
    assert np.mean(shares) == pytest.approx(0.1, abs=3 * error)


def test_outliers_are_found_as_well_as_by_the_exact_density():
    X, y = with_outliers()
    sparse, exact = (
        roc_auc_score(
            y,
            -km.SparseKDEOutlierDetector(sparse=sparse, random_state=0).fit(X).training_scores_,
        )
        for sparse in (True, False)
    )
    assert sparse > exact - 0.005
    assert sparse > 0.95


@pytest.mark.data
def test_on_real_data_the_ranking_is_that_of_the_exact_density(data):
    with np.load(data / "large" / "skin.npz", allow_pickle=False) as file:
        X, y = file["X"][::12].astype(float), file["y"][::12]
    sparse, exact = (
        roc_auc_score(
            y,
            -km.SparseKDEOutlierDetector(sparse=sparse, random_state=0).fit(X).training_scores_,
        )
        for sparse in (True, False)
    )
    assert sparse > exact - 0.005


def test_weights_count_in_the_threshold():
    X, _ = with_outliers()
    w = np.random.default_rng(1).integers(0, 3, len(X))
    fitted = km.SparseKDEOutlierDetector(random_state=0)
    flagged = fitted.fit_predict(X, sample_weight=w) == -1
    assert w[flagged].sum() / w.sum() == pytest.approx(0.1, abs=0.005)
    absent = w == 0
    np.testing.assert_allclose(
        fitted.training_scores_[absent], fitted.score_samples(X[absent]), rtol=1e-12
    )


@pytest.mark.parametrize("sparse", [True, False])
def test_integer_weights_are_repeated_rows(sparse):
    X, _ = with_outliers(100, 5)
    w = np.random.default_rng(1).integers(1, 3, len(X))
    options = {"sparse": sparse, "spread": None, "selection": "kcenter", "random_state": 0}
    weighted = km.SparseKDEOutlierDetector(**options).fit(X, sample_weight=w)
    repeated = km.SparseKDEOutlierDetector(**options).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(
        np.repeat(weighted.training_scores_, w), repeated.training_scores_, rtol=1e-7
    )
    assert weighted.offset_ == pytest.approx(repeated.offset_, rel=1e-7)


@pytest.mark.parametrize("bad", [0.0, 0.6, -0.1, np.nan, "auto", None])
def test_a_contamination_that_is_none(bad):
    with pytest.raises((ValueError, TypeError), match="contamination"):
        km.SparseKDEOutlierDetector(contamination=bad).fit(with_outliers()[0])


def test_the_automatic_bandwidth_is_a_share_of_the_median_distance():
    X, _ = with_outliers(200, 5)
    fitted = km.SparseKDEOutlierDetector(random_state=0).fit(X * [1.0, 1e9, 1e-3])
    scaled = X / scaling.robust_widths(km.engines.open("naive").load(X).summary)
    expected = RANKING_SHARE * km.bandwidth.median(scaled)
    assert fitted.density_.bandwidth_ == pytest.approx(expected, rel=1e-9)
    for name in ("laplacian", "cauchy"):
        other = km.SparseKDEOutlierDetector(kernel=name, random_state=0).fit(X).density_.mean_
        assert type(other.kernel).__name__.lower() == name


def test_lengths_that_are_given_are_lengths_in_the_data():
    X, _ = with_outliers(200, 5, 6)
    own = km.SparseKDEOutlierDetector(kernel=km.Student(6.0, 2.0), random_state=0).fit(X)
    assert own.density_.mean_.kernel == km.Student(6.0, 2.0)
    number = km.SparseKDEOutlierDetector(bandwidth=0.7, random_state=0).fit(X)
    assert number.density_.bandwidth_ == 0.7
    assert own.density_.mean_.scale is None
    assert number.density_.mean_.scale is None
    rule = km.SparseKDEOutlierDetector(bandwidth="scott", random_state=0).fit(X)
    assert rule.density_.mean_.scale is not None


def test_explicit_settings_give_the_density_of_sparse_kde():
    X, _ = with_outliers(300, 5)
    options = {"bandwidth": "scott", "scale": None, "random_state": 0}
    detector = km.SparseKDEOutlierDetector(**options).fit(X)
    np.testing.assert_array_equal(
        detector.score_samples(X), km.SparseKDE(**options).fit(X).score_samples(X)
    )


def test_a_unit_or_few_gross_outliers_change_no_verdict_on_the_rest():
    X, _ = with_outliers(500, 0)
    new = np.random.default_rng(5).normal(size=(500, 3))
    dirty = np.concatenate([X, np.full((5, 3), 1e6)])
    verdicts = [
        km.SparseKDEOutlierDetector(random_state=0).fit(rows * unit).predict(new * unit)
        for rows, unit in ((X, 1.0), (X, np.array([1.0, 1e9, 1.0])), (dirty, 1.0))
    ]
    np.testing.assert_array_equal(verdicts[0], verdicts[1])
    assert np.mean(verdicts[0] != verdicts[2]) < 0.03  # 5 rows of 505 are those of the quantile


def test_a_large_sample_in_a_file_has_a_threshold_but_no_scores(tmp_path, monkeypatch):
    X, _ = with_outliers()
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(_checks, "MAPPED", 10)  # numbers beyond which a mapped array stays there
    source = np.load(tmp_path / "X.npy", mmap_mode="r")
    options = {"k": 20, "random_state": 0}
    here, there = (km.SparseKDEOutlierDetector(**options).fit(data) for data in (X, source))
    np.testing.assert_allclose(there.training_scores_, here.training_scores_, rtol=1e-9)
    monkeypatch.setattr(quantiles, "QUANTILE_KERNEL_VALUES", 0.0)
    monkeypatch.setattr(quantiles, "FEWEST_SCORED_ROWS", 500)
    large = km.SparseKDEOutlierDetector(**options).fit(source)
    assert large.training_scores_ is None
    assert large.offset_ == pytest.approx(here.offset_, abs=0.2)
    with pytest.raises(ValueError, match="not all scored"):
        km.SparseKDEOutlierDetector(**options).fit_predict(source)


def test_a_single_row_has_nothing_to_be_scored_by():
    fitted = km.SparseKDEOutlierDetector(bandwidth=1.0).fit([[1.0, 2.0]])
    assert np.isneginf(fitted.training_scores_).all()
    assert fitted.predict([[1.0, 2.0]]).tolist() == [1]


def test_pickle_and_determinism():
    X, _ = with_outliers()
    one, two = (km.SparseKDEOutlierDetector(random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))


def test_a_single_row_is_no_outlier():
    detector = km.SparseKDEOutlierDetector(bandwidth=1.0, random_state=0)
    assert detector.fit_predict(np.ones((1, 3))).tolist() == [1]

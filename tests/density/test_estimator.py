"""SparseKDE against quadrature, scikit-learn's KernelDensity, and its own promises."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import Memory
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km
from kernelmean.density import fitting, quantiles
from kernelmean.samples import ArraySample, WeightedSample

KERNELS = ["gaussian", "laplacian", "exponential", "cauchy", km.Student(3.0, 0.5)]


def cloud(n=200, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(n // 2, d)), 0.4 * rng.normal(size=(n - n // 2, d)) + 2.0]
    )


@parametrize_with_checks([km.SparseKDE(), km.SparseKDE(sparse=False, engine="naive")])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# --- a valid density
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [None, "std", "cov"])
def test_it_integrates_to_one_in_one_dimension(kernel, scale):
    X = cloud(60, 1)
    fitted = km.SparseKDE(kernel=kernel, scale=scale, k=12, random_state=0).fit(X)
    assert (fitted.mean_.weights >= 0).all()
    t = (np.arange(200_000) + 0.5) * np.pi / 200_000 - np.pi / 2  # x = tan t reaches infinity
    values = np.exp(fitted.score_samples(np.tan(t)[:, None])) / np.cos(t) ** 2
    assert float(np.mean(values) * np.pi) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy", km.Student(2.5, 0.5)])
@pytest.mark.parametrize("scale", [None, "cov"])
def test_it_integrates_to_one_in_two_dimensions(kernel, scale):
    """In polar coordinates about the mean, the radius mapped to (0, π/2): heavy tails are followed
    to infinity.
    """
    X = cloud(60, 2) * [1.0, 0.3]
    fitted = km.SparseKDE(kernel=kernel, scale=scale, k=6, random_state=0).fit(X)
    t, wt = np.polynomial.legendre.leggauss(400)
    r, wr = np.tan((t + 1) * np.pi / 4), wt * np.pi / 4 / np.cos((t + 1) * np.pi / 4) ** 2
    angle = np.arange(512) * 2 * np.pi / 512
    middle = X.mean(axis=0)
    Q = middle + (
        r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)[None]
    ).reshape(-1, 2)
    values = np.exp(fitted.score_samples(Q)).reshape(400, 512).mean(axis=1) * 2 * np.pi
    assert float(np.sum(values * r * wr)) == pytest.approx(1.0, abs=2e-4)


def test_quadrature_by_boxes_agrees():
    """A grid of boxes so fine that twice as wide ones give the same to a tenth of the tolerance."""
    fitted = km.SparseKDE(k=3, random_state=0).fit(cloud(40, 2))
    totals = []
    for n in (200, 400):
        x = -7 + 16 * (np.arange(n) + 0.5) / n
        Q = np.stack(np.meshgrid(x, x), axis=2).reshape(-1, 2)
        totals.append(np.exp(fitted.score_samples(Q)).sum() * (16 / n) ** 2)
    assert totals[0] == pytest.approx(totals[1], abs=1e-4)
    assert totals[1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", km.Student(4.0, 2.0)])
def test_it_integrates_to_one_in_five_dimensions(kernel):
    """∫f = E_q[f/q] for draws from a wide t density q."""
    X = cloud(400, 5)
    fitted = km.SparseKDE(bandwidth="scott", kernel=kernel, k=40, random_state=0).fit(X)
    wide = km.KernelMean(X.mean(axis=0)[None], np.ones(1), km.Student(5.0, 25.0), "l2", None, 1)
    rng = np.random.default_rng(1)
    Q = wide.centers + wide.kernel.sample(200_000, 5, rng)
    ratio = np.exp(fitted.score_samples(Q) - wide.log(Q))
    assert abs(ratio.mean() - 1.0) < 4 * ratio.std() / np.sqrt(len(ratio))
    assert ratio.std() / np.sqrt(len(ratio)) < 0.02


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_log_densities_are_normalised_in_784_dimensions(kernel):
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(60, 784)), rng.normal(size=(5, 784)) * 3
    fitted = km.SparseKDE(
        bandwidth="scott", kernel=kernel, scale="std", k=20, random_state=0, spread=None
    ).fit(X)
    A, mean = np.diag(fitted.mean_.scale), fitted.mean_
    r2 = (((Q[:, None] - mean.centers[None]) * A) ** 2).sum(axis=2)
    constant = mean.kernel.log_density_constant(784) + np.log(A).sum()
    with np.errstate(divide="ignore"):
        expected = (
            logsumexp(mean.kernel.formula(784).log(r2) + np.log(mean.weights), axis=1) + constant
        )
    np.testing.assert_allclose(fitted.score_samples(Q), expected, rtol=1e-12)
    assert np.isfinite(expected).all()


# --- the place of KernelDensity
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("weighted", [False, True])
def test_with_every_point_a_centre_it_is_scikit_learns(kernel, weighted):
    X, Q = cloud(150, 3), cloud(20, 3, seed=9)
    w = np.random.default_rng(3).uniform(0.5, 2, len(X)) if weighted else None
    expected = KernelDensity(bandwidth=0.4, kernel=kernel, rtol=0, atol=0).fit(X, sample_weight=w)
    full = km.SparseKDE(bandwidth=0.4, kernel=kernel, sparse=False).fit(X, sample_weight=w)
    np.testing.assert_allclose(full.score_samples(Q), expected.score_samples(Q), rtol=1e-9)
    assert full.score(Q) == pytest.approx(expected.score(Q), rel=1e-9)


def test_with_weights_forced_to_one_over_n_a_sparse_mean_is_scikit_learns():
    X, Q = cloud(80), cloud(20, seed=9)
    mean = km.SparseKDE(bandwidth=0.4, k=80, selection="kcenter", random_state=0).fit(X).mean_
    forced = replace(mean, weights=np.full(80, 1 / 80))
    assert sorted(mean.indices) == list(range(80))
    np.testing.assert_allclose(
        forced.log(Q), KernelDensity(bandwidth=0.4).fit(X).score_samples(Q), rtol=1e-9
    )


def test_the_sparse_density_comes_near_the_exact_one():
    X = cloud(4000)
    Q = cloud(1000, seed=5)
    rule = {"bandwidth": "scott", "scale": None}
    exact = km.SparseKDE(sparse=False, **rule).fit(X).score_samples(Q)
    sparse = km.SparseKDE(k_max=189, random_state=0, **rule).fit(X)
    assert abs(np.mean(sparse.score_samples(Q) - exact)) < 0.01


def test_few_points_keep_more_centres_than_three_roots():
    assert km.SparseKDE(bandwidth=0.05, random_state=0).fit(cloud(300)).mean_.k > 51
    with pytest.warns(km.FitWarning, match="40 centres"):
        limited = km.SparseKDE(bandwidth=0.05, k_max=40, random_state=0).fit(cloud(300))
    assert limited.mean_.k == 40


@pytest.mark.parametrize("name", ["tophat", "epanechnikov", "linear", "cosine"])
def test_compact_kernels_are_answered_by_their_substitute(name):
    with pytest.raises(
        ValueError, match=f"kernel '{name}' has compact support.*use kernel='gaussian'"
    ):
        km.SparseKDE(kernel=name).fit(cloud())


def test_a_length_is_the_kernels_own_and_a_rule_follows_the_data():
    X = cloud()
    assert km.SparseKDE(bandwidth=0.3, kernel="exponential", k=5).fit(
        X
    ).bandwidth_ == pytest.approx(0.3)
    assert km.SparseKDE(bandwidth=0.3, kernel="cauchy", k=5).fit(X).bandwidth_ == pytest.approx(0.3)
    for rule in ("scott", "silverman", "iqr", "median", "mode", "likelihood"):
        small, large = (
            km.SparseKDE(bandwidth=rule, scale=None, k=5, random_state=0).fit(X * s).bandwidth_
            for s in (1.0, 1e3)
        )
        assert large == pytest.approx(1e3 * small, rel=1e-3)


def test_jaakkola_needs_labels_and_follows_the_scale():
    X = cloud() * [1.0, 50.0]
    y = (np.arange(len(X)) < 100).astype(int)
    fitted = km.SparseKDE(bandwidth="jaakkola", scale="std", k=5).fit(X, y)
    mapped = X / X.std(axis=0, ddof=1)
    assert fitted.bandwidth_ == pytest.approx(km.bandwidth.jaakkola(mapped, y), rel=1e-9)
    with pytest.raises(ValueError, match="needs labels"):
        km.SparseKDE(bandwidth="jaakkola").fit(X)


def test_the_density_carries_the_jacobian_of_the_scale():
    """Data in other units: densities change by the factor, whatever the scale."""
    X = cloud()
    for scale in ("std", "cov"):
        one = km.SparseKDE(scale=scale, k=30, random_state=0).fit(X)
        other = km.SparseKDE(scale=scale, k=30, random_state=0).fit(X * [10.0, 0.1])
        np.testing.assert_allclose(
            other.score_samples(X * [10.0, 0.1]), one.score_samples(X), rtol=1e-6
        )


def test_a_degenerate_covariance_is_said_in_one_sentence():
    X = cloud()
    with pytest.raises(
        ValueError, match=r"scale='cov' needs a regular covariance.*use scale='std'"
    ):
        km.SparseKDE(scale="cov").fit(np.column_stack([X, X[:, 0] + X[:, 1]]))


# --- gradients, samples
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [None, "cov"])
def test_the_gradient_of_the_log_density_is_its_difference_quotient(kernel, scale):
    X = cloud() * [1.0, 3.0]
    fitted = km.SparseKDE(kernel=kernel, scale=scale, k=15, random_state=0).fit(X)
    Q = np.random.default_rng(4).normal(size=(8, 2)) * [2.0, 5.0]
    found = fitted.score_gradient(Q)
    for t, h in enumerate((1e-5, 1e-5)):
        e = h * np.eye(2)[t]
        quotient = (fitted.score_samples(Q + e) - fitted.score_samples(Q - e)) / (2 * h)
        np.testing.assert_allclose(found[:, t], quotient, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("spread", [None, "scalar"])
def test_the_gradient_points_home_from_where_the_density_underflows(spread):
    """Far out the widest centre is all there is."""
    fitted = km.SparseKDE(bandwidth=0.5, k=20, spread=spread, random_state=0).fit(cloud())
    far = np.array([[1e4, -2e4]])
    assert fitted.mean_(far)[0] == 0.0
    gradient = fitted.score_gradient(far)
    widest = 0.0 if spread is None else fitted.mean_.spreads[fitted.mean_.weights > 0].max()
    home = (np.array([[1.0, 0.0]]) - far) / (0.25 + widest)
    np.testing.assert_allclose(gradient, home, rtol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [None, "cov"])
def test_samples_follow_the_density(kernel, scale):
    """A second estimate, from the draws alone, orders new draws as the density does."""
    X = cloud() * [1.0, 0.2]
    fitted = km.SparseKDE(kernel=kernel, scale=scale, k=10, random_state=0).fit(X)
    draws = fitted.sample(20_000, random_state=1)
    assert draws.shape == (20_000, 2)
    again = km.SparseKDE(sparse=False, kernel=fitted.mean_.kernel, scale=fitted.mean_.scale).fit(
        draws[:5000]
    )
    expected = fitted.score_samples(draws[5000:7000])
    assert np.corrcoef(again.score_samples(draws[5000:7000]), expected)[0, 1] > 0.9
    np.testing.assert_array_equal(draws, fitted.sample(20_000, random_state=1))


@pytest.mark.parametrize(
    ("kernel", "cdf"), [("gaussian", 0.6826895), ("laplacian", 1 - 1.5 * np.exp(-0.5))]
)
def test_samples_have_the_right_radius(kernel, cdf):
    """One centre: P(|x| < h) in one dimension (Gaussian) and P(r < γ/2) = 1 − 1.5 e^{−1/2} in two
    (Laplacian: Gamma(2)).
    """
    d = 1 if kernel == "gaussian" else 2
    fitted = km.SparseKDE(kernel=kernel, bandwidth=1.0, k=1).fit(np.zeros((1, d)))
    r = np.linalg.norm(fitted.sample(40_000, random_state=0), axis=1)
    assert np.mean(r < (1.0 if d == 1 else 0.5)) == pytest.approx(cdf, abs=0.01)


def test_a_kernel_without_sampler_says_so():
    own = km.Radial(
        lambda s: np.exp(-s),
        log_constant=lambda d: -d / 2 * np.log(np.pi),
        l2_profile=lambda s: np.exp(-s / 2),
        l2_constant=lambda d: -d / 2 * np.log(2 * np.pi),
    )
    fitted = km.SparseKDE(kernel=own, k=5, engine="naive", random_state=0).fit(cloud())
    with pytest.raises(ValueError, match="sampler="):
        fitted.sample(3)


# --- scikit-learn habits
# ------------------------------------------------------------------------------------------------


def test_frames_are_arrays_with_names():
    X = cloud()
    frame = pd.DataFrame(X, columns=["height", "width"])
    fits = [
        km.SparseKDE(k=20, random_state=0).fit(data) for data in (X, frame, pl.from_pandas(frame))
    ]
    for fitted in fits[1:]:
        assert list(fitted.feature_names_in_) == ["height", "width"]
        assert fitted.mean_.columns == ("height", "width")
        np.testing.assert_array_equal(fitted.mean_.weights, fits[0].mean_.weights)
    assert not hasattr(fits[0], "feature_names_in_")
    with pytest.raises(ValueError, match="feature names"):
        fits[1].score_samples(frame.rename(columns={"width": "depth"}))


def test_clone_pickle_pipeline_and_grid_search():
    X = cloud()
    fitted = km.SparseKDE(bandwidth=0.4, k=20, random_state=0).fit(X)
    assert clone(fitted).get_params() == fitted.get_params()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).score_samples(X), fitted.score_samples(X)
    )
    piped = make_pipeline(StandardScaler(), km.SparseKDE(k=20, random_state=0)).fit(X)
    assert np.isfinite(piped.score(X))
    search = GridSearchCV(km.SparseKDE(random_state=0), {"bandwidth": [0.01, 0.3, 30.0]}, cv=3).fit(
        X
    )
    assert search.best_params_ == {"bandwidth": 0.3}


@pytest.fixture
def selections(monkeypatch):
    """How often centres are selected from now on."""
    calls, fit = [], fitting.fit_prepared
    monkeypatch.setattr(
        fitting, "fit_prepared", lambda *args, **kw: calls.append(1) or fit(*args, **kw)
    )
    return calls


@pytest.mark.parametrize("selection", ["auto", "kcenter", "random"])
@pytest.mark.parametrize("kind", [str, Memory])
def test_a_search_over_bandwidths_with_a_memory_selects_once_per_fold(
    selections, selection, kind, tmp_path
):
    memory = str(tmp_path) if kind is str else Memory(tmp_path, verbose=0)
    estimator = km.SparseKDE(
        k=15, scale=None, random_state=0, selection=selection, spread=None, memory=memory
    )
    search = GridSearchCV(estimator, {"bandwidth": [0.1, 0.3, 0.5, 1.0, "silverman"]}, cv=3)
    search.fit(cloud())
    assert len(selections) == 3 + 1  # the last for the best bandwidth on all rows
    assert search.best_estimator_.mean_.selection != "given"


def test_nothing_is_remembered_without_a_memory(selections):
    X = cloud()
    for seed in (0, 0, None, None):
        km.SparseKDE(k=15, selection="random", random_state=seed).fit(X)
    assert len(selections) == 4


def test_without_a_seed_every_fit_selects_anew(selections, tmp_path):
    for memory in (None, tmp_path):
        where = None if memory is None else str(memory)
        first, second = (
            km.SparseKDE(k=15, selection="random", memory=where).fit(cloud()).mean_
            for _ in range(2)
        )
        assert not np.array_equal(first.centers, second.centers)
    assert len(selections) == 4


def test_the_classifier_and_the_detector_take_a_memory(selections, tmp_path):
    X = cloud()
    y = np.arange(len(X)) % 2
    for bandwidth in (0.3, 0.6):
        how = {
            "k": 12,
            "random_state": 0,
            "spread": None,
            "memory": str(tmp_path),
            "bandwidth": bandwidth,
        }
        km.SparseKDEClassifier(**how).fit(X, y)
        km.SparseKDEOutlierDetector(**how).fit(X)
    assert len(selections) == 2 + 1


def test_a_memory_needs_settings_that_can_be_pickled(tmp_path):
    own = km.Radial(
        lambda s: math.exp(-s),
        log_constant=lambda d: -0.5 * d * math.log(math.pi),
        l2_profile=lambda s: math.exp(-0.5 * s),
        l2_constant=lambda d: -0.5 * d * math.log(2 * math.pi),
    )
    km.SparseKDE(k=9, kernel=own).fit(cloud())
    with pytest.raises(ValueError, match="cannot be pickled"):
        km.SparseKDE(k=9, kernel=own, memory=str(tmp_path)).fit(cloud())


def test_a_memory_that_is_none_is_refused():
    with pytest.raises(ValueError, match="memory"):
        km.SparseKDE(memory=3).fit(cloud())


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"k": 15.0}, "k"), ({"k": True}, "k"), ({"random_state": True}, "random_state")],
)
def test_what_is_remembered_is_not_found_by_parameters_that_only_equal_the_right_ones(
    wrong, name, tmp_path
):
    """15.0 == 15 and True == 1, also as keys of a dictionary."""
    memory = str(tmp_path)
    km.SparseKDE(k=15, random_state=1, memory=memory).fit(cloud())
    km.SparseKDE(k=1, random_state=1, memory=memory).fit(cloud())
    with pytest.raises(TypeError, match=name):
        km.SparseKDE(**{"k": 15, "random_state": 1, **wrong}, memory=memory).fit(cloud())


def test_rows_may_be_given_as_an_index_of_pandas():
    pandas = pytest.importorskip("pandas")
    rows = np.arange(0, 30, 2)
    first, second = (
        km.SparseKDE(selection=given, random_state=0).fit(cloud()).mean_
        for given in (rows, pandas.Index(rows))
    )
    np.testing.assert_array_equal(first.centers, second.centers)


def test_what_is_remembered_changes_no_result(selections, tmp_path):
    X = cloud()
    kde = partial(km.SparseKDE, random_state=0, spread=None)
    alone = [kde(bandwidth=width).fit(X).score_samples(X) for width in (0.2, 0.6)]
    selections.clear()
    for width, expected in zip((0.6, 0.2), reversed(alone), strict=True):
        fitted = kde(bandwidth=width, memory=str(tmp_path)).fit(X)
        np.testing.assert_array_equal(fitted.score_samples(X), expected)
    assert len(selections) == 1


def test_other_data_weights_seeds_and_settings_are_selected_anew(selections, tmp_path):
    X = cloud()
    kde = partial(km.SparseKDE, memory=str(tmp_path), bandwidth="scott", scale=None)
    kde(k=9, random_state=0).fit(X)
    changed = X.copy()
    changed[7, 1] += 1e-9
    for fit in (
        lambda: kde(k=9, random_state=0).fit(changed),
        lambda: kde(k=9, random_state=0).fit(X, sample_weight=np.arange(200.0)),
        lambda: kde(k=9, random_state=1).fit(X),
        lambda: kde(k=10, random_state=0).fit(X),
        lambda: kde(k=9, random_state=0, kernel="laplacian").fit(X),
        lambda: kde(k=9, random_state=0, scale=[[1.0, 0.0], [0.0, 2.0]]).fit(X),
        lambda: kde(k=9, random_state=np.random.default_rng(0)).fit(X),
        lambda: kde(k=9, random_state=np.random.RandomState(0)).fit(X),
    ):
        before = len(selections)
        fit()
        assert len(selections) == before + 1
    kde(k=9, random_state=0).fit(X)
    assert len(selections) == 9


def test_integer_weights_are_repeated_rows():
    X, w = cloud(), np.random.default_rng(6).integers(0, 4, 200)
    weighted = km.SparseKDE(k=25, random_state=0).fit(X, sample_weight=w)
    repeated = km.SparseKDE(k=25, random_state=0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(weighted.log_quantiles_, repeated.log_quantiles_, rtol=1e-9)


def test_inputs_are_not_modified():
    X, w = cloud(), np.ones(200)
    X.flags.writeable = w.flags.writeable = False
    km.SparseKDE(k=10, random_state=0).fit(X, sample_weight=w).score_samples(X)


# --- model files
# --------------------------------------------------------------------------------------------------


def test_a_model_file_holds_quantiles_and_names_and_no_data(tmp_path):
    frame = pd.DataFrame(cloud(), columns=["a", "b"])
    fitted = km.SparseKDE(k=20, scale="std", target="kde", random_state=0).fit(frame)
    fitted.save(tmp_path / "density.km")
    back = km.SparseKDE.load(tmp_path / "density.km")
    np.testing.assert_array_equal(back.score_samples(frame), fitted.score_samples(frame))
    np.testing.assert_array_equal(
        back.log_quantiles_, np.quantile(fitted.score_samples(frame), np.linspace(0, 1, 1001))
    )
    assert list(back.feature_names_in_) == ["a", "b"]
    mean = km.load(tmp_path / "density.km")
    np.testing.assert_array_equal(mean.log_quantiles, fitted.log_quantiles_)
    assert mean.truncate(5).log_quantiles is None


def test_quantiles_of_many_rows_are_those_of_rows_spread_over_all(monkeypatch):
    X = cloud(5000)
    fitted = km.SparseKDE(k=20, random_state=0).fit(X)
    monkeypatch.setattr(quantiles, "QUANTILE_KERNEL_VALUES", 1.0)
    part = quantiles.log_quantiles(fitted.mean_, WeightedSample.of(ArraySample(X)))
    assert not np.array_equal(part, fitted.log_quantiles_)
    assert np.mean(fitted.score_samples(X) < part[100]) == pytest.approx(0.1, abs=0.03)


def test_what_is_no_density_cannot_be_loaded_as_one(tmp_path):
    km.sparse_kernel_mean(cloud(), k=5, random_state=0).save(tmp_path / "mean.km")
    with pytest.raises(ValueError, match="no density"):
        km.SparseKDE.load(tmp_path / "mean.km")
    with pytest.raises(ValueError, match="sparse=True"):
        km.SparseKDE(sparse=False).fit(cloud()).save(tmp_path / "full.km")


# --- batches
# --------------------------------------------------------------------------------------------------


def test_batches_come_near_one_fit():
    X = np.random.default_rng(7).permutation(cloud(3000))
    stream = km.SparseKDE(bandwidth=0.3, random_state=0)
    for batch in np.array_split(X, 6):
        stream.partial_fit(batch)
    assert stream.mean_.n_points == 3000
    whole = km.SparseKDE(bandwidth=0.3, random_state=0).fit(X)
    difference = stream.score_samples(X) - whole.score_samples(X)
    assert abs(np.mean(difference)) < 0.02
    assert abs(stream.mean_.weights.sum() - 1.0) < 1e-12
    assert np.mean(stream.score_samples(X) < stream.log_quantiles_[100]) == pytest.approx(
        0.1, abs=0.03
    )


def test_batches_keep_the_kernel_of_the_first_and_the_number_of_centres_asked_for():
    X = cloud(400)
    stream = km.SparseKDE(k=12, scale="std", random_state=0).partial_fit(X[::2])
    first = stream.mean_
    stream.partial_fit(X[1::2] * 5)
    assert stream.mean_.kernel == first.kernel
    assert stream.mean_.k == 12
    with pytest.raises(ValueError, match="features"):
        stream.partial_fit(np.zeros((3, 5)))
    with pytest.raises(AttributeError, match="partial_fit"):
        km.SparseKDE(sparse=False).partial_fit(X)
    assert not hasattr(km.SparseKDE(sparse=False), "partial_fit")


def test_values_whose_squares_overflow_are_named():
    with pytest.raises(ValueError, match=r"X holds values beyond .*, whose squares overflow"):
        km.SparseKDE().fit(np.array([[1e200, 0.0], [0.0, 0.0]]))

"""KernelDensity against scikit-learn: its tests, its figures, and what is different on purpose."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.neighbors
from scipy.special import gammaln, logsumexp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km

COMPACT = ("tophat", "epanechnikov", "linear", "cosine")


def cloud(n=300, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def weights(n, seed=1):
    return np.random.default_rng(seed).uniform(0.1, 3.0, size=n)


@parametrize_with_checks(
    [km.KernelDensity(), km.KernelDensity(error=0.1, engine="naive", random_state=0)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


# --- scikit-learn's own tests
# --------------------------------------------------------------------------------------------------

NO_KERNEL = "kernels of compact support do not exist here"
NO_METRIC = "distances are Euclidean here"

# What of scikit-learn's tests must fail, each with a ValueError. All else must pass.
EXCEPTIONS = {
    **{
        f"test_kernel_density[{bandwidth}-{kernel}]": NO_KERNEL
        for bandwidth in (0.01, 0.1, 1, "scott", "silverman")
        for kernel in COMPACT
    },
    "test_kernel_density_sampling": NO_KERNEL,
    **{
        f"test_kde_algorithm_metric_choice[{metric}-{algorithm}]": NO_METRIC
        for metric in ("manhattan", "chebyshev")
        for algorithm in ("auto", "ball_tree", "kd_tree")
    },
    # A kd-tree refuses this metric, as we do.
    "test_kde_algorithm_metric_choice[haversine-auto]": NO_METRIC,
    "test_kde_algorithm_metric_choice[haversine-ball_tree]": NO_METRIC,
    "test_kde_sample_weights": NO_METRIC,
}


def theirs():
    """scikit-learn's tests of KernelDensity as a module of our own, with our class in them."""
    place = importlib.util.find_spec("sklearn.neighbors.tests.test_kde")
    spec = importlib.util.spec_from_file_location("their_test_kde", place.origin)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.KernelDensity is sklearn.neighbors.KernelDensity
    module.KernelDensity = km.KernelDensity
    return module


def combinations(function):
    """Every combination of arguments that the function is parametrised with, and its name."""
    marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
    for values in itertools.product(*(mark.args[1] for mark in marks)):
        arguments = dict(zip((mark.args[0] for mark in marks), values, strict=True))
        suffix = "-".join(map(str, values))
        yield f"{function.__name__}[{suffix}]" if marks else function.__name__, arguments


THEIRS = {
    name: (function, arguments)
    for function in vars(theirs()).values()
    if inspect.isfunction(function) and function.__name__.startswith("test_")
    for name, arguments in combinations(function)
}


def marked(name):
    reason = EXCEPTIONS.get(name)
    expected = pytest.mark.xfail(reason=reason, raises=ValueError, strict=True)
    return pytest.param(name, marks=[] if reason is None else [expected])


def test_every_exception_is_one_of_their_tests():
    assert EXCEPTIONS.keys() - THEIRS.keys() == set()
    assert len(THEIRS) >= 57


@pytest.mark.parametrize("name", [marked(name) for name in THEIRS])
def test_scikit_learns_test_passes(name, request):
    function, arguments = THEIRS[name]
    assert function.__globals__["KernelDensity"] is km.KernelDensity
    open_names = [
        key
        for key, parameter in inspect.signature(function).parameters.items()
        if key not in arguments and parameter.default is inspect.Parameter.empty
    ]
    function(**arguments, **{key: request.getfixturevalue(key) for key in open_names})


def test_weights_count_rows_in_draws_and_densities_as_in_scikit_learns_test():
    """What their test of weights asks of the Euclidean metric, since it fails for the others."""
    X = np.random.default_rng(0).uniform(size=(400, 2))
    w = 1.0 + np.floor(10 * X.sum(axis=1))
    Q = X[:10] + 0.1
    weighted = km.KernelDensity().fit(X, sample_weight=w)
    scaled = km.KernelDensity().fit(X, sample_weight=0.37 * w)
    repeated = km.KernelDensity().fit(np.repeat(X, w.astype(int), axis=0))
    plain = km.KernelDensity().fit(X)
    for other in (scaled, repeated):
        np.testing.assert_allclose(weighted.score_samples(Q), other.score_samples(Q), rtol=1e-12)
        np.testing.assert_allclose(
            weighted.sample(5, random_state=3), other.sample(5, random_state=3), rtol=1e-12
        )
    assert np.abs(weighted.score_samples(Q) - plain.score_samples(Q)).max() > 0.001


# --- its figures
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bandwidth", [0.05, 0.3, 1.0, "scott", "silverman"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_it_agrees_with_scikit_learn(d, bandwidth, weighted, kernel):
    """Theirs with a single leaf: a tree of several loses every digit of a density in its tails."""
    X, Q = cloud(300, d), 1.5 * cloud(50, d, seed=9)
    w = weights(len(X)) if weighted else None
    options = {"bandwidth": bandwidth, "kernel": kernel}
    theirs = sklearn.neighbors.KernelDensity(**options, leaf_size=len(X)).fit(X, sample_weight=w)
    ours = km.KernelDensity(**options).fit(X, sample_weight=w)
    np.testing.assert_allclose(
        ours.score_samples(Q), theirs.score_samples(Q), rtol=1e-10, atol=1e-10
    )
    assert ours.score(Q) == pytest.approx(theirs.score(Q), rel=1e-10)
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-14)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_it_agrees_with_scikit_learns_defaults_where_rows_are(d, kernel):
    X, Q = cloud(300, d), 0.5 * cloud(50, d, seed=9)
    theirs = sklearn.neighbors.KernelDensity(bandwidth=0.7, kernel=kernel).fit(X)
    ours = km.KernelDensity(bandwidth=0.7, kernel=kernel).fit(X)
    np.testing.assert_allclose(ours.score_samples(Q), theirs.score_samples(Q), atol=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("far", [0.0, 30.0, 3000.0])
def test_tails_are_right_to_rounding(kernel, far):
    """Against the definition, term by term: also where scikit-learn's trees are not."""
    d, h = 5, 0.05
    X, Q = cloud(300, d), cloud(20, d, seed=9) + far
    r = np.linalg.norm(Q[:, None] - X, axis=2) / h
    if kernel == "gaussian":
        terms = -0.5 * r**2 - 0.5 * d * np.log(2 * np.pi)
    else:
        terms = -r - d * np.log(2) - 0.5 * (d - 1) * np.log(np.pi) - gammaln((d + 1) / 2)
    expected = logsumexp(terms, axis=1) - d * np.log(h) - np.log(len(X))
    ours = km.KernelDensity(bandwidth=h, kernel=kernel).fit(X)
    np.testing.assert_allclose(ours.score_samples(Q), expected, rtol=1e-12)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_are_blind_to_the_scale_as_scikit_learns_are(rule):
    X = cloud(200, 3)
    theirs = sklearn.neighbors.KernelDensity(bandwidth=rule).fit(X)
    for factor in (1.0, 1000.0):
        ours = km.KernelDensity(bandwidth=rule).fit(factor * X)
        assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-14)


def test_rules_count_the_rows_that_are_given_whatever_they_weigh():
    X = cloud(200, 3)
    w = np.arange(200.0) % 2
    theirs = sklearn.neighbors.KernelDensity(bandwidth="scott").fit(X, sample_weight=w)
    ours = km.KernelDensity(bandwidth="scott").fit(X, sample_weight=w)
    assert ours.bandwidth_ == pytest.approx(theirs.bandwidth_, rel=1e-14)


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [("euclidean", {}), ("l2", None), ("p", None), ("minkowski", None), ("minkowski", {"p": 2})],
)
def test_names_of_the_euclidean_metric_mean_the_same(metric, parameters):
    X = cloud()
    expected = km.KernelDensity().fit(X).score_samples(X)
    named = km.KernelDensity(metric=metric, metric_params=parameters).fit(X)
    np.testing.assert_array_equal(named.score_samples(X), expected)


def test_parameters_of_trees_and_tolerances_change_nothing():
    X = cloud()
    expected = km.KernelDensity(bandwidth=0.3).fit(X).score_samples(X)
    other = km.KernelDensity(
        bandwidth=0.3, algorithm="ball_tree", atol=0.1, rtol=0.1, breadth_first=False, leaf_size=1
    )
    np.testing.assert_array_equal(other.fit(X).score_samples(X), expected)


@pytest.mark.parametrize("engine", ["cpu", "naive"])
def test_engines_agree(engine):
    X = cloud()
    found = km.KernelDensity(bandwidth=0.3, engine=engine).fit(X).score_samples(X)
    expected = sklearn.neighbors.KernelDensity(bandwidth=0.3).fit(X).score_samples(X)
    np.testing.assert_allclose(found, expected, atol=1e-10)


# --- its place in scikit-learn
# --------------------------------------------------------------------------------------------------


def test_it_has_all_parameters_of_scikit_learns_with_their_defaults():
    theirs = sklearn.neighbors.KernelDensity().get_params()
    assert theirs.items() <= km.KernelDensity().get_params().items()
    assert not hasattr(km.KernelDensity().fit(cloud(5)), "tree_")


def test_the_exact_estimate_keeps_every_row_and_has_no_error():
    X = cloud()
    fitted = km.KernelDensity().fit(X)
    assert isinstance(fitted.mean_, km.KernelMean)
    assert (fitted.mean_.k, fitted.estimated_error_) == (300, 0.0)
    np.testing.assert_array_equal(fitted.mean_.centers, X)


@pytest.mark.parametrize("error", [None, 0.05])
def test_it_survives_pickle_and_clone(error):
    X = cloud()
    fitted = km.KernelDensity(bandwidth=0.4, error=error, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.score_samples(X), fitted.score_samples(X))
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "mean_")


@pytest.mark.parametrize("error", [None, 0.05])
def test_a_grid_search_in_a_pipeline_finds_scikit_learns_bandwidth(error):
    X = cloud(400) * [1.0, 5.0]
    widths = [0.05, 0.2, 0.4, 1.6]
    found = []
    for estimator in (
        km.KernelDensity(error=error, random_state=0),
        sklearn.neighbors.KernelDensity(),
    ):
        steps = make_pipeline(StandardScaler(), estimator)
        search = GridSearchCV(steps, {"kerneldensity__bandwidth": widths}, cv=3).fit(X)
        found.append(search.best_params_["kerneldensity__bandwidth"])
    assert found[0] == found[1]


# --- draws
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [None, 0.02])
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "cauchy"])
def test_draws_are_from_the_density(kernel, error):
    """Means of log f over draws and by quadrature agree: E log f = ∫ f log f."""
    X = np.array([[0.0], [0.5], [4.0]])
    fitted = km.KernelDensity(bandwidth=0.5, kernel=kernel, error=error, random_state=0).fit(X)
    logs = fitted.score_samples(fitted.sample(20_000, random_state=0))
    t = (np.arange(200_000) + 0.5) * np.pi / 200_000 - np.pi / 2  # x = tan t reaches infinity
    f = fitted.score_samples(np.tan(t)[:, None])
    expected = np.mean(np.exp(f) * f / np.cos(t) ** 2) * np.pi
    assert abs(logs.mean() - expected) < 4.5 * logs.std() / np.sqrt(len(logs))


def test_draws_have_scikit_learns_shapes_and_follow_the_seed():
    fitted = km.KernelDensity().fit(cloud(4, 3))
    assert fitted.sample().shape == (1, 3)
    assert fitted.sample(7).dtype == np.float64
    one, same, other = (fitted.sample(7, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    state = np.random.RandomState(0)
    assert (fitted.sample(3, state) != fitted.sample(3, state)).any()


# --- a sparse copy
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "n"), [("gaussian", 5000), ("exponential", 3000)])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_error_that_is_asked_for_is_reached_on_few_centres(kernel, n, weighted):
    X = cloud(n)
    w = weights(n) if weighted else None
    fitted = km.KernelDensity(bandwidth=0.5, kernel=kernel, error=1e-2, random_state=0).fit(
        X, sample_weight=w
    )
    exact = km.KernelDensity(bandwidth=0.5, kernel=kernel).fit(X, sample_weight=w).mean_
    assert isinstance(fitted.mean_, km.SparseKernelMean)
    assert fitted.mean_.k < n / 10
    relative = exact.distance(fitted.mean_) / np.sqrt(exact.inner(exact))
    assert relative <= 1e-2
    assert fitted.estimated_error_ == pytest.approx(relative, rel=0.2)
    certificate = fitted.mean_.certificate(X, sample_weight=w, random_state=1)
    assert certificate.relative_error <= 1e-2


def test_a_sparse_copy_is_that_of_sparse_kde():
    X = cloud(1000) * [1.0, 3.0]
    options = {"bandwidth": 0.5, "error": 0.02, "random_state": 0}
    ours = km.KernelDensity(**options).fit(X)
    same = km.SparseKDE(**options, scale=None, target="kde").fit(X)
    np.testing.assert_array_equal(ours.score_samples(X), same.score_samples(X))
    assert ours.estimated_error_ == same.mean_.estimated_error


def test_a_smaller_error_takes_more_centres():
    X = cloud(2000)
    sizes = [
        km.KernelDensity(bandwidth=0.5, error=error, random_state=0).fit(X).mean_.k
        for error in (0.1, 0.01, 0.001)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_warning_points_to_the_line_that_called_fit(monkeypatch):
    monkeypatch.setattr("kernelmean.fitting.settings.largest_limit", lambda n: 5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        km.KernelDensity(bandwidth=0.1, error=1e-3, random_state=0).fit(cloud(500))
    assert [(w.category, w.filename) for w in caught] == [(km.FitWarning, __file__)]


# --- bad input
# --------------------------------------------------------------------------------------------------

REFUSED_ALIKE = {
    "bandwidth": [0.0, -1.0, "huge", None, [1.0]],
    "algorithm": ["brute", None],
    "kernel": ["triangular", None, 3],
    "metric": ["nonsense", None],
    "atol": [-1.0, "0"],
    "rtol": [-1.0, None],
    "breadth_first": ["yes", None],
    "leaf_size": [0, 2.5, "40"],
    "metric_params": [[2], "p"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, bad in REFUSED_ALIKE.items() for value in bad]
)
def test_what_scikit_learn_refuses_is_refused_with_a_value_error_that_names_it(name, value):
    for kind in (sklearn.neighbors.KernelDensity, km.KernelDensity):
        with pytest.raises(ValueError, match=name):
            kind(**{name: value}).fit(cloud(10))


@pytest.mark.parametrize("kernel", COMPACT)
def test_kernels_of_compact_support_are_refused_in_one_sentence(kernel):
    offered = "'gaussian', 'laplacian', 'cauchy', 'exponential'"
    with pytest.raises(ValueError, match=f"{kernel}.*{offered}.*sklearn.neighbors.KernelDensity"):
        km.KernelDensity(kernel=kernel).fit(cloud(10))


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [
        ("manhattan", None),
        ("haversine", None),
        ("minkowski", {"p": 1}),
        ("minkowski", {"p": "2"}),
        ("minkowski", {"p": 2, "w": [1.0, 2.0]}),
        ("euclidean", {"p": 2}),
    ],
)
def test_other_metrics_are_refused_in_one_sentence(metric, parameters):
    with pytest.raises(ValueError, match=r"invalid metric.*distances are Euclidean here"):
        km.KernelDensity(metric=metric, metric_params=parameters).fit(cloud(10))


@pytest.mark.parametrize(
    ("options", "wrong", "match"),
    [
        ({"error": -0.1}, ValueError, "error"),
        ({"error": 1.0}, ValueError, "error"),
        ({"error": "small"}, ValueError, "error"),
        ({"engine": "steam"}, ValueError, "engine"),
        ({"error": 0.1, "random_state": "dice"}, TypeError, "random_state"),
        ({"bandwidth": np.inf}, ValueError, "bandwidth"),
        ({"bandwidth": np.nan}, ValueError, "bandwidth"),
        ({"kernel": km.Gaussian(1.0)}, ValueError, "kernel"),
    ],
)
def test_our_own_parameters_are_checked(options, wrong, match):
    with pytest.raises(wrong, match=match):
        km.KernelDensity(**options).fit(cloud(10))


@pytest.mark.parametrize(
    ("X", "w", "match"),
    [
        (np.ones(5), None, "1D array"),
        (np.array([[0.0], [np.nan]]), None, "NaN"),
        (np.empty((0, 2)), None, "0 sample"),
        (np.array([[0.0], [1e200]]), None, "overflow"),
        (cloud(5), np.ones(4), "sample_weight"),
        (cloud(5), -np.ones(5), "sample_weight"),
        (cloud(5), np.zeros(5), "sample_weight"),
        (cloud(5), np.ones((5, 2)), "sample_weight"),
    ],
)
def test_bad_samples_are_refused(X, w, match):
    with pytest.raises(ValueError, match=match):
        km.KernelDensity().fit(X, sample_weight=w)


def test_no_points_may_be_drawn():
    assert km.KernelDensity().fit(cloud(5, 2)).sample(0).shape == (0, 2)
    assert km.KernelDensity(error=0.1, random_state=0).fit(cloud(50, 2)).sample(0).shape == (0, 2)


def test_an_error_of_nothing_keeps_every_row():
    assert km.KernelDensity(error=0.0).fit(cloud(50, 2)).mean_.k == 50


def test_bad_queries_and_sizes_are_refused():
    fitted = km.KernelDensity().fit(cloud(5, 2))
    with pytest.raises(ValueError, match="2 features"):
        fitted.score_samples(cloud(5, 3))
    with pytest.raises(ValueError, match="n_samples"):
        fitted.sample(-1)
    with pytest.raises(TypeError, match="n_samples"):
        fitted.sample(2.5)


# --- samples of every kind
# --------------------------------------------------------------------------------------------------


def test_float32_gives_what_the_same_numbers_give_in_float64():
    X = cloud().astype(np.float32)
    found = km.KernelDensity(bandwidth=0.3).fit(X).score_samples(X)
    expected = (
        km.KernelDensity(bandwidth=0.3)
        .fit(X.astype(np.float64))
        .score_samples(X.astype(np.float64))
    )
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_bring_their_names(frame):
    X = cloud()
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    fitted = km.KernelDensity(bandwidth="scott").fit(table)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    expected = km.KernelDensity(bandwidth="scott").fit(X).score_samples(X)
    np.testing.assert_array_equal(fitted.score_samples(table), expected)
    with pytest.raises(ValueError, match="feature names"):
        fitted.score_samples(frame({"b": X[:, 1], "a": X[:, 0]}))


def test_lists_will_do_for_rules_too():
    X = cloud(20)
    found = km.KernelDensity(bandwidth="scott").fit(X.tolist()).score_samples(X.tolist())
    np.testing.assert_array_equal(
        found, km.KernelDensity(bandwidth="scott").fit(X).score_samples(X)
    )


@pytest.mark.parametrize("error", [None, 0.01])
def test_ties_count_as_often_as_they_occur(error):
    X = np.repeat([[0.0, 0.0], [3.0, 0.0]], [30, 10], axis=0)
    fitted = km.KernelDensity(error=error, random_state=0).fit(X)
    theirs = sklearn.neighbors.KernelDensity().fit(X)
    Q = cloud(10)
    np.testing.assert_allclose(fitted.score_samples(Q), theirs.score_samples(Q), rtol=1e-9)


@pytest.mark.parametrize("error", [None, 0.01])
@pytest.mark.parametrize("bandwidth", [1.0, "scott", "silverman"])
def test_one_row_is_one_kernel(bandwidth, error):
    X, Q = np.array([[1.0, 2.0]]), cloud(10)
    fitted = km.KernelDensity(bandwidth=bandwidth, error=error, random_state=0).fit(X)
    theirs = sklearn.neighbors.KernelDensity(bandwidth=bandwidth).fit(X)
    np.testing.assert_allclose(fitted.score_samples(Q), theirs.score_samples(Q), rtol=1e-12)


def test_input_is_left_as_it_is():
    X, w = cloud(50), weights(50)
    before = X.copy(), w.copy()
    km.KernelDensity(error=0.1, random_state=0).fit(X, sample_weight=w).score_samples(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(w, before[1])

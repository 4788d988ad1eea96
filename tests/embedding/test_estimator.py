"""Distributions as points: input, distances, coordinates, new samples, error bars, and
scikit-learn's conventions.
"""

import os
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.manifold import Isomap
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_array

import kernelmean as km
from kernelmean import _work
from kernelmean.embedding.collection import collect
from kernelmean.embedding.coordinates import classical_mds, geodesics
from kernelmean.engines.cpu import compiled_cloud
from kernelmean.fitting import recipe
from kernelmean.samples import ArraySample

METRICS = ["mmd", "l2", "kl"]


def arc(count=12, n=300, width=0.5, seed=0):
    """Normal samples whose means lie along half a circle."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, np.pi, count)
    return [width * rng.normal(size=(n, 2)) + 3 * np.array([np.cos(a), np.sin(a)]) for a in angles]


@pytest.fixture(scope="module")
def samples():
    return arc()


@pytest.fixture(scope="module")
def fitted(samples):
    return {
        metric: km.DistributionEmbedding(metric=metric, n_neighbors=2, random_state=0).fit(samples)
        for metric in METRICS
    }


# --- distances
# --------------------------------------------------------------------------------------------------


def test_distances_of_full_means_are_the_brute_force(samples):
    found = km.DistributionEmbedding(sparse=False, embedding=None).fit(samples[:4])
    sigma = np.mean([km.bandwidth.iqr(X) for X in samples[:4]])
    G = np.array(
        [
            [np.exp(-cdist(A, B, "sqeuclidean") / (2 * sigma**2)).mean() for B in samples[:4]]
            for A in samples[:4]
        ]
    )
    expected = np.sqrt(np.maximum(np.diag(G)[:, None] + np.diag(G) - 2 * G, 0))
    np.testing.assert_allclose(found.distances_, expected, atol=1e-8)
    assert found.bandwidth_ == pytest.approx(sigma, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_symmetric_with_a_zero_diagonal(fitted, metric):
    D = fitted[metric].distances_
    np.testing.assert_array_equal(D, D.T)
    assert (np.diag(D) == 0).all()
    assert (D[np.triu_indices(len(D), 1)] > 0).all()


def test_entries_are_those_of_the_functions(samples, fitted):
    """km.mmd and km.kl_divergence of two samples alone, with the common bandwidth and the same
    seed.
    """
    A, B = samples[2], samples[5]
    kernel = fitted["mmd"].kernel_
    assert fitted["mmd"].distances_[2, 5] == pytest.approx(
        km.mmd(A, B, kernel=kernel, random_state=0), rel=1e-9
    )
    assert fitted["l2"].distances_[2, 5] == pytest.approx(
        km.mmd(A, B, kernel=kernel, space="l2", random_state=0), rel=1e-9
    )
    kl = km.kl_divergence(A, B, kernel=kernel, symmetric=True, random_state=0)
    assert fitted["kl"].distances_[2, 5] == pytest.approx(kl.value, rel=1e-9)
    one_way = km.kl_divergence(A, B, kernel=kernel, random_state=0)
    np.testing.assert_allclose(
        [matrix[2, 5] for matrix in fitted["kl"].divergences_], one_way, rtol=1e-9
    )


def test_centres_are_at_most_three_roots_of_n():
    rng = np.random.default_rng(0)
    found = km.DistributionEmbedding(bandwidth=0.05, random_state=0).fit(
        [rng.normal(size=(n, 2)) for n in (100, 101, 400)]
    )
    assert [mean.k for mean in found.means_] == [29, 30, 59]
    stopped = km.DistributionEmbedding(bandwidth=30.0, random_state=0).fit(
        [rng.normal(size=(n, 2)) for n in (100, 400)]
    )
    assert all(mean.stop_reason in ("tol", "rank") for mean in stopped.means_)


@pytest.mark.parametrize("metric", ["mmd", "l2"])
def test_error_bars_hold(samples, metric):
    sparse = km.DistributionEmbedding(metric=metric, k=12, error_bars=True, random_state=0).fit(
        samples
    )
    full = km.DistributionEmbedding(metric=metric, sparse=False, error_bars=True).fit(samples)
    gap = np.abs(sparse.distances_ - full.distances_)
    assert (gap <= sparse.distance_errors_ + 1e-12).all()
    assert gap.max() > 0.01 * sparse.distance_errors_.max()
    exact = [
        mean.certificate(X, method="exact").error
        for mean, X in zip(sparse.means_, samples, strict=True)
    ]
    np.testing.assert_allclose(sparse.sample_errors_, exact, rtol=1e-6)
    assert sparse.distance_errors_[1, 4] == sparse.sample_errors_[1] + sparse.sample_errors_[4]
    assert (full.distance_errors_ == 0).all()
    assert km.DistributionEmbedding(k=5).fit(samples[:3]).distance_errors_ is None


def test_no_sample_depends_on_the_others(samples):
    """The same seed for all: samples in another order, or fewer, have the same distances."""
    settings = {"bandwidth": 0.5, "random_state": 3, "k": 20, "embedding": None}
    D = km.DistributionEmbedding(**settings).fit_transform(samples)
    order = np.random.default_rng(0).permutation(len(samples))[:7]
    part = km.DistributionEmbedding(**settings).fit_transform([samples[i] for i in order])
    np.testing.assert_allclose(part, D[np.ix_(order, order)], rtol=1e-10)


def test_results_do_not_depend_on_threads_and_inputs_stay(samples):
    frozen = [X.copy() for X in samples]
    for X in frozen:
        X.flags.writeable = False
    runs = [
        km.DistributionEmbedding(
            random_state=0, scale="std", engine=km.engines.open("cpu", threads=t)
        ).fit(frozen)
        for t in (1, 2, 4)
    ]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.distances_, runs[0].distances_)
    for X, Y in zip(frozen, samples, strict=True):
        np.testing.assert_array_equal(X, Y)


def test_scale_makes_distances_blind_to_units(samples):
    units = np.array([1e3, 1e-2])
    plain, scaled = (
        km.DistributionEmbedding(scale="std", random_state=0, embedding=None).fit_transform(
            [X * u for X in samples]
        )
        for u in (1.0, units)
    )
    np.testing.assert_allclose(scaled, plain, atol=1e-6)


@pytest.mark.parametrize("kernel", ["laplacian", "cauchy", km.Student(4.0, 1.0)])
@pytest.mark.parametrize("metric", METRICS)
def test_other_kernels_work_with_every_metric(samples, kernel, metric):
    found = km.DistributionEmbedding(
        metric=metric, kernel=kernel, random_state=0, n_neighbors=2
    ).fit(samples[:5])
    assert found.embedding_.shape == (5, 2)
    gaps = np.diag(found.distances_, 1)
    assert (found.distances_[0, 1:] >= gaps[0] - 1e-9).all()


# --- coordinates
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_a_curve_of_gaussians_comes_out_as_a_curve(fitted, metric):
    """The first coordinate orders the samples along the arc, in nearly equal steps."""
    first = fitted[metric].embedding_[:, 0]
    steps = np.diff(first) * np.sign(first[-1] - first[0])
    assert (steps > 0).all()
    assert steps.max() < 2.5 * steps.min()
    assert np.ptp(fitted[metric].embedding_[:, 1]) < 0.2 * np.ptp(first)


def test_classical_scaling_recovers_a_configuration():
    X = np.random.default_rng(0).normal(size=(9, 3))
    found = classical_mds(squareform(pdist(X)), 3)
    np.testing.assert_allclose(pdist(found.coordinates), pdist(X), rtol=1e-10)
    assert km.procrustes(X, found.coordinates, scaling=False).residual < 1e-12
    np.testing.assert_allclose(found.coordinates.mean(axis=0), 0, atol=1e-12)
    assert (np.diff(found.eigenvalues) <= 0).all()
    flat = classical_mds(squareform(pdist(X[:2])), 4)  # two points span a line: the rest is 0
    assert (flat.coordinates[:, 1:] == 0).all()
    assert flat.coordinates.shape == (2, 4)


def test_gowers_formula_places_new_points_where_they_are():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(8, 2)), rng.normal(size=(5, 2))
    found = classical_mds(squareform(pdist(X)), 2)
    placed = found.place(cdist(Q, X))
    np.testing.assert_allclose(cdist(placed, found.coordinates), cdist(Q, X), rtol=1e-9)
    np.testing.assert_allclose(found.place(cdist(X, X)), found.coordinates, atol=1e-10)


@pytest.mark.parametrize("n_neighbors", [3, 5])
def test_isomap_is_scikit_learns(n_neighbors):
    """An independent implementation: geodesics, coordinates up to sign, and the placing of new
    points.
    """
    rng = np.random.default_rng(2)
    t = rng.uniform(0, 3, 40)
    X = np.column_stack([np.cos(t), np.sin(t), 0.1 * rng.normal(size=40)])
    old, new = X[:30], X[30:]
    theirs = Isomap(n_neighbors=n_neighbors, n_components=2, metric="precomputed").fit(
        cdist(old, old)
    )
    ours = geodesics(cdist(old, old), n_neighbors)
    np.testing.assert_allclose(ours.matrix, theirs.dist_matrix_, rtol=1e-10)
    found = classical_mds(ours.matrix, 2)
    signs = np.sign((found.coordinates * theirs.embedding_).sum(axis=0))
    np.testing.assert_allclose(found.coordinates, theirs.embedding_ * signs, atol=1e-8)
    placed = found.place(ours.extend(cdist(new, old)))
    np.testing.assert_allclose(placed, theirs.transform(cdist(new, old)) * signs, atol=1e-8)


def test_a_graph_in_parts_is_joined_with_a_warning():
    X = np.concatenate([np.arange(5.0), 100 + np.arange(5.0)])[:, None]
    D = cdist(X, X)
    with pytest.warns(
        UserWarning,
        match="n_neighbors=2 the neighbour graph of the samples falls into 2 parts; .* with 5 "
        "neighbours",
    ):
        found = geodesics(D, 2)
    assert found.n_neighbors == 5
    np.testing.assert_allclose(found.matrix, D)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert geodesics(D, 50).n_neighbors == 9


def test_paths_of_length_zero_are_warned_of():
    """Three points where chance took two divergences to 0: the third pair falls together."""
    D = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    with pytest.warns(
        UserWarning,
        match="1 pairs of samples at a positive distance are joined by paths of length 0",
    ):
        assert (geodesics(D, 1).matrix == 0).all()


def test_equal_samples_fall_on_one_point(samples):
    found = km.DistributionEmbedding(n_neighbors=2, random_state=0).fit(
        [*samples, samples[4], samples[4]]
    )
    np.testing.assert_allclose(found.embedding_[[-1, -2]], found.embedding_[[4, 4]], atol=1e-9)
    together = km.DistributionEmbedding(random_state=0).fit([samples[0]] * 3)
    assert (together.distances_ == 0).all()
    assert (together.embedding_ == 0).all()


# --- new samples
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", ["isomap", "mds", None])
@pytest.mark.parametrize("metric", METRICS)
def test_a_sample_of_the_fit_comes_out_where_it_was(samples, metric, embedding):
    found = km.DistributionEmbedding(
        metric=metric, embedding=embedding, n_neighbors=2, random_state=0
    )
    Y = found.fit_transform(samples[:7])
    np.testing.assert_allclose(found.transform(samples[:7]), Y, atol=1e-8 * np.abs(Y).max())
    assert found.transform([samples[8]]).shape == (1, 7 if embedding is None else 2)
    assert (found.embedding_ is None) == (embedding is None)


@pytest.mark.parametrize("metric", METRICS)
def test_a_new_sample_lies_between_its_neighbours(metric):
    along = arc(25, 300)
    found = km.DistributionEmbedding(
        metric=metric, n_neighbors=2, bandwidth=0.8, random_state=0
    ).fit(along[::2])
    first, placed = found.embedding_[:, 0], found.transform(along[1::2])[:, 0]
    direction = np.sign(first[-1] - first[0])
    assert (direction * (placed - first[:-1]) > 0).all()
    assert (direction * (first[1:] - placed) > 0).all()


def test_placing_fits_no_old_sample_again(samples, monkeypatch):
    found = km.DistributionEmbedding(random_state=0).fit(samples)
    seen = []
    original = recipe.fit_mean
    monkeypatch.setattr(
        recipe, "fit_mean", lambda X, *given: seen.append(len(X)) or original(X, *given)
    )
    found.transform([samples[0][:100]])
    assert seen == [100]


def test_what_many_samples_compile_serves_those_that_join(samples, monkeypatch):
    """Work counts for all samples together; a later one has the bits it would have had in the fit,
    and a sample fitted by itself starts no compiler.
    """
    compiled = []
    original = compiled_cloud.CompiledCloud
    monkeypatch.setattr(
        compiled_cloud, "CompiledCloud", lambda *given: compiled.append(1) or original(*given)
    )
    alone = km.DistributionEmbedding(bandwidth=0.5, k=20, random_state=0).fit(samples[:2])
    assert not compiled
    monkeypatch.setattr(_work, "LEAST_WORK", _work.LEAST_WORK / 6)
    few = km.DistributionEmbedding(bandwidth=0.5, k=20, random_state=0).fit(samples[:2])
    assert not compiled
    many = km.DistributionEmbedding(bandwidth=0.5, k=20, random_state=0).fit(samples)
    assert compiled
    joined = many._comparison.add([ArraySample(samples[1])], ["again"]).means[0]
    np.testing.assert_array_equal(joined.weights, many.means_[1].weights)
    np.testing.assert_array_equal(alone.means_[1].weights, few.means_[1].weights)


# --- what samples may be
# ----------------------------------------------------------------------------------------------


def test_lists_mappings_stacks_and_grouped_tables_say_the_same(samples):
    some = [samples[0], samples[3], samples[6]]
    settings = {"random_state": 0, "embedding": None}
    D = km.DistributionEmbedding(**settings).fit_transform(some)
    named = km.DistributionEmbedding(**settings).fit(dict(zip("cab", some, strict=True)))
    assert named.names_ == ["c", "a", "b"]
    np.testing.assert_array_equal(named.distances_, D)
    np.testing.assert_array_equal(
        km.DistributionEmbedding(**settings).fit_transform(np.stack(some)), D
    )
    np.testing.assert_array_equal(
        km.DistributionEmbedding(**settings).fit_transform(tuple(X.tolist() for X in some)), D
    )
    shuffled = np.random.default_rng(0).permutation(900)
    groups = np.repeat(["x", "y", "z"], 300)
    grouped = collect(np.concatenate(some)[shuffled], groups=groups[shuffled])
    assert grouped.names == ["x", "y", "z"]
    for X, rows in zip(grouped.samples, (groups[shuffled] == name for name in "xyz"), strict=True):
        np.testing.assert_array_equal(X.array(), np.concatenate(some)[shuffled][rows])
    by_groups = km.DistributionEmbedding(**settings).fit(np.concatenate(some), groups=groups)
    np.testing.assert_array_equal(by_groups.distances_, D)
    np.testing.assert_allclose(
        by_groups.transform(np.concatenate(some), groups=groups), D, atol=1e-8
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_long_tables_of_either_library(samples, library):
    frames = pytest.importorskip(library)
    some = [samples[0], samples[3], samples[6]]
    X = np.concatenate(some)
    table = frames.DataFrame(
        {"a": X[:, 0], "who": np.repeat(["p", "q", "r"], 300).tolist(), "b": X[:, 1]}
    )
    found = km.DistributionEmbedding(group="who", random_state=0, embedding=None).fit(table)
    np.testing.assert_array_equal(
        found.distances_,
        km.DistributionEmbedding(random_state=0, embedding=None).fit_transform(some),
    )
    assert found.names_ == ["p", "q", "r"]
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.transform(table).shape == (3, 3)
    singles = [table[["a", "b"]][:300], table[["a", "b"]][300:600]]
    assert km.DistributionEmbedding(random_state=0).fit(singles).feature_names_in_.tolist() == [
        "a",
        "b",
    ]
    with pytest.raises(
        ValueError, match=r"the columns are \['b', 'a'\], but \['a', 'b'\] were fitted"
    ):
        found.transform([table[["b", "a"]]])
    with pytest.raises(ValueError, match=r"sample 1 has \['b', 'a'\], the first has \['a', 'b'\]"):
        km.DistributionEmbedding().fit([table[["a", "b"]], table[["b", "a"]]])
    with pytest.raises(ValueError, match="name the column that tells its samples apart"):
        km.DistributionEmbedding().fit(table)
    with pytest.raises(ValueError, match="no group column 'whom'; its columns are 'a', 'who', 'b'"):
        km.DistributionEmbedding(group="whom").fit(table)


class Frame:
    """The little of a data frame that is needed: columns, rows, and an array."""

    def __init__(self, columns):
        self.data, self.columns = columns, list(columns)

    def __len__(self):
        return len(next(iter(self.data.values())))

    def __getitem__(self, key):
        return (
            Frame({name: self.data[name] for name in key})
            if isinstance(key, list)
            else self.data[key]
        )

    def __array__(self, dtype=None, copy=None):
        return np.column_stack(list(self.data.values()))


def test_any_table_with_columns_will_do(samples):
    """What pandas and polars have in common: the path is tested where neither is installed."""
    X = np.concatenate(samples[:2])
    table = Frame({"a": X[:, 0], "who": np.repeat(["p", "q"], 300), "b": X[:, 1]})
    found = km.DistributionEmbedding(group="who", random_state=0).fit(table)
    assert found.names_ == ["p", "q"]
    assert found.feature_names_in_.tolist() == ["a", "b"]
    again = found.fit(samples[:2])
    assert not hasattr(again, "feature_names_in_")
    table.data["who"] = np.array(["p", None] * 300, dtype=object)
    with pytest.raises(ValueError, match="some groups are missing"):
        found.fit(table)


def test_bad_samples_get_one_sentence(samples):
    def fit(given, **settings):
        groups = settings.pop("groups", None)
        return km.DistributionEmbedding(**settings).fit(given, groups=groups)

    A, B = samples[:2]
    with pytest.raises(ValueError, match="sample 0 has 2, but sample 1 has 1"):
        fit([A, B[:, :1]])
    with pytest.raises(ValueError, match=r"sample 'b' has shape \(0, 2\): at least one point"):
        fit({"a": A, "b": B[:0]})
    with pytest.raises(ValueError, match="at least two, got one"):
        fit([A])
    with pytest.raises(ValueError, match="samples is empty"):
        fit([])
    with pytest.raises(
        TypeError, match=r"samples must be a list of arrays, .* got one table of shape \(300, 2\)"
    ):
        fit(A)
    with pytest.raises(TypeError, match="got a str"):
        fit("table.csv")
    with pytest.raises(ValueError, match="sample 1 holds NaN"):
        fit([A, np.full((3, 2), np.nan)])
    with pytest.raises(ValueError, match="sample 0 must be a table of shape"):
        fit([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(
        ValueError, match=r"groups has shape \(4,\), but one group per row is needed: \(300,\)"
    ):
        fit(A, groups=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="some groups are missing"):
        fit(A, groups=[*range(299), np.nan])
    with pytest.raises(
        ValueError, match="sample 1 has one point, but the Kullback–Leibler divergence splits"
    ):
        fit([A, B[:1]], metric="kl")
    with pytest.raises(ValueError, match="finds no spread"):
        fit([np.zeros((4, 2)), np.zeros((5, 2))])


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"metric": "mmdd"}, ValueError, "unknown metric 'mmdd'; choose from 'mmd', 'l2', 'kl'"),
        (
            {"embedding": "umap"},
            ValueError,
            "unknown embedding 'umap'; choose from 'isomap', 'mds', None",
        ),
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"n_neighbors": 1.5}, TypeError, "n_neighbors must be a whole number"),
        (
            {"metric": "kl", "error_bars": True},
            ValueError,
            "no bound is known for the Kullback–Leibler divergence",
        ),
        ({"kernel": km.Gaussian(1.0), "bandwidth": 2.0}, ValueError, "carries its own scale"),
        ({"bandwidth": -1.0}, ValueError, "bandwidth must be"),
        ({"bandwidth": "scot"}, ValueError, "unknown bandwidth rule 'scot'"),
        ({"scale": "sd"}, ValueError, "unknown scale 'sd'"),
        ({"kernel": "student"}, ValueError, "give an instance"),
        ({"k": 0}, ValueError, "k must be at least 1"),
    ],
)
def test_bad_settings_get_one_sentence(samples, settings, error, sentence):
    with pytest.raises(error, match=sentence):
        km.DistributionEmbedding(**settings).fit(samples[:3])


def test_new_samples_are_checked(samples):
    found = km.DistributionEmbedding(random_state=0).fit(samples[:3])
    with pytest.raises(
        ValueError, match="sample 0 has 1 columns, but 2 are expected as in the fitted data"
    ):
        found.transform([samples[0][:, :1]])
    with pytest.raises(ValueError, match="samples is empty"):
        found.transform([])


def test_odd_samples_are_embedded(samples):
    """One point, all points equal, two samples only: sensible results."""
    lone, constant = samples[0][:1], np.ones((50, 2))
    found = km.DistributionEmbedding(random_state=0).fit([samples[0], lone, constant])
    assert np.isfinite(found.embedding_).all()
    assert [mean.k for mean in found.means_][1:] == [1, 1]
    pair = km.DistributionEmbedding(random_state=0).fit(samples[:2])
    assert abs(pair.embedding_[0, 0] - pair.embedding_[1, 0]) == pytest.approx(
        pair.distances_[0, 1], rel=1e-9
    )
    assert pair.n_neighbors_ == 1


# --- scikit-learn
# --------------------------------------------------------------------------------------------------


ONE_TABLE = (
    "it fits one table, but this estimator needs several samples (a list of tables, or groups)"
)
ONE_TABLE_CHECKS = [
    *(
        "check_fit_score_takes_y",
        "check_estimators_overwrite_params",
        "check_dont_overwrite_parameters",
    ),
    *(
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_n_features_in_after_fitting",
    ),
    *(
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_complex_data",
        "check_dtype_object",
    ),
    *(
        "check_estimators_empty_data_messages",
        "check_pipeline_consistency",
        "check_estimators_nan_inf",
    ),
    *(
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
    ),
    *(
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_transformer_data_not_an_array",
    ),
    *(
        "check_transformer_general",
        "check_transformer_preserve_dtypes",
        "check_methods_sample_order_invariance",
    ),
    *(
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_dict_unchanged",
    ),
    *(
        "check_fit_idempotent",
        "check_fit_check_is_fitted",
        "check_n_features_in",
        "check_fit1d",
        "check_fit2d_predict1d",
    ),
]


def outcomes(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    return {
        status: {r["check_name"] for r in results if r["status"] == status}
        for status in ("passed", "failed", "xfail")
    }


def test_checks_of_scikit_learn_that_cannot_apply():
    """Every check that fits one table is expected to fail; all the others (parameters, clone, tags,
    repr) pass.
    """
    found = outcomes(km.DistributionEmbedding(), dict.fromkeys(ONE_TABLE_CHECKS, ONE_TABLE))
    assert found["failed"] == set()
    assert found["xfail"] == set(ONE_TABLE_CHECKS)
    assert {
        "check_estimator_cloneable",
        "check_get_params_invariance",
        "check_estimators_unfitted",
    } <= found["passed"]


class EveryRow(km.DistributionEmbedding):
    """Each row of a table as a sample of one point, so that scikit-learn's checks have something to
    fit.
    """

    def fit(self, X, y=None):
        return super().fit(list(check_array(X)[:, None, :]))

    def fit_transform(self, X, y=None):
        return self.fit(X, y).embedding_

    def transform(self, X):
        return super().transform(list(check_array(X)[:, None, :]))


@pytest.mark.skipif(os.environ.get("SCIPY_ARRAY_API") == "1", reason="NumPy in, NumPy out")
def test_with_every_row_a_sample_the_checks_pass():
    reason = {
        "check_n_features_in_after_fitting": "a wrong number of columns is named in this "
        "package's words, sample by sample"
    }
    found = outcomes(
        EveryRow(bandwidth=5.0, embedding="mds", engine="naive", random_state=0), reason
    )
    assert found["failed"] == set()
    assert found["xfail"] == set(reason)
    assert {
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_transformer_general",
    } <= found["passed"]


def test_it_lives_in_a_pipeline_and_clones(samples):
    pipe = make_pipeline(
        km.DistributionEmbedding(embedding=None, random_state=0),
        AgglomerativeClustering(2, metric="precomputed", linkage="average"),
    )
    labels = pipe.fit_predict([*samples[:3], *samples[-3:]])
    assert labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    estimator = km.DistributionEmbedding(metric="l2", n_neighbors=3, random_state=0)
    np.testing.assert_array_equal(
        clone(estimator).fit_transform(samples), estimator.fit_transform(samples)
    )


# --- real data
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lakes(data):
    """36 cytometry samples, 12 waters in 3 replicates each, 1000 cells of each, arcsinh."""
    with np.load(data / "flow_lakes36" / "flow_lakes36.npz", allow_pickle=False) as file:
        X, offsets, water = file["X"], file["offsets"], file["water"]
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.choice(np.arange(a, b), 1000, replace=False)) for a, b in pairwise(offsets)]
    return [np.arcsinh(X[r].astype(np.float64)) for r in rows], water


def replicate_share(D, water):
    """Samples whose nearest neighbour is a replicate of the same water."""
    others = D + np.where(np.eye(len(D), dtype=bool), np.inf, 0.0)
    return float(np.mean(water[others.argmin(axis=1)] == water))


@pytest.mark.data
def test_replicates_of_a_water_lie_together(lakes):
    samples, water = lakes
    full = km.DistributionEmbedding(sparse=False, embedding="mds").fit(samples)
    found = {
        selection: km.DistributionEmbedding(
            selection=selection, embedding="mds", error_bars=True, random_state=0
        ).fit(samples)
        for selection in ("kcenter", "kmeans")
    }
    for sparse in found.values():
        assert (
            np.abs(sparse.distances_ - full.distances_) <= sparse.distance_errors_ + 1e-12
        ).all()
    assert replicate_share(full.distances_, water) >= 0.85
    assert replicate_share(found["kmeans"].distances_, water) >= 0.85
    gap = np.linalg.norm(found["kmeans"].distances_ - full.distances_) / np.linalg.norm(
        full.distances_
    )
    assert gap < 0.05
    assert km.procrustes(full.embedding_, found["kmeans"].embedding_).residual < 0.03


# --- centres with spreads
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["mmd", "l2", "kl"])
@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_samples_are_compared_by_means_with_spreads(metric, spread):
    """Distances within their certified errors of the full ones, and equal for equal samples."""
    rng = np.random.default_rng(3)
    samples = [rng.normal(m, 1.0, (300, 3)) for m in (0.0, 0.3, 1.0)]
    samples.append(samples[0].copy())
    how = {"embedding": None, "metric": metric, "error_bars": metric != "kl", "random_state": 0}
    found = km.DistributionEmbedding(spread=spread, k=15, **how).fit(samples)
    full = km.DistributionEmbedding(sparse=False, **how).fit(samples)
    assert {mean.expansion.atoms.kind for mean in found.means_} == {spread}
    if metric == "kl":
        np.testing.assert_allclose(found.distances_, full.distances_, atol=0.25)
        return
    assert found.distances_[0, 3] == 0.0
    assert (np.abs(found.distances_ - full.distances_) <= found.distance_errors_ + 1e-9).all()
    new = found.transform([samples[1]])
    np.testing.assert_allclose(new[0], found.distances_[1], atol=1e-9)


def test_spread_is_a_parameter_of_the_embedding():
    rng = np.random.default_rng(3)
    samples = [rng.normal(size=(50, 2)) for _ in range(3)]
    embedding = km.DistributionEmbedding(spread="scalar", embedding=None)
    assert clone(embedding).get_params()["spread"] == "scalar"
    with pytest.raises(ValueError, match="unknown spread"):
        km.DistributionEmbedding(spread=2, embedding=None).fit(samples)

"""Clusters that are there: the noise of a density, its saddles, its bandwidth, and the answers."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.expansion import KernelMean
from kernelmean.meanshift.plans import DensityPlan
from kernelmean.meanshift.saddles import Modes, bent, ended, find_passes
from kernelmean.meanshift.sampling_noise import log_variance, resolved_rows, z_scores
from kernelmean.samples import ArraySample, WeightedSample
from tests import brute


def blobs(*centers, size=200, width=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(c, width, (size, len(c))) for c in centers])


# --- the noise of a difference


def full(X, bandwidth, kernel=km.Gaussian):
    return km.kernel_mean(X, kernel=kernel(bandwidth), space="l2")


@pytest.mark.parametrize("kernel", [km.Gaussian, km.Laplacian, km.Cauchy])
def test_the_variance_of_a_difference_is_that_of_the_mean_over_points(kernel):
    X = np.random.default_rng(0).normal(size=(80, 2))
    mean = full(X, 0.7, kernel)
    P, S = X[:5], X[5:10] + 0.3
    at = [mean.kernel.profile(brute.squared_distances(Q, X), 2) for Q in (P, S)]
    difference = at[0] - at[1]
    expected = difference.mean(axis=1) / np.sqrt(difference.var(axis=1) / len(X))
    higher = difference.mean(axis=1) > 0.0  # a mode is above its saddle
    assert higher.any()
    np.testing.assert_allclose(z_scores(mean, P, S)[higher], expected[higher], rtol=1e-8)
    squares = np.log((at[0] ** 2).mean(axis=1) / len(X))
    np.testing.assert_allclose(log_variance(mean, P), squares, rtol=1e-8)


@pytest.mark.parametrize("kind", ["scalar", "full"])
def test_atoms_have_the_noise_of_the_points_that_they_stand_for(kind):
    """One atom against very many points of its normal law."""
    S = np.array([[0.5, 0.2], [0.2, 0.4]]) if kind == "full" else 0.5 * np.eye(2)
    spreads = S[None] if kind == "full" else np.array([0.5])
    n = 200_000
    X = np.random.default_rng(0).multivariate_normal([0.0, 0.0], S, n)
    points = full(X, 0.6)
    atom = KernelMean(
        np.zeros((1, 2)), np.ones(1), km.Gaussian(0.6), "l2", None, float(n), "cpu", spreads
    )
    P, Q = np.array([[0.0, 0.0], [0.2, 0.1]]), np.array([[0.9, 0.5], [1.0, -1.0]])
    for_all = np.sqrt(n / resolved_rows(atom))  # one cell is made for few rows
    found = for_all * z_scores(atom, P, Q)
    np.testing.assert_allclose(found, z_scores(points, P, Q), rtol=0.02)


def test_more_rows_than_cells_are_made_for_do_not_lower_the_noise():
    def cells(n, k):
        X = np.random.default_rng(0).normal(size=(k, 2))
        mean = full(X, 0.6)
        return replace(mean, n_points=float(n), spreads=np.full(k, 0.01))

    assert resolved_rows(cells(1000, 94)) == 1000.0
    assert resolved_rows(cells(5, 5)) == 5.0
    assert resolved_rows(cells(10**6, 299)) == pytest.approx(1e4)
    assert resolved_rows(full(np.random.default_rng(0).normal(size=(50, 2)), 0.6)) == 50.0


# --- saddles


def test_the_saddle_of_two_equal_kernels_is_in_their_middle():
    X = np.array([[0.0, 0.0], [4.0, 0.0]])
    mean = full(X, 1.0)
    peaks = X[[0, 1]]
    modes = Modes(peaks, mean.cloud.log_kernel_sum(mean.kernel.formula(2), peaks, mean.weights))
    found = ended(mean, modes, find_passes(mean, modes))
    assert sorted(found.parents) == [-1, 0]
    np.testing.assert_allclose(found.points[1], [2.0, 0.0], atol=1e-12)
    assert np.isneginf(found.log_values[0])


def test_a_bent_way_finds_the_pass_that_a_straight_one_misses():
    """Two ends of an arch: the segment between them crosses its empty inside."""
    angle = np.linspace(0.0, np.pi, 60)
    X = 4.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    w = np.ones(60)
    w[[0, -1]] = 8.0
    mean = km.kernel_mean(X, kernel=km.Gaussian(0.8), space="l2", sample_weight=w)
    formula = mean.kernel.formula(2)

    def value(Q):
        return mean.cloud.log_kernel_sum(formula, Q, mean.weights)

    peaks = X[[0, -1]]
    straight = value(np.zeros((1, 2)))[0]
    ridge = value(X[[30]])[0]
    modes = Modes(peaks, value(peaks))
    passes = find_passes(mean, modes)
    saddles = ended(mean, modes, passes)
    assert passes.log_values[0] == pytest.approx(ridge, abs=0.05)
    across = replace(passes, log_values=np.array([straight]), points=np.zeros((1, 2)))
    lower = np.flatnonzero(saddles.parents >= 0)
    assert bent(mean, peaks, across, saddles, lower).log_values[0] > straight + 0.5


def test_a_stray_point_does_not_outlive_the_hill_of_all_others():
    """In ten dimensions it is the highest peak, and alone."""
    X = np.random.default_rng(1).standard_t(3, size=(1000, 10))
    model = km.MeanShift(random_state=0).fit(X)
    assert len(model.cluster_centers_) == 1
    last = int(np.flatnonzero(model.tree_.parent < 0)[0])
    assert model.tree_.size[last] > 500


# --- one cluster, and several


@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize("family", ["normal", "uniform", "student"])
def test_one_hill_is_one_cluster(family, d):
    rng = np.random.default_rng(d)
    draw = {
        "normal": lambda: rng.normal(size=(1000, d)),
        "uniform": lambda: rng.random((1000, d)),
        "student": lambda: rng.standard_t(3, size=(1000, d)),
    }
    assert len(km.MeanShift(random_state=0).fit(draw[family]()).cluster_centers_) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"spread": None},
        {"selection": "kmeans"},
        {"kernel": "laplacian"},
        {"k": 12},
        {"k_max": 12},
        {"bandwidth": 0.05},
        {"kernel": km.Gaussian(0.05)},
        {"spread": "full"},
    ],
    ids=str,
)
def test_centres_that_stand_for_many_rows_are_no_clusters(options):
    """Each would be a hill of its own, as high above the noise as it has rows."""
    X = np.random.default_rng(0).normal(size=(3000, 3))
    assert len(km.MeanShift(random_state=0, **options).fit(X).cluster_centers_) == 1
    groups = np.concatenate([X[:1000], X[1000:2000] + 6.0])
    narrow = {"bandwidth", "kernel"} & options.keys() and options != {"kernel": "laplacian"}
    wide = {"bandwidth": 0.5} if narrow else options
    assert len(km.MeanShift(random_state=0, **wide).fit(groups).cluster_centers_) == 2


@pytest.mark.parametrize(
    ("X", "y"),
    [
        make_moons(1000, noise=0.08, random_state=0),
        make_circles(1000, noise=0.05, factor=0.4, random_state=0),
        (blobs((0, 0), (5, 0), (0, 5), (5, 5)), np.repeat(range(4), 200)),
        (blobs(np.zeros(10), np.full(10, 2.0), size=400), np.repeat(range(2), 400)),
    ],
    ids=["moons", "rings", "blobs", "10-D"],
)
def test_clusters_that_are_there_are_found(X, y):
    model = km.MeanShift(random_state=0).fit(X)
    assert len(model.cluster_centers_) == len(np.unique(y))
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_units_and_outliers_and_shifts_change_nothing():
    X = blobs((0, 0), (6, 0))
    base = km.MeanShift(random_state=0).fit(X).labels_
    for other in (X * [1.0, 1e9], X + 1e6, np.column_stack([X, np.full(len(X), 3.0)])):
        assert (km.MeanShift(random_state=0).fit(other).labels_ == base).all()
    far = np.concatenate([X, 1e6 * np.random.default_rng(0).normal(size=(5, 2))])
    model = km.MeanShift(random_state=0).fit(far)
    assert adjusted_rand_score(model.labels_[: len(X)], base) > 0.99
    assert (model.strengths_[len(X) :] < 0.5).all()


def test_rounded_values_make_no_clusters_of_their_own():
    X = np.round(np.random.default_rng(0).normal(size=(3000, 2)), 1)
    assert len(km.MeanShift(random_state=0).fit(X).cluster_centers_) == 1


def test_integer_weights_are_repeated_rows():
    X = blobs((0, 0), (5, 0))
    w = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = km.MeanShift(random_state=0).fit(X, sample_weight=w)
    repeated = km.MeanShift(random_state=0).fit(np.repeat(X, w, axis=0))
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-9)
    assert (np.repeat(weighted.labels_, w) == repeated.labels_).all()


def test_every_mode_is_kept_where_no_test_is_asked_for():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = km.MeanShift(significance=None, spread=None, random_state=0).fit(X)
    assert len(model.cluster_centers_) == len(model.tree_) > 3
    assert model.scale_ is None


def test_the_level_says_how_often_chance_makes_a_cluster():
    """At a bandwidth that is given, where the level is not shared with other bandwidths."""
    rng = np.random.default_rng(3)
    model = km.MeanShift(bandwidth=0.1, significance=0.2, random_state=0)
    false = [len(model.fit(rng.random((400, 1))).cluster_centers_) > 1 for _ in range(40)]
    assert np.mean(false) < 0.2 + 3 * np.sqrt(0.2 * 0.8 / 40)


def test_a_level_is_shared_only_where_bandwidths_are_searched():
    X = blobs((0, 0), (5, 0))
    sample = WeightedSample.of(ArraySample(X))

    def plan(**options):
        return DensityPlan.of(sample, FitSettings.density(**options), significance=0.05)

    searched = plan(bandwidth="auto")
    assert searched.level == 0.05 / 9
    assert searched.judge(Streams(0)) is None
    for given in ({"bandwidth": 0.3}, {"bandwidth": "auto", "kernel": km.Gaussian(0.3)}):
        assert plan(**given).level == 0.05
        assert plan(**given).judge(Streams(0)) is not None


# --- how clearly


def test_strengths_fall_between_clusters_and_stray_points_are_noise():
    X = blobs((0, 0), (4, 0), size=500)
    stray = np.array([[2.0, 40.0], [-40.0, 0.0]])
    data = np.concatenate([X, stray])
    model = km.MeanShift(random_state=0).fit(data)
    assert len(model.cluster_centers_) == 2
    middle = np.abs(X[:, 0] - 2.0) < 0.2
    centres = np.abs(X[:, 0] - 2.0) > 1.5
    assert model.strengths_[: len(X)][middle].mean() < 0.75
    assert model.strengths_[: len(X)][centres].min() > 0.75
    assert (model.strengths_[-2:] < 0.1).all()
    noisy = km.MeanShift(noise=True, random_state=0).fit(data)
    assert (noisy.labels_[-2:] == -1).all()
    clear = noisy.labels_ >= 0
    assert (noisy.labels_[clear] == model.labels_[clear]).all()
    assert (noisy.strengths_[clear] >= 2 / 3).all()

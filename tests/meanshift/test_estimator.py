"""Mean shift: the climb against plain mean shift written from its formula, its promises as
properties, the estimator.
"""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.climbing import DensityToClimb, ascend, climb
from kernelmean.mean.linkage import link
from kernelmean.meanshift.clustering import Rules, cluster
from kernelmean.meanshift.plans import DensityPlan
from kernelmean.samples import ArraySample, WeightedSample
from tests import brute
from tests.strategies import clouds, spread_clouds

KERNELS = {
    "gaussian": km.Gaussian(0.6),
    "laplacian": km.Laplacian(0.8),
    "student": km.Student(3.0, 0.8),
    "cauchy": km.Cauchy(0.5),
}
SMOOTH = [name for name in KERNELS if name != "laplacian"]


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(center, 0.35, size=(n, 2)) for center in ((0, 0), (3, 0), (0, 3))]
    )


def full(X, kernel, weights=None):
    return km.kernel_mean(X, kernel=kernel, space="l2", sample_weight=weights)


def profiles(kernel):
    """φ and ψ = −dφ/ds up to factors, of the squared distance: written here, not taken from the
    library.
    """
    if isinstance(kernel, km.Gaussian):
        return brute.gaussian(kernel.bandwidth), brute.gaussian(kernel.bandwidth)
    alpha = kernel.alpha if isinstance(kernel, km.Student) else 1.5  # Cauchy in two dimensions
    return brute.student(alpha, kernel.beta), brute.student(alpha + 1, kernel.beta)


def plain_mean_shift(X, w, kernel, starts, steps=3000):
    """x ← Σ w ψ c/Σ w ψ, again and again."""
    _, psi = profiles(kernel)
    Y = starts.copy()
    for _ in range(steps):
        pull = psi(brute.squared_distances(Y, X)) * w
        Y = pull @ X / pull.sum(axis=1, keepdims=True)
    return Y


@pytest.mark.parametrize("name", SMOOTH)
def test_the_climb_ends_where_plain_mean_shift_ends(name):
    X, kernel = blobs(), KERNELS[name]
    w = np.random.default_rng(1).uniform(0.2, 1.0, len(X))
    expected = plain_mean_shift(X, w, kernel, X)
    found = climb(DensityToClimb.of(full(X, kernel, w)), X, 1e-9, 10_000)
    np.testing.assert_allclose(found.ends, expected, atol=1e-6)
    assert found.left == 0
    assert found.n_iter < 200


@pytest.mark.parametrize("name", SMOOTH)
def test_one_step_is_the_weighted_mean(name):
    X, kernel = blobs(20), KERNELS[name]
    place = DensityToClimb.of(full(X, kernel)).at(X + 0.1)
    np.testing.assert_allclose(
        X + 0.1 + place.step, plain_mean_shift(X, brute.uniform(X), kernel, X + 0.1, 1), atol=1e-12
    )


def test_the_climb_of_a_laplacian_density_ends_on_its_peaks():
    """No point nearby is higher, and only peaks of the density, at data or between, are ends."""
    X = blobs(40)
    mean = full(X, KERNELS["laplacian"])
    found = climb(DensityToClimb.of(mean), X, 1e-6, 10_000)
    ring = np.stack(
        [np.cos(np.arange(12) / 12 * 2 * np.pi), np.sin(np.arange(12) / 12 * 2 * np.pi)], axis=1
    )
    for radius in (1e-3, 1e-2):
        around = mean((found.ends[:, None] + radius * ring).reshape(-1, 2)).reshape(-1, 12)
        assert (around <= mean(found.ends)[:, None] * (1 + 1e-12)).all()


# --- promises
# --------------------------------------------------------------------------------------------------


def density_at(mean, Y):
    """log f by its formula."""
    r2 = brute.squared_distances(Y, mean.mapped_centers)
    logs = mean.kernel.formula(mean.dimension).log(r2)
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]) @ mean.weights)


@pytest.mark.parametrize("name", KERNELS)
@given(X=clouds(max_points=25, min_points=2), seed=st.integers(0, 100), size=st.floats(0.05, 3.0))
def test_the_density_never_falls_along_any_path(name, X, seed, size):
    """Every place of every path, leaps included, against the place before; starts at the points and
    off them.
    """
    rng = np.random.default_rng(seed)
    kernel = KERNELS[name].rescaled(size, X.shape[1])
    kernel = km.Student(X.shape[1] / 2 + 1, kernel.beta) if name == "student" else kernel
    mean = full(X, kernel, rng.integers(1, 5, len(X)))
    starts = np.concatenate([X, X + rng.normal(size=X.shape) * size])
    last = np.full(len(starts), -np.inf)
    for count, (rows, place, arrived) in enumerate(ascend(DensityToClimb.of(mean), starts, 1e-4)):
        value = density_at(mean, place.x)
        assert (value >= last[rows] - 1e-12 * (1 + np.abs(value))).all()
        np.testing.assert_allclose(value, place.log_value, rtol=1e-9, atol=1e-9)
        end = density_at(mean, (place.x + place.step)[arrived])
        assert (end >= value[arrived] - 1e-12 * (1 + np.abs(end))).all()
        last[rows] = value
        assert count < 5000


@pytest.mark.parametrize("name", KERNELS)
@given(X=clouds(max_points=25, min_points=1))
def test_ends_lie_within_the_cloud(name, X):
    kernel = km.Student(X.shape[1] / 2 + 1, 0.8) if name == "student" else KERNELS[name]
    found = climb(DensityToClimb.of(full(X, kernel)), X, 1e-3, 10_000)
    slack = 1e-9 * (1 + np.abs(X).max())
    assert (found.ends >= X.min(axis=0) - slack).all()
    assert (found.ends <= X.max(axis=0) + slack).all()
    assert found.left == 0


def test_points_that_creep_along_a_ridge_arrive():
    """A long ridge with a faint peak: plain steps shrink so slowly that 500 of them do not reach
    it.
    """
    x = np.linspace(-6, 6, 400)
    X = np.column_stack([x, 0.05 * np.sin(7 * x)])
    mean = km.kernel_mean(
        X, kernel=km.Gaussian(1.0), space="l2", sample_weight=np.exp(-(x**2) / 200)
    )
    hill = DensityToClimb.of(mean)
    slow = X
    for _ in range(500):
        slow = slow + hill.at(slow).step
    assert np.mean(np.linalg.norm(hill.at(slow).step, axis=1) > 1e-6) > 0.5
    found = climb(hill, X, 1e-6, 500)
    assert found.left == 0
    assert found.n_iter < 250
    top = found.ends[np.argmax(mean(found.ends))]
    assert np.linalg.norm(found.ends - top, axis=1).max() < 1e-2


def test_an_outlier_far_from_every_centre_still_climbs():
    """Where every weight underflows: the sparse density has no centre there."""
    X = blobs()
    hill = DensityToClimb.of(
        km.sparse_kernel_mean(
            X, kernel=km.Gaussian(0.5), space="l2", constraint="simplex", k=20, random_state=0
        ).expansion
    )
    found = climb(hill, np.array([[300.0, 1.0], [-1e7, 2.0], [0.0, 1e12]]), 1e-3, 1000)
    assert np.isfinite(found.ends).all()
    assert (np.abs(found.ends) < 5).all()


@pytest.mark.parametrize("name", KERNELS)
def test_sparse_and_full_agree_as_k_grows(name):
    X = blobs(80, seed=2)
    exact = climb(DensityToClimb.of(full(X, KERNELS[name])), X, 1e-6, 10_000).ends
    errors = []
    for k in (15, 60, len(X)):
        mean = km.sparse_kernel_mean(
            X, kernel=KERNELS[name], space="l2", constraint="simplex", k=k, random_state=0
        )
        ends = climb(DensityToClimb.of(mean.expansion), X, 1e-6, 10_000).ends
        errors.append(np.linalg.norm(ends - exact, axis=1).mean())
    assert errors[2] < 1e-3
    assert errors[1] < 0.2
    assert errors[2] <= errors[1] <= errors[0]


def test_weiszfelds_rule_decides_at_a_centre():
    """Two Laplacian centres a distance r apart: the lighter one holds its point just if w ≥ (1 −
    w)·exp(−r/γ).
    """
    C, limit = np.array([[0.0, 0.0], [1.0, 0.0]]), np.exp(-1.0) / (1 + np.exp(-1.0))
    for w, stays in ((limit * 1.01, True), (limit * 0.99, False)):
        mean = full(C, km.Laplacian(1.0), [w, 1 - w])
        found = climb(
            DensityToClimb.of(mean), np.array([[0.0, 0.0], [1e-9, 1e-9], [0.4, 0.1]]), 1e-3, 10_000
        )
        expected = C[[0, 0, 0]] if stays else C[[1, 1, 1]]
        np.testing.assert_allclose(found.ends[:2], expected[:2], atol=1e-12)
        assert found.left == 0


def test_a_mean_that_is_no_density_is_refused():
    X = blobs()
    signed = km.sparse_kernel_mean(X, bandwidth=0.5, spread=None, random_state=0)
    assert (signed.weights < 0).any()
    with pytest.raises(ValueError, match="nonnegative"):
        DensityToClimb.of(signed.expansion)
    own = km.Radial(lambda s: 1 / (1 + s), 1.0)
    with pytest.raises(ValueError, match="Radial"):
        DensityToClimb.of(km.kernel_mean(X, kernel=own).expansion)


# --- linkage
# --------------------------------------------------------------------------------------------------


@given(
    X=clouds(max_points=40, min_points=2, max_columns=4),
    radius=st.floats(0.01, 2.0),
    crowd=st.integers(1, 3),
    seed=st.integers(0, 100),
)
def test_linkage_is_single_linkage(X, radius, crowd, seed):
    """Crowds about each point too, so that cells hold many; off ties, where rounding decides."""
    rng = np.random.default_rng(seed)
    Y = np.concatenate(
        [X + (part > 0) * rng.normal(scale=1e-2, size=X.shape) for part in range(crowd)]
    )
    steps = linkage(Y, "single")
    if np.abs(steps[:, 2] - radius).min() < 1e-9 * (1 + np.abs(Y).max()):
        return
    links = link(Y, radius)
    labels = links.groups[links.cells]
    assert km.clustering_hausdorff(labels, fcluster(steps, radius, "distance")) == 0.0
    assert (
        np.diff(np.unique(labels, return_index=True)[1]) > 0
    ).all()  # numbered by first appearance
    assert (links.cells[links.firsts] == np.arange(len(links.firsts))).all()


def test_linkage_of_pairs_in_bounded_portions(monkeypatch):
    from kernelmean.mean import linkage as module

    Y = np.random.default_rng(0).uniform(size=(500, 3))
    whole = link(Y, 0.09)
    monkeypatch.setattr(module, "BLOCK_PAIRS", 7)
    monkeypatch.setattr(module, "BLOCK_ROWS", 13)
    parts = link(Y, 0.09)
    assert whole.groups.max() > 3
    assert all((a == b).all() for a, b in zip(whole, parts, strict=True))


# --- clusters
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", KERNELS)
def test_blobs_are_found(name, sparse):
    X = blobs()
    model = km.MeanShift(kernel=KERNELS[name], sparse=sparse, random_state=0).fit(X)
    assert km.clustering_hausdorff(model.labels_, np.repeat([0, 1, 2], 60)) == 0.0
    assert model.cluster_centers_.shape == (3, 2)
    assert (model.predict(X) == model.labels_).all()
    assert model.bandwidth_ == KERNELS[name].length


@pytest.mark.parametrize("scale", [None, "cov"])
@pytest.mark.parametrize("name", SMOOTH)
def test_centers_are_stationary_and_carry_their_density(name, scale):
    X = blobs(seed=3) * [1.0, 5.0]
    model = km.MeanShift(kernel=KERNELS[name], scale=scale, sparse=False, random_state=0).fit(X)
    f = model.mean_(model.cluster_centers_)
    np.testing.assert_allclose(model.cluster_densities_, f, rtol=1e-9)
    np.testing.assert_allclose(model.cluster_log_densities_, np.log(f), rtol=1e-9)
    assert (np.diff(f) <= 0).all()
    slope = np.linalg.norm(model.mean_.gradient(model.cluster_centers_), axis=1) / f
    assert (slope < 1e-7).all()


def test_the_bandwidth_is_that_of_chen_genovese_and_wasserman():
    X = blobs()
    n, d = X.shape
    expected = X.std(axis=0, ddof=1).mean() * (4 / (d + 4)) ** (1 / (d + 6)) * n ** (-1 / (d + 6))
    for options in ({"significance": None}, {"bandwidth": "mode", "scale": None}):
        model = km.MeanShift(random_state=0, **options).fit(X)
        assert model.bandwidth_ == pytest.approx(expected, rel=1e-12)
    assert km.bandwidth.mode(X) == pytest.approx(expected, rel=1e-12)


def test_prediction_climbs_and_does_not_ask_for_the_nearest_centre():
    """A long thin ridge beside a small blob: its end is nearer to the blob's centre than to its
    own.
    """
    x = np.linspace(0, 10, 300)
    X = np.concatenate(
        [np.column_stack([x, 0 * x]), np.random.default_rng(0).normal((10, 3.0), 0.1, size=(60, 2))]
    )
    w = np.concatenate([np.exp(-x / 8), np.full(60, 0.2)])
    model = km.MeanShift(kernel=km.Gaussian(0.7), sparse=False).fit(X, sample_weight=w)
    new = np.column_stack([np.linspace(8.5, 10, 20), np.full(20, 0.1)])
    nearest = np.argmin(brute.squared_distances(new, model.cluster_centers_), axis=1)
    assert (model.predict(new) == model.labels_[0]).all()
    assert (nearest != model.labels_[0]).all()
    assert len(model.cluster_centers_) == 2


def test_small_clusters_are_absorbed_by_the_nearest_peak():
    X = np.concatenate([blobs(), [[8.0, 0.0], [8.1, 0.0]], [[0.0, -9.0]]])
    options = {"kernel": km.Gaussian(0.6), "sparse": False, "significance": None}
    every = km.MeanShift(**options).fit(X)
    assert sorted(np.bincount(every.labels_)) == [1, 2, 60, 60, 60]
    larger = km.MeanShift(min_cluster_size=2, **options).fit(X)
    assert sorted(np.bincount(larger.labels_)) == [2, 60, 60, 61]
    assert larger.labels_[-1] == larger.labels_[0]
    large = km.MeanShift(min_cluster_size=10, **options).fit(X)
    assert (large.labels_[[180, 181]] == large.labels_[60]).all()  # the blob at (3, 0)
    assert len(large.cluster_centers_) == 3
    assert (large.predict(X) == large.labels_).all()
    assert len(km.MeanShift(min_cluster_size=1000, **options).fit(X).cluster_centers_) >= 1


def test_the_merge_radius_joins_peaks():
    X = blobs()
    counts = [
        len(
            km.MeanShift(kernel=km.Gaussian(0.6), merge_radius=r, sparse=False)
            .fit(X)
            .cluster_centers_
        )
        for r in (0.6, 2.5, 3.5)
    ]
    assert counts == [3, 3, 1]


def test_points_left_on_their_way_are_counted():
    X = blobs()
    with pytest.warns(
        UserWarning, match=r"180 of 180 points still move .* max_iter=1 .* raise max_iter"
    ):
        model = km.MeanShift(kernel=km.Gaussian(0.6), sparse=False, max_iter=1, tol=1e-6).fit(X)
    assert model.n_iter_ == 1
    with pytest.warns(UserWarning, match="2 of 2 points"):
        model.predict(X[:2] + 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        km.MeanShift(kernel=km.Gaussian(0.6), sparse=False).fit(X)


def test_integer_weights_are_repeated_rows():
    X = blobs(30)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = km.MeanShift(sparse=False).fit(X, sample_weight=w)
    repeated = km.MeanShift(sparse=False).fit(np.repeat(X, w, axis=0))
    assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-12)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-7)
    assert (np.repeat(weighted.labels_, w) == repeated.labels_).all()


def test_a_scale_is_a_fit_in_other_coordinates():
    X, A = blobs(), np.array([[2.0, 0.3], [0.0, 0.5]])
    scaled = km.MeanShift(scale=A, sparse=False).fit(X)
    mapped = km.MeanShift(scale=None, sparse=False).fit(X @ A.T)
    assert scaled.bandwidth_ == pytest.approx(mapped.bandwidth_, rel=1e-9)
    assert km.clustering_hausdorff(scaled.labels_, mapped.labels_) == 0.0
    np.testing.assert_allclose(scaled.cluster_centers_ @ A.T, mapped.cluster_centers_, atol=1e-6)
    np.testing.assert_allclose(scaled.shifted_ @ A.T, mapped.shifted_, atol=1e-6)


@given(X=spread_clouds(max_points=30))
def test_labels_are_whole_and_prediction_repeats_them(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = km.MeanShift(random_state=0).fit(X)
    assert (np.unique(model.labels_) == np.arange(len(model.cluster_centers_))).all()
    assert (model.predict(X) == model.labels_).all()
    assert model.shifted_.shape == X.shape


def test_results_are_the_same_every_time_and_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(6000, 3))
    X.flags.writeable = False
    models = [
        km.MeanShift(k_max=60, random_state=7, engine=km.engines.open("cpu", threads=t)).fit(X)
        for t in (1, 2, 5, 2)
    ]
    for model in models[1:]:
        assert (model.labels_ == models[0].labels_).all()
        assert (model.shifted_ == models[0].shifted_).all()
    naive = km.MeanShift(k_max=60, random_state=7, engine="naive").fit(X[:800])
    fast = km.MeanShift(k_max=60, random_state=7).fit(X[:800])
    assert km.clustering_hausdorff(naive.labels_, fast.labels_) < 0.01


@pytest.mark.parametrize(
    "X", [np.full((5, 2), 3.0), np.array([[1.0, 2.0]])], ids=["equal points", "one point"]
)
@pytest.mark.parametrize("sparse", [True, False])
def test_without_spread_there_is_one_cluster(X, sparse):
    model = km.MeanShift(sparse=sparse).fit(X)
    assert (model.labels_ == 0).all()
    np.testing.assert_array_equal(model.cluster_centers_, X[:1])


def test_frames_of_any_kind():
    X = blobs(20)
    expected = km.MeanShift(random_state=0).fit(X).labels_
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame({"a": X[:, 0], "b": X[:, 1]})
        model = km.MeanShift(random_state=0).fit(frame)
        assert list(model.feature_names_in_) == ["a", "b"]
        assert (model.labels_ == expected).all()
        assert (model.predict(frame) == expected).all()


def test_scikit_learns_checks():
    for result in check_estimator(km.MeanShift(engine="naive"), on_skip=None):
        assert result["status"] in ("passed", "skipped"), result["check_name"]


def test_a_clone_keeps_every_parameter():
    model = km.MeanShift(
        kernel="cauchy",
        bandwidth=0.7,
        tol=1e-2,
        merge_radius=1.0,
        min_cluster_size=3,
        k_max=9,
        scale="std",
    )
    assert clone(model).get_params() == model.get_params()
    defaults = inspect.signature(km.MeanShift).parameters
    assert defaults["bandwidth"].default == "auto"
    assert defaults["significance"].default == 0.05


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tol": 0.0}, ValueError, "tol"),
        ({"tol": "small"}, TypeError, "tol"),
        ({"merge_radius": -1.0}, ValueError, "merge_radius"),
        ({"min_cluster_size": 0}, ValueError, "min_cluster_size"),
        ({"min_cluster_size": 2.5}, TypeError, "min_cluster_size"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"significance": 0.0}, ValueError, "significance"),
        ({"significance": 1.0}, ValueError, "None keeps every mode"),
        ({"bandwidth": "mod"}, ValueError, "mode"),
        ({"bandwidth": -1.0}, ValueError, "bandwidth"),
        ({"kernel": "flat"}, ValueError, "gaussian"),
        ({"kernel": km.Gaussian(1.0), "bandwidth": 2.0}, ValueError, "own scale"),
        ({"kernel": km.Student(0.5, 1.0)}, ValueError, "integral"),
        ({"k": 0}, ValueError, "k must"),
        ({"engine": "abacus"}, ValueError, "engine"),
    ],
)
def test_bad_parameters_are_said(options, error, words):
    with pytest.raises(error, match=words):
        km.MeanShift(**options).fit(blobs(10))


@pytest.mark.parametrize("bandwidth", ["mod", "jaakkola"])
def test_an_unknown_rule_is_said_without_spread_too(bandwidth):
    with pytest.raises(ValueError, match="mode"):
        km.MeanShift(bandwidth=bandwidth).fit(np.ones((4, 2)))


def test_prediction_needs_the_columns_of_the_fit():
    model = km.MeanShift(random_state=0).fit(blobs(10))
    with pytest.raises(ValueError, match="features"):
        model.predict(np.ones((3, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.array([[0.0, np.nan]]))


def test_high_dimensions_stay_in_the_log_domain():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(center, 0.01, size=(30, 784)) for center in (0.0, 1.0)])
    model = km.MeanShift(bandwidth=0.3, random_state=0).fit(X)
    assert km.clustering_hausdorff(model.labels_, np.repeat([0, 1], 30)) == 0.0
    assert np.isfinite(model.cluster_log_densities_).all()


def test_a_given_mean_can_be_climbed():
    """The function behind the estimator: any density, any points."""
    X = blobs()
    settings = FitSettings.density(kernel="gaussian", bandwidth=0.6)
    mean = DensityPlan.of(WeightedSample.of(ArraySample(X)), settings).density(Streams(0))
    found = cluster(mean, ArraySample(X[::2]), Rules(min_cluster_size=2))
    assert len(found.centers) == 3
    assert (found.predict(X[1::2]) == np.repeat(found.labels[[0, 30, 60]], 30)).all()


# --- centres with spreads
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", ["scalar", "full", "auto"])
@pytest.mark.parametrize("scale", [None, [[1.0, 0.2], [0.0, 1.5]]], ids=["plain", "mapped"])
def test_points_climb_a_density_of_atoms_to_its_peaks(spread, scale):
    X = blobs()
    how = {"bandwidth": 0.3, "scale": scale, "min_cluster_size": 5, "random_state": 0}
    shift = km.MeanShift(k=12, spread=spread, **how).fit(X)
    full = km.MeanShift(sparse=False, **how).fit(X)
    assert (shift.mean_.spreads is not None) or spread == "auto"
    np.testing.assert_allclose(shift.mean_.gradient(shift.cluster_centers_), 0.0, atol=1e-6)
    around = shift.cluster_centers_[:, None] + 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    heights = shift.mean_(around.reshape(-1, 2)).reshape(-1, 4)
    assert (heights.max(axis=1) < shift.cluster_densities_).all()
    np.testing.assert_allclose(shift.cluster_densities_, shift.mean_(shift.cluster_centers_))
    assert km.clustering_hausdorff(shift.labels_, full.labels_) < 0.02
    np.testing.assert_array_equal(shift.predict(X), shift.labels_)


def test_wide_atoms_make_no_clusters_of_their_own():
    """One Gaussian cloud at a narrow bandwidth: its points are many peaks, atoms are few."""
    X = np.random.default_rng(0).normal(size=(2000, 3))
    clusters = [
        len(
            km.MeanShift(bandwidth=0.15, k=12, spread=spread, significance=None, random_state=0)
            .fit(X)
            .cluster_centers_
        )
        for spread in (None, "scalar")
    ]
    assert clusters[0] >= 10
    assert clusters[1] < clusters[0]


def test_spread_is_a_parameter_of_mean_shift():
    shift = km.MeanShift(spread="full")
    assert clone(shift).get_params()["spread"] == "full"
    with pytest.raises(ValueError, match="unknown spread"):
        km.MeanShift(spread="wide").fit(blobs())
    with pytest.raises(ValueError, match="needs a Gaussian kernel"):
        km.MeanShift(spread="scalar", kernel="cauchy").fit(blobs())

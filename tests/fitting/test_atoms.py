"""Fits whose centres have spreads: by cells, by choice, by search, and how they are refused."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _checks
from kernelmean.fitting import atoms as fitting
from kernelmean.fitting.fit import sparse_density


def blobs(n, d, seed=0, count=4):
    """Round clusters of different size."""
    rng = np.random.default_rng(seed)
    part = rng.integers(count, size=n)
    sizes = rng.uniform(0.3, 1.0, count)
    return 2.0 * rng.normal(size=(count, d))[part] + sizes[part, None] * rng.normal(size=(n, d))


def ellipses(n, d, seed=0, count=4):
    """Clusters far from round, each along axes of its own."""
    rng = np.random.default_rng(seed)
    part = rng.integers(count, size=n)
    shapes = np.stack(
        [
            np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(2.0, 0.05, d)
            for _ in range(count)
        ]
    )
    return rng.normal(size=(count, d))[part] + np.einsum(
        "nij,nj->ni", shapes[part], rng.normal(size=(n, d))
    )


def kind(mean):
    return mean.expansion.atoms.kind


def cells(X, centers):
    """Labels by the nearest centre, the lowest on ties."""
    return ((X[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)


# --- an explicit spread


@pytest.mark.parametrize("selection", ["kcenter", "random", "kmeans++", "greedy", "kmeans"])
def test_a_selection_gives_cells_and_these_give_atoms(selection):
    X = blobs(400, 2)
    options = {"bandwidth": 0.3, "k": 12, "selection": selection, "random_state": 0}
    points = km.sparse_kernel_mean(X, spread=None, **options)
    labels = cells(X, points.centers)
    means = np.stack([X[labels == a].mean(axis=0) for a in range(12)])
    for spread in ("scalar", "full"):
        mean = km.sparse_kernel_mean(X, spread=spread, **options)
        np.testing.assert_allclose(mean.centers, means, atol=1e-12)
        covariances = np.stack([np.cov(X[labels == a].T, bias=True) for a in range(12)])
        expected = (
            np.trace(covariances, axis1=1, axis2=2) / 2 if spread == "scalar" else covariances
        )
        np.testing.assert_allclose(mean.spreads, expected, atol=1e-12)
        assert mean.indices is None
        assert mean.bound is None
        assert mean.tighter_bound is None
        assert mean.selection == selection


def test_rows_of_ones_own_give_atoms_too():
    X = blobs(200, 3)
    mean = km.sparse_kernel_mean(X, bandwidth=0.5, selection=[0, 5, 9], spread="scalar")
    labels = cells(X, X[[0, 5, 9]])
    np.testing.assert_allclose(mean.centers[0], X[labels == 0].mean(axis=0), atol=1e-12)
    assert mean.spreads.shape == (3,)


@pytest.mark.parametrize("spread", ["scalar", "full"])
@pytest.mark.parametrize("scale", [None, "std", "cov"])
def test_spreads_are_in_the_coordinates_of_the_kernel(spread, scale):
    X = blobs(300, 2) * [1.0, 100.0]
    mean = km.sparse_kernel_mean(
        X, selection="kmeans", k=9, scale=scale, spread=spread, space="l2", random_state=0
    )
    A = np.eye(2) if mean.scale is None else mean.scale
    labels = cells(X @ A.T, mean.centers @ A.T)
    covariance = np.cov((X[labels == 0] @ A.T).T, bias=True)
    expected = np.trace(covariance) / 2 if spread == "scalar" else covariance
    np.testing.assert_allclose(mean.spreads[0], expected, rtol=1e-6, atol=1e-9)
    full = km.kernel_mean(X, kernel=mean.kernel, scale=mean.scale, space="l2")
    assert mean.certificate(X).error == pytest.approx(mean.distance(full), rel=1e-6)


@pytest.mark.parametrize("spread", ["scalar", "full"])
def test_integer_weights_are_repeated_rows(spread):
    X = blobs(150, 2)
    w = np.random.default_rng(1).integers(0, 4, size=150)
    options = {"bandwidth": 0.4, "k": 8, "selection": "kcenter", "spread": spread}
    options |= {"random_state": 3, "constraint": "simplex"}
    weighted = km.sparse_kernel_mean(X, sample_weight=w, **options)
    repeated = km.sparse_kernel_mean(np.repeat(X, w, axis=0), **options)
    assert weighted.n_points == repeated.n_points
    np.testing.assert_allclose(weighted.spreads, repeated.spreads, atol=1e-12)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-9)


def test_only_a_gaussian_kernel_has_spreads():
    X = blobs(50, 2)
    with pytest.raises(ValueError, match="spread='scalar' needs a Gaussian kernel; with Laplacian"):
        km.sparse_kernel_mean(X, kernel="laplacian", spread="scalar")
    mean = km.sparse_kernel_mean(X, kernel="laplacian", k=5, random_state=0)
    assert mean.spreads is None


def test_an_unknown_spread_is_named():
    with pytest.raises(
        ValueError, match="unknown spread 'diagonal'; choose from 'auto', None, 'scalar', 'full'"
    ):
        km.sparse_kernel_mean(blobs(50, 2), spread="diagonal")
    with pytest.raises(ValueError, match="unknown spread 'diagonal'"):
        km.mmd(blobs(50, 2), blobs(50, 2), spread="diagonal", sparse=False)


def test_covariances_that_would_not_fit_memory_are_refused(monkeypatch):
    monkeypatch.setattr(_checks, "fits_in_memory", lambda numbers: numbers < 1000)
    X = blobs(300, 8)
    with pytest.raises(ValueError, match="50 covariances of 8 × 8 numbers, more than fits memory"):
        km.sparse_kernel_mean(X, k=50, spread="full")
    assert kind(km.sparse_kernel_mean(X, k=50, random_state=0)) != "full"


@pytest.mark.parametrize("selection", ["kcenter", "random", "greedy", "kmeans++", "kmeans"])
def test_a_named_selection_has_points_unless_asked_otherwise(selection):
    X = blobs(300, 2)
    options = {"bandwidth": 0.3, "k": 10, "selection": selection, "random_state": 0}
    default = km.sparse_kernel_mean(X, **options)
    points = km.sparse_kernel_mean(X, spread=None, **options)
    assert default.spreads is None
    assert np.array_equal(default.centers, points.centers)
    assert np.array_equal(default.weights, points.weights)


def test_atoms_too_wide_for_floats_are_refused_in_words_and_passed_over_by_auto():
    X = np.random.default_rng(0).normal(size=(60, 784))
    with pytest.raises(ValueError, match="underflow in 784 dimensions; use a larger bandwidth"):
        km.sparse_kernel_mean(X, bandwidth=0.05, k=5, spread="scalar", random_state=0)
    assert km.sparse_kernel_mean(X, bandwidth=0.05, k=5, random_state=0).spreads is None


def test_many_coordinates_at_the_rule_of_the_data():
    X = blobs(300, 784, count=5)
    mean = km.sparse_kernel_mean(
        X, space="l2", constraint="simplex", k=8, spread="scalar", random_state=0
    )
    logs = mean.log(X[:20])
    assert np.isfinite(logs).all()
    assert (mean.log(X[:20] + 1e3) < logs).all()


@pytest.mark.filterwarnings("ignore:the simplex weights are optimal only to")  # norms of 1e-100
def test_a_density_too_wide_on_all_rows_falls_back_to_points():
    """The kind is chosen on held-out rows, where it may just fit."""
    X = np.random.default_rng(0).normal(size=(150, 784))
    mean = sparse_density(X, bandwidth=0.5416666666666667, k=10, random_state=0)
    assert np.isfinite(mean.log(X)).all()


@pytest.mark.filterwarnings("ignore::kernelmean.FitWarning")  # few centres, on purpose
def test_the_search_goes_on_where_few_cells_are_too_wide():
    rng = np.random.default_rng(0)
    clusters = 2 * rng.normal(size=(30, 1, 784))
    X = (clusters + 0.1 * rng.normal(size=(30, 20, 784))).reshape(-1, 784)
    mean = km.sparse_kernel_mean(X, bandwidth=1.0, spread="scalar", random_state=0)
    assert mean.k > 16


def test_fewer_atoms_than_asked_for_say_why():
    X = np.round(np.random.default_rng(0).normal(size=(400, 2)))
    distinct = len(np.unique(X, axis=0))
    for selection in ("auto", "kcenter", "kmeans"):
        mean = km.sparse_kernel_mean(
            X, bandwidth=0.3, k=60, selection=selection, spread="scalar", random_state=0
        )
        assert (mean.k, mean.stop_reason) == (distinct, "distinct")


# --- the choice of "auto"


@pytest.mark.parametrize("constraint", [None, "simplex"])
@pytest.mark.parametrize("space", ["rkhs", "l2"])
def test_auto_is_at_most_half_as_wrong_as_points_where_the_kernel_is_narrow(constraint, space):
    X = blobs(2000, 3)
    options = {"bandwidth": 0.2, "k": 60, "constraint": constraint, "space": space}
    points = km.sparse_kernel_mean(X, spread=None, random_state=0, **options)
    auto = km.sparse_kernel_mean(X, random_state=0, **options)
    assert kind(auto) == "scalar"
    assert auto.certificate(X).error < 0.5 * points.certificate(X).error


def test_auto_is_never_worse_than_what_it_tries():
    X = blobs(900, 2)
    for bandwidth in (0.1, 0.5, 3.0):
        errors = {
            spread: km.sparse_kernel_mean(
                X, bandwidth=bandwidth, k=20, spread=spread, random_state=0
            )
            .certificate(X)
            .error
            for spread in ("auto", None, "scalar")
        }
        assert errors["auto"] <= min(errors.values()) * (1 + 1e-6) + 1e-9


def test_full_spreads_where_they_win_at_equal_numbers():
    few, many = ellipses(3000, 6), blobs(3000, 6, count=60)
    assert kind(km.sparse_kernel_mean(few, k=40, space="l2", random_state=0)) == "full"
    assert kind(km.sparse_kernel_mean(many, k=60, space="l2", random_state=0)) == "scalar"


def test_a_density_is_chosen_by_rows_it_was_not_fitted_to():
    X = ellipses(6000, 6)
    X, new = X[:4000], X[4000:]
    options = {"bandwidth": 0.2, "k": 48, "random_state": 0}
    scores = {
        spread: sparse_density(X, spread=spread, **options).log(new).mean()
        for spread in (None, "scalar", "full")
    }
    assert scores["full"] > max(scores[None], scores["scalar"])
    assert kind(sparse_density(X, **options)) == "full"


@pytest.mark.parametrize("weight", [None, 3.0, 10.0, 50.0])
def test_equal_weights_choose_what_none_choose(weight):
    X = np.random.default_rng(0).normal(size=(1500, 4))
    w = None if weight is None else np.full(1500, weight)
    assert (
        kind(sparse_density(X, bandwidth=0.25, k=200, sample_weight=w, random_state=0)) == "scalar"
    )


def test_as_many_centres_as_points_are_points():
    X = blobs(30, 3)
    mean = km.sparse_kernel_mean(X, k=30, random_state=0)
    assert mean.spreads is None
    assert mean.certificate(X).error < 1e-7


@pytest.mark.parametrize("spread", ["auto", "scalar", "full"])
def test_few_rows_ties_and_outliers(spread):
    rng = np.random.default_rng(0)
    samples = [
        rng.normal(size=(10, 2)),
        np.repeat(rng.normal(size=(5, 2)), 8, axis=0),
        np.round(rng.normal(size=(200, 2))),
        np.concatenate([rng.normal(size=(100, 2)), [[1e6, -1e6]]]),
        np.column_stack([rng.normal(size=100), np.zeros(100)]),
    ]
    for X in samples:
        for k in (1, 4, "auto"):
            mean = km.sparse_kernel_mean(X, bandwidth=0.5, k=k, spread=spread, random_state=0)
            assert np.isfinite(mean.weights).all()
            assert 0.0 <= mean.certificate(X).relative_error <= 1.0 + 1e-9


def test_the_same_seed_gives_the_same_atoms():
    X = blobs(1500, 3)
    first, second = (km.sparse_kernel_mean(X, k=30, random_state=5) for _ in range(2))
    assert np.array_equal(first.centers, second.centers)
    assert np.array_equal(first.spreads, second.spreads)


# --- how many atoms


def test_as_few_atoms_as_reach_one_per_cent():
    X = blobs(3000, 3)
    mean = km.sparse_kernel_mean(X, bandwidth=0.4, space="l2", spread="scalar", random_state=0)
    assert mean.stop_reason == "error"
    assert mean.certificate(X).relative_error <= fitting.ERROR
    options = {"bandwidth": 0.4, "space": "l2", "spread": "scalar", "random_state": 0}
    fewer = km.sparse_kernel_mean(X, k=int(mean.k / 1.2), **options)
    assert fewer.certificate(X).relative_error > fitting.ERROR
    again = km.sparse_kernel_mean(X, k=mean.k, **options)
    assert np.array_equal(again.centers, mean.centers)


def test_the_most_atoms_that_may_be_where_the_error_is_not_reached():
    with pytest.warns(km.FitWarning, match="30 centres .* k_max=120"):
        mean = km.sparse_kernel_mean(blobs(2000, 4), bandwidth=0.1, k_max=30, random_state=0)
    assert (mean.k, mean.stop_reason) == (30, "k_max")
    assert kind(mean) == "scalar"


def test_points_keep_their_own_rule_where_they_reach_the_error():
    X = blobs(2000, 1)
    mean = km.sparse_kernel_mean(X, bandwidth=0.5, random_state=0)
    points = km.sparse_kernel_mean(X, bandwidth=0.5, spread=None, random_state=0)
    assert mean.spreads is None
    assert mean.k == points.k
    assert np.array_equal(mean.weights, points.weights)


# --- refinement


@pytest.mark.parametrize("spread", ["scalar", "full"])
@pytest.mark.parametrize("constraint", [None, "simplex", "sum-to-one"])
def test_refining_lowers_the_error_of_atoms(spread, constraint):
    X = blobs(600, 2)
    options = {"bandwidth": 0.25, "k": 15, "selection": "kcenter", "spread": spread}
    options |= {"constraint": constraint, "random_state": 0}
    moments = km.sparse_kernel_mean(X, **options)
    refined = km.sparse_kernel_mean(X, refine=15, **options)
    assert refined.selection == "kcenter+refined"
    assert refined.certificate(X).error < 0.7 * moments.certificate(X).error
    assert (np.linalg.eigvalsh(refined.expansion.atoms.as_kind("full").spreads) > -1e-12).all()


def test_the_first_atoms_hold_most_of_the_norm():
    mean = km.sparse_kernel_mean(blobs(800, 2), bandwidth=0.3, k=20, refine=5, random_state=0)
    errors = [mean.truncate(m).certificate(blobs(800, 2)).error for m in (5, 10, 20)]
    assert errors[0] > errors[1] > errors[2]

"""Fits to an error that is asked for, and fits that go on where theirs is large."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.fitting.points import HONEST

X = np.random.default_rng(0).normal(size=(1500, 2))
CURVE = np.random.default_rng(1).uniform(0.0, 12.0, 3000)
SPIRAL = 0.25 * np.column_stack([CURVE * np.cos(CURVE), CURVE * np.sin(CURVE)])
SPIRAL = SPIRAL + 0.02 * np.random.default_rng(2).normal(size=SPIRAL.shape)

FITS = {
    "default": {},
    "points": {"spread": None},
    "scalar atoms": {"spread": "scalar"},
    "full atoms": {"spread": "full"},
    "farthest-first": {"selection": "kcenter"},
    "greedy, simplex": {"selection": "greedy", "constraint": "simplex"},
    "centroids, L2": {"selection": "kmeans", "space": "l2"},
    "random rows, projected": {"selection": "random", "constraint": "sum-to-one"},
    "refined": {"selection": "kmeans", "refine": 3},
    "Laplacian": {"kernel": "laplacian", "bandwidth": 1.5},
    "Cauchy": {"kernel": "cauchy", "bandwidth": 1.0, "constraint": "simplex"},
    "conjugate gradients": {"selection": "kcenter", "solver": "cg"},
}


@pytest.mark.parametrize("name", FITS)
def test_the_error_asked_for_is_reached_by_few_centres(name):
    options = {"bandwidth": 0.5, "random_state": 0, **FITS[name]}
    mean = km.sparse_kernel_mean(X, error=0.05, **options)
    assert mean.stop_reason == "error"
    assert mean.certificate(X).relative_error <= 0.05
    same = km.sparse_kernel_mean(X, k=mean.k, **options)
    np.testing.assert_array_equal(mean.centers, same.centers)
    np.testing.assert_array_equal(mean.weights, same.weights)
    fewer = km.sparse_kernel_mean(X, k=int(mean.k / 1.3), **options)
    assert fewer.certificate(X).relative_error > 0.05


def test_many_points_are_searched_by_frequencies():
    Y = np.random.default_rng(3).normal(size=(12_000, 3))
    mean = km.sparse_kernel_mean(Y, error=0.05, spread=None, random_state=0)
    assert 0.03 < mean.certificate(Y).relative_error <= 0.05


def test_more_centres_than_three_roots_of_n_are_taken_where_the_error_asks_for_them():
    mean = km.sparse_kernel_mean(X[:200], bandwidth=0.05, error=0.02, spread=None, random_state=0)
    assert mean.k > 3 * np.sqrt(200)
    assert mean.certificate(X[:200]).relative_error <= 0.02


def test_rows_of_ones_own_are_taken_in_their_order():
    rows = np.random.default_rng(4).permutation(1500)[:300]
    mean = km.sparse_kernel_mean(X, bandwidth=0.5, selection=rows, error=0.1, random_state=0)
    assert mean.stop_reason == "error"
    np.testing.assert_array_equal(mean.indices, rows[: mean.k])
    with pytest.warns(km.FitWarning, match="20 centres, all that selection names, leave"):
        km.sparse_kernel_mean(X, bandwidth=0.5, selection=rows[:20], error=0.1)


def test_what_was_reached_is_told_where_k_max_comes_first():
    with pytest.warns(km.FitWarning, match=r"error=0.001 was not reached: 20 centres, .* k_max"):
        mean = km.sparse_kernel_mean(X, bandwidth=0.3, error=0.001, k_max=20, random_state=0)
    assert (mean.k, mean.stop_reason) == (20, "k_max")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": 0.0}, "greater than 0"),
        ({"error": -0.1}, "greater than 0"),
        ({"error": float("nan")}, "greater than 0"),
        ({"error": 1.0}, "relative to the norm"),
        ({"error": 0.1, "k": 5}, "give one of the two"),
    ],
)
@pytest.mark.parametrize("fit", [km.sparse_kernel_mean, lambda X, **o: km.SparseKDE(**o).fit(X)])
def test_errors_that_make_no_sense_are_refused_in_a_sentence(fit, options, message):
    with pytest.raises(ValueError, match=message):
        fit(X, **options)


def test_words_are_no_errors():
    with pytest.raises(TypeError, match="error must be a number, got 'small'"):
        km.sparse_kernel_mean(X, error="small")


@pytest.mark.parametrize("selection", ["kcenter", "random"])
def test_a_small_indicator_ends_no_fit_whose_error_is_large(selection):
    options = {"bandwidth": 0.08, "selection": selection, "k_max": 1400, "random_state": 0}
    early = km.sparse_kernel_mean(X, tol=1e-2, patience=1, **options)
    assert early.stop_reason == "tol"
    assert early.estimated_error > HONEST
    mean = km.sparse_kernel_mean(X, tol=1e-2, patience=2, **options)
    assert mean.k > early.k
    assert mean.stop_reason == "tol"
    assert mean.estimated_error <= HONEST


def test_a_density_goes_on_where_scotts_centres_do_not_carry_its_bandwidth():
    """At Scott's bandwidth the indicator settles long before a narrow kernel is carried."""
    options = {"bandwidth": 0.02, "spread": None, "tol": 1e-4, "random_state": 0}
    early = km.SparseKDE(patience=1, k_max=2000, **options).fit(SPIRAL).mean_
    assert early.estimated_error > 0.5
    mean = km.SparseKDE(k_max=2000, **options).fit(SPIRAL).mean_
    assert mean.k > early.k
    assert mean.certificate(SPIRAL).relative_error < 0.15


@pytest.mark.parametrize("spread", [None, "auto"])
def test_a_density_reaches_the_error_at_its_own_bandwidth(spread):
    density = km.SparseKDE(bandwidth=0.1, spread=spread, error=0.05, random_state=0).fit(SPIRAL)
    mean = density.mean_
    assert mean.stop_reason == "error"
    assert mean.certificate(SPIRAL).relative_error <= 0.05
    same = km.SparseKDE(bandwidth=0.1, spread=spread, k=mean.k, random_state=0).fit(SPIRAL)
    np.testing.assert_array_equal(mean.weights, same.mean_.weights)

"""Goodness of fit: formulas against brute force, the size under prior shift, the power against
changed classes, odd data.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.proportions import explaining
from kernelmean.samples import ArraySample

CENTERS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])


def classes(counts, rng, centers=CENTERS):
    return [
        rng.normal(size=(n, centers.shape[1])) + c for n, c in zip(counts, centers, strict=True)
    ]


def fitted(groups, seed=0):
    return explaining.mixture_test([ArraySample(X) for X in groups], Streams(seed))


def p_value(test, X, seed=0):
    return test.test(ArraySample(np.ascontiguousarray(X)), "naive", Streams(seed)).p_value


def brute_features(features, X):
    """One row and one landmark after the other."""
    inverse_widths = np.diag(features.scale)
    values = [
        [
            np.exp(-np.sum(((x - features.origin) * inverse_widths - mark) ** 2) / (2 * sigma**2))
            for mark in features.landmarks
        ]
        for sigma in [bandwidth_of(features)]
        for x in X
    ]
    return np.array(values) @ features.map


def bandwidth_of(features):
    apart = cdist(features.landmarks, features.landmarks)[
        np.triu_indices(len(features.landmarks), 1)
    ]
    return np.median(apart[apart > 0])


# --- formulas
# --------------------------------------------------------------------------------------------------


def test_features_are_kernel_values_at_landmarks_mapped():
    rng = np.random.default_rng(0)
    groups = classes([30, 30, 30], rng)
    features = fitted(groups).features
    X = groups[1][:7]
    expected = brute_features(features, X)
    np.testing.assert_allclose(features.rows(X), expected, rtol=1e-7, atol=1e-9)
    for engine in ("naive", "cpu"):
        np.testing.assert_allclose(
            features.mean(ArraySample(X), engine), expected.mean(axis=0), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("least", [1.0, 1e-1, 1e-2, 1e-4])
def test_features_within_classes_are_white_up_to_the_ridge(least):
    """(V + γ)^{−½}V(V + γ)^{−½} has eigenvalues v/(v + γ), whose sum is as asked for."""
    rng = np.random.default_rng(1)
    phi = [rng.normal(size=(n, 12)) * np.geomspace(1.0, least, 12) for n in (9, 1, 0, 7)]
    A = explaining._spread(phi)
    R = np.concatenate([part - part.mean(axis=0) for part in phi if len(part)])
    V = R.T @ R / (len(R) - 3)
    white = A.T @ V @ A
    np.testing.assert_allclose(white, np.diag(np.diag(white)), atol=1e-12)
    assert np.diag(white).max() < 1.0
    values = np.linalg.eigvalsh(V)
    ridges = np.sort(1.0 / np.diag(A.T @ A))[::-1] - values[::-1]
    np.testing.assert_allclose(ridges, ridges[0], rtol=1e-6)
    asked = explaining.DIRECTIONS_PER_ROW * (len(R) - 3)
    if ridges[0] > 1.001 * explaining.NARROWEST * values[-1]:
        assert np.trace(white) == pytest.approx(asked, rel=1e-6)
    else:
        assert np.trace(white) <= asked


def test_landmarks_are_of_all_classes_alike():
    assert explaining._alike([3, 1, 0, 2]).tolist() == [0, 3, 4, 1, 5, 2]


def test_the_nearest_mixture_is_no_farther_than_a_general_optimiser_finds():
    rng = np.random.default_rng(2)
    test = fitted(classes([20, 25, 30], rng))
    for point in rng.normal(size=(5, len(test.means))):
        (found,), (distance,) = test.nearest(point[None])
        assert found.min() >= 0.0
        assert found.sum() == pytest.approx(1.0)
        assert distance == pytest.approx(np.linalg.norm(point - test.means @ found))
        peer = minimize(
            lambda pi, point=point: np.sum((point - test.means @ pi) ** 2),
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda pi: pi.sum() - 1},
        )
        assert distance**2 <= peer.fun + 1e-6


def test_moments_are_those_of_the_rows_that_made_no_feature():
    """Means and covariances by the textbook, the covariances with five rows of the pooled one."""
    rng = np.random.default_rng(3)
    psi = [rng.normal(size=(n, 4)) for n in (6, 1, 9)]
    features = fitted(classes([9, 9, 9], rng)).features
    test = explaining._moments(features, psi)
    np.testing.assert_allclose(test.means.T, [rows.mean(axis=0) for rows in psi])
    scatters = [(rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) for rows in psi]
    pooled = sum(scatters) / (5 + 0 + 8)
    for covariance, scatter, rows in zip(test.covariances, scatters, psi, strict=True):
        np.testing.assert_allclose(
            covariance, (scatter + 5 * pooled) / (len(rows) - 1 + 5), atol=1e-12
        )


def test_the_covariance_is_that_of_simulated_samples():
    """ψ̄ − Mπ over many draws of training and test rows from normal features."""
    rng = np.random.default_rng(4)
    means = rng.normal(size=(2, 3))
    roots = rng.normal(size=(3, 2, 2))
    covariances = np.stack([root @ root.T for root in roots])
    sizes = np.array([5.0, 8.0, 20.0])
    pi = np.array([0.5, 0.3, 0.2])
    n = 7
    features = fitted(classes([9, 9, 9], rng)).features
    test = explaining.MixtureTest(features, means, covariances, np.zeros(3), sizes)
    draws = 40_000
    labels = rng.choice(3, size=(draws, n), p=pi)
    rows = means.T[labels] + np.einsum(
        "bnij,bnj->bni", roots[labels], rng.normal(size=(draws, n, 2))
    )
    errors = [
        np.einsum("ij,bj->bi", root, rng.normal(size=(draws, 2))) / np.sqrt(size)
        for root, size in zip(roots, sizes, strict=True)
    ]
    left = rows.mean(axis=1) - means @ pi - sum(p * e for p, e in zip(pi, errors, strict=True))
    np.testing.assert_allclose(test.covariance(pi, n), np.cov(left.T), rtol=0.05, atol=0.02)


def test_freedom_is_that_of_a_chi_square():
    """Of normal rows in one direction: n − 1 degrees, and no fewer for more directions."""
    rng = np.random.default_rng(5)
    features = fitted(classes([9, 9, 9], rng)).features
    found = {
        r: explaining._moments(features, [rng.normal(size=(4000, r))] * 2).freedom(
            np.array([1.0, 0.0]), 10
        )
        for r in (1, 20)
    }
    assert found[1] == pytest.approx(4000, rel=0.15)
    assert found[20] > 10 * found[1]


# --- size and power
# --------------------------------------------------------------------------------------------------


def drawn(rng, n, counts=(30, 30, 30)):
    """Training classes, and a mixture of them with random shares, of which some are zero."""
    shares = rng.dirichlet(np.ones(3)) * (rng.random(3) < 0.7)
    shares = shares / shares.sum() if shares.sum() > 0 else np.array([0.0, 1.0, 0.0])
    return classes(counts, rng), np.concatenate(classes(rng.multinomial(n, shares), rng))


@pytest.mark.parametrize(("rows", "n"), [(30, 100), (10, 40), (30, 10), (200, 300)])
def test_prior_shift_is_rejected_as_rarely_as_promised(rows, n):
    p = []
    for trial in range(200):
        groups, X = drawn(np.random.default_rng([rows, n, trial]), n, (rows,) * 3)
        p.append(p_value(fitted(groups, trial), X, trial))
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.09
    assert 0.42 <= np.mean(p) <= 0.62


CHANGES = {
    "an unseen class": lambda X, rng: np.concatenate([X[20:], rng.normal(size=(20, 3)) - 3.0]),
    "noise": lambda X, rng: X + rng.normal(size=X.shape),
    "a shifted column": lambda X, rng: X + np.array([0.0, 0.0, 1.0]),
    "another unit": lambda X, rng: X * [1.0, 1.0, 2.54],
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_classes_are_found(change):
    p = []
    for trial in range(20):
        rng = np.random.default_rng([7, trial])
        groups, X = drawn(rng, 200, (100,) * 3)
        p.append(p_value(fitted(groups, trial), CHANGES[change](rng.permutation(X), rng), trial))
    assert np.mean(np.array(p) <= 0.05) > 0.85


def test_what_a_classifier_cannot_see_is_found():
    """A shift of a column that no class differs in leaves posteriors as they are."""
    rng = np.random.default_rng(8)
    groups, X = drawn(rng, 300, (150,) * 3)
    X = X + np.array([0.0, 0.0, 1.5])
    assert p_value(fitted(groups), X) < 0.01
    assert p_value(fitted([group[:, :2] for group in groups]), X[:, :2]) > 0.01


# --- the estimator
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(9)
    groups = classes([60, 60, 60], rng)
    y = np.repeat(["a", "b", "c"], 60)
    return km.ClassProportions(bandwidth="median", random_state=0).fit(np.concatenate(groups), y)


def test_the_estimator_answers(model):
    rng = np.random.default_rng(10)
    X = np.concatenate(classes([100, 40, 0], rng))
    found = model.goodness_of_fit(X)
    assert found._fields == ("distance", "expected_distance", "p_value", "proportions")
    assert found.p_value > 0.05
    assert 0.5 < found.distance / found.expected_distance < 1.5
    np.testing.assert_allclose(found.proportions, [5 / 7, 2 / 7, 0.0], atol=0.15)
    changed = model.goodness_of_fit(X * [1.0, 1.0, 3.0])
    assert changed.p_value == 1 / 1001
    assert changed.distance > 2 * changed.expected_distance


def test_the_same_seed_gives_the_same_answer(model):
    X = np.concatenate(classes([10, 10, 10], np.random.default_rng(11)))
    first, again = (model.goodness_of_fit(X, random_state=3) for _ in range(2))
    assert first[:3] == again[:3]
    copied = pickle.loads(pickle.dumps(model)).goodness_of_fit(X, random_state=3)
    assert copied[:3] == first[:3]


def test_units_of_columns_do_not_matter():
    rng = np.random.default_rng(12)
    groups, X = drawn(rng, 50)
    units = np.array([1e-3, 1.0, 1e6])
    here = fitted(groups).test(ArraySample(X), "naive", Streams(0))
    there = fitted([group * units for group in groups]).test(
        ArraySample(X * units), "naive", Streams(0)
    )
    assert there.distance == pytest.approx(here.distance, rel=1e-6)
    assert there.p_value == pytest.approx(here.p_value, abs=0.003)


def test_a_constant_column_and_ties_change_nothing():
    rng = np.random.default_rng(13)
    groups, X = drawn(rng, 60)
    constant = [np.column_stack([group, np.full(len(group), 5.0)]) for group in groups]
    found = fitted(constant).test(
        ArraySample(np.column_stack([X, np.full(len(X), 5.0)])), "naive", Streams(0)
    )
    expected = fitted(groups).test(ArraySample(X), "naive", Streams(0))
    assert found.distance == pytest.approx(expected.distance, rel=1e-6)
    tied = [np.repeat(np.round(group[:20]), 3, axis=0) for group in groups]
    assert 0.0 < p_value(fitted(tied), np.round(X)) <= 1.0


def test_equal_rows_are_explained_and_others_are_not():
    groups = [np.zeros((6, 2)), np.zeros((4, 2))]
    assert p_value(fitted(groups), np.zeros((5, 2))) == 1.0
    assert p_value(fitted(groups), np.ones((5, 2))) < 0.01


def test_a_class_of_one_row_and_a_sample_of_one():
    rng = np.random.default_rng(14)
    groups = [*classes([40, 1], rng, CENTERS[:2])]
    test = fitted(groups)
    assert p_value(test, rng.normal(size=(30, 3))) > 0.01
    assert p_value(test, rng.normal(size=(1, 3))) > 0.01


def test_more_columns_than_rows():
    rng = np.random.default_rng(15)
    groups = [rng.normal(size=(20, 300)), rng.normal(size=(20, 300)) + 0.5]
    assert p_value(fitted(groups), rng.normal(size=(30, 300))) > 0.01
    assert p_value(fitted(groups), 2.0 * rng.normal(size=(30, 300))) < 0.01


def test_classes_of_two_rows_are_too_small():
    X = np.random.default_rng(16).normal(size=(4, 2))
    model = km.ClassProportions(kernel=km.Gaussian(1.0), random_state=0).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="one or two points"):
        model.goodness_of_fit(X)


def test_wrong_input(model):
    with pytest.raises(ValueError, match="features"):
        model.goodness_of_fit(np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"NaN|finite"):
        model.goodness_of_fit(np.full((5, 3), np.nan))
    with pytest.raises((TypeError, ValueError), match="random_state"):
        model.goodness_of_fit(np.zeros((5, 3)), random_state="0")
    with pytest.raises(Exception, match="not fitted"):
        km.ClassProportions().goodness_of_fit(np.zeros((5, 3)))

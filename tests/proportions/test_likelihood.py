"""Kernel means over posteriors, the stack, and the mean of proportions under a flat prior."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kernelmean.compiled.mixture_weights import propagate
from kernelmean.proportions import likelihood, simplex_means
from kernelmean.proportions.likelihood import (
    Likelihood,
    expected_shares,
    normalized,
    plain_propagate,
)


def posteriors(n, C, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    return rng.dirichlet(np.full(C, 0.7), n) * 0.5 + 0.5 * np.eye(C)[y], y


def exact_mean(R):
    """E π under a flat prior for two classes, on a fine grid."""
    t = np.linspace(0.0, 1.0, 20_001)
    log = np.log(np.outer(1.0 - t, R[:, 0]) + np.outer(t, R[:, 1])).sum(axis=1)
    weight = np.exp(log - log.max())
    return float(weight @ t / weight.sum())


# --- expectation propagation


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(2, 6))
def test_numpy_finds_what_the_loop_finds(seed, n, C):
    R = np.random.default_rng(seed).gamma(0.5, size=(n, C))
    R[0] *= seed % 2  # a row that no class explains
    found = [own(R, np.ones(C), 100, 1e-7) for own in (plain_propagate, propagate)]
    np.testing.assert_allclose(*found, rtol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_mean_of_two_proportions_is_nearly_exact(seed, n):
    R = np.random.default_rng(seed).gamma(0.5, size=(n, 2)) + 1e-3
    gamma = propagate(R, np.ones(2), 200, 1e-10)
    assert gamma[1] / gamma.sum() == pytest.approx(exact_mean(R), abs=0.01)


def test_rows_of_known_class_give_the_rule_of_succession():
    R = np.eye(3)[[0, 0, 0, 1]]
    np.testing.assert_allclose(propagate(R, np.ones(3), 50, 1e-12), [4.0, 2.0, 1.0])
    np.testing.assert_allclose(expected_shares(R), [0.75, 0.25, 0.0])


def test_against_draws_from_the_posterior():
    """Three overlapping classes: labels given proportions, proportions given labels, in turn."""
    rng = np.random.default_rng(0)
    R = rng.gamma(0.6, size=(80, 3)) + 1e-3
    pi = np.full(3, 1 / 3)
    shares = []
    for step in range(6000):
        W = np.cumsum(R * pi, axis=1)
        labels = (rng.random((80, 1)) * W[:, -1:] > W).sum(axis=1)
        counts = np.bincount(labels, minlength=3)
        pi = rng.dirichlet(counts + 1.0)
        if step >= 500:
            shares.append(counts / 80)
    np.testing.assert_allclose(expected_shares(R), np.mean(shares, axis=0), atol=0.01)


def test_the_order_of_rows_does_not_matter_and_factors_cancel():
    rng = np.random.default_rng(1)
    R = rng.gamma(0.5, size=(100, 4))
    found = expected_shares(R)
    np.testing.assert_allclose(expected_shares(R[::-1]), found, atol=1e-6)
    np.testing.assert_allclose(expected_shares(R * rng.gamma(1.0, size=(100, 1))), found, atol=1e-6)
    assert found.sum() == pytest.approx(1.0)


def test_rows_that_say_nothing():
    np.testing.assert_allclose(expected_shares(np.zeros((5, 2))), 0.5)
    np.testing.assert_allclose(expected_shares(np.ones((7, 4))), 0.25)
    R = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    assert expected_shares(R)[0] > 0.75


def test_classes_that_cannot_be_told_apart_share():
    R = np.random.default_rng(2).gamma(0.5, size=(200, 2))
    found = expected_shares(np.column_stack([R, R[:, 1]]))
    assert found[1] == pytest.approx(found[2], abs=1e-6)


# --- kernel means over posteriors


@pytest.mark.parametrize("engine", ["naive", "cpu"])
def test_values_are_sums_over_cells(engine):
    P, y = posteriors(90, 3, 0)
    cells = simplex_means.class_cells(P, y, 5, engine, np.random.default_rng(0))
    found = simplex_means.blurred(cells, 0.1)
    values = found.values(P[:7])
    for c, some in enumerate(cells):
        s2 = 0.1**2 + some.spreads
        heights = (0.1**2 / s2) ** 1.5
        kernel = heights * np.exp(-cdist(np.sqrt(P[:7]), some.means, "sqeuclidean") / (2.0 * s2))
        expected = kernel @ (some.masses / some.masses.sum())
        np.testing.assert_allclose(values[:, c], np.maximum(expected, 1e-12), rtol=1e-6)


def test_cells_of_every_row_are_the_kernel_density_estimate():
    P, y = posteriors(40, 2, 1)
    cells = simplex_means.class_cells(P, y, 100, "naive", np.random.default_rng(0))
    values = simplex_means.blurred(cells, 0.14).values(P)
    for c in range(2):
        squared = cdist(np.sqrt(P), np.sqrt(P[y == c]), "sqeuclidean")
        np.testing.assert_allclose(values[:, c], np.exp(-squared / (2 * 0.14**2)).mean(axis=1))


def test_equal_rows_are_one_cell():
    P = np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    cells = simplex_means.class_cells(P, np.repeat([0, 1], 10), 60, "cpu", np.random.default_rng(0))
    assert [len(some.means) for some in cells] == [1, 1]
    assert np.isfinite(simplex_means.blurred(cells, 0.05).values(P)).all()


# --- the stack


def test_a_density_that_explains_rows_better_is_heard():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    knows = normalized(np.eye(2)[y] + 0.1)
    guesses = normalized(np.eye(2)[y] + rng.gamma(1.0, size=(400, 2)))
    weights = likelihood.stack_weights([guesses, knows], y)
    assert weights[1] > 0.9
    assert weights.sum() == pytest.approx(1.0)


def test_a_density_that_is_not_missed_goes():
    y = np.arange(400) % 2
    knows = normalized(np.eye(2)[y] + 0.01)
    worse = normalized(np.eye(2)[y] + 0.05)
    np.testing.assert_array_equal(likelihood.stack_weights([knows, worse, knows], y), [1, 0, 0])


def test_rare_classes_count_as_much_as_others():
    """A member that knows the rare class alone is as good as one that knows the other alone."""
    y = np.repeat([0, 1], [390, 10])
    vague = np.full((400, 2), 0.5)
    of_rare, of_many = vague.copy(), vague.copy()
    of_rare[y == 1] = [0.1, 0.9]
    of_many[y == 0] = [0.9, 0.1]
    weights = likelihood.stack_weights([vague, of_rare, of_many], y)
    assert weights[1] == pytest.approx(weights[2], abs=0.01)


def test_the_likelihood_is_the_weighted_sum():
    P, y = posteriors(60, 3, 4)
    cells = simplex_means.class_cells(P, y, 4, "naive", np.random.default_rng(0))
    means = simplex_means.blurred(cells, 0.2)
    prior = np.array([0.5, 0.3, 0.2])
    found = Likelihood(prior, 0.6, np.array([0.4]), (means,))(P)
    expected = 0.6 * normalized(P / prior) + 0.4 * normalized(means.values(P))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)

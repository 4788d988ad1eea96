"""Intervals from likelihoods: against a slow twin, coverage on drawn data, and the edge cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from kernelmean.proportions.score_intervals import EVEN, PSEUDO_ROWS, intervals, posteriors, scores

CENTERS = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5], [2.5, 2.5]])


def likelihoods(X, C):
    """Of unit Gaussians about the first C centres."""
    return np.exp(-0.5 * np.sum((X[:, None] - CENTERS[:C]) ** 2, axis=-1))


def drawn(counts, rng, power=1.0):
    """Likelihoods at rows of which each class has so many, and their labels."""
    labels = np.repeat(np.arange(len(counts)), counts)
    R = likelihoods(CENTERS[labels] + rng.normal(size=(len(labels), 2)), len(counts)) ** power
    R *= rng.uniform(0.5, 2.0, size=(len(R), 1))  # of no matter
    R.flags.writeable = False
    return R, labels


def estimated(R):
    """The posterior mean of the proportions, roughly: EM with one more row of each class."""
    n, C = R.shape
    pi = np.full(C, 1.0 / C)
    for _ in range(30):
        pi = (posteriors(R, pi).sum(axis=0) + 1.0) / (n + C)
    return pi


def covered(proportions, n, sizes, seeds, power=1.0, classes=slice(None)):
    """The share of intervals that hold the truth, over sample and training drawn anew."""
    hits = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        truth = rng.dirichlet(np.ones(len(sizes))) if proportions is None else proportions
        R, _ = drawn(rng.multinomial(n, truth), rng, power)
        found = intervals(R, *drawn(sizes, rng, power), estimated(R), 0.95)
        hits.append(((found.lower <= truth) & (truth <= found.upper))[classes])
    return np.mean(hits)


# --- the formula


def slow_confidence(R, R_train, labels, estimate, c, t):
    """How sure it is that π_c is not t, by loops over the classes."""
    n, C = R.shape
    likely = (1 - EVEN) * (n * estimate + 1) / (n + C) + EVEN / C
    groups = [posteriors(R_train[labels == k], likely) for k in range(C)]
    row = np.linalg.inv(np.column_stack([group.mean(axis=0) for group in groups]))[c]
    mean = posteriors(R, likely).mean(axis=0) @ row
    parts = []
    for k, group in enumerate(groups):
        share = t if k == c else (1 - t) * likely[k] / (1 - likely[c])
        N = len(group)
        around = [np.mean((other @ row - (k == c)) ** 2) for other in groups]
        scatter = (N * around[k] + PSEUDO_ROWS * np.mean(around)) / (N + PSEUDO_ROWS)
        parts.append((share * scatter / n + share**2 * scatter / (N - 1), N - 1))
    variance = t * (1 - t) / n + sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / df for part, df in parts)
    beyond = mean - min(max(mean, 0), 1)
    z = np.sqrt(max((t - mean) ** 2 - beyond**2, 0) / variance)
    return student(freedom).cdf(z) - student(freedom).cdf(-z)


@pytest.mark.parametrize("seed", range(5))
def test_the_ends_are_where_a_slow_twin_begins_to_reject(seed):
    rng = np.random.default_rng(seed)
    R, _ = drawn([3, 40, 17], rng)
    R_train, labels = drawn([12, 30, 50], rng)
    estimate = estimated(R)
    found = intervals(R, R_train, labels, estimate, 0.9)
    for c in range(3):
        for end, out in ((found.lower[c], -1e-6), (found.upper[c], 1e-6)):
            level = slow_confidence(R, R_train, labels, estimate, c, end)
            assert level <= 0.9 + 1e-9
            if 0.0 < end < 1.0:
                assert level == pytest.approx(0.9, abs=1e-9)
                assert slow_confidence(R, R_train, labels, estimate, c, end + out) > 0.9


def test_separate_classes_and_endless_training_give_wilson():
    """(k/n − t)² = z² t(1 − t)/n."""
    R = np.eye(2)[np.repeat([0, 1], [7, 33])]
    labels = np.arange(200_000) % 2
    found = intervals(R, np.eye(2)[labels], labels, np.array([7, 33]) / 40, 0.95)
    np.testing.assert_allclose([found.lower[0], found.upper[0]], [0.0874738, 0.3195357], atol=2e-4)
    np.testing.assert_allclose(found.covariance[0, 0], 7 * 33 / 40**3, rtol=1e-6)


def test_two_classes_mirror_each_other():
    rng = np.random.default_rng(0)
    R, _ = drawn([10, 50], rng)
    found = intervals(R, *drawn([20, 30], rng), estimated(R), 0.95)
    np.testing.assert_allclose(found.lower, 1.0 - found.upper[::-1], atol=1e-9)


# --- coverage


@pytest.mark.parametrize("n", [50, 500])
@pytest.mark.parametrize("size", [10, 300])
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_dirichlet_proportions_are_covered(n, size, power):
    """Also where the likelihoods are not those of the classes but their roots."""
    assert 0.93 <= covered(None, n, [size] * 4, 100, power) <= 0.98


@pytest.mark.parametrize("n", [50, 500])
def test_fixed_proportions_are_covered(n):
    balanced = np.full(3, 1.0 / 3.0)
    assert 0.93 <= covered(balanced, n, [100, 30, 300], 120) <= 0.985
    rare = np.array([0.02, 0.49, 0.49])
    assert 0.92 <= covered(rare, n, [100, 30, 300], 200, classes=0) <= 1.0


@pytest.mark.parametrize("size", [10, 300])
def test_a_class_that_is_absent_has_zero_in_its_interval(size):
    absent = np.array([0.0, 0.3, 0.7])
    assert covered(absent, 300, [size] * 3, 200, classes=0) >= 0.94


# --- edge cases


def test_an_absent_class_that_nothing_resembles_begins_at_zero_exactly():
    R = np.eye(3)[np.repeat([1, 2], [50, 50])]
    labels = np.arange(200) % 3
    found = intervals(R, np.eye(3)[labels], labels, np.array([0.0, 0.5, 0.5]), 0.95)
    assert found.lower[0] == 0.0
    assert 0.02 < found.upper[0] < 0.06


def test_ten_rows_without_a_mistake_are_no_proof():
    """A few rows of a large sample that look like a class may be mistakes."""
    R = np.eye(2)[np.repeat([0, 1], [20, 980])]
    few, many = (
        intervals(R, np.eye(2)[labels], labels, np.array([0.02, 0.98]), 0.95)
        for labels in (np.arange(20) % 2, np.arange(20_000) % 2)
    )
    assert few.lower[0] == 0.0
    assert many.lower[0] > 0.01


def test_classes_with_proportional_likelihoods_can_be_anything():
    rng = np.random.default_rng(0)
    R, _ = drawn([40, 60], rng)
    R_train, labels = drawn([60, 120], rng)
    labels = labels + (rng.random(180) < 0.5) * (labels == 1)
    twins = [0, 1, 1]
    found = intervals(R[:, twins], R_train[:, twins], labels, np.array([0.4, 0.3, 0.3]), 0.95)
    assert found.lower[1:].tolist() == [0.0, 0.0]
    assert found.upper[1:].tolist() == [1.0, 1.0]
    assert 0.2 < found.lower[0] < 0.4 < found.upper[0] < 0.6


def test_likelihoods_that_say_nothing_give_the_whole_range():
    labels = np.arange(40) % 2
    found = intervals(np.ones((30, 2)), np.ones((40, 2)), labels, np.array([0.5, 0.5]), 0.95)
    assert found.lower.tolist() == [0.0, 0.0]
    assert found.upper.tolist() == [1.0, 1.0]


def test_labels_without_relation_to_the_likelihoods_leave_nearly_everything_open():
    rng = np.random.default_rng(0)
    R, _ = drawn([30, 30], rng)
    R_train, _ = drawn([30, 30], rng)
    found = intervals(R_train, R_train, rng.permutation(60) % 2, estimated(R), 0.95)
    assert np.all(found.upper - found.lower > 0.5)


def test_fewer_training_rows_and_a_higher_level_widen_the_intervals():
    rng = np.random.default_rng(1)
    R, _ = drawn([60, 100, 40], rng)
    R_train, labels = drawn([2000, 2000, 2000], rng)
    widths = []
    for step, level in ((1, 0.95), (20, 0.95), (200, 0.95), (200, 0.99)):
        found = intervals(R, R_train[::step], labels[::step], estimated(R), level)
        widths.append(found.upper - found.lower)
    assert np.all(np.diff(widths, axis=0) > 0.0)


@pytest.mark.parametrize("sizes", [[2, 2, 2], [2, 500, 10]])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_tiny_classes_and_samples_have_valid_intervals(sizes, n):
    rng = np.random.default_rng(0)
    R, _ = drawn([n, 0, 0], rng)
    estimate = np.array([1.0, 0.0, 0.0])
    found = intervals(R, *drawn(sizes, rng), estimate, 0.95)
    assert np.all((found.lower >= 0.0) & (found.lower <= estimate))
    assert np.all((found.upper <= 1.0) & (found.upper >= estimate))
    assert np.all(np.isfinite(found.covariance))


def test_equal_input_gives_equal_intervals_whatever_the_factor_of_a_row():
    rng = np.random.default_rng(2)
    R, _ = drawn([20, 30, 10], rng)
    R_train, labels = drawn([25, 25, 25], rng)
    first = intervals(R, R_train, labels, estimated(R), 0.95)
    again = intervals(R, R_train, labels, estimated(R), 0.95)
    scaled = intervals(1e-200 * R, 1e100 * R_train, labels, estimated(R), 0.95)
    assert first.lower.tobytes() == again.lower.tobytes()
    np.testing.assert_allclose(scaled.upper, first.upper, atol=1e-10)


def test_the_covariance_is_that_of_the_means_over_samples():
    means = []
    claimed = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        R, _ = drawn(rng.multinomial(200, [0.2, 0.5, 0.3]), rng)
        likely = estimated(R)
        R_train, labels = drawn([50, 50, 50], rng)
        found = scores(posteriors(R, likely), posteriors(R_train, likely), labels, likely)
        means.append(found.means)
        claimed.append(found.covariance)
    np.testing.assert_allclose(np.cov(np.transpose(means)), np.mean(claimed, axis=0), atol=6e-4)


def test_a_class_that_no_row_resembles_can_be_anything():
    rng = np.random.default_rng(0)
    R, _ = drawn([20, 30], rng)
    R_train, labels = drawn([25, 25, 25], rng)
    none = np.zeros((len(R), 1))
    found = intervals(
        np.hstack([R, none]),
        np.hstack([R_train[:, :2], np.zeros((75, 1))]),
        labels,
        np.array([0.4, 0.6, 0.0]),
        0.95,
    )
    assert found.lower[2] == 0.0
    assert found.upper[2] == 1.0

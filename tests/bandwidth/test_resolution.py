"""Steps in which values are recorded."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.bandwidth import resolution


def test_rounded_values_have_the_step_that_they_were_rounded_to():
    X = np.random.default_rng(0).normal(size=(500, 3))
    rounded = np.stack([X[:, 0], np.round(X[:, 1], 1), np.round(4 * X[:, 2]) / 4], axis=1)
    np.testing.assert_allclose(resolution.steps(rounded), [0.0, 0.1, 0.25])
    np.testing.assert_allclose(
        resolution.rounding_variances(rounded), [0.0, 0.01 / 12, 0.0625 / 12]
    )


def test_few_equal_values_are_no_step():
    X = np.random.default_rng(0).normal(size=(500, 1))
    X[:5] = 1e6
    X[5:9] = -1e6
    assert resolution.steps(X) == [0.0]


def test_values_that_differ_by_rounding_are_one():
    tenths = np.round(np.random.default_rng(0).normal(size=300), 1)
    noisy = np.concatenate([tenths, tenths + 1e-16, tenths + 0.2 - 0.2])
    assert resolution.steps(noisy[:, None])[0] == pytest.approx(0.1)


def test_constants_and_one_row():
    assert resolution.steps(np.ones((5, 1))) == [0.0]
    assert resolution.steps(np.ones((1, 2))).tolist() == [0.0, 0.0]


def test_the_rule_auto_is_the_likelihoods_but_for_outliers_and_ties():
    X = np.random.default_rng(0).normal(size=(800, 2))
    plain = km.bandwidth.likelihood(X)
    assert km.bandwidth.auto(X) == pytest.approx(plain, rel=0.25)
    gross = X.copy()
    gross[:4] = [[1e6, 0], [0, 1e6], [-1e6, 0], [0, -1e6]]
    assert km.bandwidth.likelihood(gross) > 100 * plain
    assert km.bandwidth.auto(gross) == pytest.approx(plain, rel=0.25)
    assert km.bandwidth.auto(np.round(X)) >= np.sqrt(1 / 12) - 1e-12
    constant = np.column_stack([X, np.ones(800)])
    assert km.bandwidth.auto(constant) == pytest.approx(km.bandwidth.auto(X), rel=0.02)
    with pytest.raises(ValueError, match="'auto' finds no spread"):
        km.bandwidth.auto(np.ones((5, 2)))

"""Robust widths of columns: what makes them, and what leaves them alone."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.mean import scaling
from tests.parts import cloud_of_parts


def summary(X, weights=None):
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    return ArraySummary(WeightedPoints(np.asarray(X, dtype=np.float64), w))


@pytest.fixture(name="X")
def normal_columns():
    return np.random.default_rng(0).normal(size=(1000, 3)) * [1.0, 5.0, 0.01]


def test_the_width_of_a_normal_column_is_its_standard_deviation(X):
    quartiles = np.quantile(X, [0.25, 0.75], axis=0)
    widths = scaling.robust_widths(summary(X))
    np.testing.assert_allclose(widths, (quartiles[1] - quartiles[0]) / 1.3489795, rtol=1e-7)
    np.testing.assert_allclose(widths, [1.0, 5.0, 0.01], rtol=0.1)
    np.testing.assert_allclose(scaling.resolve("auto", summary(X)), np.diag(1.0 / widths))


def test_few_gross_outliers_change_little(X):
    dirty = X.copy()
    dirty[:5] = 1e6
    widths = scaling.robust_widths(summary(dirty))
    np.testing.assert_allclose(widths, scaling.robust_widths(summary(X)), rtol=0.02)


@pytest.mark.parametrize("factor", [1e9, 1e-9, 1e250, 1e-250])
def test_a_foreign_unit_changes_nothing(X, factor):
    units = np.array([1.0, factor, 1.0])
    plain, foreign = (
        scaling.apply(scaling.resolve("auto", summary(Y)), Y, Y[0]) for Y in (X, X * units)
    )
    np.testing.assert_allclose(foreign, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("rare", "tail"), [(300, 0.25), (150, 0.1), (60, 0.05), (15, 0.01)], ids=str
)
def test_a_column_of_ties_has_the_width_of_a_wider_part(rare, tail):
    """Rows that differ on either side are more than the tail, and fewer than the tail before."""
    x = np.zeros((1000, 1))
    x[:rare] = 2.0
    x[-rare:] = -1.0
    from_normal = (
        2.0 * {0.25: 0.67448975, 0.1: 1.28155157, 0.05: 1.64485363, 0.01: 2.32634787}[tail]
    )
    assert scaling.robust_widths(summary(x))[0] == pytest.approx(3.0 / from_normal, rel=1e-7)


def test_the_last_resorts_are_the_standard_deviation_and_one():
    x = np.zeros((1000, 3))
    x[:4, 0] = 7.0
    x[:, 2] = 1e-312 * np.arange(1000)  # its inverse is no float
    found = scaling.robust_widths(summary(x))
    np.testing.assert_allclose(found, [np.std(x[:, 0], ddof=1), 1.0, 1.0])
    np.testing.assert_array_equal(scaling.robust_widths(summary(x[:1])), [1.0, 1.0, 1.0])


def test_integer_weights_are_repeated_rows(X):
    X[:700, 1] = 3.0  # one column by a wider part
    w = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = scaling.robust_widths(summary(np.repeat(X, w, axis=0)))
    kept = w > 0
    np.testing.assert_allclose(
        scaling.robust_widths(summary(X[kept], w[kept])), repeated, rtol=1e-12
    )


def test_columns_in_a_file_have_the_widths_of_columns_in_memory(X, tmp_path):
    X[:700, 1] = 3.0
    X[:, 2] = 4.0
    np.save(tmp_path / "X.npy", X)
    expected = km.sparse_kernel_mean(X, scale="auto", k=10, random_state=0)
    found = km.sparse_kernel_mean(km.read(tmp_path / "X.npy"), scale="auto", k=10, random_state=0)
    np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_in_parts_have_the_widths_of_the_whole(X, weighted):
    X[:700, 1] = 3.0
    X[:, 2] = 4.0
    w = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    parts = cloud_of_parts(km.engines.open("naive"), X, [100, 450], w)
    np.testing.assert_allclose(
        scaling.robust_widths(parts.summary), scaling.robust_widths(summary(X, w)), rtol=1e-9
    )


def test_a_fit_is_the_same_in_any_unit():
    Z = np.random.default_rng(2).normal(size=(300, 2))
    near, far = (
        km.sparse_kernel_mean(
            Z * [1.0, unit], bandwidth=0.7, scale="auto", space="l2", k=20, random_state=0
        )
        for unit in (1.0, 1e9)
    )
    np.testing.assert_allclose(near.weights, far.weights, rtol=1e-6)
    np.testing.assert_allclose(far.centers / [1.0, 1e9], near.centers, rtol=1e-6, atol=1e-9)

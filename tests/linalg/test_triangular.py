"""Operations inside a larger triangle, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.linalg import triangular


@pytest.fixture(params=[0.0, np.inf], ids=["compiled", "plain"])
def operations(request, monkeypatch):
    monkeypatch.setattr("kernelmean._work.LEAST_WORK", request.param)
    return triangular.operations(1.0)


def factor_of(size, room, seed=0):
    """A triangle in the corner of a larger array, whose rest is not to be touched."""
    A = np.random.default_rng((seed, size)).normal(size=(size, size + 3))
    whole = np.full((room, room), 7.0)
    whole[:size, :size] = np.linalg.cholesky(A @ A.T + np.eye(size))
    return whole


def test_small_work_is_done_by_numpy():
    assert triangular.operations(1e3).forward is triangular.forward


@pytest.mark.parametrize("size", [0, 1, 2, 17])
def test_solves(size, operations):
    whole = factor_of(size, size + 4)
    L = whole[:size, :size].copy()
    side = np.random.default_rng(1).normal(size=size)
    row = side.copy()
    square = operations.forward(whole, size, row)
    np.testing.assert_allclose(L @ row, side, rtol=1e-12, atol=1e-13)
    assert square == pytest.approx(row @ row)
    operations.backward(whole, size, row)
    np.testing.assert_allclose(L @ L.T @ row, side, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("size", "p"), [(1, 0), (2, 0), (2, 1), (9, 0), (9, 4), (9, 8)])
def test_a_row_that_is_deleted_leaves_a_factor_of_the_rest(size, p, operations):
    whole = factor_of(size, size + 2)
    L = whole[:size, :size].copy()
    left = np.delete(np.arange(size), p)
    coordinates = np.random.default_rng(2).normal(size=(2, size + 2))
    sides = (coordinates[:, :size] @ L.T)[:, left]
    operations.delete_row(whole, size, p, coordinates)
    found = whole[: size - 1, : size - 1]
    np.testing.assert_allclose(np.tril(found) @ np.tril(found).T, (L @ L.T)[np.ix_(left, left)])
    np.testing.assert_allclose(coordinates[:, : size - 1] @ np.tril(found).T, sides, rtol=1e-11)
    np.testing.assert_array_equal(whole[size:], 7.0)


def test_both_delete_a_row_alike(monkeypatch):
    found = []
    for least in (0.0, np.inf):
        monkeypatch.setattr("kernelmean._work.LEAST_WORK", least)
        whole = factor_of(12, 14)
        coordinates = np.random.default_rng(3).normal(size=(2, 14))
        for size, p in ((12, 3), (11, 0), (10, 9), (9, 4)):
            triangular.operations(1.0).delete_row(whole, size, p, coordinates)
        found.append((np.tril(whole[:8, :8]), coordinates[:, :8]))
    for plain, compiled in zip(*found, strict=True):
        np.testing.assert_allclose(plain, compiled, rtol=1e-13, atol=1e-14)

"""Inner products of atoms with covariances in NumPy are those of the compiled loops."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.compiled import atoms as compiled
from kernelmean.kernels import Atoms
from kernelmean.linalg import atom_products
from tests.compiled.test_atoms import by_hand, some_atoms


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setattr("kernelmean._work.LEAST_WORK", np.inf)


@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (1, 1), (30, 17)])
def test_products(d, sizes, monkeypatch):
    A, B = (some_atoms(k, d, seed) for seed, k in enumerate(sizes))
    found = atom_products.log_products(0.7, A, B)
    assert found.shape == sizes
    np.testing.assert_allclose(found, by_hand(0.7, A, B), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found, compiled.log_products(0.7, A, B), rtol=1e-13, atol=1e-14)
    monkeypatch.setattr(atom_products, "TOGETHER", 1)
    np.testing.assert_array_equal(atom_products.log_products(0.7, A, B), found)


def test_products_with_themselves_are_symmetric():
    A = some_atoms(40, 3)
    found = atom_products.log_products(0.7, A, A)
    np.testing.assert_array_equal(found, found.T)


def test_rounding_makes_no_product_larger_than_one():
    """Covariances that rounding has made a little indefinite."""
    A = some_atoms(40, 5, scale=1e7, rank=1)
    spreads = A.spreads - 1e-3 * np.eye(5) * (np.arange(40) % 2)[:, None, None]
    A = Atoms(A.centers, spreads)
    found = atom_products.log_products(1.0, A, A)
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()

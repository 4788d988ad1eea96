"""Inner products of atoms with covariances, against linear algebra and longer arithmetic."""

import mpmath
import numpy as np
import pytest

from kernelmean.compiled.atoms import ROWS, TOGETHER, log_products
from kernelmean.kernels import Atoms
from tests.engines.cases import same_bits

DIMENSIONS = (1, 2, 3, 7, 20, 60)


def some_atoms(k, d, seed=0, scale=1.0, rank=None):
    rng = np.random.default_rng((seed, k, d))
    roots = scale * rng.normal(size=(k, d, d if rank is None else rank))
    return Atoms(rng.normal(size=(k, d)), roots @ np.swapaxes(roots, 1, 2))


def by_hand(variance, A, B):
    V = variance * np.eye(A.dimension) + A.spreads[:, None] + B.spreads
    u = A.centers[:, None] - B.centers
    quadratic = (u * np.linalg.solve(V, u[..., None])[..., 0]).sum(axis=2)
    return -0.5 * (quadratic + np.linalg.slogdet(V / variance)[1])


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("variance", [0.3, 5.0])
def test_products_by_determinants(d, variance):
    A, B = some_atoms(TOGETHER + 5, d), some_atoms(2 * TOGETHER + 1, d, seed=1)
    expected = by_hand(variance, A, B)
    np.testing.assert_allclose(log_products(variance, A, B), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (1, 1), (ROWS, TOGETHER), (ROWS + 1, 1)])
def test_any_number_of_atoms(sizes):
    A, B = (some_atoms(k, 3, seed) for seed, k in enumerate(sizes))
    found = log_products(0.5, A, B)
    assert found.shape == sizes
    np.testing.assert_allclose(found, by_hand(0.5, A, B), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("k", [1, ROWS, 3 * ROWS + 5])
@pytest.mark.parametrize("d", [1, 3, 20])
def test_products_with_themselves_are_symmetric(k, d):
    """To the bit, and the same whether half of the pairs are computed or all of them."""
    A = some_atoms(k, d)
    found = log_products(0.7, A, A)
    assert same_bits(found, np.ascontiguousarray(found.T))
    assert same_bits(found, log_products(0.7, A, Atoms(A.centers, A.spreads)))


def test_a_product_does_not_depend_on_threads_or_on_its_place():
    A, B = some_atoms(100, 5), some_atoms(50, 5, seed=1)
    found = log_products(0.7, A, B, count=1)
    for count in (2, 3):
        assert same_bits(log_products(0.7, A, B, count), found)
    assert same_bits(log_products(0.7, B, A), np.ascontiguousarray(found.T))
    assert same_bits(log_products(0.7, A[37:38], B[11:]), found[37:38, 11:].copy())


def test_atoms_without_covariances_are_those_of_a_kernel():
    A, B = some_atoms(9, 3, scale=0.0), some_atoms(7, 3, 1, scale=0.0)
    squared = ((A.centers[:, None] - B.centers) ** 2).sum(axis=2)
    np.testing.assert_allclose(log_products(0.7, A, B), -squared / 1.4, rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-10, 1e3, 1e6])
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_huge_tiny_and_singular_covariances_by_longer_arithmetic(scale, rank):
    """Spreads from 1e-300 to 1e12, some of collinear points."""
    d, variance = 4, 0.7
    A, B = some_atoms(3, d, scale=scale, rank=rank), some_atoms(3, d, 1, scale, rank)
    found = log_products(variance, A, B)
    with mpmath.workdps(80):
        for a in range(3):
            for b in range(3):
                S = mpmath.matrix(A.spreads[a].tolist()) + mpmath.matrix(B.spreads[b].tolist())
                V = mpmath.eye(d) * mpmath.mpf(variance) + (S + S.T) / 2
                u = mpmath.matrix(A.centers[a].tolist()) - mpmath.matrix(B.centers[b].tolist())
                quadratic = (u.T * mpmath.lu_solve(V, u))[0]
                logarithm = mpmath.log(mpmath.det(V / mpmath.mpf(variance)))
                expected = float(-(quadratic + logarithm) / 2)
                assert found[a, b] == pytest.approx(expected, rel=1e-3 if scale > 1e5 else 1e-8)


def test_rounding_makes_no_product_larger_than_one():
    """Covariances that rounding has made a little indefinite."""
    A = some_atoms(40, 5, scale=1e7, rank=1)
    spreads = A.spreads - 1e-3 * np.eye(5) * (np.arange(40) % 2)[:, None, None]
    found = log_products(1.0, Atoms(A.centers, spreads), Atoms(A.centers, spreads))
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()

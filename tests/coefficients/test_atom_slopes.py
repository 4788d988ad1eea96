"""Slopes of inner products of atoms: differences of the products, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.coefficients.atom_slopes import slopes
from kernelmean.kernels import Atoms
from kernelmean.kernels.atoms import variance
from kernelmean.linalg.gram import gram
from tests.compiled.test_atoms import some_atoms

RADIAL = km.Gaussian(0.8).formula(3)


@pytest.fixture(params=[0.0, np.inf], ids=["compiled", "plain"])
def both_ways(request, monkeypatch):
    monkeypatch.setattr("kernelmean._work.LEAST_WORK", request.param)


def test_slopes_are_differences(both_ways):
    A = some_atoms(6, 3, scale=0.5)
    alpha = np.array([0.3, -0.2, 0.0, 0.5, 0.1, 0.3])
    of_centers, of_spreads = slopes(variance(RADIAL), A, gram(RADIAL, A, A), alpha)
    step = 1e-5
    for a, i, j in ((0, 0, 1), (2, 2, 2), (5, 1, 0)):

        def total(move, widen, a=a, i=i, j=j):
            c = A.centers[a : a + 1].copy()
            c[0, i] += move
            S = A.spreads[a : a + 1].copy()
            S[0, i, j] += 0.5 * widen
            S[0, j, i] += 0.5 * widen
            return float((gram(RADIAL, Atoms(c, S), A) @ alpha)[0])

        assert of_centers[a, i] == pytest.approx(
            (total(step, 0.0) - total(-step, 0.0)) / (2 * step), rel=1e-6, abs=1e-9
        )
        assert of_spreads[a, i, j] == pytest.approx(
            (total(0.0, step) - total(0.0, -step)) / (2 * step), rel=1e-6, abs=1e-9
        )


@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("far", [1.0, 1e3])
def test_numpy_and_the_loops_agree(d, far, monkeypatch):
    A = some_atoms(20, d)
    A = Atoms(far * A.centers, A.spreads)
    alpha = np.random.default_rng(1).normal(size=20)
    alpha[3] = 0.0
    K = gram(km.Gaussian(0.8).formula(d), A, A)
    found = []
    for least in (0.0, np.inf):
        monkeypatch.setattr("kernelmean._work.LEAST_WORK", least)
        found.append(slopes(0.64, A, K, alpha))
    for compiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(plain, compiled, rtol=1e-10, atol=1e-12)

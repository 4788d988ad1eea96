"""Marginals against integration by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import kernelmean as km
from kernelmean.pictures import marginal

KERNELS = [km.Gaussian(0.7), km.Laplacian(0.5), km.Cauchy(0.4), km.Student(4.0, 0.8)]
U = np.linspace(-14.0, 14.0, 4001)
LINE, STEPS = (
    np.sinh(U),
    np.cosh(U) * (U[1] - U[0]),
)  # the whole line: dense at 0, and far enough for Cauchy's tails


def small_mean(kernel, d, scale=None, spread=None):
    X = np.random.default_rng(3).normal(size=(40, d))
    how = {"space": "l2", "k": 6, "random_state": 0, "engine": "naive"}
    return km.sparse_kernel_mean(X, kernel=kernel, scale=scale, spread=spread, **how)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("scale", [None, [[1.0, 0.3], [-0.5, 2.0]]], ids=["plain", "mapped"])
def test_a_mean_is_integrated_along_the_direction_that_is_not_seen(kernel, scale):
    """f_P(y) = ∫ f(y·u + t·u⊥) dt for a unit vector u, under any map before the kernel."""
    mean = small_mean(kernel, 2, scale)
    u, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    seen = marginal(mean, u[None, :])
    for y in (-1.3, 0.0, 0.9):
        expected = mean(y * u + LINE[:, None] * across) @ STEPS
        np.testing.assert_allclose(
            seen(np.array([[y]]))[0],
            expected,
            rtol=2e-3 if isinstance(kernel, km.Laplacian) else 1e-6,
        )


@pytest.mark.parametrize("spread", ["scalar", "full"])
@pytest.mark.parametrize("scale", [None, "matrix"])
@pytest.mark.parametrize(("d", "m"), [(2, 1), (3, 1), (3, 2), (5, 2), (4, 4)])
def test_atoms_keep_the_covariance_that_is_seen(spread, scale, d, m):
    """Against the mixture of N(Pc, PA⁻¹(S + σ²I)A⁻ᵀPᵀ), by SciPy."""
    rng = np.random.default_rng(d)
    A = np.eye(d) if scale is None else np.eye(d) + 0.3 * rng.normal(size=(d, d))
    mean = small_mean(KERNELS[0], d, None if scale is None else A, spread)
    assert mean.expansion.atoms.kind == spread
    P = rng.normal(size=(m, d))
    T = P @ np.linalg.inv(A)
    Y = rng.normal(size=(7, m)) * 2.0
    full = mean.expansion.atoms.as_kind("full").spreads
    parts = [
        weight * multivariate_normal(P @ c, T @ (S + 0.7**2 * np.eye(d)) @ T.T).pdf(Y)
        for weight, c, S in zip(mean.weights, mean.centers, full, strict=True)
    ]
    np.testing.assert_allclose(marginal(mean, P)(Y), np.sum(parts, axis=0), rtol=1e-9)


@given(st.sampled_from(KERNELS[:1] + KERNELS[3:]), st.integers(2, 5), st.integers(0, 1000))
def test_nothing_is_lost(kernel, d, seed):
    """∫ f_P = Σ_a α_a, whatever the map."""
    rng = np.random.default_rng(seed)
    mean = small_mean(
        km.Student(6.0, 1.0) if isinstance(kernel, km.Student) else kernel,
        d,
        np.eye(d) + 0.2 * rng.normal(size=(d, d)),
    )
    seen = marginal(mean, rng.normal(size=(1, d)))
    np.testing.assert_allclose(seen(LINE[:, None]) @ STEPS, mean.weights.sum(), rtol=1e-5)

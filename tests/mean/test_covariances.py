"""V − σ²I, coordinate by coordinate where nothing leans."""

import numpy as np

from kernelmean.mean.covariances import without


def leaning(rng: np.random.Generator, k: int, d: int) -> np.ndarray:
    A = rng.normal(size=(k, d, d))
    return A @ np.swapaxes(A, 1, 2) + np.eye(d)


def test_what_leans_loses_its_variance_alone():
    V = leaning(np.random.default_rng(0), 5, 4)
    before = V.copy()
    np.testing.assert_allclose(without(V, 0.5), V - 0.5 * np.eye(4), atol=1e-13)
    np.testing.assert_array_equal(V, before)


def test_no_eigenvalue_is_below_zero():
    V = leaning(np.random.default_rng(1), 5, 4)
    least = np.linalg.eigvalsh(V)[:, 0]
    left = without(V, 2.0 * least.max())
    np.testing.assert_array_equal(left, np.swapaxes(left, 1, 2))
    assert (np.linalg.eigvalsh(left) > -1e-12 * V.max()).all()


def test_what_leans_on_nothing_costs_the_others_no_digits():
    """Wherever it stands: among those that lean, an eigen-decomposition of all mixes them."""
    rng = np.random.default_rng(2)
    lean, alone = np.array([0, 2, 4]), np.array([1, 3])
    small = 1e-4 * leaning(rng, 3, 3)
    V = np.zeros((3, 5, 5))
    V[:, lean[:, None], lean] = small
    V[:, 1, 1] = 1e12
    V[:, 3, 3] = [3.0, 0.5e-5, 1e-5]
    left = without(V, 1e-5)
    np.testing.assert_allclose(
        left[:, lean[:, None], lean], small - 1e-5 * np.eye(3), rtol=1e-12, atol=1e-18
    )
    np.testing.assert_array_equal(left[:, 1, 1], 1e12 - 1e-5)
    np.testing.assert_allclose(left[:, 3, 3], [3.0 - 1e-5, 0.0, 0.0])
    left[:, lean[:, None], lean] = 0.0
    left[:, alone, alone] = 0.0
    assert not left.any()


def test_variances_of_round_ones_lose_it_too():
    np.testing.assert_array_equal(without(np.array([2.0, 0.5]), 1.0), [1.0, 0.0])

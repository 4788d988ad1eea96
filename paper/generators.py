"""Breiman's generators (1996, "Bias, variance, and arcing classifiers").

They make data for the quick check, which needs no download.
"""

from __future__ import annotations

import numpy as np


def twonorm(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """20-D: N(±(a, …, a), I), a = 2/√20."""
    y = rng.choice([-1, 1], n)
    return rng.normal(size=(n, 20)) + y[:, None] * (2 / np.sqrt(20)), y


def ringnorm(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """20-D: N(0, 4I) around N((a, …, a), I), a = 2/√20."""
    y = rng.choice([-1, 1], n)
    Z = rng.normal(size=(n, 20))
    return np.where(y[:, None] < 0, 2 * Z, Z + 2 / np.sqrt(20)), y


def waveform(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """21-D: u·h_a + (1 − u)·h_b + N(0, I) for two of three triangular waves.

    The first pair of waves stands against the others.
    """
    i = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(i - np.array([[11], [15], [7]])), 0)
    pairs = np.array([(0, 1), (0, 2), (1, 2)])[rng.integers(3, size=n)]
    u = rng.random((n, 1))
    X = u * waves[pairs[:, 0]] + (1 - u) * waves[pairs[:, 1]] + rng.normal(size=(n, 21))
    return X, np.where(pairs.sum(axis=1) == 1, 1, -1)


GENERATORS = {"twonorm": twonorm, "ringnorm": ringnorm, "waveform": waveform}

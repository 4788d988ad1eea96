"""MMDAgg: many bandwidths in one test, as its authors published it.

A. Schrab, I. Kim, M. Albert, B. Laurent, B. Guedj and A. Gretton, "MMD Aggregated Two-Sample
Test", Journal of Machine Learning Research 24, 2023; here with their default collection, Laplace
and Gaussian kernels of ten bandwidths each with equal weights, and the sizes of their experiments.
Each statistic is the U-statistic of quadratic time,

    h(i, j) = k(x_i, x_j) + k(y_i, y_j) − k(x_i, y_j) − k(y_i, x_j),
    T(ε) = Σ_{i≠j} ε_i ε_j h(i, j),

ε = 1 as observed and random signs for the wild bootstrap. Of the bootstrap values, the first set
has the quantile of each kernel at level u·w, and the second the largest u at which the share of
draws that exceed any quantile is no more than the level, found by bisection.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

BANDWIDTHS = 10  # of each kernel
FIRST = 500  # draws for the quantiles of each kernel
SECOND = 500  # draws for the correction of the level
STEPS = 50  # of bisection
DISTANCE_ROWS = 500  # of each sample, whose distances have the least and the largest bandwidth
LEAST = 0.1  # distances below are not believed: a quantile of 5 % is taken instead


def rejects(A: np.ndarray, B: np.ndarray, rng: np.random.Generator, level: float = 0.05) -> bool:
    """Whether samples of equal size have different laws, by the aggregated test."""
    signs = rng.choice([-1.0, 1.0], size=(len(A), 1 + FIRST + SECOND))
    signs[:, 0] = 1.0
    found = np.stack([statistics(h, signs) for h in differences(A, B)])
    first, second = np.sort(found[:, : FIRST + 1], axis=1), found[:, FIRST + 1 :]
    thresholds = quantiles(first, corrected(first, second, level))
    return bool((found[:, 0] > thresholds).any())


def differences(A: np.ndarray, B: np.ndarray) -> Iterator[np.ndarray]:
    """h for each kernel of the collection, with zeros on the diagonal."""
    n = len(A)
    pooled = np.concatenate([A, B])
    for norm, power in (("cityblock", 1), ("euclidean", 2)):
        distances = cdist(pooled, pooled, norm)
        few = cdist(A[:DISTANCE_ROWS], B[:DISTANCE_ROWS], norm).ravel()
        for bandwidth in collection(few):
            K = np.exp(-((distances / bandwidth) ** power))
            h = K[:n, :n] + K[n:, n:] - K[:n, n:] - K[n:, :n]
            np.fill_diagonal(h, 0.0)
            yield h


def collection(distances: np.ndarray) -> np.ndarray:
    """Bandwidths from half the least to twice the largest distance, in equal ratios."""
    least = distances.min()
    if least < LEAST:
        least = max(np.sort(distances)[int(0.05 * len(distances))], LEAST)
    return np.geomspace(least / 2.0, 2.0 * max(distances.max(), 3.0 * LEAST), BANDWIDTHS)


def statistics(h: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """T(ε) for each column of signs."""
    return np.einsum("ij,ij->j", signs, h @ signs)


def quantiles(ascending: np.ndarray, u: float) -> np.ndarray:
    """Of each kernel at level u·w, w = 1/kernels."""
    kernels, draws = ascending.shape
    return ascending[:, int(np.ceil(draws * (1.0 - u / kernels))) - 1]


def corrected(first: np.ndarray, second: np.ndarray, level: float) -> float:
    """The largest u whose quantiles any kernel exceeds in a share ``level`` of draws at most."""
    low, high = 0.0, float(len(first))
    for _ in range(STEPS):
        u = (low + high) / 2.0
        share = np.mean((second > quantiles(first, u)[:, None]).any(axis=0))
        low, high = (u, high) if share <= level else (low, u)
    return low

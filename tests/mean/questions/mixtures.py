"""Small Gaussian densities of every kind, and the same as plain mixtures: the oracle."""

import numpy as np
from scipy.stats import multivariate_normal

import kernelmean as km

KINDS = ("points", "scalar", "full")
SCALES = (None, "diagonal", "turned")


def scale_of(name: str | None, d: int, rng: np.random.Generator) -> np.ndarray | None:
    if name is None:
        return None
    if name == "diagonal":
        return np.diag(rng.uniform(0.5, 3.0, d))
    return rng.normal(size=(d, d)) + 2.0 * np.eye(d)


def density(kind: str, scale: str | None, d: int = 3, k: int = 6, seed: int = 0) -> km.KernelMean:
    rng = np.random.default_rng([seed, d, k])
    spreads = None
    if kind == "scalar":
        spreads = rng.uniform(0.0, 1.0, k)
    if kind == "full":
        roots = rng.normal(size=(k, d, d)) * 0.7
        roots[0] = 0.0  # an atom that is a point
        spreads = roots @ np.swapaxes(roots, 1, 2)
        spreads = 0.5 * (spreads + np.swapaxes(spreads, 1, 2))
    weights = rng.dirichlet(np.ones(k))
    weights[2] = 0.0  # absent
    weights /= weights.sum()
    A = scale_of(scale, d, rng)
    return km.KernelMean(
        rng.normal(size=(k, d)) * 2.0, weights, km.Gaussian(0.6), "l2", A, k, "naive", spreads
    )


def components(mean: km.KernelMean) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Weight, mean and covariance of each component, by the definition."""
    d = mean.dimension
    T = np.eye(d) if mean.scale is None else np.linalg.inv(mean.scale)
    found = []
    for a in range(mean.k):
        S = np.zeros((d, d))
        if mean.spreads is not None:
            S = mean.spreads[a] * np.eye(d) if mean.spreads.ndim == 1 else mean.spreads[a]
        V = T @ (S + mean.kernel.length**2 * np.eye(d)) @ T.T
        found.append((float(mean.weights[a]), mean.centers[a], V))
    return found


def pdf(mean: km.KernelMean, X: np.ndarray) -> np.ndarray:
    return sum(w * multivariate_normal(c, V).pdf(X) for w, c, V in components(mean))


def marginal_pdf(mean: km.KernelMean, columns: list[int], X: np.ndarray) -> np.ndarray:
    chosen = np.ix_(columns, columns)
    return sum(
        w * multivariate_normal(c[columns], V[chosen]).pdf(X) for w, c, V in components(mean)
    )

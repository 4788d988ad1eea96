"""Error at equal k for every selection, on real data: ``python -m benchmarks.selections [data sets]``.

Relative errors ‖z̄ − z‖/‖z̄‖ by an evaluator of its own, all pairs in NumPy. ``herding`` is kernel herding over all rows with
the weights optimised afterwards, as coreax does it; it and the exact evaluator need O(n²), so samples are small.
"""

from __future__ import annotations

import functools
import sys

import numpy as np
from scipy.spatial.distance import cdist

import kernelmean as km
from benchmarks.datasets import SETS, bandwidths, load

POINTS = 2500
SIZES = (32, 128, 512)
OWN = ("auto", "greedy", "kcenter", "kmeans", "kmeans++", "random")


def gram(kernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """K_ab = φ(‖a − b‖²)."""
    return kernel.formula(A.shape[1])(cdist(A, B, "sqeuclidean"))


def relative_error(K, C: np.ndarray, alpha: np.ndarray, X: np.ndarray) -> float:
    """‖z̄ − z‖² = ⟨z̄ − z, z̄⟩ − ⟨z̄ − z, z⟩, residuals first so that little cancels."""
    at_X, at_C = K(X, X).mean(axis=1) - K(X, C) @ alpha, K(C, X).mean(axis=1) - K(C, C) @ alpha
    return float(np.sqrt(max(at_X.mean() - alpha @ at_C, 0.0) / K(X, X).mean()))


def herding(K, X: np.ndarray, k: int) -> np.ndarray:
    """argmax of κ(x) − (1/(t+1)) Σ K(x, chosen), no row twice."""
    G = K(X, X)
    kappa, total, rows = G.mean(axis=1), np.zeros(len(X)), []
    for t in range(k):
        score = kappa - total / (t + 1)
        score[rows] = -np.inf
        rows.append(int(np.argmax(score)))
        total += G[rows[-1]]
    return np.array(rows)


def main() -> None:
    print("| data | d | kernel | k | weights | best other | auto / it | auto chose | " + " | ".join((*OWN, "herding")) + " |")
    print("|" + "---|" * (9 + len(OWN)))
    for name in sys.argv[1:] or SETS:
        X = load(name, POINTS)
        for width, h in bandwidths(X).items():
            for kernel in (km.Gaussian(h), km.Laplacian(1.7 * h)):
                K = functools.partial(gram, kernel)
                for k in (k for k in SIZES if 3 * k < len(X)):
                    for constraint in (None, "simplex"):
                        row(name, X, (width, kernel, K, k, constraint))


def row(name: str, X: np.ndarray, case: tuple) -> None:
    width, kernel, K, k, constraint = case
    options = {"kernel": kernel, "k": k, "constraint": constraint, "random_state": 0}
    ways = {way: way for way in OWN} | {"herding": herding(K, X, k)}
    means = {way: km.sparse_kernel_mean(X, selection=selection, **options) for way, selection in ways.items()}
    errors = {way: relative_error(K, mean.centers, mean.weights, X) for way, mean in means.items()}
    best = min((way for way in errors if way != "auto"), key=errors.get)
    facts = [name, X.shape[1], f"{type(kernel).__name__} {width}", k, constraint or "free"]
    facts += [best, f"{errors['auto'] / errors[best]:.2f}", means["auto"].selection, *(f"{e:.2e}" for e in errors.values())]
    print("| " + " | ".join(map(str, facts)) + " |", flush=True)


if __name__ == "__main__":
    main()

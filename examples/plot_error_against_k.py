"""Error against the number of centres, for every selection.

The same kernel and the same optimal weights; only the centres differ. Farthest-first is the
paper's. Greedy takes the candidate that lowers the error most. Centroids (`kmeans`) need not be
points of the data. Refined centres have moved down the error itself.

For selections that hand out centres one after another, one factorisation gives the error of every
$k$: $\\lVert\\bar z - z_m\\rVert^2 = \\lVert\\bar z\\rVert^2 + E_m$ with `mean.indicator` $= E_1,
\\dots, E_k$.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km


def mixture(n: int, d: int, seed: int) -> np.ndarray:
    """Four Gaussians of different spread."""
    rng = np.random.default_rng(seed)
    middles, spreads = rng.normal(0.0, 1.5, (4, d)), rng.uniform(0.3, 1.0, 4)
    which = rng.integers(4, size=n)
    return middles[which] + spreads[which, None] * rng.normal(size=(n, d))


def errors(X: np.ndarray, kernel: km.Gaussian) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Relative error for each selection, against k."""
    squared_norm = km.kernel_mean(X, kernel=kernel).inner(km.kernel_mean(X, kernel=kernel))
    curves = {}
    for name in ("kcenter", "greedy", "kmeans++", "random"):
        mean = km.sparse_kernel_mean(X, kernel=kernel, k=200, selection=name, random_state=0)
        curves[name] = (
            np.arange(1, mean.k + 1),
            np.sqrt(np.maximum(squared_norm + mean.indicator, 1e-16) / squared_norm),
        )
    few = np.array([5, 10, 20, 40, 80, 160])
    for name, steps in (("kmeans", 0), ("kmeans", 30)):
        means = [
            km.sparse_kernel_mean(
                X, kernel=kernel, k=k, selection=name, refine=steps, random_state=0
            )
            for k in few
        ]
        label = f"{name} + refine={steps}" if steps else name
        curves[label] = (
            few,
            np.array([mean.certificate(X, method="exact").relative_error for mean in means]),
        )
    return curves


# %%
# In the plane farthest-first is behind until its centres cover the data, and catches up then. In
# five dimensions it takes the fringe first and stays behind, even behind random rows: choose
# `greedy`, centroids, or the default `auto`.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (d, sigma) in zip(axes, [(2, 0.5), (5, 1.0)], strict=True):
    X = mixture(3000, d, seed=1)
    curves = errors(X, km.Gaussian(sigma))
    for name, (k, error) in curves.items():
        ax.loglog(k, error, label=name, marker="o" if len(k) < 10 else None, markersize=3)
    at = {name: error[np.searchsorted(k, 160)] for name, (k, error) in curves.items()}
    print(f"d = {d}, k = 160: " + ", ".join(f"{name} {error:.1e}" for name, error in at.items()))
    ax.set(title=f"d = {d}, σ = {sigma}", xlabel="centres", ylabel="relative error")
axes[0].legend(fontsize=8)
plt.show()

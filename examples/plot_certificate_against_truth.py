"""Certificate against truth.

What is promised, what is measured, and what is true. The exact error needs all pairs of points. The
spectral certificate needs random frequencies only and costs O((n + k)·M·d); its bars are two
standard errors. The bounds of [Theorem 1](../theory/centres.md) and its tighter relative hold
always, and say little.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(3000, noise=0.15, random_state=0)[0]
kernel = km.Gaussian(0.25)
norm = np.sqrt(km.kernel_mean(X, kernel=kernel).inner(km.kernel_mean(X, kernel=kernel)))
long = km.sparse_kernel_mean(X, kernel=kernel, k=200, selection="kcenter", random_state=0)
sizes = [5, 10, 20, 40, 60, 80, 100, 130, 160, 200]
rows = []
for k in sizes:
    mean = km.sparse_kernel_mean(X, kernel=kernel, k=k, selection=long.indices[:k])
    truth = mean.certificate(X, method="exact")
    spectral = mean.certificate(X, method="spectral", random_state=k)
    residual = mean.certificate(X, method="rows", size=500, random_state=k)
    rows.append(
        (
            truth.error,
            spectral.error,
            spectral.standard_error,
            residual.error,
            residual.standard_error,
            mean.bound,
            mean.tighter_bound,
        )
    )
truth, spectral, spread, residual, residual_spread, bound, tighter = np.array(rows).T / norm
inside = np.abs(spectral - truth) <= 2 * spread
print(
    "spectral certificates within two standard errors of the truth:",
    f"{inside.sum()} of {len(sizes)}",
)
print(
    f"at k = {sizes[-1]}: true {truth[-1]:.1e}, "
    f"spectral {spectral[-1]:.1e} ± {spread[-1]:.0e}, Theorem 1 {bound[-1]:.2f}"
)

# %%
# Sampling rows of the residual is good while the error is above a percent or so. Below, its noise
# hides the answer, which the spectral one resolves: it is a sum of squares and cancels nothing.
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.semilogy(sizes, bound, color="grey", linestyle="--", label="Theorem 1")
axes.semilogy(sizes, tighter, color="grey", linestyle=":", label="tighter bound")
axes.semilogy(sizes, truth, color="black", label="exact error")
low = np.minimum(2 * residual_spread, 0.95 * residual)
axes.errorbar(
    np.array(sizes) + 1.5,
    residual,
    [low, 2 * residual_spread],
    fmt="s",
    markersize=4,
    label="rows, 500 of them",
)
axes.errorbar(
    sizes,
    spectral,
    np.minimum(2 * spread, 0.95 * spectral),
    fmt="o",
    markersize=4,
    label="spectral, 4000 frequencies",
)
axes.set(xlabel="centres", ylabel="relative error", ylim=(truth.min() / 5, 3))
axes.legend(fontsize=8)
plt.show()

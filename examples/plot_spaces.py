"""Densities: weights that are best in L2.

The same centres with nonnegative weights, once optimal in the RKHS and once in L2. For a density
what counts is the Kullback–Leibler divergence from the full estimate, and $\\mathrm{KL} \\approx
\\tfrac12\\int (p-q)^2/p$ is closer to the norm of L2. That is why
[`SparseKDE`][kernelmean.SparseKDE] works in L2.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(3000, noise=0.15, random_state=0)[0]
kernel = km.Gaussian(0.2)
full = km.kernel_mean(X, kernel=kernel, space="l2")
rows = km.k_center(X, 240, first=0).indices
sizes = [60, 90, 120, 160, 200, 240]
divergences = {}
for space in ("rkhs", "l2"):
    options = {"kernel": kernel, "space": space, "constraint": "simplex"}
    means = [km.sparse_kernel_mean(X, k=k, selection=rows[:k], **options) for k in sizes]
    divergences[space] = [
        km.kl_divergence(full, mean, n_samples=4000, random_state=0).value for mean in means
    ]
    print(
        f"{space:5}"
        + ", ".join(
            f" k = {k}: {value:.1e}" for k, value in zip(sizes, divergences[space], strict=True)
        )
    )

# %%
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for space, values in divergences.items():
    axes.semilogy(sizes, values, "o-", label=f"weights best in {space.upper()}")
axes.set(xlabel="centres", ylabel="KL(full, sparse)")
axes.legend()
plt.show()

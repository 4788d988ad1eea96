"""Weights that make a density: solve, do not project.

A density needs $\\alpha \\ge 0$ and $\\sum \\alpha = 1$. The paper projects the free weights onto
that set, which ignores how centres overlap. `constraint="simplex"` solves the constrained problem
itself, exactly. With more centres the projection gets worse, the exact solution better.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelmean as km

X = make_moons(2500, noise=0.15, random_state=0)[0]
kernel = km.Gaussian(0.2)
long = km.sparse_kernel_mean(X, kernel=kernel, k=400, selection="kcenter", random_state=0)
sizes = [10, 20, 40, 80, 120, 160, 200, 300, 400]
curves = {}
for constraint in (None, "simplex", "simplex-projection"):
    means = [long.truncate(k).refit(constraint=constraint) for k in sizes]
    curves[constraint] = [mean.certificate(X, method="exact").relative_error for mean in means]
    print(f"{constraint!s:20} relative error at k = 400: {curves[constraint][-1]:.1e}")

# %%
# `refit` changes the constraint without the data: the same centres, other weights.
names = {
    None: "free weights",
    "simplex": "simplex: exact",
    "simplex-projection": "the paper's projection",
}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for constraint, error in curves.items():
    axes.loglog(sizes, np.maximum(error, 1e-8), "o-", markersize=4, label=names[constraint])
axes.set(xlabel="centres", ylabel="relative error")
axes.legend()
plt.show()

"""Farthest-first and the dimension.

The same mixture in one to twelve dimensions, 128 centres. The bandwidth grows with the root of the
dimension, as distances do. Farthest-first takes points at the fringe. In one to three dimensions
there are few of those; later all centres go there, and random rows are better.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

dimensions = [1, 2, 3, 5, 8, 12]
names = ["kcenter", "random", "greedy", "kmeans", "auto"]
errors = {name: [] for name in names}
for d in dimensions:
    rng = np.random.default_rng(d)
    X = rng.normal(0.0, 1.0, (4, d))[rng.integers(4, size=2000)] + 0.6 * rng.normal(size=(2000, d))
    kernel = km.Gaussian(0.4 * np.sqrt(d))
    for name in names:
        mean = km.sparse_kernel_mean(X, kernel=kernel, k=128, selection=name, random_state=0)
        errors[name].append(mean.certificate(X, method="exact").relative_error)
for name in names:
    print(
        f"{name:8}"
        + "".join(
            f"  d={d}: {error:.1e}" for d, error in zip(dimensions, errors[name], strict=True)
        )
    )

# %%
# `selection="auto"`, the default, compares several selections by what they achieve.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name in names:
    axes.semilogy(
        dimensions,
        errors[name],
        "o-",
        markersize=4,
        label=name,
        linewidth=2.5 if name == "auto" else 1.2,
    )
axes.set(xlabel="dimensions", ylabel="relative error, 128 centres")
axes.legend()
plt.show()

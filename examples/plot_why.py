"""A density by a few hundred centres.

Twenty thousand points in the plane, and their kernel density estimate on the left. The middle shows
the same density by a few centres with optimal weights, and the right one their difference. Circles
are centres, sized by weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernelmean as km

rng = np.random.default_rng(0)
X = np.concatenate(
    [
        make_moons(16_000, noise=0.12, random_state=0)[0],
        rng.normal((0.5, 1.6), (0.5, 0.12), (4000, 2)),
    ]
)
full = km.kernel_mean(X, space="l2")
sparse = km.sparse_kernel_mean(
    X, kernel=full.kernel, space="l2", constraint="simplex", random_state=0
)
print(sparse)
print(sparse.certificate(X, method="exact"))
print(
    f"kernel values per evaluated point: {full.k} for the full density, "
    f"{sparse.k} for the "
    "sparse one"
)

# %%
# The difference is drawn on its own scale. It has no bias to one side: positive and negative parts
# alternate.
u, v = np.linspace(-1.6, 2.6, 150), np.linspace(-1.0, 2.2, 120)
Q = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)
values = {"full": full(Q), "sparse": sparse(Q)}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained", sharey=True)
for ax, (name, f) in zip(axes, values.items(), strict=False):
    ax.pcolormesh(u, v, f.reshape(len(v), len(u)), vmax=values["full"].max(), rasterized=True)
    ax.set_title(f"{name}: {full.k if name == 'full' else sparse.k} terms")
axes[1].scatter(
    *sparse.centers.T,
    s=3000 * sparse.weights,
    facecolors="none",
    edgecolors="white",
    linewidths=0.6,
)
difference = (values["sparse"] - values["full"]).reshape(len(v), len(u))
limit = np.abs(difference).max()
picture = axes[2].pcolormesh(
    u, v, difference, cmap="RdBu", vmin=-limit, vmax=limit, rasterized=True
)
axes[2].set_title(f"difference, of a peak of {values['full'].max():.2f}")
figure.colorbar(picture, ax=axes[2])
plt.show()

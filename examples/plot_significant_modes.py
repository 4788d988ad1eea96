"""Every mode and the significant ones.

Mean shift takes the modes of a density estimate for clusters, and an estimate has modes of its own.
In the upper row every mode of a sparse estimate is a cluster, as in the paper: too many in five
dimensions, of which two are drawn, and too few where the width of all blobs together sets the
bandwidth. In the lower row a mode counts only if it stands higher above its saddle than the chance
of the sample explains, at the bandwidth where modes stand highest: the default of
[`MeanShift`][kernelmean.MeanShift].
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.datasets import make_blobs, make_moons

import kernelmean as km

rng = np.random.default_rng(0)
middles = [(0, 0), (3, 0), (10, 8), (13, 8), (0, 10)]
samples = {
    "one Gaussian in 5-D": rng.normal(size=(2000, 5)),
    "five blobs": make_blobs(2000, centers=middles, cluster_std=0.8, random_state=0)[0],
    "two moons": make_moons(2000, noise=0.08, random_state=0)[0],
}
every = {
    name: km.MeanShift(significance=None, spread=None, random_state=0).fit(X)
    for name, X in samples.items()
}
significant = {name: km.MeanShift(random_state=0).fit(X) for name, X in samples.items()}
for name in samples:
    print(
        f"{name}: {len(every[name].cluster_centers_)} modes of the estimate, "
        f"{len(significant[name].cluster_centers_)} significant"
    )

# %%
figure, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
for row, fits in zip(axes, (every, significant), strict=True):
    for ax, (name, shift) in zip(row, fits.items(), strict=True):
        count = len(shift.cluster_centers_)
        ax.scatter(*samples[name][:, :2].T, s=4, c=shift.labels_ % 20, cmap="tab20")
        ax.scatter(*shift.cluster_centers_[:, :2].T, marker="+", s=60, color="black")
        ax.set_title(f"{name}: {count} cluster{'s' if count > 1 else ''}")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("every mode")
axes[1, 0].set_ylabel("significant modes")
plt.show()

# %%
# The modes of the densities in the lower row, by how clearly they stand above their saddles. Those
# to the right of the line would be kept if each were the only one in question; nine bandwidths were
# tried, and share the level of the test.
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for height, shift in enumerate(significant.values()):
    z = shift.tree_.z[shift.tree_.parent >= 0]
    ax.scatter(z, np.full(len(z), height), s=30)
ax.axvline(norm.isf(0.05 / 9), color="black", linestyle="--", linewidth=0.8)
ax.set(
    yticks=range(3),
    yticklabels=list(samples),
    ylim=(-0.5, 2.5),
    xlabel="peak above saddle, in standard deviations of the sampling noise",
)
plt.show()

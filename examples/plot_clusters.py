"""Clusters, found and cut.

Every row climbs to a peak of the density; a peak counts as a cluster if it stands higher above its
surroundings than the chance of the sample explains. How the peaks merge is a tree: it can be cut at
any other number of clusters without a second fit.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
groups = [
    rng.normal((0, 0), (1.0, 1.0), (1500, 2)),
    rng.normal((4, 1), (0.6, 1.2), (1000, 2)),
    rng.normal((2, 5), (0.8, 0.5), (500, 2)),
]
X = np.concatenate(groups)
found = km.MeanShift(random_state=0).fit(X)
print(f"{len(found.cluster_centers_)} clusters of", np.bincount(found.labels_), "rows")

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
panels = {"found": found.labels_, "cut at two": found.cut(n_clusters=2)}
for ax, (title, labels) in zip(axes[0], panels.items(), strict=True):
    ax.scatter(*X.T, s=2, c=plt.get_cmap("tab10")(labels), rasterized=True)
    ax.set(title=title, aspect="equal")
for center in found.cluster_centers_:
    axes[0, 0].plot(*center, "k+", markersize=12, markeredgewidth=2)
km.plot.MergeTreeDisplay.from_estimator(found, ax=axes[1])
plt.show()

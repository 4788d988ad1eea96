"""The paper's embedding of distributions, in small.

Thirty samples of three kinds, as thirty points in a plane. Distances between full kernel means need
all pairs of points; distances between sparse means need pairs of centres. ISOMAP of both, one laid
over the other by Procrustes.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

rng = np.random.default_rng(0)
kinds = np.repeat([0, 1, 2], 10)


def cells(kind: int) -> np.ndarray:
    """Two populations in four channels.

    Their shares and one position depend on the kind and on the subject.
    """
    share = np.clip(0.3 + 0.15 * kind + rng.normal(0, 0.05), 0.05, 0.95)
    first = rng.random(800) < share
    return np.where(
        first[:, None],
        rng.normal(0.0, 1.0, (800, 4)),
        rng.normal((2.5, 1.0 + 0.5 * kind, 0.0, 1.5), 0.7, (800, 4)),
    )


samples = [cells(kind) for kind in kinds]
sparse = km.DistributionEmbedding(n_neighbors=10, error_bars=True, random_state=0).fit(samples)
full = km.DistributionEmbedding(n_neighbors=10, sparse=False).fit(samples)
relative = np.linalg.norm(sparse.distances_ - full.distances_) / np.linalg.norm(full.distances_)
over = km.procrustes(full.embedding_, sparse.embedding_)
off = np.abs(sparse.distances_ - full.distances_)
inside = bool((off <= sparse.distance_errors_ + 1e-12).all())
sizes = [mean.k for mean in sparse.means_]
print(f"distances: relative error {relative:.4f}; all within their error bars: {inside}")
print(f"embeddings: Procrustes residual {over.residual:.4f}")
print(f"centres per sample: {min(sizes)} to {max(sizes)}, of 800 points")

# %%
# Rings are the full means, dots the sparse ones.
figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for kind in range(3):
    axes.scatter(
        *full.embedding_[kinds == kind].T,
        s=70,
        facecolors="none",
        edgecolors=f"C{kind}",
        label=f"kind {kind}, full",
    )
    axes.scatter(*over.aligned[kinds == kind].T, s=14, color=f"C{kind}", label="sparse")
axes.legend(ncols=3, fontsize=8)
plt.show()

"""Thirty-six samples as points of a map.

Cells of twelve simulated donors, three replicates each. Every sample becomes a sparse kernel mean,
and [`DistributionEmbedding`][kernelmean.DistributionEmbedding] places the samples in a plane so
that those with similar cells lie near each other.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km

cells = km.datasets.load_cells()
samples = [np.arcsinh(sample) for sample in cells.samples]
embedding = km.DistributionEmbedding(random_state=0).fit(samples)
k = embedding.means_[0].k
print(f"{len(samples)} samples of {len(samples[0])} cells, {k} centres each")

# %%
# Replicates of one donor are joined. The map goes from controls to the late group, in whom one kind
# of cells has become more frequent. The right panel shows these cells: a control and a late donor.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", width_ratios=(1.3, 1))
colors = {"control": "tab:blue", "early": "tab:orange", "late": "tab:green"}
for donor in range(12):
    mine = cells.donor == donor
    group = cells.group[mine][0]
    label = group if donor % 4 == 0 else None
    place = embedding.embedding_[mine]
    axes[0].plot(*place.T, "o-", color=colors[group], lw=1, label=label)
    axes[0].annotate(f" {donor}", place[0], fontsize=8)
axes[0].set(title="samples, numbered by donor", xlabel="first coordinate", ylabel="second")
axes[0].legend()
for sample, group in ((0, "control"), (35, "late")):
    axes[1].scatter(*samples[sample][:, 1:3].T, s=4, color=colors[group], alpha=0.5, label=group)
axes[1].set(title="cells of two samples", xlabel="arcsinh SSC", ylabel="arcsinh CD3")
axes[1].legend()
plt.show()

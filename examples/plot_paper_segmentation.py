"""The paper's image segmentation, in small.

Pixels of a photograph climb the density of colour and position, once the full one and once a sparse
one. The discrepancy index is the share of pixels that end more than three bandwidths apart; the
Hausdorff distance compares the clusterings themselves.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

import kernelmean as km

rgb = load_sample_image("flower.jpg")[::9, ::9]
plain = {"contrast": None, "bandwidth": 0.09, "min_size": 30}  # clusters as they are
sparse = km.segment_image(rgb, spread=None, **plain)
full = km.segment_image(rgb, sparse=False, **plain)
apart = km.discrepancy_index(sparse.clustering.shifted, full.clustering.shifted, 3 * 0.09)
print(f"{rgb.shape[0] * rgb.shape[1]} pixels, {sparse.clustering.mean.k} centres")
print(
    f"segments: {sparse.n_segments} by the sparse density,",
    f"{full.n_segments} by the full one",
)
print(
    f"discrepancy index {apart:.3f}, Hausdorff distance "
    f"{km.clustering_hausdorff(sparse.labels, full.labels):.3f}"
)

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 2.8), layout="constrained")
pictures = {
    "photograph": rgb,
    "full density": full.image,
    f"sparse density, {sparse.clustering.mean.k} centres": sparse.image,
}
for ax, (title, image) in zip(axes, pictures.items(), strict=True):
    ax.imshow(image)
    ax.set_title(title)
    ax.axis("off")
plt.show()

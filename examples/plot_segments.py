"""A photograph in segments.

Pixels are points in colour and position. Those that climb to the same peak of their density are a
region; the least different neighbours become one until the contrast between them is large enough,
or until there are as many segments as you ask for.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import kernelmean as km

rgb = load_sample_image("flower.jpg")[::2, ::2]
found = km.segment_image(rgb)
five = found.cut(n_segments=5)
k = found.clustering.mean.k
print(f"{found.n_segments} segments by {k} centres; the tree cut at five")


def outlined(labels: np.ndarray) -> np.ndarray:
    """The photograph with the boundaries of segments in white."""
    edge = np.zeros(labels.shape, dtype=bool)
    edge[:-1] |= labels[:-1] != labels[1:]
    edge[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    return np.where(edge[..., None], 255, rgb).astype(np.uint8)


figure, axes = plt.subplots(1, 3, figsize=(11, 2.8), layout="constrained")
pictures = {
    f"{found.n_segments} segments": outlined(found.labels),
    "each in its mean colour": found.image,
    "five segments": outlined(five.labels),
}
for ax, (title, image) in zip(axes, pictures.items(), strict=True):
    ax.imshow(image)
    ax.set_title(title)
    ax.axis("off")
plt.show()

"""Label images: kept compactly beside the results, drawn side by side in mean colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def keep(folder: Path, name: str, labels: np.ndarray, rgb: np.ndarray) -> None:
    """Labels and the mean colour of each segment, in one small file."""
    sizes = np.bincount(labels)
    colors = np.stack(
        [np.bincount(labels, channel) / sizes for channel in rgb.reshape(-1, 3).T], axis=1
    )
    kept = labels.astype(np.uint16).reshape(rgb.shape[:2])
    np.savez_compressed(
        folder / f"meanshift_labels_{name}.npz",
        labels=kept,
        colors=np.round(colors).astype(np.uint8),
    )


def draw(folder: Path, names: dict[str, str], path: Path) -> bool:
    """The images that are there, their boundaries in white; False where there is none."""
    from matplotlib import pyplot as plt

    shown = {
        name: title
        for name, title in names.items()
        if (folder / f"meanshift_labels_{name}.npz").exists()
    }
    if not shown:
        return False
    figure, axes = plt.subplots(1, len(shown), figsize=(3.3 * len(shown), 3.7), squeeze=False)
    for ax, (name, title) in zip(axes.flat, shown.items(), strict=True):
        with np.load(folder / f"meanshift_labels_{name}.npz", allow_pickle=False) as file:
            labels, colors = file["labels"], file["colors"]
        image = colors[labels]
        image[edges(labels)] = 255
        ax.imshow(image)
        ax.set_title(f"{title}\n{len(colors)} clusters", fontsize=9)
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return True


def edges(labels: np.ndarray) -> np.ndarray:
    """Pixels whose right or lower neighbour has another label."""
    found = np.zeros(labels.shape, dtype=bool)
    found[:-1] |= labels[:-1] != labels[1:]
    found[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    return found

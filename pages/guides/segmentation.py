"""Figures of the guide to segmentation."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt

from pages.guides._axes import panels, spots


def contrasts(page: Any) -> None:
    """The same photograph, cut at three contrasts."""
    for ax, contrast in zip(panels(3, 1.8), (0.02, 0.05, 0.1), strict=True):
        cut = page.found.cut(contrast=contrast)
        ax.imshow(cut.image)
        ax.set(xticks=[], yticks=[], title=f"contrast {contrast}: {cut.n_segments} segments")
        ax.title.set_fontsize(9)


def plain(page: Any) -> None:
    """Clusters of pixels: where position counts twice, and without position, sparse and full."""
    shown = {"position counts twice": page.plain, "sparse": page.sparse, "full": page.full}
    for ax, (title, found) in zip(panels(3, 1.8), shown.items(), strict=True):
        ax.imshow(plt.get_cmap("tab20")(found.labels % 20))
        ax.set(xticks=[], yticks=[], title=title)
        ax.title.set_fontsize(9)


def points(page: Any) -> None:
    """Rows in the colours of their clusters, and the new row."""
    ax = panels(1, 2.8, 3.6)
    spots(ax, page.X, c=plt.get_cmap("tab10")(page.shift.labels_), s=5)
    ax.plot(*page.shift.cluster_centers_.T, "k+", markersize=12, markeredgewidth=2)
    ax.plot(2.5, 2.5, "k*", markersize=9)
    ax.set(aspect="equal")

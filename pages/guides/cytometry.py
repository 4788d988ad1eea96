"""Figures of the guide to many samples."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km
from pages.guides._axes import panels, spots


def distances(page: Any) -> None:
    """All distances; replicates of a donor stand side by side."""
    ax = panels(1, 4.0, 5.0)
    names = [f"donor {d}" if i % 3 == 1 else "" for i, d in enumerate(page.donor)]
    drawn = ax.imshow(page.embedding.distances_, cmap="magma_r")
    ax.set_xticks([])
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.tick_params(length=0)
    ax.figure.colorbar(drawn, ax=ax, label="distance")


def bars(page: Any) -> None:
    """What sparsity changes, as a share of the bar that was promised."""
    ax = panels(1, 2.3)
    ax.hist(page.used, bins=np.linspace(0.0, 0.1, 51), color="teal")
    ax.set(xlabel="change of the distance, as a share of its bar", ylabel="pairs of samples")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}".replace("%", " %"))


def placed(page: Any) -> None:
    """The new sample on the map."""
    ax = panels(1, 2.8)
    spots(ax, page.embedding.embedding_, s=26, c=plt.get_cmap("tab20")(page.donor))
    ring = {"s": 160, "facecolor": "none", "edgecolor": "black", "linewidth": 1.5}
    spots(ax, page.place, label="the new sample", **ring)
    ax.legend(frameon=False)
    ax.set(xticks=[], yticks=[])


def channels(page: Any) -> None:
    """The first two channels of a sample, of its replicate and of another donor."""
    names = {"the sample": 0, "a replicate": 1, "another donor": 3}
    for ax, channel in zip(panels(2, 2.5), (0, 1), strict=True):
        x = np.linspace(*np.quantile(page.samples[0][:, channel], [0.001, 0.999]), 200)
        for name, i in names.items():
            rows = page.samples[i][:, [channel]]
            density = km.SparseKDE(target="kde", random_state=0).fit(rows)
            ax.plot(x, np.exp(density.score_samples(x[:, None])), label=name)
        ax.set(xlabel=f"channel {channel + 1}, arcsinh", yticks=[])
    ax.legend(frameon=False)


def divergences(page: Any) -> None:
    """The divergences of six samples."""
    ax = panels(1, 2.8, 4.2)
    km.plot.DistancesDisplay.from_distances(
        page.by_density.distances_,
        names=[f"donor {d}, {i % 3 + 1}" for i, d in enumerate(page.donor[:6])],
        ax=ax,
    )

"""Figures of the guide to differences."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import kernelmean as km
from pages.guides._axes import panels, spots


def samples(page: Any) -> None:
    """The readings in the two planes in which they differ."""
    for ax, (i, j) in zip(panels(2, 2.8), ((0, 1), (2, 3)), strict=True):
        spots(ax, page.before[:, [i, j]], color="C0", alpha=0.4, label="before")
        spots(ax, page.after[:, [i, j]], color="C1", alpha=0.4, label="after")
        ax.set(xlabel=page.columns[i], ylabel=page.columns[j])
    ax.legend(frameon=False, markerscale=4)


def null(page: Any) -> None:
    """The statistic beside those of the permutations."""
    ax = panels(1, 2.2)
    ax.hist(page.test.null, bins=40, color="C7", label="permutations")
    ax.axvline(page.test.threshold(0.05), color="black", linestyle="--", label="5 % reach this")
    ax.axvline(page.test.statistic, color="C3", linewidth=2, label="before and after")
    ax.set(xlabel="statistic", ylabel="permutations")
    ax.legend(frameon=False)


def regions(page: Any) -> None:
    """The three differences of shares with their intervals, and the rows of the regions."""
    left, right = panels(2, 2.8)
    for i, region in enumerate(page.found.regions):
        off = 100 * np.array([region.low, region.difference, region.high])
        left.plot(off[[0, 2]], [i, i], color=f"C{i}", linewidth=2)
        left.plot(off[1], i, "o", color=f"C{i}")
        inside = page.found.region_labels(page.after) == i
        spots(right, page.after[inside][:, :2], s=8, color=f"C{i}", zorder=3)
    spots(right, page.after[:, :2], color="0.75")
    left.axvline(0.0, color="black", linewidth=1)
    left.set_yticks(range(i + 1), [f"region {j}" for j in range(i + 1)])
    left.set(xlabel="percentage points", ylim=(i + 0.5, -0.5))
    right.set(xlabel=page.columns[0], ylabel=page.columns[1])


def typical(page: Any) -> None:
    """Rows of after that are typical of what it has more of, and the difference by temperature."""
    left, right = panels(2, 2.8)
    spots(left, page.after[:, 2:4], color="0.75")
    order = [2, 3]
    spots(left, page.rows.points[:, order], s=40, color="C1", label="typical rows")
    left.set(xlabel="load", ylabel="speed")
    left.legend(frameon=False)
    x = np.linspace(40.0, 88.0, 300)
    values = page.hot(x[:, None])
    right.fill_between(x, values, where=values > 0, color="C0", linewidth=0, label="more before")
    right.fill_between(x, values, where=values < 0, color="C1", linewidth=0, label="more after")
    right.set(xlabel="temperature", ylabel="before less after")
    right.legend(frameon=False)


def halves(page: Any) -> None:
    """A map of chance is pale."""
    ax = panels(1, 3.2)
    km.plot.DifferenceDisplay.from_difference(
        page.half, columns=("temperature", "vibration"), ax=ax
    )


def thin_and_rare(page: Any) -> None:
    """A small change of all rows, and twenty rows where there was nothing."""
    left, right = panels(2, 2.8)
    x = np.linspace(-3.0, 3.0, 200)
    for shift, name in ((0.0, "A"), (0.07, "B")):
        left.plot(x, np.exp(-0.5 * (x - shift) ** 2) / np.sqrt(2 * np.pi), label=name)
    left.set(xlabel="x1", ylabel="density", title="all rows, a little")
    left.legend(frameon=False)
    spots(right, page.A[::4], color="C0", alpha=0.4)
    spots(right, page.B[20::4], color="C1", alpha=0.4)
    spots(right, page.B[:20], s=10, color="C1")
    right.set(xlabel="x1", ylabel="x2", title="twenty rows, far")


def sites(page: Any) -> None:
    """The readings of each site."""
    for ax, name in zip(
        panels(3, 2.4, sharex=True, sharey=True), np.unique(page.site), strict=True
    ):
        mine = page.machines[page.site == name]
        p = page.several.p_values[list(page.several.names).index(name)]
        hot = mine[:, 0] > 74.0
        spots(ax, mine[~hot][:, :2], color="C0")
        spots(ax, mine[hot][:, :2], color="C1", s=5)
        ax.set(title=f"{name}, p = {p:.3f}", xlabel="temperature")
    plt.gcf().axes[0].set(ylabel="vibration")

"""Figures of the guide to streams."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from pages.guides._axes import panels, spots


def stream(page: Any) -> None:
    """Some of the flights, and the centres that stand for all."""
    ax = panels(1, 2.8)
    spots(ax, page.flights[::4, :2], color="0.75", label="flights")
    mean = page.stream.mean_
    size = 4.0 + 2000.0 * np.abs(mean.weights)
    spots(ax, mean.centers[:, :2], s=size, color="teal", alpha=0.6, label="centres")
    ax.set(xlabel="departure, in deviations", ylabel="delay", ylim=(-2, 8))
    ax.legend(frameon=False)


def parts(page: Any) -> None:
    """The centres of four parts, and those of their union."""
    left, right = panels(2, 2.6, sharex=True, sharey=True)
    for part in page.parts:
        spots(left, part.centers[:, :2], s=6, alpha=0.6)
    spots(right, page.union.centers[:, :2], s=6, color="teal")
    left.set(title=f"four parts, {sum(part.k for part in page.parts)} centres", ylim=(-2, 10))
    right.set(title=f"their union, {page.union.k} centres")


def known(page: Any) -> None:
    """The distance to the exact merge after each part, and what the stream knows of it."""
    tree, true, bound = km.MeanStream(k=200), [], []
    for number, part in enumerate(page.parts, start=1):
        tree = tree.add(part)
        true.append(tree.mean.distance(km.merge(page.parts[:number], k=10_000)))
        bound.append(tree.error)
    ax = panels(1, 2.4)
    ax.plot(range(1, 5), bound, "o-", color="C3", label="the stream knows: at most")
    ax.plot(range(1, 5), true, "o-", color="teal", label="distance to the exact merge")
    ax.set(xlabel="parts", xticks=range(1, 5), ylim=(0, None))
    ax.legend(frameon=False)


def drift(page: Any) -> None:
    """The distances of the parts."""
    ax = panels(1, 2.6, 3.8)
    names = [f"part {number}" for number in range(len(page.moved))]
    km.plot.DistancesDisplay.from_distances(page.moved, names=names, ax=ax)

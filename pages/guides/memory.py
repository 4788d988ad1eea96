"""Figures of the guide to data beyond memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from pages import figures
from pages.guides._axes import panels, spots


def centres(page: Any) -> None:
    """The rows that were picked."""
    ax = panels(1, 2.8)
    spots(ax, page.X[::4, :2], color="0.75")
    spots(ax, page.X[page.mean.indices][:, :2], s=14, color="teal")
    ax.set(xlabel="departure, in deviations", ylabel="delay, in deviations")


def scores(page: Any) -> None:
    """The log-densities of all rows of the file."""
    ax = panels(1, 2.2)
    ax.hist(page.density.score_samples(km.read("points.npy")), bins=80, color="teal")
    ax.set(xlabel="log-density", ylabel="rows", yscale="log")


def machines() -> None:
    """Seconds of a fit, as docs/scaling.md has them."""
    cases = {
        "one thread, no cluster": '`engine="cpu"`, one thread',
        "cluster, one process": "cluster, one process of one thread",
        "cluster, two processes": "cluster, two processes of one thread each",
    }
    values = [float(figures.cell("scaling.md", "Speed", c, "seconds")) for c in cases.values()]
    ax = panels(1, 1.6)
    ax.barh(list(cases), values, color="teal")
    ax.bar_label(ax.containers[0], [f"{value:g} s" for value in values], padding=4)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.2 * np.max(values)), xticks=[])

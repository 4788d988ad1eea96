"""Figures of the guide to other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from pages.guides._axes import panels, spots


def donors(page: Any) -> None:
    """The distances of the donors."""
    ax = panels(1, 2.8, 4.0)
    names = [f"donor{i}" for i in range(8)]
    km.plot.DistancesDisplay.from_distances(page.D, names=names, ax=ax)


def grid(page: Any) -> None:
    """The log-density at every place; the one with a gap is left out."""
    ax = panels(1, 2.2)
    drawn = ax.imshow(page.logs.values.T, aspect="auto", origin="lower")
    ax.set(xlabel="time", ylabel="x")
    ax.figure.colorbar(drawn, ax=ax, label="log-density")


def graph(page: Any) -> None:
    """What the graph says against what the density says."""
    ax = panels(1, 2.4)
    off = np.abs(page.logs / page.expected - 1.0)
    spots(ax, np.column_stack([-page.expected, np.maximum(off, 1e-17)]), s=5, color="teal")
    ax.set(xscale="log", yscale="log", ylim=(1e-17, 1e-11))
    ax.set(xlabel="minus the log-density", ylabel="relative difference")


def stream(page: Any) -> None:
    """Both features before the change and since the alarm's guess of it."""
    ax = panels(1, 2.6)
    seen = np.array(page.seen)
    spots(ax, seen[: page.detector.change], s=8, label="before the change")
    spots(ax, seen[page.detector.change :], s=8, label="since then")
    ax.set(xlabel="a", ylabel="b")
    ax.legend(frameon=False)


def search(page: Any) -> None:
    """The score of each bandwidth on rows that were left out."""
    found = page.search.cv_results_
    ax = panels(1, 2.2)
    widths = [chosen["bandwidth"] for chosen in found["params"]]
    ax.errorbar(widths, found["mean_test_score"], yerr=found["std_test_score"], fmt="o-")
    ax.set(xscale="log", xticks=widths, xlabel="bandwidth", ylabel="log-likelihood, left out")
    ax.set_xticks(widths, widths)
    ax.minorticks_off()

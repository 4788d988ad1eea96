"""Figures of the guide to questions."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from pages.guides._axes import panels, spots


def trips(page: Any) -> None:
    """Trips on foot and by bicycle, which the table does not tell apart."""
    shown = {0: "distance", 2: "temperature"}.items()
    for ax, (column, name) in zip(panels(2, 2.7, sharey=True), shown, strict=True):
        for way, mine in (("on foot", page.walked), ("by bicycle", ~page.walked)):
            spots(ax, page.trips[mine][:, [column, 1]], alpha=0.5, label=way)
        ax.set(xlabel=name)
    ax.figure.axes[0].set(ylabel="minutes", ylim=(0, 60))
    ax.legend(frameon=False, markerscale=4)


def shares(page: Any) -> None:
    """The share of trips that take no longer, by the density and by the rows."""
    x = np.linspace(0.0, 50.0, 300)
    ax = panels(1, 2.5)
    ax.plot(
        np.sort(page.minutes), np.linspace(0, 1, page.n), color="0.7", linewidth=4, label="rows"
    )
    ax.plot(x, page.density.cdf(x, column=1), color="teal", label="density")
    for p in (0.05, 0.5, 0.95):
        at = page.density.quantile(p, column=1).item()
        ax.plot([0, at, at], [p, p, 0], color="C3", linewidth=1, linestyle=":")
    ax.set(xlabel="minutes", ylabel="share", xlim=(0, 50), ylim=(0, 1))
    ax.legend(frameon=False)


def box(page: Any) -> None:
    """Trips longer than two kilometres that take a quarter of an hour at most."""
    ax = panels(1, 2.8)
    spots(ax, page.trips[:, :2], color="0.7")
    ax.add_patch(Rectangle((2.0, 0.0), 10.0, 15.0, color="teal", alpha=0.3, linewidth=0))
    ax.text(5.6, 4.0, f"{float(page.quick):.3f} of the trips")
    ax.set(xlabel="distance", ylabel="minutes", xlim=(0, 8), ylim=(0, 60))


def weather(page: Any) -> None:
    """The minutes of a trip of two kilometres, warm and cold."""
    x = np.linspace(5.0, 40.0, 400)
    ax = panels(1, 2.4)
    for name, part, ink in (("20 degrees", page.warm, "C3"), ("0 degrees", page.cold, "C0")):
        values = np.exp(part.score_samples(x[:, None]))
        ax.fill_between(x, values, color=ink, alpha=0.15, linewidth=0)
        ax.plot(x, values, color=ink, label=name)
    ax.axvline(17.0, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="minutes of a trip of two kilometres", ylabel="density")
    ax.legend(frameon=False)


def region(page: Any) -> None:
    """The smallest region with 90 % and the peaks."""
    x = np.linspace(4.0, 38.0, 500)
    values = np.exp(page.middling.score_samples(x[:, None]))
    ax = panels(1, 2.4)
    ax.plot(x, values, color="teal")
    for low, high in page.middling.hdr(0.9).intervals:
        inside = (x >= low) & (x <= high)
        ax.fill_between(x[inside], values[inside], color="teal", alpha=0.25, linewidth=0)
    peaks = page.middling.modes().points
    ax.plot(peaks, np.exp(page.middling.score_samples(peaks)), "v", color="C3", label="peaks")
    median = page.middling.quantile(0.5).item()
    ax.axvline(median, color="black", linewidth=1, linestyle=":", label="median")
    ax.set(xlabel="minutes of a trip of 2.2 kilometres", ylabel="density", ylim=(0, None))
    ax.legend(frameon=False)


def filled(page: Any) -> None:
    """What is drawn for a gap, and the density that it is drawn from."""
    x = np.linspace(4.0, 38.0, 400)
    ax = panels(1, 2.4)
    ax.hist(page.many[:, 1], bins=np.arange(4, 38), density=True, color="0.8", label="drawn")
    given = page.density.conditional({0: 2.0}).marginal(0)
    ax.plot(x, np.exp(given.score_samples(x[:, None])), color="teal", label="density")
    ax.set(xlabel="minutes, where the distance is two kilometres", ylabel="density")
    ax.legend(frameon=False)


def tails(page: Any) -> None:
    """Low quantiles of the minutes by three densities and by the rows."""
    levels = np.logspace(-4.5, -1, 40)
    ax = panels(1, 2.6)
    for name, density in (("default", page.density), ("k = 40", page.other), ("told", page.told)):
        ax.plot(levels, density.quantile(levels, column=1), label=name)
    within = levels[levels > 2.0 / page.n]
    ax.plot(within, np.quantile(page.minutes, within), "k.", markersize=4, label="rows")
    ax.set(xscale="log", ylim=(-15, 10), xlabel="probability", ylabel="quantile of the minutes")
    ax.legend(frameon=False)


def kernels(page: Any) -> None:
    """The minutes at 2 kilometres and 12 degrees, by two kernels."""
    x = np.linspace(-5.0, 50.0, 400)
    rows = np.column_stack([np.full_like(x, 2.0), x, np.full_like(x, 12.0)])
    ax = panels(1, 2.4)
    for name, density in (
        ("the likeliest density", page.density),
        ("a Cauchy kernel", page.cauchy),
    ):
        values = np.exp(density.score_samples(rows))
        ax.plot(x, values / values.max(), label=name)
    ax.set(xlabel="minutes", ylabel="density, peaks at 1")
    ax.legend(frameon=False)

"""Figures of the guide to monitoring."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from pages.guides._axes import panels


def alarm(page: Any) -> None:
    """The temperature, its mean over an hour, the change and the alarm."""
    ax = panels(1, 2.6)
    shown = np.arange(3500, 4300)
    hour = np.convolve(page.stream[:, 0], np.full(60, 1 / 60))[: len(page.stream)]
    ax.plot(shown, page.stream[shown, 0], ".", color="0.7", markersize=2)
    ax.plot(shown, hour[shown], color="teal", linewidth=2, label="mean of 60 rows")
    ax.axvline(4000, color="black", linewidth=1, linestyle=":", label="change")
    ax.axvline(page.alarm.row, color="C3", linewidth=2, label="alarm")
    ax.set(xlabel="row", ylabel="temperature")
    ax.legend(frameon=False, loc="lower right", ncols=3)


def temperatures(page: Any) -> None:
    """The temperature in the reference and since the change."""
    ax = panels(1, 2.4)
    rows = {
        "reference": page.usual[:, 0],
        "500 rows since the change": page.stream[page.alarm.change :][:500, 0],
    }
    for name, values in rows.items():
        ax.hist(values, bins=np.arange(42, 84, 2), density=True, alpha=0.5, label=name)
    ax.set(xlabel="temperature", ylabel="density")
    ax.legend(frameon=False)


def delays(page: Any) -> None:
    """How long twenty alarms took, for each run length."""
    ax = panels(1, 2.4)
    for i, waited in enumerate(page.waits.values()):
        ax.plot(waited, np.full(len(waited), i), "o", color="teal", alpha=0.4)
        ax.plot(np.median(waited), i, "|", color="black", markersize=22)
    ax.set_yticks(range(3), [f"{n:,}".replace(",", " ") for n in page.waits])
    ax.set(
        xlabel="rows from the change to the alarm",
        ylabel="run length",
        xlim=(0, None),
        ylim=(-0.5, 2.5),
    )


def from_files(page: Any) -> None:
    """The statistic of the monitor that reads files, up to its alarm."""
    km.plot.MonitorDisplay.from_monitor(page.from_files, [page.raised], ax=panels(1, 2.6))


def model(page: Any) -> None:
    """The statistics of both monitors over the three thousand rows."""
    axes = panels(2, 2.5, sharey=True)
    shown = {"inputs": page.of_inputs, "loss": page.of_loss}
    for ax, (title, watcher) in zip(axes, shown.items(), strict=True):
        course = watcher.history()
        tested = np.where(np.isfinite(course.statistics), course.statistics, np.nan)
        ax.plot(course.rows, tested, color="teal", linewidth=1)
        ax.axhline(watcher.threshold, color="black", linewidth=1, linestyle="--")
        ax.axvline(1000, color="C3", linewidth=1, linestyle=":")
        ax.text(1020, 4.9, "income", color="C3", va="top")
        ax.axvline(2000, color="C3", linewidth=1, linestyle=":")
        ax.text(2020, 4.9, "effect", color="C3", va="top")
        ax.set(title=title, xlabel="row", ylim=(0, 5))
    axes[0].set(ylabel="statistic")


def from_mean(page: Any) -> None:
    """The statistic of the monitor whose reference is a density."""
    km.plot.MonitorDisplay.from_monitor(page.from_model, [page.alarm], ax=panels(1, 2.9, 8.4))


def memory(page: Any) -> None:
    """A sensor with a memory, and one of fifty of its rows."""
    ax = panels(1, 2.3)
    rows = page.sensor(600)[:, 0]
    ax.plot(rows, color="0.7", label="every row")
    ax.plot(np.arange(0, 600, 50), rows[::50], "o", color="C3", label="one of fifty")
    ax.set(xlabel="row", ylabel="reading")
    ax.legend(frameon=False, ncols=2)

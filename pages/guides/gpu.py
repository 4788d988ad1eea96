"""Figures of the guide to GPUs, from the figures that docs/gpu.md has measured."""

from __future__ import annotations

from pages import figures
from pages.guides._axes import grouped_bars, panels

SUMS = "Gaussian sums, queries and points on the device"
DIMENSIONS = (1, 2, 3, 5, 10, 20, 50, 100, 784)
FIT = "A complete fit of 10⁷ × 5"


def rates() -> None:
    """Kernel values a second, by the number of columns."""
    ax = panels(1, 2.6)
    for precision in ("float32", "float64"):
        cells = [
            figures.cell("gpu.md", SUMS, f"{precision} / {d}", "10¹² values/s") for d in DIMENSIONS
        ]
        ax.plot(DIMENSIONS, [1e12 * float(cell) for cell in cells], "o-", label=precision)
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="kernel values a second")
    ax.legend(frameon=False)


def errors() -> None:
    """Errors of sums in both precisions, as a share of the absolute terms."""
    shown = (1, 2, 3, 5, 10, 20, 50)
    column = "error, of the absolute terms"
    values = {
        precision: [
            float(figures.cell("gpu.md", SUMS, f"{precision} / {d}", column)) for d in shown
        ]
        for precision in ("float32", "float64")
    }
    ax = panels(1, 2.4)
    grouped_bars(ax, values, shown)
    ax.set(yscale="log", ylim=(1e-18, 1e-4), xlabel="columns", ylabel="error")


def seconds() -> None:
    """The parts of the work on ten million points."""
    cases = {
        "fit, farthest-first": "automatic k, farthest-first, points from the host",
        "fit, selection chosen too": "automatic k, selection chosen too, points from the host",
        "evaluation at all points": "evaluation of the first mean at its 10⁷ points",
    }
    values = [float(figures.cell("gpu.md", FIT, case, "seconds")) for case in cases.values()]
    ax = panels(1, 1.6)
    ax.barh(list(cases), values, color="teal")
    ax.bar_label(ax.containers[0], [f"{value:g} s" for value in values], padding=4)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.2 * max(values)), xticks=[])

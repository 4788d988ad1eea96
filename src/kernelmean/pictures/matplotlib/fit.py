"""The figure of a fit in a file; importing this module imports Matplotlib."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from kernelmean._types import Points
from kernelmean.files import atomic_write
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import counted_as
from kernelmean.pictures.matplotlib.density import DensityDisplay
from kernelmean.pictures.matplotlib.indicator import IndicatorDisplay

HEIGHT = 5.2  # of the figure, in inches
WIDTHS = (6.3, 5.7)  # of its panels
RESOLUTION = 130  # dots per inch


def draw_fit(mean: SparseKernelMean, X: Points, path: Path) -> None:
    """Two panels in one file: the density in the first two coordinates with its centres, and the
    indicator against k, which a density by likelihood has not.
    """
    widths = WIDTHS[:1] if mean.indicator is None else WIDTHS
    figure = Figure(figsize=(sum(widths), HEIGHT), layout="constrained")
    left, *right = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    DensityDisplay.from_mean(mean, X, features=list(range(min(mean.dimension, 2))), ax=left)
    left.set_title(_words(mean), fontsize=10)
    for ax in right:
        IndicatorDisplay.from_mean(mean, ax=ax)
        ax.set_title(f"error indicator; stopped at k = {mean.k} ({mean.stop_reason})", fontsize=10)
    with atomic_write(path) as beside:
        figure.savefig(beside, dpi=RESOLUTION, format=figure_format(path))


def _words(mean: SparseKernelMean) -> str:
    """What the left panel shows, in one line or in two."""
    marks = "rings, sized by weight"
    gap = " "
    if mean.spreads is not None:
        outlines = "bars" if mean.dimension == 1 else "ellipses"
        marks = f"rings: weight; {outlines}: one standard deviation"
        gap = "\n"
    drawn = "density, other coordinates integrated out" if mean.dimension > 2 else "density"
    return f"{drawn};{gap}{mean.k} {counted_as(mean)}\u00a0({marks})"


def figure_format(path: Path) -> str:
    """The ending that says how a figure is written, png without one; a ValueError where Matplotlib
    writes no such files.
    """
    ending = path.suffix.lower().removeprefix(".") or "png"
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(f"{path} names no format of figures; among them are .png, .pdf and .svg.")
    return ending

"""Categories in a picture of densities: bars, curves beside a column of numbers, or cells."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kernelmean.pictures.matplotlib.axes import plain
from kernelmean.pictures.view import DensityView, Side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.container import BarContainer
    from matplotlib.lines import Line2D

    Categories: TypeAlias = BarContainer | QuadMesh | list[Line2D]

WIDTH = 0.8  # of the bars of a category, of the way to the next one
MAX_TOLD = 64  # cells whose probabilities are written
NAME = 16  # letters of a category beside an axis
PER_INCH = 7.0  # letters below an axis, by the width of its panel with all around it
BELOW = 3  # names of curves that stand below one another, more in two columns
HEADROOM = 0.16  # above the curves for each line of their names, as a share of the highest
SHADING = 0.25  # opacity of the area below a curve
DARK = 0.55  # of the range of colours: from here on letters are white


def shortened(name: str) -> str:
    """The first letters of a name."""
    return plain(name if len(name) <= NAME else f"{name[: NAME - 1]}…")


def bars(
    view: DensityView, axes: Axes, slot: tuple[int, int], looks: dict[str, Any]
) -> BarContainer:
    """A bar for each category, beside those of other groups: which one this is, and of how many."""
    group, groups = slot
    thick = WIDTH / groups
    places = view.grids[0] + thick * (group - 0.5 * (groups - 1))
    if view.upright:
        return axes.barh(places, view.values, thick, **looks)
    return axes.bar(places, view.values, thick, **looks)


def curves(
    view: DensityView, axes: Axes, fill: bool | None, options: dict[str, Any]
) -> list[Line2D]:
    """A curve for each category, with a legend; the probability of each is the area below it."""
    turn = -1 if view.upright else 1
    found = []
    for i, (name, values) in enumerate(zip(view.each_side[1].categories, view.values, strict=True)):
        across = (view.grids[0], values)
        looks = {"color": f"C{i}", "label": shortened(name)} | options
        found += axes.plot(*across[::turn], **looks)
        if fill:
            shaded: dict[str, Any] = {"alpha": SHADING, "linewidth": 0}
            shaded["color"] = found[-1].get_color()
            (axes.fill_betweenx if view.upright else axes.fill_between)(*across, **shaded)
    beside = 1 if len(found) <= BELOW else 2
    axes.legend(title=plain(view.axes[1]), frameon=False, fontsize="small", ncols=beside)
    lines = 1 + -(-len(found) // beside)
    end = (1.0 + HEADROOM * lines) * float(view.values.max())
    (axes.set_xlim if view.upright else axes.set_ylim)(0.0, end)
    return found


def cells(view: DensityView, axes: Axes, options: dict[str, Any]) -> QuadMesh:
    """A cell for each pair of categories, or a strip for each beside a column of numbers."""
    looks: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "shading": "nearest"} | options
    drawn = axes.pcolormesh(*view.grids, view.values, **looks)
    named = all(side.categories for side in view.each_side)
    if named and view.values.size <= MAX_TOLD:
        top = float(view.values.max())
        for (row, column), value in np.ndenumerate(view.values):
            ink = "white" if value > DARK * top else "black"
            told = f"{100.0 * value:.3g} %"
            axes.text(column, row, told, ha="center", va="center", color=ink, fontsize="small")
    elif axes.figure is not None:
        axes.figure.colorbar(drawn, ax=axes, label=view.what)
    return drawn


def mark_sides(view: DensityView, axes: Axes) -> None:
    """Labels of the axes, and limits where the domain ends; a curve stands on its axis."""
    lines = view.shape in ("curve", "curves")
    for i, side in enumerate(view.sides[:1] if lines else view.sides):
        upright = (i == 1) != view.upright
        axis = axes.yaxis if upright else axes.xaxis
        if side.categories:
            _names(side, axes, upright)
        elif side.ticks:
            places, labels = zip(*side.ticks, strict=True)
            axis.set_ticks(list(places), labels=list(labels))
        if side.ends != (None, None):
            (axes.set_ylim if upright else axes.set_xlim)(*side.ends)
    if view.shape == "curve" and view.sides and not view.signed:
        (axes.set_xlim if view.upright else axes.set_ylim)(0.0, None)


def _names(side: Side, axes: Axes, upright: bool) -> None:
    """Names of categories at their places; long ones are turned."""
    names = [shortened(name) for name in side.categories]
    places = list(range(len(names)))
    if upright:
        axes.set_yticks(places, labels=names)
        return
    turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places, labels=names, **(turned if _collide(names, axes) else {}))


def _collide(names: list[str], axes: Axes) -> bool:
    """Whether names that stand beside one another need more room than there is."""
    place = axes.get_subplotspec()
    panels = 1 if place is None else place.get_geometry()[1]
    figure = axes.get_figure(root=True)
    room = PER_INCH * (0.0 if figure is None else figure.get_figwidth()) / panels / len(names)
    lengths = [len(name) for name in names]
    beside = pairwise(lengths)
    return max((0.5 * (a + b) for a, b in beside), default=0.0) > room

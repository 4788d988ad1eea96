"""The parts of a picture of densities: contours or curves, centres, and the names of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kernelmean.pictures.grouped_density import Groups
from kernelmean.pictures.matplotlib.axes import plain
from kernelmean.pictures.matplotlib.categories import bars, cells, curves
from kernelmean.pictures.view import DensityView

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection, LineCollection, PathCollection
    from matplotlib.contour import QuadContourSet
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

    from kernelmean.pictures.matplotlib.categories import Categories

    Ground: TypeAlias = QuadContourSet | Line2D | Categories

SIGNED_LEVELS = 12  # most contour levels of a mean that is below zero somewhere
RING_AREA = 500.0  # area of the rings of all centres of a panel together, in square points
LEAST_RING = 2.0  # area of the smallest ring, in square points
LARGEST_RING = 120.0  # area of the largest ring, in square points
OUTLINE_WIDTH = 0.6  # of the ellipse of a spread, in points
BAR_WIDTH = 2.5  # of the bar of a spread along a line, in points
OUTLINE_OPACITY = 0.6  # of both
LINE_COLOR = "tab:blue"  # of contour lines without groups
LINE_WIDTH = 1.0  # of contour lines, in points
SHADING = 0.25  # opacity of the area below a curve
OPACITIES = (0.2, 0.75)  # of a group's widest region and of its narrowest
CYCLE = 10  # groups up to which colours are those of Matplotlib's cycle, and names in the panel
SPECTRUM = "turbo"  # the map that more groups have their colours from
Corner: TypeAlias = Literal["upper left", "upper right", "lower left", "lower right"]
CORNERS: tuple[Corner, ...] = ("upper left", "upper right", "lower left", "lower right")
CORNER = (0.4, 0.35)  # width and height that a legend needs, in parts of the panel


class Style(NamedTuple):
    """How densities are drawn."""

    levels: int | Sequence[float] | None  # masses of regions, or their number
    fill: bool | None  # None: contours, but no curves
    options: dict[str, Any]  # for Matplotlib
    color: str | None = None  # of a group
    slot: tuple[int, int] | None = None  # which of how many groups it is


def group_colors(count: int) -> list[str]:
    """A colour for each group: those of the cycle, or for many along a spectrum."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    if count <= CYCLE:
        return [f"C{i}" for i in range(count)]
    return [to_hex(color) for color in colormaps[SPECTRUM](np.linspace(0.05, 0.95, count))]


def ground(view: DensityView, axes: Axes, style: Style) -> Ground:
    """The contours of a plane, the curve of a line, or what is drawn of categories."""
    if view.shape in ("plane", "cells"):
        axes.set(xlabel=plain(view.axes[0]), ylabel=plain(view.axes[1]))
        if view.shape == "cells":
            return cells(view, axes, style.options)
        return _contours(view, axes, style)
    titles = (plain(view.axes[0]), view.what)
    turn = -1 if view.upright else 1
    axes.set(**dict(zip(("xlabel", "ylabel"), titles[::turn], strict=True)))
    if view.shape == "curves":
        return curves(view, axes, style.fill, style.options)
    looks = ({} if style.color is None else {"color": style.color}) | style.options
    if view.shape == "bars":
        return bars(view, axes, style.slot or (0, 1), looks)
    across = (view.grids[0], view.values)
    return axes.plot(*across[::turn], **looks)[0]


def shading(view: DensityView, axes: Axes, curve: Any) -> FillBetweenPolyCollection:
    """The area between a curve and its axis, which the panel then begins with."""
    looks: dict[str, Any] = {"color": curve.get_color(), "alpha": SHADING, "linewidth": 0}
    if view.upright:
        area = axes.fill_betweenx(view.grids[0], view.values, **looks)
        area.sticky_edges.x.append(0.0)
    else:
        area = axes.fill_between(view.grids[0], view.values, **looks)
        area.sticky_edges.y.append(0.0)
    return area


def _contours(view: DensityView, axes: Axes, style: Style) -> QuadContourSet:
    found = view.levels_of(style.levels)
    usual: dict[str, Any] = {"levels": SIGNED_LEVELS if found is None else found}
    own = {"colors", "cmap"} & set(style.options)
    if style.fill is False:
        usual |= {"linewidths": LINE_WIDTH}
        usual |= {} if own else {"colors": [style.color or LINE_COLOR]}
        return axes.contour(*view.grids, view.heights, **(usual | style.options))
    if isinstance(found, np.ndarray):
        # A single region needs an end; no share is above 1.
        usual["levels"] = np.append(found, 2.0) if len(found) == 1 else found
        usual["extend"] = "neither" if len(found) == 1 else "max"
    if not own:
        usual |= {"cmap": "Blues"} if style.color is None else _bands(style.color, found)
    return axes.contourf(*view.grids, view.heights, **(usual | style.options))


def _bands(color: str, levels: Any) -> dict[str, Any]:
    """One colour, the less transparent the denser; for a number of levels one transparency."""
    from matplotlib.colors import to_rgba

    if not isinstance(levels, np.ndarray):
        return {"colors": [color], "alpha": sum(OPACITIES) / 2}
    strengths = np.linspace(*OPACITIES, len(levels)) if len(levels) > 1 else [sum(OPACITIES) / 2]
    return {"colors": [to_rgba(color, float(strength)) for strength in strengths]}


def legend(axes: Axes, groups: Groups, views: Sequence[DensityView], fill: bool | None) -> Legend:
    """The names of the groups beside their colours, where least is hidden."""
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = len(views[0].axes) == 1
    filled = views[0].shape == "bars" or (not lines if fill is None else fill)
    handles: list[Line2D | Patch] = []
    for name, color in zip(groups.names, group_colors(len(groups.names)), strict=True):
        if filled:
            face = to_rgba(color, sum(OPACITIES) / 2)
            handles.append(Patch(facecolor=face, edgecolor=color, label=plain(name)))
        else:
            handles.append(Line2D([], [], color=color, label=plain(name)))
    looks: dict[str, Any] = {"title": plain(groups.title), "frameon": False}
    if len(handles) > CYCLE:
        return axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0), **looks)
    if views[0].shape == "bars":
        return axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, **looks
        )
    place: Corner | Literal["best"] = "best" if lines else _emptiest_corner(axes, views)
    return axes.legend(handles=handles, loc=place, **looks)


def _emptiest_corner(axes: Axes, views: Sequence[DensityView]) -> Corner:
    """Matplotlib's own search does not look at contours."""
    covered = np.zeros(len(CORNERS))
    for view in views:
        (x, y) = (
            (grid - low) / (high - low)
            for grid, (low, high) in zip(
                view.grids, (axes.get_xlim(), axes.get_ylim()), strict=True
            )
        )
        dense = view.mass_below() > 1.0 - 0.95
        cell = abs((x[1] - x[0]) * (y[1] - y[0]))
        sides = {"left": x < CORNER[0], "right": x > 1.0 - CORNER[0]}
        heights = {"lower": y < CORNER[1], "upper": y > 1.0 - CORNER[1]}
        for i, corner in enumerate(CORNERS):
            vertical, side = corner.split()
            covered[i] += cell * dense[np.ix_(heights[vertical], sides[side])].sum()
    return CORNERS[int(covered.argmin())]


def rings(view: DensityView, axes: Axes, color: str | None = None) -> PathCollection:
    """Areas in proportion to |α|; negative weights in another colour than that of the group."""
    horizontal = axes.get_xlim()
    vertical = axes.get_ylim()
    drawn = axes.scatter(
        view.places[:, 0],
        view.places[:, 1],
        s=np.clip(RING_AREA * view.shares, LEAST_RING, LARGEST_RING),
        facecolors="none",
        edgecolors=_inks(view, color),
        linewidths=0.7,
        clip_on=not (view.sides and view.centers.shape[1] == 1),
    )
    axes.set(xlim=horizontal, ylim=vertical)
    return drawn


def outlines(view: DensityView, axes: Axes, color: str | None = None) -> LineCollection:
    """One standard deviation of every spread: thin ellipses, or bars that are seen on the axis."""
    from matplotlib.collections import LineCollection

    line = view.centers.shape[1] == 1
    drawn = LineCollection(
        list(view.outlines()),
        colors=_inks(view, color),
        linewidths=BAR_WIDTH if line else OUTLINE_WIDTH,
        alpha=OUTLINE_OPACITY,
        clip_on=not line,
    )
    axes.add_collection(drawn, autolim=False)
    return drawn


def _inks(view: DensityView, color: str | None) -> list[str]:
    usual = "tab:orange" if color is None else color
    return ["tab:purple" if weight < 0 else usual for weight in view.weights]

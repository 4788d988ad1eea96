"""A density in a page: contours of planes, or a curve, with the centres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood
from kernelmean.pictures.density import PRINCIPAL_AXES
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.categories import categories_chart, side_layout
from kernelmean.pictures.html.charts import Chart, legend_place, numbers, style, titled
from kernelmean.pictures.on_domain import inner_of
from kernelmean.pictures.view import DensityView

MAX_CENTERS = 300  # centres that are drawn in a picture, the heaviest
MAX_CENTERS_SMALL = 120  # the same in each of several pictures
RING_AREA = 8000.0  # area of the rings of all centres together, in square pixels
RING_AREA_SMALL = 3000.0  # the same in each of several pictures
WITHIN_OUTLINES = 0.15  # what is left of that area where rings stand within ellipses or bars
LARGEST_RING = 22.0  # diameter of the largest ring, in pixels
SMALLEST_RING = 2.5  # diameter of the smallest ring, in pixels
OUTLINE_WIDTH = 1.5  # of the ellipse of a spread, in pixels
BAR_WIDTH = 3.0  # of the bar of a spread along a line, in pixels
OUTLINE_OPACITY = 0.8  # of both
SIGNED_LEVELS = 14  # most contour levels of a mean that is below zero somewhere
STOPS = 25  # centres of either sign that arrow keys visit
MAX_ROWS_SMALL = 500  # rows that are drawn in each of several pictures
ROWS_OPACITY = 0.35  # of their points
BARS = 48  # of the rows along a line
BARS_OPACITY = 0.22
KINDS = {
    "whole": "The fitted {what}",
    "marginal": "The fitted {what} with the other coordinates integrated out",
    "slice": "A slice of the fitted {what} through its highest centre",
}


def density_charts(views: Sequence[DensityView]) -> list[Chart]:
    """A chart for each view; where there are several, each has fewer and smaller centres."""
    small = len(views) > 1
    return [
        _chart(f"density-{i}", view, small)
        if view.shape in ("curve", "plane")
        else categories_chart(f"density-{i}", view)
        for i, view in enumerate(views)
    ]


def density_section(
    views: Sequence[DensityView], drawn: Sequence[Chart], mean: SparseKernelMean | DomainMean
) -> str:
    """The charts with a paragraph that says what is drawn; those with the same legend together."""
    legends: list[Sequence[Chart]] = []
    for chart in drawn:
        if chart["legend"] not in legends:
            legends.append(chart["legend"])
    parts = []
    for legend in legends:
        some = [i for i, chart in enumerate(drawn) if chart["legend"] == legend]
        served = legend_place([drawn[i] for i in some])
        figures = "".join(_figure(views[i], drawn[i], len(views) > 1) for i in some)
        classes = "views" if len(views) > 1 else "single"
        parts += [
            f'<div class="controls">{served}</div>',
            f'<div class="{classes}">{figures}</div>',
        ]
    heading = views[0].what.capitalize()
    return page.section("density", heading, f"<p>{_words(views, mean)}</p>", *parts)


def _figure(view: DensityView, chart: Chart, small: bool) -> str:
    """A wide figure where a line or bars are all there is."""
    wide = view.shape in ("curve", "curves", "bars") and not (small and view.sides)
    named = f"{view.what.capitalize()} in {' and '.join(view.axes)}"
    caption = page.text(" × ".join(view.axes))
    return page.chart(str(chart["id"]), named, caption, shape="wide" if wide else "square")


def _words(views: Sequence[DensityView], mean: SparseKernelMean | DomainMean) -> str:
    most = MAX_CENTERS_SMALL if len(views) > 1 else MAX_CENTERS
    with_centers = [view for view in views if view.shape in ("curve", "plane")]
    view = next((view for view in with_centers if view.shape == "plane"), views[0])
    said = KINDS[view.kind].format(what=view.what)
    if view.axes == PRINCIPAL_AXES:
        said += " in the plane of the two leading principal axes of its centres"
    said += "."
    if mean.transform is not None:
        said += f" Axes are in values after {mean.transform}."
    if view.levels is not None and view.shape == "plane":
        said += " Each line encloses another tenth of the mass in view."
    if any(view.shape == "curves" for view in views):
        said += " Curves of categories enclose their probabilities."
    if not with_centers:
        return page.text(said)
    said += " Rings are centres; their areas are their weights."
    if view.covariances is not None:
        shape = "a bar on the axis" if len(view.axes) == 1 else "an ellipse"
        what = "an atom" if is_by_likelihood(inner_of(mean)) else "the spread of a centre"
        said += f" One standard deviation of {what} is drawn as {shape}."
    if view.rows is not None:
        what = "Bars are" if len(view.axes) == 1 else "Small points are some"
        said += f" {what} rows of the sample."
    if mean.k > most:
        said += f" The {most} heaviest of {facts.number(mean.k)} centres are drawn."
    return page.text(f"{said} Arrow keys walk through the centres of a figure.")


def _chart(name: str, view: DensityView, small: bool) -> Chart:
    drawn = view.heaviest[: MAX_CENTERS_SMALL if small else MAX_CENTERS]
    area = RING_AREA_SMALL if small else RING_AREA
    if view.covariances is not None:
        area *= WITHIN_OUTLINES
    positive = drawn[view.weights[drawn] >= 0]
    negative = drawn[view.weights[drawn] < 0]
    walk = [
        [trace, i, _spoken(view, row)]
        for trace, rows in ((1, positive), (2, negative))
        for i, row in enumerate(rows[:STOPS])
    ]
    return {
        "id": name,
        "traces": [
            _curve(view) if len(view.axes) == 1 else _contours(view),
            _rings(view, positive, "mark", area),
            _rings(view, negative, "negative", area),
            *([] if view.covariances is None else [_outlines(view, drawn)]),
            *_rows(view, small),
        ],
        "layout": _layout(view),
        "walk": walk,
        "legend": _legend(view),
    }


def _layout(view: DensityView) -> Chart:
    """A plane shows what its grid covers: one far centre would leave no room for the rest."""
    sides = [side_layout(*named) for named in zip(view.axes, view.each_side, strict=True)]
    shown = [{"range": [float(grid[0]), float(grid[-1])]} for grid in view.grids]
    if len(view.axes) == 1:
        if not view.sides:
            return {"xaxis": sides[0], "yaxis": titled(view.what)}
        up = {**titled(view.what), "rangemode": "tozero"}
        return {"xaxis": sides[0] | shown[0], "yaxis": up}
    across, up = (
        {**side, **limits, "showgrid": False} for side, limits in zip(sides, shown, strict=True)
    )
    return {"xaxis": across, "yaxis": up}


def _contours(view: DensityView) -> Chart:
    x, y = (page.label(axis) for axis in view.axes)
    return {
        "type": "contour",
        "x": numbers(view.grids[0]),
        "y": numbers(view.grids[1]),
        "z": numbers(view.heights),
        "customdata": numbers(view.values),
        "colorscale": style("scale"),
        "showscale": False,
        "autocontour": view.levels is None,
        "ncontours": SIGNED_LEVELS,
        "contours": {"coloring": "fill", **_steps(view.levels)},
        "line": {"width": 0.6, "color": style("accent"), "smoothing": 0.6},
        "hovertemplate": f"{x} %{{x:.4g}}<br>{y} %{{y:.4g}}<br>{view.what} "
        f"%{{customdata:.3g}}<extra></extra>",
    }


def _steps(levels: Vector | None) -> dict[str, float]:
    """Equally spaced levels as Plotly is told of them; nothing where it chooses its own."""
    if levels is None:
        return {}
    first = float(levels[0])
    last = float(levels[-1])
    return {"start": first, "end": last, "size": round((last - first) / (len(levels) - 1), 12)}


def _curve(view: DensityView) -> Chart:
    name = page.label(view.axes[0])
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(view.grids[0]),
        "y": numbers(view.values),
        "fill": "tozeroy",
        "fillcolor": style("s2"),
        "line": {"color": style("accent"), "width": 2},
        "hovertemplate": f"{name} %{{x:.4g}}<br>{view.what} %{{y:.3g}}<extra></extra>",
    }


def _rings(view: DensityView, rows: IntVector, ink: str, area: float) -> Chart:
    """Rings whose areas are the weights; in one dimension they stand on the axis."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(view.places[rows, 0]),
        "y": numbers(view.places[rows, 1]),
        "customdata": [[int(row) + 1, *_figures(view, row).values()] for row in rows],
        "marker": {
            "size": _diameters(view.shares[rows], area),
            "color": "rgba(0,0,0,0)",
            "line": {"color": style(ink), "width": OUTLINE_WIDTH},
        },
        "uid": f"halo-{ink}",
        "cliponaxis": len(view.axes) == 2,
        "hovertemplate": _template(view),
    }


def _rows(view: DensityView, small: bool) -> list[Chart]:
    """Some rows of the sample: points of a plane, or bars along a line."""
    if view.rows is None:
        return []
    if len(view.axes) == 1:
        return [histogram(view)]
    rows = view.rows[:: -(-len(view.rows) // MAX_ROWS_SMALL)] if small else view.rows
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": numbers(rows[:, 0]),
            "y": numbers(rows[:, 1]),
            "marker": {"size": 3, "color": style("ink"), "opacity": ROWS_OPACITY},
            "hoverinfo": "skip",
        }
    ]


def histogram(view: DensityView) -> Chart:
    """The rows along a line as bars whose areas are shares, as that under the curve is."""
    assert view.rows is not None
    grid = view.grids[0]
    edges = np.linspace(grid[0], grid[-1], BARS + 1)
    counts = np.histogram(view.rows[:, 0], edges)[0]
    width = float(edges[1] - edges[0])
    name = page.label(view.axes[0])
    return {
        "type": "bar",
        "x": numbers((edges[1:] + edges[:-1]) / 2.0),
        "y": numbers(counts / (len(view.rows) * width)),
        "width": width,
        "marker": {"color": style("ink"), "opacity": BARS_OPACITY},
        "hovertemplate": f"{name} %{{x:.4g}}<br>%{{y:.3g}} of the rows<extra></extra>",
    }


def _outlines(view: DensityView, rows: IntVector) -> Chart:
    """One standard deviation of the spreads, as one line with gaps between them."""
    outlines = view.outlines(rows)
    gap = np.full((len(outlines), 1, 2), np.nan)
    path = np.concatenate([outlines, gap], axis=1).reshape(-1, 2)
    line = len(view.axes) == 1
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(path[:, 0]),
        "y": numbers(path[:, 1]),
        "line": {"color": style("mark"), "width": BAR_WIDTH if line else OUTLINE_WIDTH},
        "opacity": OUTLINE_OPACITY,
        "uid": "halo-spreads",
        "cliponaxis": not line,
        "hoverinfo": "skip",
    }


def _diameters(shares: Vector, area: float) -> list[float]:
    """Areas in proportion to |α|, none too small to see or too large to see through."""
    sizes = np.clip(np.sqrt(4.0 / np.pi * area * shares), SMALLEST_RING, LARGEST_RING)
    return [round(size, 1) for size in sizes.tolist()]


def _legend(view: DensityView) -> list[Chart]:
    ground = {"name": view.what, "trace": 0, "color": "s4", "symbol": "area"}
    positive = {"name": "centres, sized by weight", "trace": 1, "color": "mark", "hollow": True}
    negative = {
        "name": "centres of negative weight",
        "trace": 2,
        "color": "negative",
        "hollow": True,
    }
    spreads = {"name": "one standard deviation of each", "trace": 3, "color": "mark", **_icon(view)}
    last = 3 + (view.covariances is not None)
    symbol = "square" if len(view.axes) == 1 else "circle"
    rows = {"name": "rows", "trace": last, "color": "muted", "symbol": symbol}
    return [
        ground,
        positive,
        *([negative] if (view.weights < 0).any() else []),
        *([] if view.covariances is None else [spreads]),
        *([] if view.rows is None else [rows]),
    ]


def _icon(view: DensityView) -> Chart:
    """The mark of spreads in the legend: a bar, or a wide ring."""
    return {"symbol": "line"} if len(view.axes) == 1 else {"symbol": "ellipse", "hollow": True}


def _template(view: DensityView) -> str:
    """What hovering over a centre tells: its number, and its figures by name."""
    names = ["centre", *_figures(view, 0)]
    told = "<br>".join(f"{name} %{{customdata[{i}]}}" for i, name in enumerate(names))
    return f"{told}<extra></extra>"


def _figures(view: DensityView, row: int) -> dict[str, str]:
    """The weight of a centre, and the standard deviation of its spread where it has one."""
    weight = {"weight": f"{view.weights[row]:.3g}"}
    if view.deviations is None:
        return weight
    return weight | {"spread": f"{view.deviations[row]:.3g}"}


def _spoken(view: DensityView, row: int) -> str:
    place = ", ".join(
        f"{axis} {value:.3g}" for axis, value in zip(view.axes, view.centers[row], strict=True)
    )
    figures = ", ".join(f"{name} {value}" for name, value in _figures(view, row).items())
    return f"centre {row + 1}: {figures} at {place}"

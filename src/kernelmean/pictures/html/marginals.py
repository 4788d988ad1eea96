"""Each coordinate of a density by itself in a page."""

from __future__ import annotations

from collections.abc import Sequence

from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, legend_place, numbers, style, titled
from kernelmean.pictures.html.density import histogram
from kernelmean.pictures.view import DensityView

STOPS = 9  # places of a curve that arrow keys visit


def marginal_charts(views: Sequence[DensityView]) -> list[Chart]:
    """A small curve for each coordinate, before bars of the rows."""
    return [_chart(f"marginal-{i}", view) for i, view in enumerate(views)]


def marginal_section(views: Sequence[DensityView], drawn: Sequence[Chart]) -> list[str]:
    """The section of these charts; none where there are none."""
    if not views:
        return []
    bars = "" if views[0].rows is None else " Bars are some rows of the sample."
    words = f"<p>The fitted {views[0].what} of each column, whatever the others are.{bars}</p>"
    figures = "".join(
        page.chart(
            str(chart["id"]),
            f"{view.what.capitalize()} of {view.axes[0]}",
            page.text(view.axes[0]),
            shape="wide",
        )
        for view, chart in zip(views, drawn, strict=True)
    )
    controls = f'<div class="controls">{legend_place(drawn)}</div>'
    views_of = f'<div class="views low">{figures}</div>'
    return [page.section("columns", "Columns one by one", words, controls, views_of)]


def _chart(name: str, view: DensityView) -> Chart:
    column = page.label(view.axes[0])
    grid = view.grids[0]
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(grid),
        "y": numbers(view.values),
        "line": {"color": style("accent"), "width": 2},
        "hovertemplate": f"{column} %{{x:.4g}}<br>{view.what} %{{y:.3g}}<extra></extra>",
    }
    bars = [] if view.rows is None else [histogram(view)]
    legend = [{"name": str(view.what), "trace": 0, "color": "accent", "symbol": "line"}]
    if bars:
        legend.append({"name": "rows", "trace": 1, "color": "muted", "symbol": "square"})
    stops = range(0, len(grid), max(1, len(grid) // STOPS))
    walk = [
        [0, i, f"{view.axes[0]} {grid[i]:.3g}: {view.what} {view.values[i]:.3g}"] for i in stops
    ]
    layout = {
        "xaxis": {**titled(view.axes[0]), "range": [float(grid[0]), float(grid[-1])]},
        "yaxis": {"rangemode": "tozero", "nticks": 4},
        "bargap": 0,
    }
    return {"id": name, "traces": [curve, *bars], "legend": legend, "walk": walk, "layout": layout}

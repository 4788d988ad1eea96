"""Categories in a page: bars, a curve for each beside a column of numbers, or cells."""

from __future__ import annotations

import numpy as np

from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, numbers, shortened, style, titled
from kernelmean.pictures.view import DensityView, Side

MAX_TOLD = 36  # cells whose probabilities are written


def side_layout(name: str, side: Side) -> Chart:
    """An axis with what a domain says of it: where it ends, its labels, or names."""
    axis = titled(name)
    if side.categories:
        at = list(range(len(side.categories)))
        names = [page.label(shortened(category)) for category in side.categories]
        return {**axis, "tickvals": at, "ticktext": names, "showgrid": False}
    if side.ticks:
        places, labels = zip(*side.ticks, strict=True)
        axis |= {"tickvals": list(places), "ticktext": list(labels)}
    return axis


def categories_chart(name: str, view: DensityView) -> Chart:
    """The chart of a view that has categories on a side."""
    across, *up = (
        side_layout(axis, side) for axis, side in zip(view.axes, view.each_side, strict=True)
    )
    value = {**titled(view.what), "rangemode": "tozero"}
    chart = {"id": name, "legend": [], "walk": []}
    if view.shape == "bars":
        return chart | _bars(view) | {"layout": {"xaxis": across, "yaxis": value}}
    if view.shape == "curves":
        across["range"] = _ends(view)
        return chart | _curves(view) | {"layout": {"xaxis": across, "yaxis": value}}
    if not view.each_side[0].categories:
        across["range"] = _ends(view)
    return chart | _cells(view) | {"layout": {"xaxis": across, "yaxis": up[0]}}


def _ends(view: DensityView) -> list[float]:
    return [float(view.grids[0][0]), float(view.grids[0][-1])]


def _bars(view: DensityView) -> Chart:
    (names,) = (side.categories for side in view.each_side)
    trace = {
        "type": "bar",
        "x": view.grids[0].tolist(),
        "y": numbers(view.values),
        "marker": {"color": style("s4")},
        "hovertemplate": f"%{{x}}<br>{view.what} %{{y:.3g}}<extra></extra>",
    }
    told = [
        [0, i, f"{name}: {view.what} {value:.3g}"]
        for i, (name, value) in enumerate(zip(names, view.values, strict=True))
    ]
    return {"traces": [trace], "walk": told}


def _curves(view: DensityView) -> Chart:
    """Curves that the legend switches; arrow keys go from peak to peak."""
    traces = []
    legend = []
    told = []
    across = page.label(view.axes[0])
    for i, (name, values) in enumerate(zip(view.each_side[1].categories, view.values, strict=True)):
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": numbers(view.grids[0]),
                "y": numbers(values),
                "line": {"color": style(f"c{i}"), "width": 2},
                "hovertemplate": f"{page.label(name)}<br>{across} %{{x:.4g}}<br>{view.what} "
                "%{y:.3g}<extra></extra>",
            }
        )
        legend.append({"name": name, "trace": i, "color": f"c{i}", "symbol": "line"})
        peak = int(values.argmax())
        told.append([i, peak, f"{name}: highest at {view.axes[0]} {view.grids[0][peak]:.3g}"])
    return {"traces": traces, "legend": legend, "walk": told}


def _cells(view: DensityView) -> Chart:
    x, y = (page.label(axis) for axis in view.axes)
    trace = {
        "type": "heatmap",
        "x": numbers(view.grids[0]),
        "y": numbers(view.grids[1]),
        "z": numbers(view.values),
        "zmin": 0.0,
        "colorscale": style("scale"),
        "showscale": False,
        "hovertemplate": f"{x} %{{x}}<br>{y} %{{y}}<br>{view.what} %{{z:.3g}}<extra></extra>",
    }
    named = all(side.categories for side in view.each_side)
    if named and view.values.size <= MAX_TOLD:
        told = np.vectorize(lambda share: f"{100.0 * share:.3g} %")(view.values)
        trace |= {"text": told.tolist(), "texttemplate": "%{text}"}
    return {"traces": [trace]}

"""Plotly figures as plain data; colours are names that the page's style sheet knows, light and
dark.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelmean._types import IntVector, Vector
from kernelmean.pictures import Collection, DensityView, Indicator
from kernelmean.pictures.html import facts, page

DRAWN = 300  # centres in a picture, the heaviest; in each of many
DRAWN_SMALL = 120  # centres in a picture, the heaviest; in each of many
STOPS = 25  # points that arrow keys visit in a picture of centres
RINGS = 8000.0  # square pixels that all centres cover together
RINGS_SMALL = 3000.0  # square pixels that all centres cover together
LARGEST_MARK = 22.0  # pixels
SMALLEST_MARK = 2.5  # pixels
NAME_LENGTH = 18  # letters of a name beside a heat map
TICKS = 40  # names beside a heat map

Chart = dict[str, Any]


def style(name: str) -> dict[str, str]:
    """A colour of the style sheet, or its sequential scale."""
    return {"$": name}


def numbers(values: ArrayLike) -> dict[str, str]:
    """An array as Plotly reads it: 32-bit floats in base 64, a quarter of the text."""
    A = np.ascontiguousarray(values, dtype="<f4")
    packed = {"dtype": "f4", "bdata": base64.b64encode(A.tobytes()).decode("ascii")}
    return packed if A.ndim == 1 else packed | {"shape": ", ".join(map(str, A.shape))}


def density(name: str, view: DensityView, *, small: bool = False) -> Chart:
    """Contours of a plane, or a curve, with the centres sized by weight; fewer and smaller ones in
    a small picture.
    """
    ground = _curve(view) if len(view.axes) == 1 else _contours(view)
    drawn = np.argsort(-np.abs(view.weights), kind="stable")[: DRAWN_SMALL if small else DRAWN]
    parts = [
        (drawn[view.weights[drawn] >= 0], "mark"),
        (drawn[view.weights[drawn] < 0], "negative"),
    ]
    traces = [
        ground,
        *(_centers(view, rows, ink, RINGS_SMALL if small else RINGS) for rows, ink in parts),
    ]
    walk = [
        [1 + sign, i, _spoken_center(view, row)]
        for sign, (rows, _) in enumerate(parts)
        for i, row in enumerate(rows[:STOPS])
    ]
    layout = {"xaxis": titled(view.axes[0]), "yaxis": titled(view.what)}
    if len(view.axes) == 2:  # what the grid covers: one far centre would leave no room for the rest
        across, up = (
            {**titled(axis), "range": [float(grid[0]), float(grid[-1])], "showgrid": False}
            for axis, grid in zip(view.axes, view.grids, strict=True)
        )
        layout = {"xaxis": across, "yaxis": up}
    return {
        "id": name,
        "traces": traces,
        "layout": layout,
        "walk": walk,
        "legend": _density_legend(view),
    }


def indicator(name: str, curve: Indicator) -> Chart:
    """(E_m − E_k)/(E_1 − E_k) against m on a logarithmic axis, the chosen k_0 marked."""
    kept = np.flatnonzero(np.isfinite(curve.left_over))
    trace = {
        "type": "scatter",
        "mode": "lines" if len(kept) > 60 else "lines+markers",
        "x": curve.centers[kept].tolist(),
        "y": curve.left_over[kept].tolist(),
        "customdata": [f"{value:.6g}" for value in curve.values[kept]],
        "line": {"color": style("accent"), "width": 2},
        "marker": {"size": 5},
        "hovertemplate": "%{x} centres<br>%{y:.2e} left<br>E = %{customdata}<extra></extra>",
    }
    stops = np.unique(np.geomspace(1, len(kept), 30).astype(int)) - 1 if len(kept) else kept
    words = [
        [0, int(i), f"{_counted(int(curve.centers[kept[i]]))}, {curve.left_over[kept[i]]:.1e} left"]
        for i in stops
    ]
    return {"id": name, "traces": [trace], "layout": _indicator_layout(curve), "walk": words}


def heat_map(name: str, samples: Collection) -> Chart:
    """The distances in the order of the clustering: near samples are dark and side by side."""
    order = samples.order
    names = [samples.names[i] for i in order]
    shown = list(range(0, len(names), -(-len(names) // TICKS)))
    ticks = {
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [page.label(_short(names[i])) for i in shown],
    }
    trace = {
        "type": "heatmap",
        "z": numbers(samples.distances[np.ix_(order, order)]),
        "colorscale": style("scale-reversed"),
        "customdata": [[[page.label(a), page.label(b)] for b in names] for a in names]
        if len(names) <= 120
        else None,
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>distance %{z:.4g}<extra></extra>",
        "colorbar": {
            "thickness": 10,
            "outlinewidth": 0,
            "title": {"text": "distance", "side": "right"},
            "tickfont": {"size": 11},
        },
    }
    if len(names) > 120:
        trace["hovertemplate"] = "%{y} and %{x}<br>distance %{z:.4g}<extra></extra>"
        del trace["customdata"]
    small = {"tickfont": {"size": 10}, "showgrid": False, "ticks": ""}
    layout = {
        "xaxis": {**ticks, **small, "tickangle": -60},
        "yaxis": {**ticks, **small, "autorange": "reversed"},
    }
    return {"id": name, "traces": [trace], "layout": layout, "grid": {"names": names}}


def _contours(view: DensityView) -> Chart:
    heights = view.values if view.signed else view.mass_below()
    tenths: Chart = {} if view.signed else {"start": 0.05, "end": 0.95, "size": 0.1}
    x, y = (page.label(axis) for axis in view.axes)
    return {
        "type": "contour",
        "x": numbers(view.grids[0]),
        "y": numbers(view.grids[1]),
        "z": numbers(heights),
        "customdata": numbers(view.values),
        "colorscale": style("scale"),
        "showscale": False,
        "autocontour": view.signed,
        "ncontours": 14,
        "contours": {"coloring": "fill", **tenths},
        "line": {"width": 0.6, "color": style("accent"), "smoothing": 0.6},
        "hovertemplate": f"{x} %{{x:.4g}}<br>{y} %{{y:.4g}}<br>{view.what} "
        f"%{{customdata:.3g}}<extra></extra>",
    }


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


def _centers(view: DensityView, rows: IntVector, ink: str, area: float) -> Chart:
    """Rings whose areas are the weights; in one dimension they stand on the axis."""
    across = view.centers[rows, 0]
    up = view.centers[rows, 1] if len(view.axes) == 2 else np.zeros(len(rows))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(across),
        "y": numbers(up),
        "customdata": [[int(row) + 1, f"{view.weights[row]:.3g}"] for row in rows],
        "marker": {
            "size": [
                round(size, 1)
                for size in _mark_sizes(view.weights[rows] / np.abs(view.weights).sum(), area)
            ],
            "color": "rgba(0,0,0,0)",
            "line": {"color": style(ink), "width": 1.0},
        },
        "cliponaxis": len(view.axes) == 2,
        "hovertemplate": "centre %{customdata[0]}<br>weight %{customdata[1]}<extra></extra>",
    }


def _mark_sizes(shares: Vector, area: float) -> list[float]:
    """Diameters: areas in proportion to |α|, none too small to see or too large to see through."""
    diameters = np.sqrt(4.0 / np.pi * area * np.abs(shares))
    sizes: list[float] = np.clip(diameters, SMALLEST_MARK, LARGEST_MARK).tolist()
    return sizes


def _density_legend(view: DensityView) -> list[dict[str, Any]]:
    ground = {"name": view.what, "trace": 0, "color": "s4", "symbol": "area"}
    positive = {"name": "centres, sized by weight", "trace": 1, "color": "mark", "hollow": True}
    negative = {
        "name": "centres of negative weight",
        "trace": 2,
        "color": "negative",
        "hollow": True,
    }
    return [ground, positive, *([negative] if (view.weights < 0).any() else [])]


def _spoken_center(view: DensityView, row: int) -> str:
    place = ", ".join(
        f"{axis} {value:.3g}" for axis, value in zip(view.axes, view.centers[row], strict=True)
    )
    return f"centre {row + 1}: weight {view.weights[row]:.3g} at {place}"


def _indicator_layout(curve: Indicator) -> Chart:
    mark = {"color": style("mark"), "width": 1.5, "dash": "dot"}
    line = {
        "type": "line",
        "x0": curve.chosen,
        "x1": curve.chosen,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": mark,
    }
    note = {
        "x": curve.chosen,
        "y": 1,
        "yref": "paper",
        "text": f"k<sub>0</sub> = {facts.number(curve.chosen)}",
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "top",
        "xshift": -6,
        "font": {"color": style("mark"), "size": 13},
    }
    left = {**titled("left to gain"), "type": "log", "exponentformat": "power", "dtick": 2}
    across = {**titled("centres m"), "range": [0, curve.chosen * 1.04 + 0.5]}
    return {
        "xaxis": across,
        "yaxis": left,
        "shapes": [line],
        "annotations": [note],
        "margin": {"l": 64},
    }


def _counted(m: int) -> str:
    return "1 centre" if m == 1 else f"{m} centres"


def titled(name: str) -> dict[str, Any]:
    """The title of an axis, clear of its labels and of the frame."""
    return {"title": {"text": page.label(_short(name, 40)), "standoff": 8}}


def _short(name: str, letters: int = NAME_LENGTH) -> str:
    """At most so many letters, from both ends: samples often differ in the last ones, as replicates
    do.
    """
    if len(name) <= letters:
        return name
    tail = (letters - 1) // 2
    return f"{name[: letters - 1 - tail]}…{name[-tail:]}"


def legend_place(charts: Sequence[Chart]) -> str:
    """Where the page's script puts the buttons that switch traces on and off."""
    return f'<ul class="legend" data-serves="{page.text(" ".join(chart["id"] for chart in charts))}" aria-label="Shown"></ul>'

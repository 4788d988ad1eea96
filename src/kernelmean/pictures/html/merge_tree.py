"""How the peaks of a density merge, in a page."""

from __future__ import annotations

import numpy as np

from kernelmean._types import Vector
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, style, titled
from kernelmean.pictures.html.looks import Look, legend, looks
from kernelmean.pictures.merge_tree import HEIGHT, NO_SADDLE, PEAK, SADDLE, MergeView

ALL_AREA = 1600.0  # of the dots of all points together, in square pixels
LEAST_DIAMETER = 6.0  # of the smallest dot, in pixels
OTHERS = "no cluster"  # name of the modes that are none
HOVER = (
    "<b>%{customdata[0]}</b><br>points %{customdata[1]}<br>z %{customdata[2]}<br>"
    "p %{customdata[3]}<br>peak %{customdata[4]}<br>saddle %{customdata[5]}<extra></extra>"
)
GAP = [None]  # where the pen is lifted between two lines of one trace


def diagram_chart(name: str, view: MergeView) -> Chart:
    """Each mode at the heights of its peak and its saddle."""
    shown = looks(view.n_clusters, OTHERS)
    rows = [np.flatnonzero(view.groups == group) for group in range(len(shown))]
    diameters = _diameters(view.shares)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": view.log_peak[own].tolist(),
            "y": view.log_saddle[own].tolist(),
            "customdata": [told(view, int(mode)) for mode in own],
            "marker": {**_mark(look), "size": diameters[own].tolist()},
            "hovertemplate": HOVER,
        }
        for look, own in zip(shown, rows, strict=True)
    ]
    walk = [
        [group, i, spoken(view, int(mode))]
        for group, own in enumerate(rows)
        for i, mode in enumerate(own)
    ]
    empty = {group for group, own in enumerate(rows) if not len(own)}
    return {
        "id": name,
        "traces": traces,
        "layout": _plane(view),
        "walk": _highest_first(walk),
        "legend": legend(shown, empty) if len(shown) - len(empty) > 1 else [],
    }


def tree_chart(name: str, view: MergeView) -> Chart:
    """Each mode a line from its peak down to its saddle, where it joins another."""
    shown = looks(view.n_clusters, OTHERS)
    groups = view.groups[view.branches]
    places = [np.flatnonzero(groups == group) for group in range(len(shown))]
    traces = [_lines(view, look, own.tolist()) for look, own in zip(shown, places, strict=True)]
    walk = [
        [group, 4 * i, spoken(view, int(view.branches[place]))]
        for group, own in enumerate(places)
        for i, place in enumerate(own)
    ]
    across = {"visible": False, "range": [-0.8, len(view.branches) - 0.2]}
    up = {**titled(HEIGHT), "range": list(view.height_range)}
    layout = {"xaxis": across, "yaxis": up, "margin": {"b": 14}}
    return {"id": name, "traces": traces, "layout": layout, "walk": _highest_first(walk)}


def told(view: MergeView, mode: int) -> list[str]:
    """What is said of a mode: its name, points, z, p, and the heights of peak and saddle."""
    cluster = int(view.clusters[mode])
    last = bool(view.joined[mode] < 0)
    return [
        OTHERS if cluster < 0 else f"cluster {cluster}",
        facts.number(int(view.sizes[mode])),
        "∞" if np.isinf(view.z[mode]) else f"{view.z[mode]:.2f}",
        "–" if last else f"{view.p[mode]:.2g}",
        f"{view.log_peak[mode]:.3f}",
        "none" if view.log_saddle[mode] <= view.floor else f"{view.log_saddle[mode]:.3f}",
    ]


def spoken(view: MergeView, mode: int) -> str:
    """The same as words."""
    name, size, z, p, _, _ = told(view, mode)
    return f"{name}, {size} points, z {z}, p {p}"


def _lines(view: MergeView, look: Look, places: list[int]) -> Chart:
    """The lines of one group, each with a mark at its peak and a gap after it."""
    lines = view.lines[places]
    marks = _diameters(view.shares)[view.branches[places]]
    kept = look.hollow is False
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [x for line in lines for x in [*line[:, 0].tolist(), *GAP]],
        "y": [y for line in lines for y in [*line[:, 1].tolist(), *GAP]],
        "customdata": [told(view, int(mode)) for mode in view.branches[places] for _ in range(4)],
        "line": {"color": style(look.ink), "width": 2.5 if kept else 1.2},
        "marker": {
            **_mark(look),
            "opacity": 1,
            "size": [d for mark in marks for d in (min(float(mark), 14.0), 0.0, 0.0, 0.0)],
        },
        "hovertemplate": HOVER,
    }


def _mark(look: Look) -> Chart:
    return {
        "color": style("surface" if look.hollow else look.ink),
        "symbol": look.symbol,
        "line": {"width": 1.2, "color": style(look.ink)},
        "opacity": 0.9,
    }


def _highest_first(walk: list[list[object]]) -> list[list[object]]:
    """Clusters before the others, which come first among the traces to be drawn beneath them."""
    return sorted(walk, key=lambda stop: stop[0] == 0)


def _diameters(shares: Vector) -> Vector:
    diameters: Vector = np.maximum(np.sqrt(4.0 / np.pi * ALL_AREA * shares), LEAST_DIAMETER)
    return diameters


def _plane(view: MergeView) -> Chart:
    left, right = view.peak_range
    return {
        "xaxis": {**titled(PEAK), "range": [left, right]},
        "yaxis": {**titled(SADDLE), "range": list(view.height_range)},
        "shapes": [
            _line(left, left, right, right, "solid"),
            _line(left, view.floor, right, view.floor, "dot"),
        ],
        "annotations": [_note(left, view.floor)],
        "margin": {"l": 60},
    }


def _line(x0: float, y0: float, x1: float, y1: float, dash: str) -> Chart:
    ink = {"color": style("muted"), "width": 1, "dash": dash}
    ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
    return {"type": "line", **ends, "line": ink, "layer": "below"}


def _note(x: float, y: float) -> Chart:
    return {
        "x": x,
        "y": y,
        "text": page.label(NO_SADDLE),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": 4,
        "font": {"color": style("muted"), "size": 12},
    }

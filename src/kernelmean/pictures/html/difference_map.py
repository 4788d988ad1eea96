"""The map of a difference in a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean.comparison import words
from kernelmean.pictures.difference import DifferenceMap, RegionMark
from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, numbers, shortened, style, titled

LABEL_LENGTH = 32  # letters: the number at the end must be whole
INKS = ("first", "second")  # colours of the style sheet for the two samples
SOFT = ("first-soft", "second-soft")  # the same, to be seen through
DASHES = ("solid", "dash")  # so that the samples are told apart without colours
SYMBOLS = ("circle", "diamond")  # of typical rows
DENSITY = "difference of the densities"


def map_chart(name: str, maps: Sequence[DifferenceMap]) -> Chart:
    """The map; where there are several planes, one variant for each."""
    drawn = {plane_name(view): _plane(view) for view in maps}
    first = next(iter(drawn))
    if len(drawn) == 1:
        return {"id": name, **drawn[first]}
    return {"id": name, "variants": drawn, "first": first, "layout": drawn[first]["layout"]}


def plane_name(view: DifferenceMap) -> str:
    """The columns of a map."""
    return " × ".join(view.axes)


def _plane(view: DifferenceMap) -> Chart:
    """Traces, legend and stops of one map."""
    grounds = _curve(view) if len(view.axes) == 1 else [_contours(view)]
    drawers = (_outlines, _labels, _dots)
    marks = [draw(view, which) for draw in drawers for which in (0, 1)]
    start = len(grounds)
    walk = [
        [start + 2 + which, i, spoken(mark, view.names)]
        for which in (0, 1)
        for i, mark in enumerate(_own(view, which))
    ]
    return {
        "traces": [*grounds, *marks],
        "layout": _layout(view),
        "walk": walk,
        "legend": [*_ground_legend(view), *_mark_legend(view, start)],
    }


def spoken(mark: RegionMark, names: Sequence[str]) -> str:
    """A region in words."""
    shares = ", ".join(
        f"{name} {words.percent(share)}" for name, share in zip(names, mark.shares, strict=True)
    )
    return f"region {mark.number}, {mark.label}: {mark.place}; {shares}"


def _own(view: DifferenceMap, which: int) -> list[RegionMark]:
    return [mark for mark in view.regions if mark.more == which]


def _contours(view: DifferenceMap) -> Chart:
    x, y = (page.label(axis) for axis in view.axes)
    levels = view.levels
    step = float(levels[1] - levels[0])
    return {
        "type": "contour",
        "x": numbers(view.grids[0]),
        "y": numbers(view.grids[1]),
        "z": numbers(view.values),
        "zmin": -view.largest,
        "zmax": view.largest,
        "colorscale": style("scale-diverging"),
        "showscale": False,
        "autocontour": False,
        "contours": {
            "coloring": "fill",
            "start": float(levels[0]),
            "end": float(levels[-1]),
            "size": step,
        },
        "line": {"width": 0},
        "hovertemplate": f"{x} %{{x:.4g}}<br>{y} %{{y:.4g}}<extra></extra>",
    }


def _curve(view: DifferenceMap) -> list[Chart]:
    """The part above zero and that below it, each filled in the colour of its sample."""
    name = page.label(view.axes[0])
    parts = (np.maximum(view.values, 0.0), np.minimum(view.values, 0.0))
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": numbers(view.grids[0]),
            "y": numbers(part),
            "fill": "tozeroy",
            "fillcolor": style(SOFT[which]),
            "line": {"color": style(INKS[which]), "width": 1.5},
            "hovertemplate": f"{name} %{{x:.4g}}<br>{DENSITY} %{{y:.3g}}<extra></extra>",
        }
        for which, part in enumerate(parts)
    ]


def _outlines(view: DifferenceMap, which: int) -> Chart:
    """The regions in which one sample has more, as one line with gaps."""
    gap = np.full((1, 2), np.nan)
    parts = [part for mark in _own(view, which) for part in (mark.outline, gap)]
    path = np.concatenate([np.empty((0, 2)), *parts])
    line = len(view.axes) == 1
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(path[:, 0]),
        "y": numbers(path[:, 1]),
        "line": {
            "color": style(INKS[which]),
            "width": 6 if line else 2,
            "dash": "solid" if line else DASHES[which],
        },
        "hoverinfo": "skip",
    }


def _labels(view: DifferenceMap, which: int) -> Chart:
    """The labels at the tops of the same regions, which hovering tells more of."""
    marks = _own(view, which)
    tops = np.array([mark.outline[mark.top] for mark in marks]).reshape(-1, 2)
    texts = [
        f"{mark.number}: {shortened(mark.label, LABEL_LENGTH)}"
        if mark.labelled
        else str(mark.number)
        for mark in marks
    ]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": numbers(tops[:, 0]),
        "y": numbers(tops[:, 1]),
        "text": [page.label(text) for text in texts],
        "meta": {"short": [str(mark.number) for mark in marks]},
        "textposition": "top center",
        "textfont": {"color": style("ink"), "size": 13},
        "customdata": [page.label(spoken(mark, view.names)) for mark in marks],
        "marker": {"color": style(INKS[which]), "size": 8, "opacity": 0},  # what hovering finds
        "cliponaxis": False,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _dots(view: DifferenceMap, which: int) -> Chart:
    """The rows that are typical of what one sample has more of."""
    x, *y = (page.label(axis) for axis in view.axes)
    up = f"<br>{y[0]} %{{y:.4g}}" if y else ""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(view.typical[which][:, 0]),
        "y": numbers(view.typical[which][:, 1]),
        "customdata": view.rows[which].tolist(),
        "marker": {
            "color": style(INKS[which]),
            "symbol": SYMBOLS[which],
            "size": 8,
            "line": {"color": style("surface"), "width": 1},
        },
        "cliponaxis": False,
        "hovertemplate": f"<b>{page.label(view.names[which])}</b>, row %{{customdata}}<br>"
        f"{x} %{{x:.4g}}{up}<extra></extra>",
    }


def _layout(view: DifferenceMap) -> Chart:
    across = {
        **titled(view.axes[0]),
        "range": [float(view.grids[0][0]), float(view.grids[0][-1])],
        "showgrid": False,
    }
    if len(view.axes) == 1:
        return {"xaxis": across, "yaxis": titled(DENSITY), "margin": {"l": 64}}
    ends = [float(view.grids[1][0]), float(view.grids[1][-1])]
    return {
        "xaxis": across,
        "yaxis": {**titled(view.axes[1]), "range": ends, "showgrid": False},
        "margin": {"l": 60},
    }


def _ground_legend(view: DifferenceMap) -> list[Chart]:
    if len(view.axes) == 2:
        return [{"name": DENSITY, "trace": 0, "color": "d6", "symbol": "area"}]
    return [
        {"name": f"more in {name}", "trace": which, "color": INKS[which], "symbol": "area"}
        for which, name in enumerate(view.names)
    ]


def _mark_legend(view: DifferenceMap, start: int) -> list[Chart]:
    shape = {"symbol": "line"} if len(view.axes) == 1 else {"symbol": "ellipse", "hollow": True}
    regions = [
        {
            "name": f"region, more in {name}",
            "trace": [start + which, start + 2 + which],
            "color": INKS[which],
            **shape,
        }
        for which, name in enumerate(view.names)
        if _own(view, which)
    ]
    rows = [
        {
            "name": f"typical of {name}",
            "trace": start + 4 + which,
            "color": INKS[which],
            "symbol": SYMBOLS[which],
        }
        for which, name in enumerate(view.names)
        if len(view.rows[which])
    ]
    return [*regions, *rows]

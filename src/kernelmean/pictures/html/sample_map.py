"""The map of samples in a page, coloured by one column of metadata after another."""

from __future__ import annotations

from collections.abc import Sequence

from kernelmean._types import Vector
from kernelmean.pictures.embedding import (
    Collection,
    ColorGroups,
    Coloring,
    ColorScale,
    SampleMap,
)
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, shortened, style, titled

COLORS = 8  # colours of groups in the style sheet, c0, c1, and so on
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")  # a new one when colours end
MAX_NAMED = 30  # samples up to which each has its name beside it
NAME_LETTERS = 14  # of such a name
MARGIN = 0.14  # of the map around its samples, as a share of its width, for their names
PLAIN = "(none)"  # the choice of no column


def sample_map_chart(
    name: str, drawn: SampleMap, samples: Collection, first: str | None = None
) -> Chart:
    """One variant of the figure for each column, and one without any."""
    variants = {
        column: _variant(drawn, coloring, samples) for column, coloring in drawn.colorings.items()
    }
    plain = ColorGroups(["samples"], [list(range(len(drawn.names)))])
    variants[PLAIN] = _variant(drawn, plain, samples)
    up: Chart = (
        {"visible": False}
        if len(drawn.axes) == 1
        else {**titled(drawn.axes[1]), "scaleanchor": "x"}
    )
    across: Chart = titled(drawn.axes[0])
    if len(drawn.names) <= MAX_NAMED:  # room for the names at the edges
        across["range"] = _with_margin(drawn.places[:, 0])
        if len(drawn.axes) > 1:
            up["range"] = _with_margin(drawn.places[:, 1])
    return {
        "id": name,
        "variants": variants,
        "first": str(first) if first is not None else next(iter(variants)),
        "layout": {"xaxis": across, "yaxis": up},
    }


def _with_margin(x: Vector) -> list[float]:
    low = float(x.min())
    high = float(x.max())
    margin = MARGIN * ((high - low) or 1.0)
    return [low - margin, high + margin]


def _variant(drawn: SampleMap, coloring: Coloring, samples: Collection) -> Chart:
    if isinstance(coloring, ColorScale):
        return _by_number(drawn, coloring, samples)
    return _by_group(drawn, coloring, samples)


def _by_group(drawn: SampleMap, groups: ColorGroups, samples: Collection) -> Chart:
    traces = []
    legend = []
    walk = []
    for i, (group, rows) in enumerate(zip(groups.names, groups.members, strict=True)):
        ink = f"c{i % COLORS}"
        symbol = SYMBOLS[i // COLORS % len(SYMBOLS)]
        traces.append(_trace(drawn, samples, rows, {"color": style(ink), "symbol": symbol}))
        legend.append(
            {"name": f"{group} ({len(rows)})", "trace": i, "color": ink, "symbol": symbol}
        )
        walk += [[i, j, f"{_spoken(samples, row)}, {group}"] for j, row in enumerate(rows)]
    return {"traces": traces, "legend": legend if len(traces) > 1 else [], "walk": walk}


def _by_number(drawn: SampleMap, scale: ColorScale, samples: Collection) -> Chart:
    """A scale of colours; samples without a number are hollow."""
    values = scale.values
    present = values[scale.known]
    marker = {
        "color": present.tolist(),
        "colorscale": style("scale"),
        "cmin": _low(present),
        "cmax": float(present.max()),
    }
    traces = [
        _trace(drawn, samples, scale.known, marker),
        _trace(drawn, samples, scale.missing, {"color": "rgba(0,0,0,0)"}),
    ]
    walk = [
        [0, j, f"{_spoken(samples, row)}, {facts.number(values[row])}"]
        for j, row in enumerate(scale.known)
    ]
    walk += [[1, j, f"{_spoken(samples, row)}, missing"] for j, row in enumerate(scale.missing)]
    ends = [facts.number(present.min()), facts.number(present.max())]
    return {"traces": traces, "legend": [], "walk": walk, "range": ends}


def _low(x: Vector) -> float:
    """The scale begins a little below the least, where it can be told from the paper."""
    return float(x.min() - 0.25 * (x.max() - x.min()))


def _trace(drawn: SampleMap, samples: Collection, rows: Sequence[int], marker: Chart) -> Chart:
    named: Chart = {}
    if len(drawn.names) <= MAX_NAMED:  # the page puts them where there is room
        named = {
            "meta": {"names": [page.label(shortened(drawn.names[i], NAME_LETTERS)) for i in rows]}
        }
    return {
        "type": "scatter",
        "mode": "markers",
        **named,
        "x": drawn.places[rows, 0].tolist(),
        "y": drawn.places[rows, 1].tolist(),
        "text": [page.label(drawn.names[i]) for i in rows],
        "customdata": [facts.sample_figures(samples, i) for i in rows],
        "marker": {"size": 11, "line": {"width": 1, "color": style("ink")}, **marker},
        "hovertemplate": "<b>%{text}</b><br>n %{customdata[0]}<br>k %{customdata[1]}<br>error "
        "%{customdata[2]}<extra></extra>",
    }


def _spoken(samples: Collection, i: int) -> str:
    n, k, error = facts.sample_figures(samples, i)
    return f"{samples.names[i]}: n {n}, k {k}, error {error}"

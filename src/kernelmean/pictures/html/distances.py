"""The distances of all pairs of samples in a page."""

from __future__ import annotations

from kernelmean.pictures.distances import MAX_NAMED, DistanceMap
from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, numbers, shortened, style

SHORT = 9  # letters of a name beside the distances on a phone
MAX_NAMED_PAIRS = 120  # samples up to which each pair is written to the page with both names


def distances_chart(name: str, drawn: DistanceMap) -> Chart:
    """The distances in the order of the clustering: near samples are dark and side by side."""
    count = len(drawn.names)
    shown = list(range(0, count, -(-count // MAX_NAMED)))
    ticks = {
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [page.label(shortened(drawn.names[i])) for i in shown],
    }
    small = {"tickfont": {"size": 10}, "showgrid": False, "ticks": ""}
    layout = {
        "xaxis": {**ticks, **small, "tickangle": -60},
        "yaxis": {**ticks, **small, "autorange": "reversed"},
    }
    return {
        "id": name,
        "traces": [_heat_map(drawn)],
        "layout": layout,
        "grid": {
            "names": drawn.names,
            "short": [page.label(shortened(name, SHORT)) for name in drawn.names],
        },
    }


def _heat_map(drawn: DistanceMap) -> Chart:
    bar = {
        "thickness": 10,
        "outlinewidth": 0,
        "title": {"text": "distance", "side": "right"},
        "tickfont": {"size": 11},
    }
    return {
        "type": "heatmap",
        "z": numbers(drawn.distances),
        "colorscale": style("scale-reversed"),
        **_hovered(drawn.names),
        "colorbar": bar,
    }


def _hovered(names: list[str]) -> Chart:
    """What is told of a pair: both names, or the places of the two where the names are many."""
    if len(names) > MAX_NAMED_PAIRS:
        return {"hovertemplate": "%{y} and %{x}<br>distance %{z:.4g}<extra></extra>"}
    labels = [page.label(name) for name in names]
    return {
        "customdata": [[[a, b] for b in labels] for a in labels],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>distance %{z:.4g}<extra></extra>",
    }

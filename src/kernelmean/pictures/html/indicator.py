"""The error indicator in a page."""

from __future__ import annotations

import numpy as np

from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, style, titled
from kernelmean.pictures.indicator import HORIZONTAL, IndicatorCurve

MAX_MARKED = 60  # points of the curve up to which each has a mark
STOPS = 30  # points that arrow keys visit, spread evenly over the logarithm of m


def indicator_chart(name: str, curve: IndicatorCurve) -> Chart:
    """(E_m − E_k)/(E_1 − E_k) against m on a logarithmic axis, the chosen k_0 marked."""
    rows = curve.drawn
    trace = {
        "type": "scatter",
        "mode": "lines" if len(rows) > MAX_MARKED else "lines+markers",
        "x": curve.centers[rows].tolist(),
        "y": curve.left_over[rows].tolist(),
        "customdata": [f"{value:.6g}" for value in curve.values[rows]],
        "line": {"color": style("accent"), "width": 2},
        "marker": {"size": 5},
        "hovertemplate": "%{x} centres<br>%{y:.3~%} left<br>E = %{customdata}<extra></extra>",
    }
    return {"id": name, "traces": [trace], "layout": _layout(curve), "walk": _walk(curve)}


def indicator_figure(name: str, curve: IndicatorCurve) -> str:
    """The place of the chart, with a caption that says what is drawn and why the fit stopped."""
    caption = (
        "How much of the squared error that k<sub>0</sub> centres remove is still there with m "
        "of them: "
        "(E<sub>m</sub> − E<sub>k₀</sub>) / (E<sub>1</sub> − E<sub>k₀</sub>). "
        f"Stopped at k<sub>0</sub> = {facts.number(curve.chosen)}: "
        f"{page.text(facts.REASONS[curve.stop_reason])}."
    )
    return page.chart(name, "Error indicator against the number of centres", caption, shape="wide")


def _walk(curve: IndicatorCurve) -> list[list[object]]:
    """What arrow keys visit: trace, point, words."""
    rows = curve.drawn
    stops = np.unique(np.geomspace(1, len(rows), STOPS).astype(int)) - 1 if len(rows) else rows
    return [
        [
            0,
            int(i),
            f"{_counted(int(curve.centers[rows[i]]))}, "
            f"{facts.percent(curve.left_over[rows[i]])} left",
        ]
        for i in stops
    ]


def _layout(curve: IndicatorCurve) -> Chart:
    left = {**titled("left to gain"), "type": "log", "exponentformat": "power", "dtick": 2}
    return {
        "xaxis": {**titled(HORIZONTAL), "range": [0, curve.chosen * 1.04 + 0.5]},
        "yaxis": left,
        "shapes": [_chosen_line(curve)],
        "annotations": [_chosen_note(curve)],
        "margin": {"l": 64},
    }


def _chosen_line(curve: IndicatorCurve) -> Chart:
    return {
        "type": "line",
        "x0": curve.chosen,
        "x1": curve.chosen,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": style("mark"), "width": 1.5, "dash": "dot"},
    }


def _chosen_note(curve: IndicatorCurve) -> Chart:
    return {
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


def _counted(m: int) -> str:
    return "1 centre" if m == 1 else f"{m} centres"

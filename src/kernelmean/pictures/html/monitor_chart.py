"""The statistic of a drift monitor over time, in a page."""

from __future__ import annotations

import math

import numpy as np

from kernelmean._types import Vector
from kernelmean.pictures.html import facts
from kernelmean.pictures.html.charts import Chart, style, titled
from kernelmean.pictures.monitor import ROW, STATISTIC, AlarmMark, MonitorView

STOPS = 30  # points that arrow keys visit where there is no alarm
# (name, colour, symbol) of each trace, as the legend has them
TRACES = (
    ("nothing tested", "grid", "area"),
    ("statistic", "accent", "line"),
    ("threshold", "muted", "line"),
    ("change", "second", "line"),
    ("alarm", "second", "triangle-up"),
)


def course_chart(name: str, view: MonitorView) -> Chart:
    """The statistic and its threshold, gaps as bands, and alarms as triangles.

    A dotted line goes from the row with which a change seems to have begun to its alarm.
    """
    drawn = [_bands(view), _line(view), _threshold(view), _changes(view), _alarms(view)]
    empty = [0] * (not len(view.gaps)) + [3, 4] * (not view.alarms)
    return {
        "id": name,
        "traces": drawn,
        "layout": {
            "xaxis": {**titled(ROW), "range": _across(view), "separatethousands": True},
            "yaxis": {**titled(STATISTIC), "range": list(view.range)},
            "separators": ".\u202f",  # between thousands, as everywhere on the page
        },
        "legend": [
            {"name": said, "trace": i, "color": ink, "symbol": symbol}
            for i, (said, ink, symbol) in enumerate(TRACES)
            if i not in empty
        ],
        "walk": _walk(view),
    }


def _across(view: MonitorView) -> list[float]:
    end = max(view.n_seen - 1, 1)
    return [-0.02 * end, 1.02 * end]


def _bands(view: MonitorView) -> Chart:
    """Upright bands over the rows at which nothing was tested."""
    low, high = view.range
    x: list[int | None] = []
    y: list[float | None] = []
    for first, last in view.gaps.tolist():
        x += [first, first, last, last, first, None]
        y += [low, high, high, low, low, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "fill": "toself",
        "fillcolor": style("grid"),
        "line": {"width": 0},
        "hoverinfo": "skip",
    }


def _line(view: MonitorView) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines" if np.isfinite(view.statistics).sum() > 1 else "markers",
        "x": view.rows.tolist(),
        "y": _written(view.statistics),
        "line": {"color": style("accent"), "width": 1.4},
        "hovertemplate": f"{ROW} %{{x:,}}<br>{STATISTIC} %{{y:.2f}}<extra></extra>",
    }


def _threshold(view: MonitorView) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": view.rows.tolist(),
        "y": _written(view.thresholds),
        "line": {"color": style("muted"), "width": 1.5, "dash": "dash", "shape": "hv"},
        "hovertemplate": "threshold %{y:.2f}<extra></extra>",
    }


def _changes(view: MonitorView) -> Chart:
    """From each change upwards, and on to the mark of its alarm."""
    low = view.range[0]
    x: list[int | None] = []
    y: list[float | None] = []
    for alarm, height in zip(view.alarms, view.heights.tolist(), strict=True):
        x += [alarm.change, alarm.change, alarm.row, None]
        y += [low, height, height, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": style("second"), "width": 1.5, "dash": "dot"},
        "hoverinfo": "skip",
    }


def _alarms(view: MonitorView) -> Chart:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [alarm.row for alarm in view.alarms],
        "y": view.heights.tolist(),
        "text": [str(alarm.number) if alarm.labelled else "" for alarm in view.alarms],
        "textposition": "top center",
        "textfont": {"color": style("second"), "size": 13},
        "customdata": [_told(alarm) for alarm in view.alarms],
        "marker": {
            "symbol": "triangle-up",
            "size": 11,
            "color": style("second"),
            "line": {"color": style("surface"), "width": 1},
        },
        "cliponaxis": False,
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{customdata[2]}"
        "<extra></extra>",
    }


def _told(alarm: AlarmMark) -> list[str]:
    return [
        f"alarm {alarm.number} at row {facts.number(alarm.row)}",
        f"since row {facts.number(alarm.change)}, in {alarm.what}",
        f"{STATISTIC} {alarm.statistic:.2f}, threshold {alarm.threshold:.2f}",
    ]


def _walk(view: MonitorView) -> list[list[object]]:
    """What arrow keys visit: trace, point, words."""
    if view.alarms:
        return [[4, i, ", ".join(_told(alarm))] for i, alarm in enumerate(view.alarms)]
    tested = np.flatnonzero(np.isfinite(view.statistics))
    stops = tested[:: max(1, len(tested) // STOPS)].tolist()
    return [
        [1, i, f"row {facts.number(view.rows[i])}, {STATISTIC} {view.statistics[i]:.2f}"]
        for i in stops
    ]


def _written(values: Vector) -> list[float | None]:
    """Numbers as JSON has them: nothing in place of NaN."""
    return [None if math.isnan(value) else round(value, 4) for value in values.tolist()]

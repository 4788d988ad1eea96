"""The figures of the page of a difference beside its map: histograms, bars, permutations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernelmean.comparison import words
from kernelmean.pictures.effects import EffectBars, MarginalHistogram, NullView
from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, numbers, shortened, style, titled
from kernelmean.pictures.html.difference_map import DASHES, INKS, SOFT

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect

SHARE = "share of rows"
NAME_LENGTH = 24  # letters of a name beside a bar
BEYOND = 1.04  # how far the axis of the bars goes, in ends of the largest interval


def marginal_chart(name: str, drawn: MarginalHistogram, names: Sequence[str]) -> Chart:
    """The histograms of both samples, one over the other, as steps."""
    return {
        "id": name,
        "traces": [_steps(drawn, which, names[which]) for which in (0, 1)],
        "layout": {
            "xaxis": titled(drawn.column),
            "yaxis": {**titled(SHARE), "tickformat": ".2~%"},
            "margin": {"l": 56},
        },
        "legend": [
            {"name": names[which], "trace": which, "color": INKS[which], "symbol": "area"}
            for which in (0, 1)
        ],
    }


def bars_chart(name: str, drawn: EffectBars, end: float) -> Chart:
    """Shares of the difference as bars with their intervals, the largest at the top; the axis goes
    on to ``end``.
    """
    places = list(range(len(drawn.effects)))
    ticks = [page.label(shortened(label, NAME_LENGTH)) for label in drawn.labels]
    up = {"tickmode": "array", "tickvals": places, "ticktext": ticks, "showgrid": False}
    across = {**titled("share of the difference"), "tickformat": ".0%", "range": [0.0, end]}
    walk = [
        [0, i, f"{words.effect_name(effect)}: {words.percent(effect.share)}"]
        for i, effect in enumerate(drawn.effects)
    ]
    return {
        "id": name,
        "traces": [_bars(drawn, places)],
        "layout": {"xaxis": across, "yaxis": {**up, "autorange": "reversed"}, "bargap": 0.35},
        "walk": walk,
    }


def bars_end(bars: Sequence[EffectBars]) -> float:
    """Where the common axis of several bars ends."""
    return BEYOND * max((effect.high for one in bars for effect in one.effects), default=1.0)


def _bars(drawn: EffectBars, places: list[int]) -> Chart:
    below, above = drawn.reach
    return {
        "type": "bar",
        "orientation": "h",
        "x": drawn.shares.tolist(),
        "y": places,
        "customdata": [effect_told(effect) for effect in drawn.effects],
        "marker": {"color": style("s3")},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": above.tolist(),
            "arrayminus": below.tolist(),
            "color": style("ink"),
            "thickness": 1.2,
            "width": 4,
        },
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]} (%{customdata[2]})<br>"
        "%{customdata[3]}<extra></extra>",
    }


def null_chart(name: str, drawn: NullView) -> Chart:
    """The permutations as a histogram, with lines at the statistic and at its threshold."""
    middles = 0.5 * (drawn.edges[1:] + drawn.edges[:-1])
    trace = {
        "type": "bar",
        "x": middles.tolist(),
        "y": drawn.counts.tolist(),
        "width": np.diff(drawn.edges).tolist(),
        "marker": {"color": style("s3")},
        "hovertemplate": "%{y} permutations<br>at %{x:.3g}<extra></extra>",
    }
    lines = [(drawn.statistic, "mark", "solid", f"this one ({words.p_value(drawn.p_value)})", 1.0)]
    if math.isfinite(drawn.threshold):
        told = f"level {words.percent(drawn.level)}"
        lines.append((drawn.threshold, "muted", "dot", told, 0.88))
    ends = [*drawn.edges[[0, -1]].tolist(), *(line[0] for line in lines)]
    low = min(ends)
    high = max(ends)
    margin = 0.04 * (high - low or 1.0)
    middle = 0.5 * (low + high)
    return {
        "id": name,
        "traces": [trace],
        "layout": {
            "xaxis": {**titled("statistic"), "range": [low - margin, high + margin]},
            "yaxis": {**titled("permutations"), "range": [0.0, 1.25 * float(drawn.counts.max())]},
            "shapes": [_upright(x, ink, dash) for x, ink, dash, _, _ in lines],
            "annotations": [_note(x, ink, said, y, x > middle) for x, ink, _, said, y in lines],
            "bargap": 0,
        },
    }


def effect_told(effect: Effect) -> list[str]:
    """What hovering over a bar tells: name, share, interval, and the values in both samples."""
    what = "medians" if len(effect.columns) == 1 else "rank correlations"
    values = " and ".join(words.short(value) for value in (effect.value_a, effect.value_b))
    name = page.label(words.effect_name(effect))
    return [name, words.percent(effect.share), words.interval(effect), f"{what} {values}"]


def _steps(drawn: MarginalHistogram, which: int, name: str) -> Chart:
    """A histogram as a line of steps that begins and ends at zero."""
    heights = drawn.heights[which]
    column = page.label(drawn.column)
    # A step begins at the edge to its left; the first edge stands twice, the last ends all bins.
    left = [drawn.edges[0], *drawn.edges[:-1], drawn.edges[-2]]
    right = [drawn.edges[1], *drawn.edges[1:], drawn.edges[-1]]
    shares = drawn.shares[which]
    told = [shares[0], *shares, shares[-1]]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(np.concatenate([drawn.edges[:1], drawn.edges])),
        "y": numbers(np.concatenate([[0.0], heights, [0.0]])),
        "customdata": [
            [f"{low:.4g}", f"{high:.4g}", words.percent(share)]
            for low, high, share in zip(left, right, told, strict=True)
        ],
        "fill": "tozeroy",
        "fillcolor": style(SOFT[which]),
        "line": {
            "shape": "hv",
            "color": style(INKS[which]),
            "width": 1.8,
            "dash": DASHES[which],
        },
        "hovertemplate": f"<b>{page.label(name)}</b><br>{column} %{{customdata[0]}} to "
        "%{customdata[1]}<br>%{customdata[2]} of its rows<extra></extra>",
    }


def _upright(x: float, ink: str, dash: str) -> Chart:
    line = {"color": style(ink), "width": 2 if dash == "solid" else 1.5, "dash": dash}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _note(x: float, ink: str, said: str, y: float, to_the_left: bool) -> Chart:
    return {
        "x": x,
        "y": y,
        "yref": "paper",
        "text": page.label(said),
        "showarrow": False,
        "xanchor": "right" if to_the_left else "left",
        "yanchor": "top",
        "xshift": -6 if to_the_left else 6,
        "font": {"color": style(ink), "size": 13},
    }

"""The points of clusters in a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelmean._types import IntVector
from kernelmean.pictures.cluster_points import STRENGTH, PointsView
from kernelmean.pictures.html import page
from kernelmean.pictures.html.charts import Chart, numbers, style, titled
from kernelmean.pictures.html.looks import Look, legend, looks
from kernelmean.pictures.merge_tree import color_groups

UNCLEAR = "between clusters"  # name of the points that are left out of all
STOPS = 5  # points of each group that arrow keys visit


def points_charts(views: Sequence[PointsView], n_clusters: int) -> list[Chart]:
    """A chart for each plane."""
    return [_chart(f"points-{i}", view, n_clusters) for i, view in enumerate(views)]


def points_figures(views: Sequence[PointsView], drawn: Sequence[Chart]) -> str:
    """The places of the charts."""
    figures = [
        page.chart(
            str(chart["id"]),
            f"Points in {' and '.join(view.axes)}",
            page.text(" × ".join(view.axes)),
            shape=_shape(views),
        )
        for view, chart in zip(views, drawn, strict=True)
    ]
    return f'<div class="{"views" if len(views) > 1 else "single"}">{"".join(figures)}</div>'


def _shape(views: Sequence[PointsView]) -> str:
    if len(views) > 1:
        return "square"
    return "wide" if views[0].axes[1] == STRENGTH else "tile"


def _chart(name: str, view: PointsView, n_clusters: int) -> Chart:
    shown = looks(n_clusters, UNCLEAR)
    groups = color_groups(view.labels)
    rows = [np.flatnonzero(groups == group) for group in range(len(shown))]
    walk = [
        [group, i, f"{shown[group].name}, row {view.rows[row]}"]
        for group, own in enumerate(rows)
        for i, row in enumerate(own[:STOPS])
    ]
    empty = {group for group, own in enumerate(rows) if not len(own)}
    up = {"range": [0.0, 1.05]} if view.axes[1] == STRENGTH else {}
    return {
        "id": name,
        "traces": [_dots(view, look, own) for look, own in zip(shown, rows, strict=True)],
        "layout": {"xaxis": titled(view.axes[0]), "yaxis": {**titled(view.axes[1]), **up}},
        "walk": walk,
        "legend": legend(shown, empty) if len(shown) - len(empty) > 1 else [],
    }


def _dots(view: PointsView, look: Look, own: IntVector) -> Chart:
    """The points of one group; what is said of each is its row, cluster and place."""
    x, y = (page.label(axis) for axis in view.axes)
    said = "cluster %{customdata[1]}" if not look.hollow else page.label(look.name)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(view.places[own, 0]),
        "y": numbers(view.places[own, 1]),
        "customdata": np.column_stack([view.rows[own], view.labels[own]]).tolist(),
        "marker": {
            "color": style(look.ink),
            "symbol": f"{look.symbol}-open" if look.hollow else look.symbol,
            "size": 5,
            "opacity": 0.65,
        },
        "hovertemplate": f"<b>{said}</b><br>row %{{customdata[0]}}<br>"
        f"{x} %{{x:.4g}}<br>{y} %{{y:.4g}}<extra></extra>",
    }

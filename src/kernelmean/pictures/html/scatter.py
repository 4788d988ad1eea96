"""The scatter of samples, coloured by one column of metadata after another."""

from __future__ import annotations

import math
import numbers as kinds
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.pictures import Collection
from kernelmean.pictures.html import charts, facts, page

COLORS = 8
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")
FEW = 6  # distinct numbers up to which they are groups
PLAIN = "(none)"  # the choice of no column


def scatter(
    name: str, samples: Collection, metadata: Mapping[str, Sequence[object]], first: str | None
) -> charts.Chart:
    """One variant of the figure for each column, and one without any."""
    assert samples.coordinates is not None
    flat = samples.coordinates.shape[1] == 1  # one coordinate: on a line
    places = np.column_stack(
        [samples.coordinates[:, 0], 0.0 * samples.sizes if flat else samples.coordinates[:, 1]]
    )
    words = [_spoken(samples, i) for i in range(len(samples.names))]
    variants = {
        str(column): _variant(samples, places, words, list(values))
        for column, values in metadata.items()
    }
    variants[PLAIN] = _variant(samples, places, words, ["samples"] * len(samples.names))
    chosen = str(first) if first is not None else next(iter(variants))
    second = (
        {"visible": False} if flat else {**charts.titled("second coordinate"), "scaleanchor": "x"}
    )
    layout = {"xaxis": charts.titled("first coordinate"), "yaxis": second}
    return {"id": name, "variants": variants, "first": chosen, "layout": layout}


def _variant(
    samples: Collection, places: Points, words: list[str], values: list[object]
) -> dict[str, Any]:
    if _measured(values):
        return _by_number(samples, places, words, values)
    groups = _groups(values)
    traces = []
    legend = []
    walk = []
    for i, (group, rows) in enumerate(groups.items()):
        ink = f"c{i % COLORS}"
        symbol = SYMBOLS[i // COLORS % len(SYMBOLS)]
        traces.append(_trace(samples, places, rows, {"color": charts.style(ink), "symbol": symbol}))
        legend.append(
            {"name": f"{group} ({len(rows)})", "trace": i, "color": ink, "symbol": symbol}
        )
        walk += [[i, j, f"{words[row]}, {group}"] for j, row in enumerate(rows)]
    return {"traces": traces, "legend": legend if len(groups) > 1 else [], "walk": walk}


def _by_number(
    samples: Collection, places: Points, words: list[str], values: list[Any]
) -> dict[str, Any]:
    """A scale of colours; samples without a number are hollow."""
    x = np.array([math.nan if value is None else float(value) for value in values])
    known = np.flatnonzero(np.isfinite(x)).tolist()
    missing = np.flatnonzero(~np.isfinite(x)).tolist()
    marker = {
        "color": x[known].tolist(),
        "colorscale": charts.style("scale"),
        "cmin": _low(x[known]),
        "cmax": float(x[known].max()),
    }
    traces = [
        _trace(samples, places, known, marker),
        _trace(samples, places, missing, {"color": "rgba(0,0,0,0)"}),
    ]
    walk = [[0, j, f"{words[row]}, {facts.number(x[row])}"] for j, row in enumerate(known)]
    walk += [[1, j, f"{words[row]}, missing"] for j, row in enumerate(missing)]
    return {
        "traces": traces,
        "legend": [],
        "walk": walk,
        "range": [facts.number(x[known].min()), facts.number(x[known].max())],
    }


def _low(x: Vector) -> float:
    """The scale begins a little below the least, where it can be told from the paper."""
    return float(x.min() - 0.25 * (x.max() - x.min()))


def _trace(
    samples: Collection, places: Points, rows: Sequence[int], marker: dict[str, Any]
) -> charts.Chart:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": places[rows, 0].tolist(),
        "y": places[rows, 1].tolist(),
        "text": [page.label(samples.names[i]) for i in rows],
        "customdata": [_figures(samples, i) for i in rows],
        "marker": {"size": 11, "line": {"width": 1, "color": charts.style("ink")}, **marker},
        "hovertemplate": "<b>%{text}</b><br>n %{customdata[0]}<br>k %{customdata[1]}<br>error "
        "%{customdata[2]}<extra></extra>",
    }


def _figures(samples: Collection, i: int) -> list[str]:
    error = "not measured" if samples.errors is None else f"{samples.errors[i]:.2e}"
    return [facts.number(samples.sizes[i]), facts.number(samples.counts[i]), error]


def _spoken(samples: Collection, i: int) -> str:
    n, k, error = _figures(samples, i)
    return f"{samples.names[i]}: n {n}, k {k}, error {error}"


def _measured(values: list[object]) -> bool:
    """Whether a column is a quantity: numbers, and more than a few different ones."""
    present = [v for v in values if not _is_missing(v)]
    if not all(isinstance(v, kinds.Real) and not isinstance(v, (bool, np.bool_)) for v in present):
        return False
    return len(set(present)) > FEW


def _groups(values: list[object]) -> dict[str, list[int]]:
    """Rows of each value, in the order of the values; missing ones last."""
    found: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        found.setdefault("missing" if _is_missing(value) else str(value), []).append(row)
    return {
        name: found[name]
        for name in sorted(found, key=lambda name: (name == "missing", _natural(name)))
    }


def _natural(name: str) -> tuple[float, str]:
    """Numbers by size before words by letters."""
    try:
        return float(name), name
    except ValueError:
        return math.inf, name


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))

"""The colours and marks of clusters in a page, and the buttons that switch them."""

from __future__ import annotations

from typing import NamedTuple

from kernelmean.pictures.html.charts import Chart
from kernelmean.pictures.merge_tree import COLORS, MAX_COLORED

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")  # a new one when colours end


class Look(NamedTuple):
    """How one group of modes or points is drawn."""

    name: str
    ink: str  # a colour of the style sheet
    symbol: str
    hollow: bool = False


def looks(n_clusters: int, others: str) -> list[Look]:
    """The look of each group, in their order: of no cluster, of each of some, of all beyond."""
    found = [Look(others, "muted", "circle", hollow=True)]
    found += [
        Look(f"cluster {c}", f"c{c % COLORS}", SYMBOLS[c // COLORS])
        for c in range(min(n_clusters, MAX_COLORED))
    ]
    if n_clusters > MAX_COLORED:
        found.append(Look("further clusters", f"c{COLORS}", "circle"))
    return found


def legend(shown: list[Look], empty: set[int]) -> list[Chart]:
    """Buttons for the groups that have something to show."""
    return [
        {
            "name": look.name,
            "trace": group,
            "color": look.ink,
            "symbol": look.symbol,
            "hollow": look.hollow,
        }
        for group, look in enumerate(shown)
        if group not in empty
    ]

"""What the figures of the guides have in common: their size and a few shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

WIDTH = 6.4  # inches, as wide as the column of a guide


def panels(count: int = 1, height: float = 2.6, width: float = WIDTH, **options: Any) -> Any:
    """Axes side by side on a new figure; one by itself where it is one."""
    return plt.subplots(1, count, figsize=(width, height), layout="constrained", **options)[1]


def spots(ax: Axes, points: np.ndarray, **options: Any) -> Any:
    """Rows as small dots."""
    given = {"s": 3, "linewidth": 0, "rasterized": True} | options
    return ax.scatter(points[:, 0], points[:, 1], **given)


def grouped_bars(ax: Axes, groups: Mapping[str, Sequence[float]], names: Sequence[object]) -> None:
    """Bars side by side for each name, one for each group."""
    width = 0.8 / len(groups)
    for i, (group, values) in enumerate(groups.items()):
        places = np.arange(len(names)) - 0.4 + (i + 0.5) * width
        ax.bar(places, values, 0.9 * width, label=group)
    ax.set_xticks(range(len(names)), [str(name) for name in names])
    ax.legend(frameon=False)

"""Matplotlib figures; importing this module imports Matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelmean._types import Points
from kernelmean.mean import SparseKernelMean

GRID = 240


def draw_fit(mean: SparseKernelMean, X: Points, path: Path) -> None:
    """Two panels in one file: the density in the first two coordinates with its centres, and the indicator against k."""
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.1, 1])
    _density_panel(left, mean, X)
    _indicator_panel(right, mean)
    figure.savefig(path, dpi=130)


def _density_panel(axes: Axes, mean: SparseKernelMean, X: Points) -> None:
    """A slice of the density through the median of the other coordinates, and all centres sized by weight."""
    low, high = np.quantile(X[:: max(1, len(X) // 100_000)], [0.002, 0.998], axis=0)
    middle = np.median(X[:: max(1, len(X) // 100_000)], axis=0)
    u, v = np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)
    Q = np.tile(middle, (GRID * GRID, 1))
    Q[:, 0], Q[:, 1] = np.tile(u, GRID), np.repeat(v, GRID)
    picture = axes.pcolormesh(u, v, mean(Q).reshape(GRID, GRID), cmap="viridis", shading="auto", rasterized=True)
    axes.figure.colorbar(picture, ax=axes, label="density")
    sizes = 60 * mean.weights / mean.weights.max()
    axes.scatter(
        mean.centers[:, 0], mean.centers[:, 1], s=sizes, facecolors="none", edgecolors="white", linewidths=0.5, alpha=0.6
    )
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="first coordinate", ylabel="second coordinate")
    axes.set_title(f"slice of the sparse density; {mean.k} centres (circles, sized by weight)", fontsize=10)


def _indicator_panel(axes: Axes, mean: SparseKernelMean) -> None:
    """How much of the squared error that k centres can remove is still there: (E_m − E_k)/(E_1 − E_k)."""
    E = mean.indicator
    left_over = (E - E[-1]) / (E[0] - E[-1]) if E[0] > E[-1] else np.zeros_like(E)
    axes.semilogy(np.arange(1, mean.k), left_over[:-1], color="tab:blue")
    axes.set(xlabel="centres m", ylabel="$(E_m - E_k)\\,/\\,(E_1 - E_k)$")
    axes.set_title(f"error indicator; stopped at k = {mean.k} ({mean.stop_reason})", fontsize=10)
    axes.grid(alpha=0.3)

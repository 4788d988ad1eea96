"""The picture of the README: a density with its atoms and, beside it, the error.

    python -m benchmarks.readme_picture

The sample is that of ``benchmarks.readme_table``, whose density is known in closed form, so that
both errors are those against the truth: that of the atoms, and that of the exact kernel density
estimate at its best bandwidth. The picture is a dark card, which looks the same on a white page and
on a dark one.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

import kernelmean as km
from benchmarks.readme_table import RESULTS, N, draw, true_log_density

PICTURE = Path(__file__).parents[1] / "docs" / "overview.png"
CARD, INK = "#15171c", "#e6e8ee"
ACROSS, UP = np.linspace(-3.2, 6.4, 200), np.linspace(-5.0, 3.0, 168)


def main() -> None:
    X = draw(N, seed=0)
    nodes = np.stack(np.meshgrid(ACROSS, UP), axis=-1).reshape(-1, 2)
    truth = np.exp(true_log_density(nodes))
    sparse = km.SparseKDE(random_state=0).fit(X)
    # The bandwidth is that of the table, in whose units the covariance is the identity.
    L = np.linalg.cholesky(np.cov(X.T))
    units = np.linalg.inv(L).T
    bandwidth = json.loads(RESULTS.read_text())["bandwidth"]
    exact = km.KernelDensity(bandwidth=bandwidth).fit(X @ units)
    full = np.exp(exact.score_samples(nodes @ units)) / np.diag(L).prod()
    few = np.exp(sparse.score_samples(nodes))
    write(sparse, few, few - truth, full - truth)


def write(sparse: km.SparseKDE, density: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Three panels; 256 colours keep the file small."""
    figure = plt.figure(figsize=(9.6, 3.2), dpi=170, facecolor=CARD)
    axes = figure.subplots(1, 3)
    figure.subplots_adjust(left=0.015, right=0.985, top=0.88, bottom=0.13, wspace=0.05)
    panel(axes[0], density**0.5, "magma", (0.0, density.max() ** 0.5))
    turn = np.linspace(0.0, 2.0 * np.pi, 80)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    mixture = sparse.to_gaussian_mixture()
    for middle, covariance in zip(mixture.means_, mixture.covariances_, strict=True):
        ellipse = middle[:, None] + np.linalg.cholesky(covariance) @ circle
        axes[0].plot(*ellipse, color="w", lw=0.6, alpha=0.8)
    limit = float(np.quantile(np.abs(second), 0.985))
    for ax, off in zip(axes[1:], (first, second), strict=True):
        panel(ax, off, "berlin", (-limit, limit))
    titles = (
        f"a density: {sparse.mean_.k} atoms for {N:,} rows".replace(",", " "),
        "its error, against the truth",
        "error of the full kernel density estimate",
    )
    notes = (
        "ellipses: the atoms, one deviation wide",
        f"root mean square {rms(first):.1%} of the peak".replace("%", " %"),
        f"{N:,} terms, {rms(second):.1%} of the peak".replace(",0", " 0").replace("%", " %"),
    )
    for ax, title, note in zip(axes, titles, notes, strict=True):
        ax.set_title(title, color=INK, fontsize=9.5, pad=6)
        ax.set_xlabel(note, color=INK, fontsize=8.5, labelpad=6)
    buffer = io.BytesIO()
    figure.savefig(buffer)
    colors = Image.open(buffer).convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT)
    colors.save(PICTURE, optimize=True)


def rms(error: np.ndarray) -> float:
    """Root mean square of an error over the picture, in units of the peak of the density."""
    nodes = np.stack(np.meshgrid(ACROSS, UP), axis=-1).reshape(-1, 2)
    return float(np.sqrt(np.mean(error**2)) / np.exp(true_log_density(nodes)).max())


def panel(ax: plt.Axes, values: np.ndarray, colors: str, limits: tuple[float, float]) -> None:
    image = values.reshape(len(UP), len(ACROSS))
    extent = (ACROSS[0], ACROSS[-1], UP[0], UP[-1])
    low, high = limits
    ax.imshow(image, cmap=colors, vmin=low, vmax=high, origin="lower", extent=extent)
    ax.set(xticks=[], yticks=[], xlim=extent[:2], ylim=extent[2:])
    for spine in ax.spines.values():
        spine.set_visible(False)


if __name__ == "__main__":
    main()

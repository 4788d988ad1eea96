"""What every test file shares: the Hypothesis profiles, and the real data where it is present."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# CI tries the same few examples each time; ``make fuzz`` tries many new ones
# (--hypothesis-profile=fuzz).
common = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile(
    "kernelmean", **common, derandomize=True, max_examples=20, stateful_step_count=15
)
settings.register_profile(
    "fuzz",
    **common,
    max_examples=int(os.environ.get("KERNELMEAN_EXAMPLES", "1000")),
    stateful_step_count=30,
    print_blob=True,
)
settings.load_profile("kernelmean")


@pytest.fixture(scope="session")
def data() -> Path:
    """Directory of the real data sets: KERNELMEAN_DATA, or shared/data beside the repository."""
    given = os.environ.get("KERNELMEAN_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set KERNELMEAN_DATA")
    return folder


@pytest.fixture(scope="session")
def banana(data: Path) -> np.ndarray:
    """The banana set: 5300 points in two dimensions, unit variance."""
    with np.load(data / "benchmark11" / "banana.npz", allow_pickle=False) as file:
        X = file["X"]
    X.flags.writeable = False
    return X

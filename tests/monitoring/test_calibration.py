"""Run lengths are those asked for: of rows of the reference, and of new rows."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.monitoring.calibration import RunLengths, _smoothed
from kernelmean.monitoring.windows import Windows


def mean_run_length(monitor, rows):
    """Rows per alarm, all beginning anew after each."""
    baseline = monitor.state.baseline
    Z = baseline.features(rows)
    used = alarms = 0
    while used < len(Z):
        found = Windows.empty(baseline.judge).add(
            Z[used:], baseline.judge, baseline.threshold, compiled=True
        )
        used += found.used
        alarms += found.alarmed
    return len(Z) / alarms


@pytest.mark.parametrize(
    ("d", "run_length"), [(1, 100.0), (4, 200.0), (20, 100.0)], ids=["1-D", "4-D", "20-D"]
)
def test_run_lengths_of_rows_of_the_reference(d, run_length):
    """600 alarms: 4 % of chance in the mean, and as much in the threshold."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(4, size=(3000, d))
    monitor = km.DriftMonitor(X, run_length=run_length, window=300, random_state=0)
    rows = X[rng.integers(len(X), size=int(600 * run_length))]
    assert mean_run_length(monitor, rows) == pytest.approx(run_length, rel=0.2)


def test_run_lengths_of_new_rows_over_several_references():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(8):
        X = rng.normal(size=(2000, 3)) @ np.tri(3)
        monitor = km.DriftMonitor(X, run_length=200, window=200, random_state=seed)
        found.append(mean_run_length(monitor, rng.normal(size=(20_000, 3)) @ np.tri(3)))
    assert np.mean(found) == pytest.approx(200.0, rel=0.25)


def test_longer_run_lengths_have_higher_thresholds():
    X = np.random.default_rng(2).normal(size=(1000, 2))
    found = [
        km.DriftMonitor(X, run_length=length, window=100, random_state=0).threshold
        for length in (100, 1000, 1e6, 1e12)
    ]
    assert found == sorted(found)
    assert found[-1] > found[0] + 5.0


def test_run_lengths_and_levels_are_inverse_to_each_other():
    lengths = RunLengths(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.8, 3.5]), 0.7)
    for log_length in (0.5, 2.0, 2.3, 3.5, 9.0):
        assert lengths.log_length(lengths.level(log_length)) == pytest.approx(log_length)
    assert lengths.log_length(-100.0) == 0.0


def test_levels_are_smoothed_by_a_parabola_that_never_falls():
    from kernelmean.monitoring.calibration import _Passages

    levels = np.linspace(1.0, 2.0, 15)
    truth = 1.5 + 0.9 * levels + 0.05 * levels**2
    noisy = 10.0 ** (truth + 0.01 * np.random.default_rng(3).normal(size=15))
    smooth = _smoothed(_Passages(levels, 100.0 * noisy, np.full(15, 100.0)))
    np.testing.assert_allclose(smooth.log_lengths, truth, atol=0.012)
    assert (np.diff(smooth.log_lengths) >= 0.0).all()
    assert smooth.slope > 0.5


def test_windows_are_no_longer_than_a_tenth_of_the_reference():
    from kernelmean.monitoring.windows import longest

    X = np.random.default_rng(4).normal(size=(640, 1))
    for window, expected in ((1000, 64), (64, 64), (20, 20)):
        monitor = km.DriftMonitor(X, run_length=100, window=window, random_state=0)
        assert longest(monitor.state.baseline.judge) == expected

"""The drift monitor as a detector of river: river's own checks, and what it finds."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "drift_with_river.py"
COUNTS = {"reference_rows": 300, "run_length": 1000}


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("drift_with_river", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def river():
    return pytest.importorskip("river", reason="needs river: pip install 'kernelmean[river]'")


@pytest.fixture
def detector(river):
    from kernelmean.integrations.river import KernelMeanDrift

    return KernelMeanDrift(**COUNTS)


def first_alarm(detector, values):
    """The number of the value after which the detector says so; None without any."""
    for i, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            return i
    return None


def test_the_example_says_what_it_needs(example, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "river", None)  # as if it were not installed
    assert example.main() == 1
    assert "pip install river" in capsys.readouterr().err


def test_rivers_checks(detector, river):
    """All but that of tags, which river's own detectors do not have either."""
    from river import checks, drift

    assert not hasattr(drift.ADWIN(), "_tags")
    own = [check for check in checks.yield_checks(detector) if check.__name__ != "check_tags"]
    assert len(own) > 10
    for check in own:
        check(detector.clone())


def test_a_detector_of_numbers(detector, river):
    assert isinstance(detector, river.base.DriftDetector)
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(size=400), rng.normal(3.0, 1.0, size=50))
    assert 400 <= first_alarm(detector, values.tolist()) < 420
    assert abs(detector.change - 400) < 10
    detector.update(0.0)
    assert not detector.drift_detected  # of the latest value only, as river's


def test_a_detector_of_rows_sees_what_single_columns_do_not_show(example, detector, monkeypatch):
    monkeypatch.setattr(example, "ROWS", 400)
    rng = np.random.default_rng(0)
    stream = example.rows(rng, 0.9) + example.rows(rng, -0.9)
    found = first_alarm(detector.clone(), stream)
    assert 400 <= found < 420
    shuffled = [dict(reversed(row.items())) for row in stream]  # columns go by their names
    assert first_alarm(detector.clone(), shuffled) is not None


def test_river_clones_a_detector_without_what_it_has_seen(detector):
    for value in np.random.default_rng(0).normal(size=350).tolist():
        detector.update(value)
    again = detector.clone()
    assert (again.reference_rows, again.run_length) == (300, 1000)
    assert again.monitor is None
    assert detector.monitor is not None


def test_a_detector_goes_on_after_pickling(detector):
    values = np.random.default_rng(0).normal(size=350).tolist()
    for value in values:
        detector.update(value)
    again = pickle.loads(pickle.dumps(detector))
    detector.update(0.5)
    again.update(0.5)
    assert again.monitor.statistic == detector.monitor.statistic
    assert again.monitor.n_seen == detector.monitor.n_seen


def test_river_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.delitem(sys.modules, "river.base", raising=False)
    monkeypatch.delitem(sys.modules, "kernelmean.integrations.river", raising=False)
    with pytest.raises(ImportError, match=r"needs river, .*'kernelmean\[river\]'"):
        importlib.import_module("kernelmean.integrations.river")


def test_a_classifier_of_river_starts_afresh_after_an_alarm(detector, river):
    from river import drift, linear_model

    model = drift.DriftRetrainingClassifier(
        linear_model.LogisticRegression(), detector, train_in_background=False
    )
    first = model.model
    rng = np.random.default_rng(0)
    for i, (a, b) in enumerate(rng.normal(size=(1200, 2)).tolist()):
        model.learn_one({"a": a, "b": b}, a + (b if i < 800 else -3.0 * b) > 0.0)
        if i == 799:
            assert model.model is first
    assert model.model is not first
    assert 780 < detector.change < 900

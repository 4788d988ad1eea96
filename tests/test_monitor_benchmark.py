"""The page of the drift monitor: streams are what they say, and its tables are made on little."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from benchmarks import drift_delays, drift_lengths, drift_sets, monitor
from benchmarks.drift_delays import Ours, Sizes
from benchmarks.measuring import Row
from benchmarks.tables import AbsentError

import kernelmean as km

FEW = Sizes(references=2, nulls=3, streams=3)


@pytest.fixture(scope="module")
def history() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 2))


@pytest.fixture(scope="module")
def watcher(history):
    return Ours(history, run_length=1000)


def test_run_lengths_are_those_of_watching_one_stream(history):
    watching = km.DriftMonitor(history, run_length=100, window=40, random_state=0)
    stream = np.random.default_rng(1).normal(size=(drift_lengths.CHUNK, 2))
    alarms = [alarm.row for alarm in watching.watch(np.array_split(stream, 50))]
    features = watching.state.baseline.features(stream)
    found = drift_lengths.run_lengths(watching, lambda n: features[:n], len(alarms))
    np.testing.assert_array_equal(np.cumsum(found) - 1, alarms)


def test_the_statistic_of_ours_reaches_its_threshold_where_the_monitor_says(watcher):
    rng = np.random.default_rng(2)
    stream = np.concatenate([rng.normal(size=(drift_delays.BEFORE, 2)), np.full((50, 2), 2.0)])
    statistics = watcher.statistics(stream)
    np.testing.assert_array_equal(statistics, watcher.statistics(stream))
    watcher.monitor.reset()
    start = watcher.monitor.n_seen
    reached = np.flatnonzero(statistics >= watcher.monitor.threshold)
    assert watcher.monitor.update(stream).row - start == reached[0]


def test_the_row_of_a_change_is_asked_of_alarms_after_it_alone(watcher, history):
    before = drift_delays.BEFORE
    quiet = history[:before]
    after = np.full((40, 2), 3.0)
    assert abs(watcher.change_row(np.concatenate([quiet, after])) - before) <= 4
    assert np.isnan(watcher.change_row(np.concatenate([after, quiet, after])))
    watcher.monitor.reset()


@pytest.mark.parametrize("name", drift_sets.LAWS)
def test_new_rows_are_like_the_reference_and_none_of_it(name):
    rng = np.random.default_rng(3)
    try:
        reference, draw = drift_sets.LAWS[name].split(2000, rng)
    except AbsentError as reason:
        pytest.skip(str(reason))
    fresh = draw(2000, rng)
    assert fresh.shape == reference.shape
    assert f"d = {fresh.shape[1]}" in drift_sets.LAWS[name].name
    assert np.isfinite(fresh).all()
    spread = reference.std(axis=0)
    assert (np.abs(fresh.mean(axis=0) - reference.mean(axis=0)) < 0.2 * spread).all()


def test_rows_of_a_table_are_in_the_reference_or_new():
    table = np.arange(30.0)[:, None]
    reference, draw = drift_sets.of_table(lambda: table)(20, np.random.default_rng(4))
    fresh = draw(200, np.random.default_rng(5))
    assert set(fresh.ravel()) == set(table.ravel()) - set(reference.ravel())


def test_data_that_are_absent_are_said_to_be(monkeypatch, tmp_path):
    monkeypatch.setattr(drift_sets, "DATA", tmp_path)
    drift_sets.cover.cache_clear()
    (row, *_) = drift_lengths.tables([drift_lengths.Case("cover", 100, 1000)], 1, 1)
    assert row.detail.startswith("skipped: no data")


@pytest.mark.parametrize("base", drift_sets.BASES)
@pytest.mark.parametrize("d", drift_delays.DIMENSIONS)
def test_columns_have_variance_one_and_changes_change_what_they_say(base, d):
    law = drift_sets.BASES[base](d)
    rng = np.random.default_rng(6)
    np.testing.assert_allclose(law(20_000, rng).std(axis=0), 1.0, atol=0.05)
    way = np.eye(d)[0]
    for change in drift_sets.changes(base, d):
        X = change.rows(law, 20_000, rng, way)
        mean, spread = X.mean(axis=0), X.std(axis=0)
        moved = {"mean": change.size, "mixture": 2.0 * change.size}.get(change.kind, 0.0)
        assert mean[0] == pytest.approx(moved, abs=0.06)
        if change.kind != "mixture":
            wider = 1.0 + change.size if change.kind == "variance" else 1.0
            np.testing.assert_allclose(spread, wider, rtol=0.06)


def test_scrambled_columns_do_not_depend_on_each_other():
    law = drift_sets.tilted(2)
    rng = np.random.default_rng(7)
    before = np.corrcoef(law(20_000, rng).T)[0, 1]
    for share in (0.5, 1.0):
        after = np.corrcoef(drift_sets.scrambled(law, share, 20_000, rng, np.zeros(2)).T)[0, 1]
        assert after == pytest.approx((1.0 - share) * before, abs=0.05)


def test_a_delay_that_is_not_seen_to_its_end_is_a_lower_bound():
    statistics = np.zeros((4, drift_delays.BEFORE + 10))
    statistics[:2, drift_delays.BEFORE + 3] = 1.0
    statistics[2, 5] = 1.0
    found = drift_delays.mean_delay(statistics, 0.5)
    assert (found.streams, found.mean) == (3, (4 + 4 + 10) / 3)
    assert str(found).startswith("≥ 6.0")


def test_the_tables_of_delays_are_made(monkeypatch):
    little = {"HISTORY": 300, "WINDOW": 30, "NULL_ROWS": 600, "BEFORE": 10, "AFTER": 60}
    for name, value in little.items():
        monkeypatch.setattr(drift_delays, name, value)
    drift_delays.simulated.cache_clear()
    options = {"bases": ("tilted",), "dimensions": (2,), "sizes": FEW}
    *rows, mean = drift_delays.contests(100, **options)
    assert len(rows) == len(drift_sets.changes("tilted", 2))
    assert all(name in row.detail for row in rows for name in drift_delays.DETECTORS)
    assert mean.case == "geometric mean"
    found = [row.case for row in drift_delays.change_rows(**options)]
    assert found == [row.case for row in rows]
    drift_delays.simulated.cache_clear()


def test_the_tables_of_run_lengths_and_time_are_made(monkeypatch):
    *rows, resampled, fresh = drift_lengths.tables([drift_lengths.Case("moons", 300, 100)], 2, 4)
    assert [row.goal for row in rows] == ["0.90 … 1.10", "0.75 … 1.25"]
    assert (resampled.goal, fresh.goal) == ("≤ 0.1", "≤ 0.25")
    monkeypatch.setattr(monitor, "REFERENCE", 300)
    monkeypatch.setattr(monitor, "RUN_LENGTH", 100)
    monkeypatch.setattr(monitor, "BATCHES", {1: 20, 256: 512})
    assert [row.goal for row in monitor.throughput((10,), 1)] == ["–", "≥ 100 000"]
    (row,) = monitor.construction((2,), (100,))
    assert float(row.ratio) > 0.0


def test_memory_is_read_in_a_process_of_its_own():
    (row, file) = monitor.memory(10_000, 20_000, 100)
    assert row.case == "growth of the resident set"
    assert float(file.ratio) == 0.0


def test_the_page_has_its_tables_and_keeps_those_that_are_not_measured(monkeypatch, tmp_path):
    shown = {name: lambda: iter([Row("one", 1.0, "–", "")]) for name in monitor.tables(True)}
    assert list(shown) == list(monitor.tables(False))
    monkeypatch.setattr(monitor, "tables", lambda quick: shown)
    page = tmp_path / "monitor.md"
    monkeypatch.setattr(sys, "argv", ["monitor", "--quick", "--output", str(page)])
    monitor.main()
    text = page.read_text()
    assert all(f"### {name}" in text for name in shown)
    shown["Memory"] = lambda: iter([Row("two", 2.0, "–", "")])
    monkeypatch.setattr(sys, "argv", ["monitor", "Memory", "--output", str(page)])
    monitor.main()
    assert page.read_text().count("| one | 1.00 |") == len(shown) - 1
    assert "| two | 2.00 |" in page.read_text()

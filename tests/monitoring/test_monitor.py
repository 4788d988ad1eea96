"""The monitor as users meet it: batches, alarms, answers to them, files, and bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelmean as km
from kernelmean.compiled import threads

REFERENCE = np.random.default_rng(0).normal(size=(1000, 2))


@pytest.fixture(scope="module")
def template():
    return km.DriftMonitor(
        REFERENCE, run_length=500, window=100, columns=["a", "b"], random_state=0
    )


@pytest.fixture
def monitor(template):
    return copy.deepcopy(template)


def stream(seed=1, rows=900, change=300, by=1.5):
    X = np.random.default_rng(seed).normal(size=(rows, 2))
    X[change:, 1] += by
    return X


def cut(X, batch):
    return [X[i : i + batch] for i in range(0, len(X), batch)]


def seen_alarms(monitor, batches, answer=None):
    found = []
    for alarm in monitor.watch(batches):
        found.append((alarm.row, alarm.change, alarm.statistic, alarm.component))
        if answer is not None:
            getattr(monitor, answer)()
    return found


def test_an_alarm_says_when_since_when_and_in_what(monitor):
    X = stream()
    alarm = monitor.update(X)
    assert 300 <= alarm.row < 340
    assert abs(alarm.change - 300) <= 10
    assert alarm.statistic >= alarm.threshold == monitor.threshold
    assert 0.0 < alarm.p_value < 0.2
    assert alarm is monitor.alarm
    np.testing.assert_array_equal(alarm.window, X[alarm.change : alarm.row + 1])
    assert alarm.difference is alarm.difference
    assert alarm.difference.columns[0].columns == ("b",)
    assert str(alarm.row) in alarm.describe()
    assert monitor.n_seen == len(X)


@pytest.mark.parametrize("answer", [None, "reset", "rebase"])
def test_alarms_do_not_depend_on_how_rows_are_cut(template, answer):
    X = stream()
    one, *others = (
        seen_alarms(copy.deepcopy(template), cut(X, batch), answer) for batch in (1, 7, 256, 900)
    )
    assert len(one) >= 1
    assert all(other == one for other in others)


@pytest.mark.parametrize("batch", [1, 7, 256])
def test_updates_find_the_first_alarm_at_the_same_row(template, batch):
    monitor = copy.deepcopy(template)
    first = next(alarm for rows in cut(stream(), batch) if (alarm := monitor.update(rows)))
    whole = copy.deepcopy(template).update(stream())
    assert (first.row, first.change, first.statistic) == (whole.row, whole.change, whole.statistic)


def test_an_alarm_that_nobody_answers_is_as_if_reset(template):
    X = stream()
    unanswered, answered = copy.deepcopy(template), copy.deepcopy(template)
    assert seen_alarms(unanswered, [X]) == seen_alarms(answered, [X], "reset")
    assert len(seen_alarms(copy.deepcopy(template), [X])) > 3  # the change goes on, and is told


def test_reset_forgets_the_stream_but_counts_on(monitor):
    monitor.update(stream())
    monitor.reset()
    assert monitor.alarm is None
    assert monitor.n_seen == 900
    fresh = km.DriftMonitor(REFERENCE, run_length=500, window=100, random_state=0)
    X = stream(seed=2, change=100)
    assert monitor.update(X).row == 900 + fresh.update(X).row


def test_rebase_makes_the_rows_after_the_change_the_reference(monitor):
    X = stream(rows=1500)
    alarm = monitor.update(X[:330])
    monitor.rebase()
    assert monitor.collecting == 100 - (330 - alarm.change)
    assert "collecting" in repr(monitor)
    assert monitor.update(X[330:450]) is None
    assert monitor.collecting is None
    assert monitor.n_reference == 100
    assert monitor.update(stream(seed=5, rows=100, change=0)) is None
    back = monitor.update(stream(seed=6, rows=200, change=200))
    assert back is not None
    assert back.difference.columns[0].columns == ("b",)


def test_rebase_without_an_alarm_takes_the_latest_window(monitor):
    monitor.update(stream(change=900)[:250])
    monitor.rebase()
    assert monitor.collecting is None
    assert monitor.n_reference == 100


def test_it_is_saved_and_goes_on_exactly(template, tmp_path):
    X = stream()
    whole = seen_alarms(copy.deepcopy(template), [X], "rebase")
    for stop in (0, 1, 33, 310, 340, 500):
        monitor = copy.deepcopy(template)
        found = seen_alarms(monitor, [X[:stop]], "rebase")
        monitor.save(tmp_path / "state.km")
        for again in (
            km.load(tmp_path / "state.km"),
            pickle.loads(pickle.dumps(monitor)),
            copy.deepcopy(monitor),
            copy.copy(monitor),
        ):
            assert repr(again) == repr(monitor)
            assert found + seen_alarms(copy.deepcopy(again), [X[stop:]], "rebase") == whole


def test_a_saved_monitor_knows_its_alarm(monitor, tmp_path):
    alarm = monitor.update(stream())
    monitor.save(tmp_path / "state.km")
    again = km.load(tmp_path / "state.km")
    assert repr(again.alarm) == repr(alarm)
    assert again.alarm.difference.columns == alarm.difference.columns
    course, known = again.history(), monitor.history()
    np.testing.assert_array_equal(course.statistics, known.statistics)
    np.testing.assert_array_equal(course.rows, known.rows)
    assert again.statistic == monitor.statistic


def test_a_file_whose_parts_do_not_fit_is_refused(monitor, tmp_path):
    from kernelmean.mean import storage

    path = tmp_path / "state.km"
    monitor.save(path)
    header, arrays = storage.read(path)
    for name in ("latest", "centers", "atoms", "blocks", "pairs", "shift", "history"):
        storage.write(path, header, {**arrays, name: arrays[name][:0]})
        with pytest.raises(ValueError, match="does not hold a drift monitor that can be read"):
            km.load(path)
    storage.write(path, {**header, "columns": ["a"]}, arrays)
    with pytest.raises(ValueError, match="one name per column"):
        km.load(path)


def test_the_same_seed_gives_the_same_monitor_with_any_number_of_threads(template):
    with threads.limited(1):
        one = km.DriftMonitor(
            REFERENCE, run_length=500, window=100, columns=["a", "b"], random_state=0
        )
    assert one.threshold == template.threshold
    assert seen_alarms(one, [stream()]) == seen_alarms(copy.deepcopy(template), [stream()])
    other = km.DriftMonitor(REFERENCE, run_length=500, window=100, random_state=1)
    assert other.threshold != one.threshold


def test_rows_come_as_frames_mappings_lists_and_numbers(template):
    X = stream()[:40]
    plain = copy.deepcopy(template)
    plain.update(X)
    frame = pd.DataFrame({"b": X[:, 1], "other": "x", "a": X[:, 0]})
    for batches in (
        [frame],
        [pl.from_pandas(frame)],
        frame.to_dict("records"),
        X.tolist(),
        [X[:0], [], X],
    ):
        monitor = copy.deepcopy(template)
        for batch in batches:
            assert monitor.update(batch) is None
        assert monitor.n_seen == 40
        assert monitor.statistic == plain.statistic
    single = km.DriftMonitor(REFERENCE[:, :1], run_length=100, random_state=0)
    single.update(X[:, 0])
    single.update(0.5)
    assert single.n_seen == 41


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0], [np.nan, 0.0]], "NaN"),
        ([[1.0, np.inf]], "infinite"),
        (np.zeros((3, 3)), "3 columns, but 2"),
        ([1.0, 2.0, 3.0], "3 columns, but 2"),
        (np.zeros((0, 3)), "3 columns, but 2"),
        (1.0, "1 columns, but 2"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (pd.DataFrame({"a": [1.0], "c": [2.0]}), "no column 'b'"),
        ({"a": 1.0}, "no value of 'b'"),
    ],
)
def test_a_bad_batch_is_refused_whole(monitor, rows, told):
    monitor.update(stream()[:31])
    before = copy.deepcopy(monitor)
    with pytest.raises(ValueError, match=told):
        monitor.update(rows)
    rest = stream()[31:]
    assert monitor.n_seen == 31
    assert seen_alarms(monitor, [rest]) == seen_alarms(before, [rest])


def test_text_in_a_batch_is_refused(monitor):
    with pytest.raises(TypeError, match="'b' holds 'x'"):
        monitor.update(pd.DataFrame({"a": [1.0], "b": ["x"]}))


def test_inputs_are_left_alone(monitor):
    X = stream()
    kept = X.copy()
    X.flags.writeable = False
    alarm = monitor.update(X)
    np.testing.assert_array_equal(X, kept)
    assert not np.shares_memory(alarm.window, X)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"run_length": 10}, "run_length must be a finite number at least 100"),
        ({"run_length": np.inf}, "run_length"),
        ({"window": 5}, "window must be at least 20"),
        ({"columns": ["a"]}, "2 different names"),
        ({"columns": ["a", "a"]}, "different names"),
        ({"columns": "ab"}, "different names"),
    ],
)
def test_bad_options_are_refused(options, told):
    with pytest.raises(ValueError, match=told):
        km.DriftMonitor(REFERENCE, **options)


@pytest.mark.parametrize(
    ("reference", "error", "told"),
    [
        (REFERENCE[:1], ValueError, "one row only"),
        (REFERENCE[:, 0], ValueError, "one dimension"),
        (np.full((50, 2), np.nan), ValueError, "NaN"),
        ("data.csv", TypeError, "km.read"),
        (km.SparseKDE(), ValueError, "not fitted"),
    ],
)
def test_bad_references_are_refused(reference, error, told):
    with pytest.raises(error, match=told):
        km.DriftMonitor(reference)


def test_columns_of_a_frame_are_chosen_by_name():
    frame = pd.DataFrame(REFERENCE, columns=["a", "b"]).assign(c=1.0)
    monitor = km.DriftMonitor(frame, columns=["b", "c"], run_length=100, random_state=0)
    assert monitor.columns == ("b", "c")
    with pytest.raises(ValueError, match="no column 'd'; it has a, b, c"):
        km.DriftMonitor(frame, columns=["d"])


def test_ten_rows_are_a_reference_with_a_warning():
    with pytest.warns(km.FitWarning, match="a reference of 10 rows says little"):
        monitor = km.DriftMonitor(REFERENCE[:10], run_length=100, random_state=0)
    assert monitor.update(np.full((40, 2), 9.0)) is not None


def test_a_constant_column_that_starts_to_move_is_told():
    X = np.column_stack([REFERENCE, np.full(1000, 7.0)])
    monitor = km.DriftMonitor(X, run_length=500, random_state=0)
    Y = np.column_stack([stream(change=900)[:100], np.full(100, 7.0)])
    Y[50:, 2] += 1e-3
    alarm = monitor.update(Y)
    assert 50 <= alarm.row <= 55
    assert alarm.change >= 46
    assert alarm.difference.columns[0].columns == ("x3",)
    assert 0.0 <= alarm.p_value < 1e-6


def test_what_never_varies_is_no_reason_for_an_alarm():
    monitor = km.DriftMonitor(np.ones((300, 3)), run_length=100, window=100, random_state=0)
    assert monitor.update(np.ones((500, 3))) is None
    monitor.rebase()
    assert monitor.update(np.ones((50, 3))) is None
    assert monitor.update(2.0 * np.ones((50, 3))) is not None


def test_order_of_the_reference_and_its_size_do_not_matter_much():
    drifting = np.random.default_rng(3).normal(size=(30_000, 1)).cumsum(axis=0)
    monitor = km.DriftMonitor(drifting, run_length=200, random_state=0)
    assert monitor.n_reference == 30_000
    drawn = np.random.default_rng(4).permutation(drifting)[:300]
    assert len(seen_alarms(monitor, [drawn])) < 6


def test_a_source_is_a_reference(tmp_path):
    pd.DataFrame(REFERENCE, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)
    source = km.read(tmp_path / "rows.csv")
    monitor = km.DriftMonitor(source, run_length=500, window=100, random_state=0)
    assert monitor.columns == ("a", "b")
    array = km.DriftMonitor(np.asarray(source), run_length=500, window=100, random_state=0)
    assert monitor.threshold == array.threshold
    assert monitor.update(stream()).row == array.update(stream()).row


def test_a_fitted_mean_is_a_reference():
    frame = pd.DataFrame(np.random.default_rng(7).normal(size=(4000, 2)), columns=["a", "b"])
    density = km.SparseKDE(random_state=0).fit(frame)
    monitor = km.DriftMonitor(density, run_length=1000, window=200, random_state=0)
    assert monitor.columns == ("a", "b")
    assert monitor.n_reference == 4000
    fresh = np.random.default_rng(8).normal(size=(4000, 2))
    assert len(seen_alarms(copy.deepcopy(monitor), [fresh])) < 15
    assert monitor.update(fresh[:100] + np.array([0.0, 2.0])) is not None
    same = km.DriftMonitor(density.mean_, run_length=1000, window=200, random_state=0)
    assert same.threshold == monitor.threshold
    signed = km.sparse_kernel_mean(frame, k=40, bandwidth=2.0, spread=None, random_state=0)
    assert (signed.weights < 0.0).any()
    with pytest.raises(ValueError, match="negative weights"):
        km.DriftMonitor(signed)


def test_the_history_has_the_largest_statistics_in_bounded_memory(template):
    monitor = copy.deepcopy(template)
    X = np.random.default_rng(9).normal(size=(5000, 2))
    for rows in cut(X, 333):
        monitor.update(rows)
    course = monitor.history()
    assert len(course.rows) <= 1024
    assert course.rows[-1] == 4999
    assert course.statistics.max() < 10.0
    fine = copy.deepcopy(template)
    fine.update(X[:1000])
    width = int(np.diff(course.rows)[0])
    largest = [part.max() for part in cut(fine.history().statistics, width)]
    if fine.alarm is None:
        np.testing.assert_array_equal(course.statistics[: 1000 // width], largest[: 1000 // width])


def test_memory_does_not_grow_with_the_stream(template):
    monitor = copy.deepcopy(template)
    sizes = []
    for seed in range(3):
        monitor.update(np.random.default_rng(seed).normal(size=(20_000, 2)))
        monitor.reset()
        sizes.append(len(pickle.dumps(monitor)))
    assert max(sizes) - min(sizes) < 100


def test_a_copy_goes_its_own_way(monitor):
    other = copy.copy(monitor)
    other.update(stream()[:10])
    assert (monitor.n_seen, other.n_seen) == (0, 10)
    monitor.update(stream()[:10])
    assert monitor.statistic == other.statistic
    np.testing.assert_array_equal(monitor.history().statistics, other.history().statistics)


def test_a_new_reference_has_no_rows_from_before_the_change(monitor):
    X = stream(rows=1500, by=5.0)
    alarm = monitor.update(X[:310])
    monitor.rebase()
    awaited = monitor.collecting
    monitor.rebase()  # goes on collecting
    assert monitor.collecting == awaited == 100 - (310 - alarm.change)
    monitor.reset()
    monitor.rebase()  # what was forgotten is no reference
    assert monitor.collecting == 100


def test_a_rebase_that_is_interrupted_is_made_up_for(monitor, monkeypatch):
    from kernelmean.monitoring.reference import Baseline

    X = stream(rows=1500, by=5.0)
    monitor.update(X[:310])
    monitor.rebase()
    learn = Baseline.of
    monkeypatch.setattr(Baseline, "of", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        monitor.update(X[310:500])
    monkeypatch.setattr(Baseline, "of", learn)
    assert monitor.collecting == 0
    assert monitor.update(X[500:700]) is None
    assert monitor.n_reference == 100


def test_weights_of_a_source_count(tmp_path):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(size=1000), rng.normal(50.0, 1.0, size=1000)])
    frame = pd.DataFrame({"x": x, "w": np.repeat([1.0, 0.0], 1000)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    source = km.read(tmp_path / "rows.csv", weights="w")
    monitor = km.DriftMonitor(source, run_length=1000, window=100, random_state=0)
    assert monitor.columns == ("x",)
    assert monitor.update(rng.normal(50.0, 1.0, size=(20, 1))) is not None


def test_single_precision_is_no_change():
    rng = np.random.default_rng(4)
    X, Y = (np.column_stack([rng.integers(4, size=n) / 10, np.full(n, 0.1)]) for n in (2000, 500))
    for first, second in ((np.float64, np.float32), (np.float32, np.float64)):
        monitor = km.DriftMonitor(X.astype(first), run_length=1e4, window=100, random_state=0)
        assert monitor.update(Y.astype(second)) is None


def test_rows_of_a_frame_and_arrow_tables_are_matched_by_name(template):
    import pyarrow as pa

    frame = pd.DataFrame(stream()[:6], columns=["a", "b"])[["b", "a"]]
    plain = copy.deepcopy(template)
    plain.update(frame)
    by_row = copy.deepcopy(template)
    for _, row in frame.iterrows():
        by_row.update(row)
    by_table = copy.deepcopy(template)
    by_table.update(pa.Table.from_pandas(frame))
    assert plain.statistic == by_row.statistic == by_table.statistic


def test_columns_that_are_not_watched_may_hold_anything():
    frame = pd.DataFrame(REFERENCE, columns=["a", "b"]).assign(name="x", hole=np.nan)
    monitor = km.DriftMonitor(frame, columns=["b", "a"], run_length=100, random_state=0)
    assert monitor.columns == ("b", "a")
    monitor.update(frame[:10])


def test_two_columns_of_one_name_are_refused(monitor):
    twice = pd.DataFrame(REFERENCE, columns=["a", "a"])
    with pytest.raises(ValueError, match="more than one column 'a'"):
        km.DriftMonitor(twice)
    with pytest.raises(ValueError, match="more than one column 'a'"):
        monitor.update(pd.concat([twice, twice.set_axis(["b", "c"], axis=1)], axis=1))


@pytest.mark.parametrize(
    "rows", [None, "abc", (x for x in [1.0])], ids=["None", "text", "generator"]
)
def test_what_is_no_row_is_refused(monitor, rows):
    with pytest.raises(TypeError, match="rows of numbers"):
        monitor.update(rows)

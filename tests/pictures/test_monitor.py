"""The course of a drift monitor, its gaps, its thresholds, its alarms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelmean.monitoring.latest import Course, History
from kernelmean.pictures.monitor import LABEL_WIDTH, TALLEST, alarms_of, monitor_view

NOTHING = -np.inf


def stub(statistics, *, rows=None, threshold=3.0, alarm=None):
    """What a picture asks of a monitor."""
    rows = np.arange(len(statistics)) if rows is None else np.array(rows, dtype=np.intp)
    course = Course(rows, np.array(statistics, dtype=float))
    seen = int(rows[-1]) + 1 if len(rows) else 0
    return SimpleNamespace(history=lambda: course, threshold=threshold, alarm=alarm, n_seen=seen)


def alarm(row, change, threshold=3.0):
    return SimpleNamespace(
        row=row, change=change, statistic=threshold + 0.5, threshold=threshold, component="linear"
    )


def test_the_alarms_of_a_stream_are_in_its_picture(watched):
    monitor, alarms = watched
    view = monitor_view(monitor, reversed(alarms))
    assert [mark.row for mark in view.alarms] == [alarm.row for alarm in alarms]
    assert [mark.number for mark in view.alarms] == [1, 2]
    for mark in view.alarms:
        at = int(np.flatnonzero(view.rows == mark.row)[0])
        assert view.statistics[at] == mark.statistic >= mark.threshold == view.thresholds[at]
    assert view.width == 1
    assert view.n_seen == monitor.n_seen


def test_the_rows_of_a_new_reference_are_a_gap(watched):
    monitor, alarms = watched
    ((first, last),) = monitor_view(monitor, alarms).gaps
    assert first == alarms[0].row + 1
    assert alarms[0].change + monitor.window <= last + 1 <= alarms[1].row


def test_an_alarm_that_nobody_answered_needs_not_be_given(watched):
    monitor, alarms = watched
    assert alarms_of(monitor) == alarms[1:]
    assert alarms_of(monitor, alarms) == alarms


def test_rows_between_two_tests_are_no_gap():
    tests = [NOTHING, NOTHING, NOTHING, 0.1, NOTHING, 0.2, NOTHING, NOTHING, NOTHING, 0.3]
    view = monitor_view(stub(tests))
    assert view.rows.tolist() == [3, 5, 9]
    assert view.statistics.tolist() == [0.1, 0.2, 0.3]
    assert view.gaps.shape == (0, 2)


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_gap_breaks_the_line_once(place):
    before = [] if place == "first" else [0.1]
    after = [] if place == "last" else [0.2]
    view = monitor_view(stub([*before, *[NOTHING] * 5, *after]))
    start = len(before)
    assert view.gaps.tolist() == [[start, start + 4]]
    assert np.isnan(view.statistics).tolist() == [False] * start + [True] + [False] * len(after)
    assert np.isnan(view.thresholds).tolist() == np.isnan(view.statistics).tolist()


def test_groups_of_rows_are_a_gap_where_each_is_large():
    view = monitor_view(stub([0.1, NOTHING, NOTHING, 0.4, NOTHING], rows=[7, 15, 23, 31, 33]))
    assert view.gaps.tolist() == [[8, 23]]
    assert view.rows.tolist() == [7, 15, 31]
    assert view.width == 8


def test_every_alarm_has_the_threshold_of_its_reference():
    view = monitor_view(stub([1.0] * 8, threshold=5.0), [alarm(2, 1, 3.0), alarm(5, 4, 4.0)])
    assert view.thresholds.tolist() == [3.0] * 3 + [4.0] * 3 + [5.0] * 2
    low, high = view.range
    assert low < 0.0 < 5.0 < high


def test_an_alarm_within_a_group_has_the_threshold_of_the_group():
    view = monitor_view(
        stub([1.0, 3.5, 1.0], rows=[7, 15, 23], threshold=5.0), [alarm(12, 10, 3.0)]
    )
    assert view.thresholds.tolist() == [3.0, 3.0, 5.0]


def test_numbers_that_would_lie_on_another_are_left_out():
    near = int(LABEL_WIDTH * 1000) - 1
    rows = [100, 100 + near, 100 + 2 * near, 900]
    view = monitor_view(stub([1.0] * 1000), [alarm(row, row - 5) for row in rows])
    assert [mark.labelled for mark in view.alarms] == [True, False, True, True]


def test_statistics_below_zero_are_within_the_range():
    low, high = monitor_view(stub([-1.5, 0.2])).range
    assert low < -1.5
    assert high > 3.0


def test_a_statistic_that_would_hide_all_others_is_cut_off():
    large = [SimpleNamespace(**vars(alarm(3, 2)) | {"statistic": 4000.0})]
    view = monitor_view(stub([0.1, 0.2, 0.3, 4000.0, 0.1]), large)
    assert view.is_cut
    assert view.heights.tolist() == [view.top] == [TALLEST * 3.0]
    assert view.range[1] < 20.0
    assert not monitor_view(stub([0.1, 0.2, 0.3, 4.0]), [alarm(3, 2)]).is_cut


def test_a_monitor_that_has_seen_nothing():
    view = monitor_view(stub([]))
    assert len(view.rows) == len(view.gaps) == len(view.alarms) == 0
    assert view.range[0] < 0.0 < 1.0 < view.range[1]


def test_a_long_stream_has_few_points():
    history = History.empty()
    statistics = np.full(5000, NOTHING)
    statistics[1::2] = np.linspace(0.0, 1.0, 2500)
    history.add(statistics)
    course = history.course()
    view = monitor_view(stub(course.statistics, rows=course.rows))
    assert (view.width, len(view.gaps)) == (8, 0)
    assert np.diff(view.statistics).min() > 0.0

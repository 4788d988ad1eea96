"""The display of a drift monitor."""

from __future__ import annotations

import numpy as np

import kernelmean as km


def test_the_statistic_its_threshold_and_alarms(watched, drawn):
    monitor, alarms = watched
    display = drawn(km.plot.MonitorDisplay.from_monitor(monitor, alarms, color="black"))
    assert display.line_.get_color() == "black"
    offsets = display.alarms_.get_offsets()
    assert offsets[:, 0].tolist() == [alarm.row for alarm in alarms]
    levels = np.asarray(display.threshold_.get_ydata())
    assert set(levels[np.isfinite(levels)]) == {alarm.threshold for alarm in alarms}
    (band,) = display.gaps_
    assert band.get_x() == alarms[0].row + 1
    assert [text.get_text() for text in display.ax_.texts] == ["1", "2"]
    said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert said == ["nothing tested", "threshold", "statistic", "alarm, since its change"]


def test_changes_lead_to_their_alarms(watched, drawn):
    monitor, alarms = watched
    display = drawn(km.plot.MonitorDisplay.from_monitor(monitor, alarms))
    for path, alarm in zip(display.changes_.get_segments(), alarms, strict=True):
        assert path[:, 0].tolist() == [alarm.change, alarm.change, alarm.row]
        assert path[-1, 1] == alarm.statistic


def test_a_monitor_without_rows_is_drawn_too(watched, drawn):
    display = km.plot.MonitorDisplay.from_monitor(*watched)
    nothing = display.view._replace(
        rows=np.zeros(0, dtype=np.intp),
        statistics=np.zeros(0),
        thresholds=np.zeros(0),
        gaps=np.zeros((0, 2), dtype=np.intp),
        alarms=(),
        n_seen=0,
    )
    empty = drawn(km.plot.MonitorDisplay(view=nothing).plot())
    assert len(empty.alarms_.get_offsets()) == 0
    assert len(empty.ax_.get_legend().get_texts()) == 2

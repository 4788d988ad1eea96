"""The statistic of a drift monitor over time: what was tested, what was reached, and alarms.

Rows are counted from 0 at the start of the stream. Of a long stream each point is the largest
statistic in a group of consecutive rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Vector
from kernelmean.monitoring.alarm import WORDS
from kernelmean.monitoring.windows import LEAST_WINDOW

if TYPE_CHECKING:
    from kernelmean.monitoring.alarm import Alarm
    from kernelmean.monitoring.latest import Course
    from kernelmean.monitoring.monitor import DriftMonitor

LABEL_WIDTH = 0.04  # of the number of an alarm, in parts of the picture
MARGINS = np.array([-0.03, 0.1])  # below and above all statistics, in parts of their range
TALLEST = 5.0  # thresholds that a picture is high, at most
ROW = "row of the stream"  # titles of the axes
STATISTIC = "statistic"


class AlarmMark(NamedTuple):
    """An alarm as a picture shows it."""

    number: int  # from 1, in the order of the stream
    row: int
    change: int  # the row with which the change seems to have begun
    statistic: float
    threshold: float  # of its own reference
    what: str  # "the mean"
    labelled: bool = True  # whether its number has room in the picture


class MonitorView(NamedTuple):
    """A statistic over time with its threshold, and the alarms in it."""

    rows: IntVector  # (m,) the last row of each group
    statistics: Vector  # (m,) the largest there; NaN once for each gap
    thresholds: Vector  # (m,) that of the reference of its time; NaN once for each gap
    gaps: NDArray[np.intp]  # (g, 2) first and last rows between which nothing was tested
    alarms: tuple[AlarmMark, ...]
    width: int  # rows of a group, at most
    n_seen: int

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the axis of statistics: zero, thresholds and the top are within."""
        drawn = np.concatenate([self.statistics, self.thresholds, [0.0]])
        ends = np.array([np.nanmin(drawn), self.top])
        low, high = (ends + MARGINS * np.ptp(ends)).tolist()
        return low, high

    @property
    def top(self) -> float:
        """Where statistics are cut off: beyond it no threshold could be told from zero."""
        threshold = float(np.nanmax([*self.thresholds, 1.0]))
        return min(self._largest, TALLEST * threshold)

    @property
    def is_cut(self) -> bool:
        """Whether a statistic lies beyond the top."""
        return self._largest > self.top

    @property
    def _largest(self) -> float:
        marks = [alarm.statistic for alarm in self.alarms]
        return float(np.nanmax([*self.statistics, *self.thresholds, *marks, 1.0]))

    @property
    def heights(self) -> Vector:
        """(alarms,) where alarms are drawn: at their statistics, or at the top."""
        return np.minimum([alarm.statistic for alarm in self.alarms], self.top)


def monitor_view(monitor: DriftMonitor, alarms: Iterable[Alarm] = ()) -> MonitorView:
    """The course of a monitor, and these alarms in the order of the stream."""
    course = monitor.history()
    known = alarms_of(monitor, alarms)
    firsts = np.concatenate([[0], course.rows[:-1] + 1]).astype(np.intp)[: len(course.rows)]
    gaps = _gaps(course, firsts)
    tested = course.statistics > -np.inf
    kept = tested.copy()
    kept[[start for start, _ in gaps]] = True
    return MonitorView(
        rows=course.rows[kept],
        statistics=np.where(tested, course.statistics, np.nan)[kept],
        thresholds=np.where(tested, _thresholds(monitor, known, firsts), np.nan)[kept],
        gaps=np.array(
            [(firsts[start], course.rows[stop - 1]) for start, stop in gaps], dtype=np.intp
        ).reshape(-1, 2),
        alarms=_marks(known, monitor.n_seen),
        width=int((course.rows - firsts).max(initial=0)) + 1,
        n_seen=monitor.n_seen,
    )


def alarms_of(monitor: DriftMonitor, alarms: Iterable[Alarm] = ()) -> list[Alarm]:
    """The alarms in the order of the stream, with the monitor's own that nobody has answered."""
    known = {alarm.row: alarm for alarm in alarms}
    if monitor.alarm is not None:
        known.setdefault(monitor.alarm.row, monitor.alarm)
    return [known[row] for row in sorted(known)]


def _gaps(course: Course, firsts: IntVector) -> list[tuple[int, int]]:
    """Groups, from the first to before the last, of so many rows that some test was left out.

    Between two tests, and before the first one, fewer rows pass than the shortest window has.
    """
    silent = np.concatenate([[False], course.statistics == -np.inf, [False]])
    starts, stops = np.flatnonzero(np.diff(silent.astype(np.int8))).reshape(-1, 2).T
    return [
        (int(start), int(stop))
        for start, stop in zip(starts, stops, strict=True)
        if course.rows[stop - 1] - firsts[start] + 1 >= LEAST_WINDOW
    ]


def _thresholds(monitor: DriftMonitor, alarms: Sequence[Alarm], firsts: IntVector) -> Vector:
    """That of the next alarm at each group, behind the last one that of the monitor."""
    levels = np.array([*(alarm.threshold for alarm in alarms), monitor.threshold])
    ends = np.array([alarm.row for alarm in alarms], dtype=np.intp)
    return np.asarray(levels[np.searchsorted(ends, firsts)])


def _marks(alarms: Sequence[Alarm], n_seen: int) -> tuple[AlarmMark, ...]:
    """Without the numbers that would lie on that of an earlier alarm."""
    found = []
    taken = -np.inf
    for number, alarm in enumerate(alarms, start=1):
        free = alarm.row - taken > LABEL_WIDTH * n_seen
        taken = alarm.row if free else taken
        found.append(
            AlarmMark(
                number,
                alarm.row,
                alarm.change,
                alarm.statistic,
                alarm.threshold,
                WORDS[alarm.component],
                free,
            )
        )
    return tuple(found)

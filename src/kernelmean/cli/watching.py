"""A stream under a monitor: its rows and their numbers, what was wrong, and when it is to end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelmean import _progress

if TYPE_CHECKING:
    from kernelmean._types import Points
    from kernelmean.files.following import Arrived
    from kernelmean.monitoring.alarm import Alarm
    from kernelmean.monitoring.monitor import DriftMonitor

STANDARD_INPUT = "-"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LATE_SECONDS = 1.0  # for which rows that have arrived are still taken in, once the end is asked for


class Ending:
    """Whether somebody has asked for the end, and since when."""

    def __init__(self) -> None:
        self._since: float | None = None

    def ask(self) -> None:
        """From now on."""
        self._since = time.monotonic()

    def asked(self) -> bool:
        """Whether it was asked for."""
        return self._since is not None

    def overdue(self, patience: float) -> bool:
        """Whether it was asked for so many seconds ago."""
        return self._since is not None and time.monotonic() - self._since >= patience


@contextmanager
def ending() -> Iterator[Ending]:
    """Ctrl-C and SIGTERM are remembered, so that nothing ends half done; a second one ends at once.

    It is for the main thread of a program.
    """
    end = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield end
        return

    def ask(*_: Any) -> None:
        end.ask()
        give_back()

    def give_back() -> None:
        for which, handler in before.items():
            signal.signal(which, handler)

    before = {which: signal.signal(which, ask) for which in SIGNALS}
    try:
        yield end
    finally:
        give_back()


class Counter:
    """How many rows have been taken in, on a terminal where somebody sees it."""

    def __init__(self, steps: Any = None) -> None:
        self._steps = steps

    def add(self, rows: int) -> None:
        """Count some more."""
        if self._steps is not None:
            self._steps.update(rows)

    def clear(self) -> None:
        """Make room for a line."""
        if self._steps is not None:
            self._steps.clear()


@contextmanager
def counting(name: str) -> Iterator[Counter]:
    """A counter for a stream whose length nobody knows."""
    if not _progress.wanted():
        yield Counter()
        return
    with _progress.bar(name) as steps:
        yield Counter(steps)


class Stream:
    """The rows of a file or of a pipe as a monitor takes them.

    Rows have numbers of their own, which count those that are left out too. They go on from those
    that the monitor has seen; where ``skip_seen``, its rows are the first of this stream, and are
    passed over.
    """

    def __init__(
        self, name: str, arriving: Iterator[Arrived], monitor: DriftMonitor, skip_seen: bool
    ) -> None:
        import numpy as np

        self.name = name
        self.title = "standard input" if name == STANDARD_INPUT else name
        self.fault: Exception | None = None
        self.unfinished: str | None = None
        self.dropped = 0
        self._arriving = arriving
        self._monitor = monitor
        self._known = monitor.n_seen  # before this stream
        self._start = 0 if skip_seen else monitor.n_seen  # what the monitor calls its first row
        self._next = self._start
        self._numbers = np.empty(0, dtype=np.int64)  # of the latest rows, up to the next one

    def batches(self, end: Ending, patience: float, counter: Counter) -> Iterator[Points]:
        """Rows that the monitor has not seen; a fault ends them, and is kept."""
        try:
            for arrived in self._arriving:
                points = self._taken(arrived)
                counter.add(len(points))
                yield points
                self.dropped = arrived.dropped
                if end.overdue(patience):
                    return
            if not end.asked():
                self._refuse_too_few()
        except (ValueError, OSError) as error:
            self.fault = error

    def placed(self, alarm: Alarm) -> Alarm:
        """The same alarm with the numbers that its rows have in this stream."""
        from dataclasses import replace

        row = self._number(alarm.row)
        self.dropped = row - alarm.row  # up to here, should the stream be left here
        return replace(alarm, row=row, change=self._number(alarm.change))

    def _number(self, row: int) -> int:
        """The number in the stream of what the monitor calls a row."""
        place = row - (self._next - len(self._numbers))
        return row if place < 0 else int(self._numbers[place])

    def _taken(self, arrived: Arrived) -> Points:
        """Remember the numbers of some rows; those of them that are new to the monitor."""
        import numpy as np

        self.unfinished = arrived.unfinished
        new = max(0, self._known - self._next)
        if not arrived.points.size:
            return np.empty((0, self._monitor.dimension))
        self._refuse_another_dimension(arrived.points.shape[1])
        late = self._numbers[max(0, len(self._numbers) - self._monitor.window) :]
        self._numbers = np.concatenate([late, self._start + arrived.rows])
        self._next += len(arrived.rows)
        return arrived.points[new:]

    def _refuse_another_dimension(self, d: int) -> None:
        wanted = self._monitor.dimension
        if d != wanted:
            raise ValueError(
                f"{self.title} has {d} column{'' if d == 1 else 's'}, but the reference has "
                f"{wanted}; use --columns."
            )

    def _refuse_too_few(self) -> None:
        if self._next < self._known:
            raise ValueError(
                f"{self.title} has {self._next} rows, but the monitor has seen {self._known}: "
                "--skip-seen is for a file that has grown since."
            )

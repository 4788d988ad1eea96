"""What a monitor knows and keeps, and how it moves on with each row."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from kernelmean._random import Streams
from kernelmean._types import Points, Vector
from kernelmean.monitoring.alarm import Alarm
from kernelmean.monitoring.change import change_point
from kernelmean.monitoring.features import COMPONENTS
from kernelmean.monitoring.latest import History, LatestRows
from kernelmean.monitoring.reference import Baseline
from kernelmean.monitoring.windows import Found, Windows, longest

LARGEST_LOG = 300.0  # of a run length that is a number
CHUNK_ROWS = 8192  # whose features are in memory at once


@dataclass(eq=False)
class State:
    """A reference, and what has been seen of a stream since its start."""

    streams: Streams
    baseline: Baseline
    windows: Windows
    latest: LatestRows
    history: History
    rebases: int = 0
    collecting_since: int | None = None  # the first row of the reference to be
    statistic: float = -math.inf
    alarm: Alarm | None = None

    @classmethod
    def at_the_start(cls, baseline: Baseline, window: int, streams: Streams) -> State:
        """Before any row."""
        d = baseline.features.dimension
        return cls(
            streams,
            baseline,
            Windows.empty(baseline.judge),
            LatestRows.empty(window, d),
            History.empty(),
        )

    @property
    def collecting(self) -> int | None:
        """Rows that are awaited for a new reference; None while rows are tested."""
        if self.collecting_since is None:
            return None
        return len(self.latest.ring) - (self.latest.seen - self.collecting_since)

    def advance(self, X: Points, run_length: float, columns: tuple[str, ...] | None) -> int:
        """Take rows in up to the first alarm; how many these are.

        ``alarm`` has the alarm then, and is None before. Rows are tested in chunks that need no
        more memory than there is for one.
        """
        used = 0
        self.alarm = None
        while used < len(X) and self.alarm is None:
            if self.collecting is not None:
                rows = X[used : used + self.collecting]
                self.keep(rows)
                self.rebase_when_complete(run_length)
                used += len(rows)
                continue
            rows = X[used : used + CHUNK_ROWS]
            baseline = self.baseline
            Z = baseline.features(rows)
            compiled = baseline.features.compiled
            found = self.windows.add(Z, baseline.judge, baseline.threshold, compiled)
            self.keep(rows[: found.used], found.evidence)
            used += found.used
            if found.alarmed:
                self.alarm = self._alarm_of(found, columns)
                self.start_again()
        return used

    def keep(self, rows: Points, statistics: Vector | None = None) -> None:
        """Count rows and keep the latest; those that are not tested have no statistics."""
        self.latest.add(rows)
        if statistics is None:
            statistics = np.full(len(rows), -np.inf)
        self.history.add(statistics)
        tested = statistics[statistics > -np.inf]
        if len(tested):
            self.statistic = float(tested[-1])

    def start_again(self) -> None:
        """Forget the sums of the stream."""
        self.windows = Windows.empty(self.baseline.judge)

    def rebase_when_complete(self, run_length: float) -> None:
        """Make the latest rows the reference, once there are as many as the window has."""
        if self.collecting is None or self.collecting > 0:
            return
        window = len(self.latest.ring)
        streams = self.streams.within("monitor rebase", self.rebases + 1)
        rows = streams.of("monitor new reference").permutation(self.latest.last(window))
        # Whoever interrupts this finds everything as it was: rows that are complete.
        self.baseline = Baseline.of(rows, window, run_length, window, streams)
        self.rebases += 1
        self.collecting_since = None
        self.start_again()

    def rebase(self, run_length: float) -> None:
        """Begin to collect a new reference, unless one is being collected."""
        if self.collecting is None:
            tested = min(self.windows.seen, len(self.latest.ring))
            first = self.latest.seen - tested if self.alarm is None else self.alarm.change
            self.collecting_since = max(first, self.latest.seen - len(self.latest.ring), 0)
            self.start_again()
            self.alarm = None
        self.rebase_when_complete(run_length)

    def copy(self) -> State:
        """The same, which goes its own way; what is known of the reference is shared."""
        return replace(
            self,
            windows=deepcopy(self.windows),
            latest=deepcopy(self.latest),
            history=deepcopy(self.history),
        )

    def _alarm_of(self, found: Found, columns: tuple[str, ...] | None) -> Alarm:
        baseline = self.baseline
        latest = self.latest.last(self.windows.seen)
        since = change_point(baseline.features, baseline.judge, latest, found.component)
        statistic = float(found.evidence[-1])
        length = 10.0 ** min(baseline.run_lengths.log_length(statistic), LARGEST_LOG)
        return Alarm(
            row=self.latest.seen - 1,
            change=self.latest.seen - since,
            statistic=statistic,
            threshold=baseline.threshold,
            p_value=-math.expm1(-longest(baseline.judge) / length),
            component=COMPONENTS[found.component],
            window=latest[len(latest) - since :].copy(),
            reference=baseline.rows,
            columns=columns,
            streams=self.streams.within("monitor difference", self.latest.seen),
        )

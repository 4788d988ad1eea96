"""Alarms as a command tells them: one line for people, one JSON object for machines."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelmean.cli import differences, results, watching

if TYPE_CHECKING:
    from kernelmean.comparison.columns import Effect
    from kernelmean.comparison.value import Difference
    from kernelmean.monitoring.alarm import Alarm
    from kernelmean.monitoring.monitor import DriftMonitor

FEW_ALARMS = 100  # whose differences are kept


class OnAlarm(StrEnum):
    """What follows an alarm."""

    rebase = "rebase"
    reset = "reset"
    stop = "stop"


def sentence(alarm: Alarm, found: Difference) -> str:
    """When, since when and in what, and which column explains most of it."""
    return f"{alarm.describe()}{_explained(found)}"


def facts(alarm: Alarm, found: Difference) -> dict[str, Any]:
    """Everything that a program may want to know."""
    return {
        "event": "alarm",
        "row": alarm.row,
        "change": alarm.change,
        "statistic": alarm.statistic,
        "threshold": alarm.threshold,
        "p_value": alarm.p_value,
        "component": alarm.component,
        "sentence": sentence(alarm, found),
        "what_changed": differences.all_facts(found),
    }


def _explained(found: Difference) -> str:
    """The column or the pair that explains most, where one exceeds chance."""
    from kernelmean.comparison import words

    effect = words.most_telling(found)
    if effect is None:
        return ""
    if len(found.column_names) == 1:
        return f"; {_values(effect)}"
    name = words.effect_name(effect)
    subject = name if len(effect.columns) == 1 else f"how {name} go together"
    share = words.percent(effect.share)
    return f"; {subject} explains {share} of the difference, {_values(effect)}"


def _values(effect: Effect) -> str:
    """The median of a column, or the rank correlation of a pair, before and after."""
    from kernelmean.comparison import words

    what = "median" if len(effect.columns) == 1 else "correlation"
    return f"{what} {words.short(effect.value_a)} before and {words.short(effect.value_b)} since"


class Watch:
    """A monitor over a stream, and what it says."""

    def __init__(
        self,
        monitor: DriftMonitor,
        stream: watching.Stream,
        on_alarm: OnAlarm,
        as_json: bool,
        save: Path | None,
        report: Path | None,
    ) -> None:
        self.count = 0
        self._monitor = monitor
        self._stream = stream
        self._on_alarm = on_alarm
        self._as_json = as_json
        self._save = save
        self._report = report
        self._alarms: list[Alarm] = []
        self._seen = monitor.n_seen
        self._began = time.monotonic()

    def run(self, end: watching.Ending, patience: float, counter: watching.Counter) -> None:
        """Take rows in until they end, or until the first alarm that ends them."""
        for alarm in self._monitor.watch(self._stream.batches(end, patience, counter)):
            self.count += 1
            self._keep(alarm)
            counter.clear()
            try:
                self._tell(alarm)
            except BrokenPipeError as error:  # nobody listens any more: save, and end
                self._stream.fault = error
            self._answer()
            if self._on_alarm is OnAlarm.stop or self._stream.fault is not None:
                return

    def _keep(self, alarm: Alarm) -> None:
        """For the page; of many alarms without the differences, which a page has few of."""
        if self._report is not None:
            self._alarms.append(alarm if self.count <= FEW_ALARMS else replace(alarm))

    def _tell(self, alarm: Alarm) -> None:
        there = self._stream.placed(alarm)
        found = alarm.difference
        if self._as_json:
            results.show_line(facts(there, found))
        else:
            results.say(sentence(there, found))
            sys.stdout.flush()

    def _answer(self) -> None:
        if self._on_alarm is OnAlarm.rebase:
            self._monitor.rebase()
        elif self._on_alarm is OnAlarm.reset:
            self._monitor.reset()

    def finish(self) -> None:
        """Write what is to be written, and say how it ended; then raise what was wrong."""
        fault = self._stream.fault
        rows = self._monitor.n_seen - self._seen
        if fault is not None and not rows:
            raise fault
        written = self._written()
        if isinstance(fault, BrokenPipeError):
            raise fault
        self._say_end(rows, written)
        self._note_unfinished()
        if fault is not None:
            raise fault

    def _written(self) -> dict[str, str]:
        """Write the files that were asked for; their names."""
        written = {}
        if self._save is not None:
            self._monitor.save(self._save)
            written["saved"] = str(self._save)
        if self._report is not None:
            results.write_text(self._report, self._page())
            written["report"] = str(self._report)
        return written

    def _page(self) -> str:
        import kernelmean as km

        left_out = self._stream.dropped
        settings = {"rows that were left out, and are not counted": left_out} if left_out else {}
        return km.report.monitor_page(
            self._monitor, self._alarms, settings=settings, command=results.command_line()
        )

    def _say_end(self, rows: int, written: dict[str, str]) -> None:
        dropped = self._stream.dropped
        if self._as_json:
            seconds = time.monotonic() - self._began
            known = {"rows": rows, "dropped": dropped, "alarms": self.count, "seconds": seconds}
            left = {"unfinished": self._stream.unfinished}
            results.show_line({"event": "end", **known, **left, **written})
            return
        from kernelmean.comparison.words import counted

        said = [counted(rows, "row"), counted(self.count, "alarm")]
        said += [f"{counted(dropped, 'row')} left out"] * bool(dropped)
        said += [f"{name} {path}" for name, path in written.items()]
        results.say(", ".join(said))

    def _note_unfinished(self) -> None:
        left = self._stream.unfinished
        if left is None:
            return
        if Path(self._stream.name).is_dir():
            results.note(f"{left} of {self._stream.name} was never complete, and is left out.")
        else:
            where = self._stream.title
            results.note(f"{where} ends in the middle of a line, which is left out: {left!r}.")

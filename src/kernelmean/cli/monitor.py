"""``kernelmean monitor``: watch rows as they arrive, and say when and in what they change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelmean.cli import declare, references, results, watching
from kernelmean.cli import options as o
from kernelmean.cli.alarms import OnAlarm, Watch
from kernelmean.cli.watching import STANDARD_INPUT

if TYPE_CHECKING:
    from kernelmean.files.following import Arrived
    from kernelmean.monitoring.monitor import DriftMonitor

ALARMED = 3  # the exit code


Reference = Annotated[
    str,
    declare.Argument(
        metavar="REFERENCE",
        help="What is usual: a model that fit has written, a file of rows, or a monitor that "
        "--save has written, which goes on.",
    ),
]
Rows = Annotated[
    str,
    declare.Argument(
        metavar="DATA",
        help="What is watched: a file, a folder of parquet files, or - for standard input.",
    ),
]
Follow = Annotated[
    bool,
    declare.Option(
        "--follow",
        help="Go on as a csv or tsv file grows, or as parquet files come to a folder, until "
        "Ctrl-C.",
    ),
]
RunLength = Annotated[
    float | None,
    declare.Option(
        metavar="ROWS", show_default="10000", help="Rows to a false alarm that are expected."
    ),
]
Window = Annotated[
    int | None,
    declare.Option(
        metavar="ROWS",
        show_default="1000",
        help="The latest rows that are kept: in these a change is looked for, and so many make a "
        "new reference.",
    ),
]
After = Annotated[
    OnAlarm,
    declare.Option(
        "--on-alarm",
        help="The rows since the change become the new reference (rebase), it stays the old one "
        "(reset), or the command ends (stop).",
    ),
]
SkipSeen = Annotated[
    bool,
    declare.Option(
        "--skip-seen",
        help="DATA is what a saved monitor has watched before, and has grown: pass over the rows "
        "that it has seen.",
    ),
]
Save = Annotated[
    Path | None,
    declare.Option(metavar="STATE.km", help="Write the monitor at the end, and on Ctrl-C."),
]
Seed = Annotated[
    int | None,
    declare.Option(
        min=0,
        show_default="0",
        help="Seed of everything that is drawn: the same seed gives the same result.",
    ),
]
AsJson = Annotated[
    bool, declare.Option("--json", help="Each alarm, and the end, as a line of JSON.")
]


def command(
    reference: Reference,
    data: Rows,
    follow: Follow = False,
    run_length: RunLength = None,
    window: Window = None,
    on_alarm: After = OnAlarm.rebase,
    skip_seen: SkipSeen = False,
    save: Save = None,
    columns: o.Columns = None,
    transform: o.TransformName = None,
    drop_na: o.DropNa = False,
    report: o.Report = None,
    seed: Seed = None,
    as_json: AsJson = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Watch rows as they arrive, and say when they have changed, since when, and in what.

    One line per alarm, as soon as it comes. The exit code is 3 where there was an alarm, 0 where
    there was none, and 2 where a row could not be read, alarm or not. Rows are counted from 0,
    those that --drop-na leaves out included; with a saved monitor they go on from the rows that it
    has seen. With --follow Ctrl-C is the normal end.

    \b
    Examples:
      kernelmean monitor model.km --follow data.csv
      kernelmean monitor before.csv after.csv --report drift.html
      kernelmean monitor model.km new.csv --run-length 1000 --save state.km --json
      kernelmean monitor state.km --follow data.csv --skip-seen --save state.km
    """
    o.ready(report)
    o.ready(save)
    known = references.opened(reference)
    _refuse_what_cannot_be(reference, data, [save, report], skip_seen, _goes_on(known))
    _refuse_what_is_not_there(data, follow)
    asked = references.Asked(run_length, window, columns, transform, drop_na, seed)
    live = follow or data == STANDARD_INPUT
    with results.watching(quiet):
        monitor = references.monitor_of(reference, known, asked)
        with watching.ending() as end, watching.counting("watching") as counter:
            rows = _arriving(monitor, data, asked, follow, end)
            stream = watching.Stream(data, rows, monitor, skip_seen)
            watch = Watch(monitor, stream, on_alarm, as_json, save, report)
            watch.run(end, watching.LATE_SECONDS if live else 0.0, counter)
        watch.finish()
    if end.asked() and not live:
        raise KeyboardInterrupt
    if watch.count:
        raise declare.Exit(ALARMED)


def _goes_on(known: object) -> bool:
    """Whether it is a monitor that was saved."""
    if known is None:
        return False
    import kernelmean as km

    return isinstance(known, km.DriftMonitor)


def _refuse_what_cannot_be(
    reference: str, data: str, written: list[Path | None], skip_seen: bool, goes_on: bool
) -> None:
    """A ValueError for outputs in the place of inputs; a saved monitor may be written anew."""
    save, *others = written
    o.keep_apart(written, [data])
    o.keep_apart(others if goes_on else [save, *others], [reference])
    if skip_seen and not goes_on:
        raise ValueError("--skip-seen is for a saved monitor: no other has seen any rows.")


def _refuse_what_is_not_there(data: str, follow: bool) -> None:
    """An error before the work, not after it."""
    if follow or data == STANDARD_INPUT or Path(data).exists():
        return
    from kernelmean.files import column_names

    column_names(data)  # which may be one array of a file


def _arriving(
    monitor: DriftMonitor, data: str, asked: references.Asked, follow: bool, end: watching.Ending
) -> Iterator[Arrived]:
    """The rows of a stream, in the columns of the monitor where it has names for them."""
    from kernelmean.files.following import arriving

    return arriving(
        data,
        columns=asked.columns if monitor.columns is None else None,
        expected=monitor.columns,
        transform=monitor.transform,
        drop_na=asked.drop_na,
        follow=follow,
        stop=end.asked,
    )

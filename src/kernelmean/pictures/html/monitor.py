"""The page of a drift monitor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from kernelmean.comparison import words
from kernelmean.monitoring.alarm import WORDS, Alarm
from kernelmean.monitoring.monitor import DriftMonitor
from kernelmean.pictures.effects import effect_bars, marginal_histograms
from kernelmean.pictures.html import facts, page
from kernelmean.pictures.html.charts import Chart, legend_place
from kernelmean.pictures.html.difference_charts import bars_chart, bars_end, marginal_chart
from kernelmean.pictures.html.difference_columns import (
    bar_figures,
    effects_told,
    histogram_figures,
    page_paragraph,
)
from kernelmean.pictures.html.monitor_chart import course_chart
from kernelmean.pictures.monitor import MonitorView, alarms_of, monitor_view

MAX_SHOWN = 6  # alarms of which it is shown what changed: half of them the first, half the last
MAX_LISTED = 100  # alarms in the table, in the same way
ACROSS = 3  # figures for each of them: bars, and histograms of the first columns
LEAST_BINS = 8  # of these histograms: few rows have 2·n^⅓, so that bins are not alone
MAX_NAMED = 12  # columns that are listed
LEAST_CHANCE = 1e-6  # below it "less than 1 in 1 000 000" is said

Item = TypeVar("Item")


def monitor_page(
    monitor: DriftMonitor,
    alarms: Iterable[Alarm] = (),
    *,
    settings: Mapping[str, object] | None = None,
    command: str | Sequence[str] = "",
    title: str = "",
) -> str:
    """Write what a drift monitor has seen as one self-contained HTML page.

    The page has the statistic over time with its threshold, all alarms in a table, and what changed
    at each of them: at the first and the last ones where there are many.

    Parameters
    ----------
    monitor : DriftMonitor
        The monitor, at any time.
    alarms : iterable of Alarm, default=()
        The alarms that :meth:`DriftMonitor.update` or :meth:`DriftMonitor.watch` has raised so far.
        The one that the monitor has as its ``alarm`` is shown in any case.
    settings : mapping of str to object, default=None
        More rows for the table of settings.
    command : str or sequence of str, default=""
        The command that reproduces the page, as a line or as a list of arguments.
    title : str, default=""
        Heading of the page; by default the number of alarms.

    Returns
    -------
    page : str
        The page, to be written to a file in UTF-8. It asks for nothing from a network. Of the data
        it holds histograms and medians. Time is that of at most six differences, which alarms
        remember, and O(m + r) for m ≤ 1024 points of the course and r alarms, as is
        memory.

    See Also
    --------
    kernelmean.DriftMonitor : Watches a stream.
    kernelmean.plot.MonitorDisplay : The statistic over time by Matplotlib.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> monitor = km.DriftMonitor(rng.normal(size=(500, 2)), run_length=1000, random_state=0)
    >>> alarms = list(monitor.watch([rng.normal(size=(100, 2)), rng.normal(3.0, 1.0, (20, 2))]))
    >>> page = km.report.monitor_page(monitor, alarms[:1])
    >>> "alarm" in page
    True
    """
    known = alarms_of(monitor, alarms)
    view = monitor_view(monitor, known)
    course = course_chart("course", view)
    shown, left_out = _ends(list(enumerate(known, start=1)), MAX_SHOWN)
    details = [_detail(number, alarm) for number, alarm in shown]
    sections = [
        page.section("facts", "In numbers", page.facts(_numbers(monitor, known))),
        _course_section(view, course),
        _alarms_section(known, {number for number, _ in shown}, left_out),
        *(detail.section for detail in details),
        facts.settings_section(_settings(monitor), settings),
        facts.reproduce_section(command),
    ]
    heading = title or f"{_alarms_counted(known)} in {_counted(monitor.n_seen, 'row')}"
    charts = [course, *(chart for detail in details for chart in detail.charts)]
    lede = page.text(words.unbroken(_lede(monitor, known)))
    return page.render(page.Page("monitor", heading, lede, sections, charts))


def _alarms_counted(alarms: Sequence[Alarm]) -> str:
    return _counted(len(alarms), "alarm") if alarms else "No alarm"


def _counted(count: int, what: str) -> str:
    return f"{facts.number(count)} {what}{'' if count == 1 else 's'}"


def _lede(monitor: DriftMonitor, alarms: Sequence[Alarm]) -> str:
    once = f"one false alarm is expected in {facts.number(monitor.run_length)} rows"
    if not alarms:
        alike = "So far the rows of the stream look like those of the reference"
        return f"{alike if monitor.n_seen else 'No row has been seen yet'}; {once}."
    last = alarms[-1]
    which = "It" if len(alarms) == 1 else "The last of them"
    return (
        f"{which} came at row {facts.number(last.row)}: the rows since row "
        f"{facts.number(last.change)} differ from the reference in {WORDS[last.component]}. "
        f"Without any change {once}."
    )


def _numbers(monitor: DriftMonitor, alarms: Sequence[Alarm]) -> dict[str, str]:
    return {
        "rows seen": facts.number(monitor.n_seen),
        "alarms": facts.number(len(alarms)),
        "state": _state(monitor),
        "rows of the reference": facts.number(monitor.n_reference),
        "columns": facts.number(monitor.dimension),
        "rows to a false alarm": facts.number(monitor.run_length),
        "rows of the window": facts.number(monitor.window),
    }


def _state(monitor: DriftMonitor) -> str:
    if monitor.collecting is not None:
        return f"new reference in {_counted(monitor.collecting, 'row')}"
    return "testing" if monitor.alarm is None else "alarm"


def _settings(monitor: DriftMonitor) -> dict[str, object]:
    names = monitor.columns
    listed = "without names" if names is None else ", ".join(names[:MAX_NAMED])
    more = ", …" if names is not None and len(names) > MAX_NAMED else ""
    transform = {} if monitor.transform is None else {"transform": monitor.transform}
    return {
        "columns": listed + more,
        **transform,
        "expected rows to a false alarm": facts.number(monitor.run_length),
        "rows of the window": facts.number(monitor.window),
        "threshold of the present reference": f"{monitor.threshold:.2f}",
    }


def _course_section(view: MonitorView, chart: Chart) -> str:
    """The statistic over time, and what is drawn there."""
    said = "After every second row the latest rows are compared with the reference."
    if view.width > 1:
        said = f"Each point is the largest statistic in {facts.number(view.width)} rows."
    if view.alarms:
        said += (
            " An alarm is raised where the statistic reaches the threshold. The dotted line begins "
            "at the row with which the change seems to have begun, and ends at its alarm."
        )
        if np.ptp(view.thresholds[np.isfinite(view.thresholds)]) > 0.0:
            said += " A new reference has a threshold of its own."
    if view.is_cut:
        said += f" Statistics beyond {view.top:.3g} are drawn at the top."
    if len(view.gaps):
        said += " In the bands nothing was tested, as while rows of a new reference are collected."
    place = page.chart("course", "The statistic over time", page.text(said), shape="wide")
    controls = f'<div class="controls">{legend_place([chart])}</div>'
    return page.section("time", "The statistic over time", controls, place)


def _alarms_section(alarms: Sequence[Alarm], shown: set[int], left_out: int) -> str:
    """All alarms as a table; what explains most for those that are shown at length."""
    if not alarms:
        return page.section("alarms", "Alarms", page_paragraph("There has been none."))
    listed, hidden = _ends(list(enumerate(alarms, start=1)), MAX_LISTED)
    head = ("alarm", "row", "since row", "delay", "statistic", "threshold", "by chance",
            "changed", "explains most")  # fmt: skip
    rows = [_alarm_row(number, alarm, number in shown) for number, alarm in listed]
    table = page.table("Alarms in the order of the stream", head, rows, numbers=range(1, 7))
    said = (
        "Rows are counted from 0. By chance: how many streams without a change would reach the "
        "statistic within as many rows as the longest window has."
    )
    if hidden:
        said += f" {_counted(hidden, 'alarm')} between the first and the last are not listed."
    if left_out:
        verb = "is" if left_out == 1 else "are"
        half = MAX_SHOWN // 2
        said += (
            f" What changed is shown for the first {half} and the last {half}; "
            f"{_counted(left_out, 'alarm')} between them {verb} left out."
        )
    place = f'<div class="nowrap tall">{table}</div>'
    return page.section("alarms", "Alarms", page_paragraph(said), place)


def _alarm_row(number: int, alarm: Alarm, shown: bool) -> list[str]:
    telling = words.most_telling(alarm.difference) if shown else None
    told = "–"
    if telling is not None:
        told = f"{words.effect_name(telling)} ({words.percent(telling.share)})"
    return [
        str(number),
        facts.number(alarm.row),
        facts.number(alarm.change),
        facts.number(alarm.row - alarm.change),
        f"{alarm.statistic:.2f}",
        f"{alarm.threshold:.2f}",
        _chance(alarm.p_value),
        WORDS[alarm.component],
        words.unbroken(told),
    ]


def _chance(p: float) -> str:
    """A probability in plain words: "1 in 170"."""
    if p < LEAST_CHANCE:
        return f"< 1 in {facts.number(1.0 / LEAST_CHANCE)}"
    return f"1 in {facts.number(round(float(f'{1.0 / p:.2g}')))}"


class Detail(NamedTuple):
    """What is shown of one alarm at length."""

    section: str
    charts: list[Chart]


def _detail(number: int, alarm: Alarm) -> Detail:
    """What changed: in words, how much columns explain, and their histograms."""
    found = alarm.difference
    several = len(found.column_names) > 1
    effects, _ = effect_bars(found)
    bars = [effects] if several and words.stands_out(found) else []
    drawn = [bars_chart(f"alarm-{number}-explained", one, bars_end(bars)) for one in bars]
    bins = max(LEAST_BINS, round(2.0 * len(alarm.window) ** (1.0 / 3.0)))
    columns = [one.coarser(bins) for one in marginal_histograms(found)[: ACROSS - len(bars)]]
    histograms = [
        marginal_chart(f"alarm-{number}-column-{i}", one, found.names)
        for i, one in enumerate(columns)
    ]
    figures = bar_figures(bars, drawn) + histogram_figures(columns, histograms)
    section = page.section(
        f"alarm-{number}",
        f"Alarm {number}, at row {facts.number(alarm.row)}",
        page_paragraph(f"{_happened(alarm)} {_sentences(alarm)}"),
        page_paragraph(effects_told(found)) if bars else "",
        f'<div class="controls">{legend_place(histograms)}</div>',
        f'<div class="views low">{figures}</div>',
    )
    return Detail(section, [*drawn, *histograms])


def _happened(alarm: Alarm) -> str:
    many = len(alarm.window)
    rows = "The row" if many == 1 else f"The {facts.number(many)} rows"
    return (
        f"{rows} since row {facts.number(alarm.change)} (the window below) differ from the "
        f"reference in {WORDS[alarm.component]}."
    )


def _sentences(alarm: Alarm) -> str:
    """What is known of the difference, as sentences that begin with a capital letter."""
    found = alarm.difference
    said = re.sub(
        r"(?:^|(?<=\. ))(reference|window)(?= has | \()",
        lambda name: name[0].capitalize(),
        found.describe(),
    )
    if words.is_different(found) or len(found.regions):
        return said
    return f"{said} So few rows do not tell what it is that changed."


def _ends(items: Sequence[Item], most: int) -> tuple[list[Item], int]:
    """The first and the last of many, and how many are between them."""
    if len(items) <= most:
        return list(items), 0
    half = most // 2
    return [*items[:half], *items[-half:]], len(items) - 2 * half

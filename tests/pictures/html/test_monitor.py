"""The page of a drift monitor."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

import numpy as np
import pytest

from kernelmean.pictures import html as report
from kernelmean.pictures.html import monitor as drawn
from kernelmean.pictures.html import page
from tests.comparison.examples import with_p_value, with_regions
from tests.pictures.html.reading import Reader, charts


@pytest.fixture(autouse=True)
def _without_plotly(monkeypatch):
    monkeypatch.setattr(page, "plotly_packed", lambda: b"")


@pytest.fixture(scope="module")
def course(watched):
    """A page of both alarms, read; and its charts by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "plotly_packed", lambda: b"")
        html = report.monitor_page(*watched)
    return Reader(html).words, {chart["id"]: chart for chart in charts(html)}


def test_the_page_begins_with_numbers(watched, course):
    monitor, alarms = watched
    words, _ = course
    assert f"2 alarms in {monitor.n_seen} rows" in words
    assert f"came at row {alarms[1].row}: the rows since row {alarms[1].change} differ" in words
    assert re.search(r"state\s*alarm", words)
    assert re.search(r"rows of the reference\s*100", words)


def test_a_line_breaks_where_nothing_was_tested(course):
    _, found = course
    bands, line, threshold, changes, alarms = found["course"]["traces"]
    assert line["y"].count(None) == threshold["y"].count(None) == 1
    assert bands["x"].count(None) == 1
    assert changes["x"].count(None) == len(alarms["x"]) == 2
    assert len({level for level in threshold["y"] if level is not None}) == 2
    names = [item["name"] for item in found["course"]["legend"]]
    assert names == ["nothing tested", "statistic", "threshold", "change", "alarm"]


def test_every_alarm_is_a_row_with_what_changed(watched, course):
    words, found = course
    for number, alarm in enumerate(watched[1], start=1):
        assert f"Alarm {number}, at row {alarm.row}" in words
        assert f"The {len(alarm.window)} rows since row {alarm.change}" in words
        assert f"alarm-{number}-column-0" in found
    first = watched[1][0].difference.columns[0].columns[0]
    assert found["alarm-1-column-0"]["layout"]["xaxis"]["title"]["text"] == first
    assert re.search(r"1 in \d", words)
    assert "A new reference has a threshold of its own" in words
    assert "left out" not in words


def test_of_many_alarms_the_first_and_the_last_are_shown(watched):
    monitor, alarms = watched
    many = [replace(alarms[0], row=60 + i, change=55 + i) for i in range(120)]
    for alarm in many:
        alarm.__dict__["difference"] = alarms[0].difference
    quiet = copy.deepcopy(monitor)
    quiet.reset()
    html = report.monitor_page(quiet, many)
    words = Reader(html).words
    shown = [int(number) for number in re.findall(r"Alarm (\d+), at row", words)]
    assert shown == [1, 2, 3, 118, 119, 120]
    assert "the first 3 and the last 3; 114 alarms between them are left out" in words
    assert "20 alarms between the first and the last are not listed" in words
    assert len(charts(html)[0]["traces"][4]["x"]) == 120


def test_a_quiet_stream_says_so(watched):
    quiet = copy.deepcopy(watched[0])
    quiet.reset()
    html = report.monitor_page(quiet)
    words = Reader(html).words
    assert f"No alarm in {quiet.n_seen} rows" in words
    assert "There has been none." in words
    assert re.search(r"state\s*testing", words)
    (chart,) = charts(html)
    assert {"change", "alarm"}.isdisjoint(item["name"] for item in chart["legend"])
    assert chart["walk"][0][2].startswith("row ")


def test_a_monitor_that_collects_says_how_many_rows_are_awaited(watched):
    waiting = copy.deepcopy(watched[0])
    waiting.rebase()
    words = Reader(report.monitor_page(waiting)).words
    assert f"new reference in {waiting.collecting} rows" in words


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.18, "1 in 6"),
        (1.0, "1 in 1"),
        (0.00058, "1 in 1\u202f700"),
        (1e-9, "< 1 in 1\u202f000\u202f000"),
    ],
)
def test_chance_in_plain_words(p, said):
    assert drawn._chance(p) == said


def test_so_few_rows_that_nothing_is_found_are_not_told_as_alike(watched):
    alarm = copy.copy(watched[1][0])
    found = alarm.difference
    alarm.__dict__["difference"] = with_p_value(with_regions(found), 0.5)
    assert drawn._sentences(alarm).endswith("So few rows do not tell what it is that changed.")


def test_the_ends_of_a_list():
    assert drawn._ends(range(6), 6) == ([0, 1, 2, 3, 4, 5], 0)
    assert drawn._ends(range(10), 4) == ([0, 1, 8, 9], 6)
    assert np.sum(drawn._ends([], 4)[0]) == 0

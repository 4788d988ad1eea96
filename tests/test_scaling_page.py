"""The page about clusters and files is written from figures alone."""

from __future__ import annotations

import json

import pytest
from benchmarks import cluster, scaling

FIGURES = {
    "speed": {
        "n": 2e7,
        "d": 5,
        "k": 1000,
        "parts": 2,
        "repeats": 3,
        "same": True,
        "plain": 20.0,
        "one": 22.0,
        "two": 12.0,
        "machine": "M.",
    },
    "memory": {
        "n": 1e6,
        "d": 3,
        "k": 1000,
        "limit": 4e9,
        "seconds": 9.0,
        "peaks": [4.5e8, 4.6e8],
        "client": 3e8,
        "spilled": 0,
        "survived": True,
        "curve": [[0.0, 1e8, 1e8, 1e8], [1.0, 4.5e8, 4.6e8, 3e8]],
        "machine": "M.",
    },
    "rounds": {
        "n": 1e6,
        "d": 5,
        "k": 1000,
        "latency": [{"processes": 1, "median": 0.01}],
        "table": [
            {"parts": 1, "rounds": 9, "sent": 5e3, "came": 2e5},
            {"parts": 200, "rounds": 12, "sent": 5e3, "came": 3e5},
        ],
    },
}


def test_the_page_says_which_goals_are_met(tmp_path):
    pytest.importorskip("matplotlib")
    scaling.write(tmp_path, json.loads(json.dumps(FIGURES)))
    page = (tmp_path / "scaling.md").read_text()
    assert "1.83× | at least 1.6×: met" in page
    assert "+10 % | at most +15 %: met" in page
    assert "460 MB (limit 4 GB: set for n = 10⁸)" in page
    assert "$" not in page.replace("${", "")
    assert (tmp_path / "scaling.png").stat().st_size > 1000


def test_sizes_and_powers():
    assert [scaling.power(n) for n in (1e8, 2e7, 1.5e6)] == ["10⁸", "2·10⁷", "1.5·10⁶"]
    assert [scaling.size(b) for b in (12, 4.2e3, 3e9)] == ["12 B", "4.2 kB", "3 GB"]


def test_rounds_are_counted():
    found = cluster.rounds(20_000, 3, 60, [1, 4])
    assert [row["parts"] for row in found["table"]] == [1, 4]
    assert all(1 <= row["rounds"] <= 30 and row["came"] > row["sent"] > 0 for row in found["table"])

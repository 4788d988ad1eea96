"""What commands print: for people, and for machines."""

from __future__ import annotations

import re

import numpy as np

from kernelmean.cli import results
from tests.cli.inputs import SPECIES, write_models


def test_tables_are_aligned_for_people(run, tmp_path, capsys):
    write_models(tmp_path, capsys)
    lines = run("info", "model.km").out.splitlines()
    assert "columns" in lines[6]
    assert len({re.match(r"\S.*?\S  +", line).end() for line in lines}) == 1
    table = (
        run("proportions", "train.csv", "test.csv", "--label", "species")
        .out.split("\n\n")[1]
        .splitlines()
    )
    assert table[0].split() == ["class", "proportion", "lower", "upper"]
    assert len(table) == 4
    assert len({line.index(line.split()[1]) + len(line.split()[1]) for line in table}) == 1


def test_numbers_are_whole_where_they_are_whole():
    rows = [
        {"name": "a", "points": 1_000_000.0, "share": 1 / 3},
        {"name": "bb", "points": 2.0, "share": 1e-9},
    ]
    assert results.aligned(rows).splitlines() == [
        "name   points     share",
        "a     1000000  0.333333",
        "bb          2     1e-09",
    ]


def test_json_has_no_nan():
    given = {"a": float("nan"), "b": np.float64("inf"), "c": np.arange(2), "d": (True, SPECIES)}
    expected = {"a": None, "b": None, "c": [0, 1], "d": [True, SPECIES.tolist()]}
    assert results._plain(given | {"e": None}) == expected | {"e": None}

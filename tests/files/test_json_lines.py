"""One object a line: numbers, missing values and labels; what is wrong is told with its line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kernelmean as km
from kernelmean.files import json_lines, table_writer


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_are_read_by_name(tmp_path):
    path = write(
        tmp_path / "rows.jsonl",
        '{"x": 1, "name": "é", "y": 2.5}',
        "",
        '{"y": true, "name": null, "x": -1e3}',
    )
    source = km.read(path, columns="y,x")
    assert source.columns == ["y", "x"]
    np.testing.assert_array_equal(source.load().points, [[2.5, 1.0], [1.0, -1000.0]])


@pytest.mark.parametrize("gap", ['{"x": null, "y": 1}', '{"y": 1}', '{"x": NaN, "y": 1}'])
def test_what_is_not_there_is_missing(tmp_path, gap):
    path = write(tmp_path / "rows.ndjson", '{"x": 0, "y": 0}', gap)
    with pytest.raises(ValueError, match="1 row has missing"):
        km.read(path).load()
    assert km.read(path, drop_na=True).shape == (1, 2)


def test_labels_and_categories_are_any_values(tmp_path):
    lines = [json.dumps({"x": i, "kind": "ab"[i % 2]}) for i in range(6)]
    path = write(tmp_path / "rows.jsonl", *lines)
    assert list(km.read(path, labels="kind").labels) == ["a", "b"] * 3
    coded = km.read(path, categories="kind")
    assert coded.levels == {"kind": ("a", "b")}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"x": 1}', '{"x": "two"}'], "rows.jsonl, line 2: column 'x' holds 'two', but coord"),
        (['{"x": 1}', "[1]"], "rows.jsonl, line 2 cannot be read: a row is an object"),
        (['{"x": 1}', "{"], "rows.jsonl, line 2 cannot be read: it is no JSON"),
        ([" "], "rows.jsonl is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, lines, said):
    path = write(tmp_path / "rows.jsonl", *lines)
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        km.read(path).load()


def test_a_name_that_comes_late_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "FIRST_ROWS", 2)
    path = write(tmp_path / "rows.jsonl", '{"x": 1}', '{"x": 2, "y": 2}', '{"x": 3, "z": 3}')
    with pytest.raises(ValueError, match="line 3 has 'z', which none of the first 2 rows has"):
        km.read(path, drop_na=True).load()


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.ndjson"])
def test_what_is_written_is_read_again(tmp_path, name):
    with table_writer(tmp_path / name) as put:
        put({"x": np.array([0.1, np.nan]), "flag": np.array([True, False]), "name": ["a", None]})
        put({"x": np.array([-np.inf]), "flag": np.array([True]), "name": ["ü"]})
    rows = [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()]
    assert rows == [
        {"x": 0.1, "flag": True, "name": "a"},
        {"x": None, "flag": False, "name": None},
        {"x": None, "flag": True, "name": "ü"},
    ]
    assert km.read(tmp_path / name, columns="x", drop_na=True).shape == (1, 1)

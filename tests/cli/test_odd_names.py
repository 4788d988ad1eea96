"""Names of files that are not UTF-8: every command reads and writes them, and shows them with
U+FFFD.
"""

from __future__ import annotations

import contextlib
import json
import os

import numpy as np
import pytest

from kernelmean.cli import main
from tests.files.formats import Image

ODD = os.fsdecode(b"\xff")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two samples, a labelled one and a picture."""
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate("ab"):
        np.savetxt(
            f"{ODD}{name}.csv",
            rng.normal(i, 1.0, (200, 2)),
            delimiter=",",
            header="x,y",
            comments="",
        )
    rows = "".join(f"{x},{y},{'nm'[i % 2]}\n" for i, (x, y) in enumerate(rng.normal(size=(60, 2))))
    (tmp_path / f"{ODD}train.csv").write_text("x,y,kind\n" + rows)
    Image.fromarray(rng.integers(0, 255, (8, 9, 3), dtype=np.uint8)).save(f"{ODD}.png")
    return tmp_path


def said(capsys, *command):
    """What a command prints, which must be text that can be encoded."""
    with contextlib.suppress(SystemExit):
        main(list(command))
    printed = capsys.readouterr()
    printed.out.encode()
    assert printed.err == ""
    return printed.out


def test_every_command_takes_any_name(folder, capsys):
    a, b, model, page = f"{ODD}a.csv", f"{ODD}b.csv", f"{ODD}m.km", f"{ODD}r.html"
    assert (
        json.loads(said(capsys, "fit", a, "-o", model, "--report", page, "--json"))["file"]
        == "\ufffda.csv"
    )
    assert "\ufffda.csv" in (folder / page).read_text(encoding="utf-8")
    assert "\ufffdm.km" in said(capsys, "info", model)
    part, rows = f"{ODD}p.km", f"{ODD}q.csv"
    assert "\ufffdq.csv" in said(
        capsys, "query", model, "--columns", "x", "--save", part, "--sample", "9", "-o", rows
    )
    assert "\ufffdp.km" in said(capsys, "query", part)
    for ending in ("csv", "tsv.gz", "parquet", "feather"):
        scores = f"{ODD}s.{ending}"
        said(capsys, "score", model, a, "-o", scores)
        assert (
            json.loads(
                said(capsys, "score", model, scores, "--columns", "row,log_density", "--json")
            )["rows"]
            == 200
        )
    assert "\ufffdb.csv" in said(capsys, "compare", a, b)
    said(
        capsys,
        "embed",
        a,
        b,
        f"{ODD}train.csv",
        "--columns",
        "x,y",
        "--method",
        "mds",
        "-o",
        f"{ODD}e.csv",
        "--report",
        page,
    )
    assert "\ufffda" in (folder / f"{ODD}e.csv").read_text(encoding="utf-8")
    said(
        capsys, "proportions", f"{ODD}train.csv", a, "--label", "kind", "--bandwidth", "1", "--json"
    )
    said(capsys, "segment", f"{ODD}.png", "-o", f"{ODD}o.png", "--report", page, "--json")
    assert {f"{ODD}o.png", model, page} <= set(os.listdir(folder))


def test_names_that_look_alike_are_told_apart(folder, capsys):
    other = os.fsdecode(b"\xfe")
    os.rename(f"{ODD}b.csv", f"{other}a.csv")
    rows = json.loads(
        said(
            capsys,
            "embed",
            f"{ODD}a.csv",
            f"{other}a.csv",
            "--method",
            "mds",
            "--dimensions",
            "1",
            "--json",
        )
    )
    assert [row["name"] for row in rows["coordinates"]] == [r"\xffa.csv", r"\xfea.csv"]


def test_errors_show_the_name(folder, capsys):
    for command in (
        ["fit", f"{ODD}none.csv", "-o", "m.km"],
        ["info", f"{ODD}none.km"],
        ["fit", f"{ODD}a.csv", "-o", f"{ODD}a.csv"],
    ):
        with pytest.raises(SystemExit) as end:
            main(command)
        assert end.value.code == 2
        assert "\ufffd" in capsys.readouterr().err

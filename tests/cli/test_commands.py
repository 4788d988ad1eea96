"""What holds of every command: examples that run, errors in one line, whole files."""

from __future__ import annotations

import html
import importlib
import inspect
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _progress, cli
from kernelmean.cli import results
from tests.cli.inputs import cloud, write_models
from tests.files import formats

COMMANDS = ("fit", "score", "query", "compare", "embed", "proportions", "segment", "info")

REFUSED = [
    ("fit gone.csv -o m.km", "gone.csv does not exist"),
    ("fit data.csv -o m.km --columns x,z", "no column 'z'; its columns are 'x', 'y', 'w'"),
    ("fit train.csv -o m.km", "column 'species' holds 'adelie', but coordinates are numbers"),
    ("fit cells.parquet -o m.km", "column 'patient' has the type string"),
    (
        "fit holes.csv -o m.km",
        "1 row has missing or infinite values; leave them out by drop_na=True (--drop-na)",
    ),
    ("fit data.csv -o m.km --weights v", "no column 'v'"),
    ("fit data.csv -o missing/m.km", "the folder missing for m.km does not exist"),
    ("fit data.csv -o .", "is a folder, but a file is to be written there"),
    (
        "fit data.csv -o data.csv",
        "data.csv is named twice: it is read from or written to already, and would be lost",
    ),
    ("fit data.csv -o m.km --report ./m.km", "m.km is named twice"),
    ("score model.km new.csv -o ./new.csv", "new.csv is named twice"),
    ("embed before.csv after.csv -o after.csv", "after.csv is named twice"),
    ("segment photo.jpg -o photo.jpg", "photo.jpg is named twice"),
    ("fit data.csv -o m.km --k many", "--k must be auto or a whole number, got 'many'"),
    ("fit data.csv -o m.km --k 0", "k must be at least 1"),
    ("fit data.csv -o m.km --bandwidth wide", "unknown bandwidth rule 'wide'"),
    ("fit data.csv -o m.km --bandwidth -1", "bandwidth must be"),
    ("fit data.csv -o m.km --kernel square", "'square' is not one of"),
    ("fit data.csv -o m.km --transform sqrt", "unknown transform 'sqrt'"),
    ("fit data.csv", "--output"),
    (
        "fit data.csv -o m.km --report missing/r.html",
        "the folder missing for r.html does not exist",
    ),
    ("score gone.km data.csv", "gone.km"),
    ("score data.csv data.csv", "data.csv is not a kernelmean model"),
    ("score model.km gone.csv", "gone.csv does not exist"),
    ("score model.km new.csv -o s.xlsx", "names no table format that can be written"),
    ("score model.km new.csv --threshold 2", "--threshold must lie between 0 and 1"),
    (
        "score model.km new.csv --missing marginal --drop-na",
        "--drop-na leaves out the rows that --missing marginal is for.",
    ),
    (
        "score model.km new.csv --missing marginal --threshold 0.1",
        "--threshold is a log-density of whole rows",
    ),
    ("score model.km new.csv --missing ignore", "--missing"),
    ("score half.km new.csv", "half.km is damaged or incomplete"),
    ("info half.km", "half.km is damaged or incomplete"),
    ("info .", "is a directory"),
    ("compare data.csv gone.csv", "gone.csv does not exist"),
    (
        "compare new.csv data.csv",
        "data.csv has a column 'w' and new.csv has none: name the common ones by --columns",
    ),
    ("compare holes.csv new.csv", "1 row has missing or infinite values"),
    (
        "compare data.csv",
        "one file alone has nothing to be compared with: give another, or --group",
    ),
    ("compare cells.parquet --group nobody", "no column 'nobody'"),
    ("compare before.csv after.csv --group x", "--group takes the samples from one file, got 2"),
    ("compare before.csv after.csv --level 2", "--level must lie between 0 and 1, got 2"),
    ("compare before.csv after.csv --report ./after.csv", "after.csv is named twice"),
    ("compare before.csv after.csv --report missing/r.html", "the folder missing for r.html"),
    ("compare a.km --group x", "a.km is a model, which has no rows to take groups from"),
    ("embed new.csv before.csv data.csv", "data.csv has a column 'w' and new.csv has none"),
    ("embed data.csv", "at least two files, or one with --group COLUMN"),
    ("embed data.csv data.csv", "a file is named twice"),
    (
        "embed cells.parquet new.csv --group patient",
        "--group takes the samples from one file, got 2",
    ),
    ("embed cells.parquet --group nobody", "no column 'nobody'"),
    ("embed before.csv after.csv --metric cosine", "unknown metric 'cosine'"),
    (
        "embed gone.csv lost.csv -o c.xlsx",
        "names no table format that can be written",
    ),  # said before any work
    ("embed before.csv after.csv --color age", "no column 'age' to colour by"),
    ("proportions train.csv test.csv --label genus", "no column 'genus'"),
    ("proportions data.csv new.csv --label w", "w holds 300 different labels in 300 rows"),
    ("proportions train.csv test.csv --label species --solver magic", "unknown solver 'magic'"),
    ("proportions train.csv new.csv --label species --columns x,q", "no column 'q'"),
    ("segment data.csv -o out.png", "data.csv is no picture"),
    ("segment photo.jpg -o out.xyz", "names no picture format"),
    ("segment gone.png -o out.png", "gone.png"),
]


def examples(name):
    text = inspect.getdoc(importlib.import_module(f"kernelmean.cli.{name}").command)
    return [line.strip() for line in text.split("Examples:")[1].splitlines() if line.strip()]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_the_help_run(name, run, tmp_path, capsys):
    done = run(name, "--help")
    assert done.code == 0
    if name in ("score", "query", "compare", "info"):
        write_models(tmp_path, capsys)
    if name == "embed":
        annotated = pytest.importorskip("tests.files.test_annotated", reason="needs anndata")
        annotated.cells().write_h5ad(tmp_path / "cells.h5ad")
    assert examples(name)
    for line in examples(name):
        assert f"    {line}\n" in done.out, "an example is broken over lines"
        words = shlex.split(line)
        assert words[:2] == ["kernelmean", name]
        with warnings.catch_warnings():
            warnings.filterwarnings("default", "n_neighbors", UserWarning)
            ended = run(*words[1:], *(["--neighbors", "2"] if name == "embed" else []))
        assert ended.code == 0, f"{line}\n{ended.err}"
        assert ended.out
        for made in re.findall(r"(?:-o|--report|--save) (\S\S+)", line):
            assert (tmp_path / made).stat().st_size > 100


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_bad_input_is_one_line_and_exit_code_2(run, tmp_path, capsys, line, said):
    (tmp_path / "holes.csv").write_text("x,y\n0,0\nNA,1\n1,1\n")
    if "model.km" in line or "half.km" in line:
        write_models(tmp_path, capsys)
        (tmp_path / "half.km").write_bytes((tmp_path / "model.km").read_bytes()[:500])
    before = set(tmp_path.iterdir())
    done = run(*shlex.split(line))
    assert done.code == 2
    assert said in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.err.startswith("kernelmean: ")
    assert len(done.err.splitlines()) == 1
    assert set(tmp_path.iterdir()) == before


def test_reports_say_how_they_were_made_and_escape_names(run):
    formats.write_csv(Path("<script>x.csv"), cloud(60, 0, d=3))
    lines = [
        ("fit", "<script>x.csv", "-o", "m.km", "--k", 5, "--report", "r.html"),
        (
            "embed",
            "<script>x.csv",
            "<script>y.npy",
            "<b>.npy",
            "--neighbors",
            2,
            "--k",
            5,
            "--report",
            "r.html",
        ),
        ("compare", "<script>y.npy", "<b>.npy", "--report", "r.html"),
        ("segment", "<script>p.png", "-o", "s.png", "--report", "r.html"),
    ]
    for name in ("<script>y.npy", "<b>.npy"):
        np.save(name, cloud(60, len(name), d=3))
    formats.Image.open("photo.jpg").save("<script>p.png")
    for line in lines:
        done = run(*line)
        assert done.code == 0, done.err
        page = Path("r.html").read_text(encoding="utf-8")
        plain = re.sub('<span class="word">|</span>', "", page)
        assert html.escape(shlex.join(["kernelmean", *map(str, line)])) in plain.replace(
            "&#39;", "&#x27;"
        ).replace("&#34;", "&quot;")
        assert "<script>x" not in page
        assert "<script>y" not in page
        assert "<script>p" not in page


def test_debug_shows_where(run, capsys):
    with pytest.raises(FileNotFoundError):
        cli.main(["fit", "gone.csv", "-o", "m.km", "--debug"])


def test_what_nobody_expected_is_one_line_too(run, monkeypatch):
    monkeypatch.setattr("kernelmean.mean.loading.load", None)
    monkeypatch.setattr(km, "load", lambda path: 1 / 0)
    done = run("info", "model.km")
    assert done.code == 1
    assert (
        done.err
        == "kernelmean: unexpected ZeroDivisionError: division by zero (--debug shows where).\n"
    )


def test_a_missing_library_is_named(run, tmp_path, monkeypatch):
    from kernelmean.files import optional_imports as needing

    found = needing.importlib.import_module

    def missing(name, package=None):
        if name.startswith("pyarrow"):
            raise ModuleNotFoundError(name=name)
        return found(name, package)

    (tmp_path / "rows.parquet").write_bytes(b"PAR1")  # data.parquet is a link to that of all tests
    monkeypatch.setattr(needing.importlib, "import_module", missing)
    done = run("fit", "rows.parquet", "-o", "m.km")
    assert done.code == 2
    assert (
        done.err
        == "kernelmean: reading rows.parquet needs pyarrow, which is not installed: pip install "
        "'kernelmean[files]'.\n"
    )


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt, OSError(28, "No space left on device", "s.parquet"), MemoryError("9 TB")],
)
def test_nothing_is_left_half_written(run, tmp_path, monkeypatch, error):
    monkeypatch.setattr("kernelmean.files.source.MIN_BATCH_ROWS", 50)
    monkeypatch.setattr("kernelmean.files.source.BATCH_NUMBERS", 100)
    run("fit", "new.csv", "-o", "m.km", "--k", 10, "--no-certificate")
    (tmp_path / "s.parquet").write_text("what was there before")
    before, calls, actual = set(tmp_path.iterdir()), [], km.SparseKernelMean.log

    def fails_later(mean, Q):
        calls.append(len(set(tmp_path.iterdir()) - before))
        if len(calls) == 3:
            raise error
        return actual(mean, Q)

    monkeypatch.setattr(km.SparseKernelMean, "log", fails_later)
    done = run("score", "m.km", "new.csv", "-o", "s.parquet")
    assert calls == [0, 1, 1]  # it was being written
    assert set(tmp_path.iterdir()) == before
    assert (tmp_path / "s.parquet").read_text() == "what was there before"
    expected = {
        KeyboardInterrupt: (130, "kernelmean: interrupted; no file was left half-written.\n"),
        OSError: (2, "kernelmean: s.parquet: no space left on device.\n"),
        MemoryError: (2, "kernelmean: out of memory: 9 TB.\n"),
    }
    assert (done.code, done.err) == expected[error if isinstance(error, type) else type(error)]


def test_ctrl_c_inside_compiled_code_is_ctrl_c(run, tmp_path, monkeypatch):
    """A compiled call that is interrupted raises a SystemError from the KeyboardInterrupt."""

    def interrupted(*_, **__):
        raise SystemError(
            "a function returned a result with an exception set"
        ) from KeyboardInterrupt()

    monkeypatch.setattr(km.SparseKDE, "fit", interrupted)
    before = set(tmp_path.iterdir())
    done = run("fit", "new.csv", "-o", "m.km")
    assert (done.code, done.err) == (
        130,
        "kernelmean: interrupted; no file was left half-written.\n",
    )
    assert set(tmp_path.iterdir()) == before


def test_progress_is_shown_on_a_terminal_only(run, monkeypatch):
    monkeypatch.setattr(_progress, "DELAY_SECONDS", 0.0)
    np.savetxt("far.csv", cloud(300, 3, shift=3.0), delimiter=",", header="x,y", comments="")
    commands = [
        ("fit", "new.csv", "-o", "m.km", "--k", 10, "--target", "kde"),
        ("score", "m.km", "new.csv"),
        ("embed", "before.csv", "far.csv", "--neighbors", 1, "--k", 5),
        ("segment", "photo.jpg", "-o", "out.png"),
    ]
    assert [run(*line).err for line in commands] == [""] * 4
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(results, "on_terminal", lambda quiet: not quiet)
    commands[0] = (*commands[0], "--seed", 7)  # centres of the same data and seed are remembered
    shown = [run(*line).err for line in commands]
    for text, word in zip(shown, ("centres", "scoring", "samples", "climbing"), strict=True):
        assert word in text
    assert re.search(r"scoring +\d+%\|.*\| \d\d:\d\d<", shown[1])  # done, elapsed, remaining
    assert [run(*line, "--quiet").err for line in commands] == [""] * 4
    assert not _progress.wanted()

"""``kernelmean score``: the log-density of every row."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, cloud, written


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "feather", "arrow", "csv.gz"])
def test_score_writes_one_line_per_row(run, ending):
    run("fit", "new.csv", "-o", "m.km", "--k", 10, "--no-certificate")
    found = answer(
        run("score", "m.km", "data.csv", "-o", f"scores.{ending}", "--threshold", 0.05, "--json")
    )
    mean, X = km.load("m.km"), np.asarray(km.read("data.csv", columns="x,y"))
    expected = mean.log(X)
    cutoff = np.quantile(expected, 0.05)
    table = (
        np.asarray(km.read(f"scores.{ending}", columns="row,log_density"))
        if "." not in ending
        else None
    )
    if ending == "parquet":
        table = written("scores.parquet")
        assert table.columns.tolist() == ["row", "log_density", "flagged"]
        np.testing.assert_array_equal(table["flagged"], expected < found["log_density_below"])
        table = table[["row", "log_density"]].to_numpy()
    elif table is None:
        table = written(f"scores.{ending}")[["row", "log_density"]].to_numpy()
    np.testing.assert_array_equal(table[:, 0], np.arange(300))
    np.testing.assert_allclose(table[:, 1], expected, rtol=1e-12)
    assert found["rows"] == 300
    assert found["mean_log_density"] == pytest.approx(expected.mean(), rel=1e-12)
    assert found["log_density_below"] == pytest.approx(cutoff, abs=1e-9)
    assert found["flagged"] == 15


def test_score_needs_no_memory_for_the_whole_file(run, monkeypatch):
    """Batch after batch, each written before the next is read."""
    monkeypatch.setattr("kernelmean.files.source.MIN_BATCH_ROWS", 7)
    monkeypatch.setattr("kernelmean.files.source.BATCH_NUMBERS", 7 * 2)
    run("fit", "new.csv", "-o", "m.km", "--k", 10, "--no-certificate")
    seen = []
    actual = km.SparseKernelMean.log
    monkeypatch.setattr(
        km.SparseKernelMean, "log", lambda mean, Q: seen.append(len(Q)) or actual(mean, Q)
    )
    run("score", "m.km", "new.csv", "-o", "s.parquet")
    assert seen == [7] * 42 + [6]
    np.testing.assert_allclose(
        written("s.parquet")["log_density"], actual(km.load("m.km"), np.asarray(km.read("new.csv")))
    )


def test_score_treats_a_file_as_the_model_was_treated(run):
    """Columns by name whatever their order, extra ones ignored, the transform applied."""
    run(
        "fit",
        "cells.fcs",
        "-o",
        "m.km",
        "--columns",
        "CD3,FSC-A",
        "--transform",
        "arcsinh:150",
        "--k",
        8,
    )
    mean = km.load("m.km")
    assert (mean.columns, mean.transform) == (("CD3", "FSC-A"), "arcsinh:150")
    X = np.asarray(km.read("a.fcs", columns="FL1,FSC-A", transform="arcsinh:150"))
    assert answer(run("score", "m.km", "a.fcs", "--json"))["mean_log_density"] == pytest.approx(
        mean.log(X).mean()
    )
    done = run("score", "m.km", "a.fcs", "--transform", "log")
    assert done.code == 2
    assert "was fitted after arcsinh:150" in done.err
    done = run("score", "m.km", "data.csv")
    assert done.code == 2
    assert "no column 'CD3'" in done.err
    np.save("three.npy", cloud(10, 0, d=3))
    done = run("score", "m.km", "three.npy")
    assert done.code == 2
    assert "has 3 columns, but m.km was fitted on 2" in done.err


def test_rows_that_are_dropped_keep_the_numbers_of_the_others(run, tmp_path):
    (tmp_path / "holes.csv").write_text("x,y\n0,0\nNA,1\n1,1\n2,\n0,1\n")
    run("fit", "new.csv", "-o", "m.km", "--k", 10)
    done = run("score", "m.km", "holes.csv", "-o", "s.csv")
    assert done.code == 2
    assert "2 rows have missing" in done.err
    assert "--drop-na" in done.err
    assert not (tmp_path / "s.csv").exists()
    assert (
        answer(run("score", "m.km", "holes.csv", "-o", "s.csv", "--drop-na", "--json"))["rows"] == 3
    )
    assert written("s.csv")["row"].tolist() == [0, 2, 4]
    assert (
        answer(run("fit", "holes.csv", "-o", "h.km", "--k", 2, "--drop-na", "--json"))[
            "dropped_rows"
        ]
        == 2
    )

"""``kernelmean score``: the log-density of every row."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kernelmean as km
from kernelmean.cli.kept_types import Kind, converted, kinds
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


def test_rows_with_missing_values_are_scored_by_the_columns_that_they_have(run, tmp_path):
    (tmp_path / "holes.csv").write_text("x,y\n0,0\nNA,1\n1,1\n2,\n,\n")
    run("fit", "new.csv", "-o", "m.km", "--k", 10)
    marginal = ("--missing", "marginal")
    found = answer(run("score", "m.km", "holes.csv", "-o", "s.csv", *marginal, "--json"))
    table = written("s.csv")
    assert table.columns.tolist() == ["row", "log_density", "missing"]
    assert table["row"].tolist() == [0, 1, 2, 3, 4]
    assert table["missing"].tolist() == [0, 1, 0, 1, 2]
    mean = km.load("m.km")
    expected = [
        mean.log([[0.0, 0.0]])[0],
        mean.marginal("y").log([[1.0]])[0],
        mean.log([[1.0, 1.0]])[0],
        mean.marginal("x").log([[2.0]])[0],
        0.0,
    ]
    np.testing.assert_allclose(table["log_density"], expected, rtol=1e-13)
    assert (found["rows"], found["incomplete_rows"]) == (5, 3)
    assert found["mean_log_density"] == pytest.approx(np.mean(expected), rel=1e-13)
    lines = run("score", "m.km", "holes.csv", *marginal).out.splitlines()
    assert "incomplete rows   3" in lines


def test_whole_rows_have_the_same_scores_with_and_without_missing_marginal(run):
    run("fit", "new.csv", "-o", "m.km", "--k", 10)
    run("score", "m.km", "new.csv", "-o", "a.parquet")
    found = answer(
        run("score", "m.km", "new.csv", "-o", "b.parquet", "--missing", "marginal", "--json")
    )
    assert found["incomplete_rows"] == 0
    plain, marginal = written("a.parquet"), written("b.parquet")
    assert plain.columns.tolist() == ["row", "log_density"]
    assert marginal["missing"].tolist() == [0] * 300
    np.testing.assert_array_equal(marginal["log_density"], plain["log_density"])


def test_missing_values_are_told_from_infinite_ones_and_from_those_without_a_logarithm(
    run, tmp_path
):
    (tmp_path / "plus.csv").write_text("x,y\n1,2\n2,1\n3,5\n4,2\n")
    run("fit", "plus.csv", "-o", "m.km", "--bandwidth", 0.5, "--transform", "log")
    marginal = ("--missing", "marginal")
    (tmp_path / "holes.csv").write_text("x,y\n,2\n1,\n")
    run("score", "m.km", "holes.csv", "-o", "s.parquet", *marginal)
    mean = km.load("m.km")
    expected = [mean.marginal("y").log([[np.log(2.0)]])[0], mean.marginal("x").log([[0.0]])[0]]
    np.testing.assert_allclose(written("s.parquet")["log_density"], expected, rtol=1e-13)
    for bad in ("-1,", "0,1", "inf,"):
        (tmp_path / "holes.csv").write_text(f"x,y\n,2\n{bad}\n")
        done = run("score", "m.km", "holes.csv", *marginal)
        assert done.code == 2
        assert "1 row has values that are not finite after log; remove such rows" in done.err


def test_other_kernels_have_no_marginals_to_score_by(run, tmp_path):
    run("fit", "new.csv", "-o", "m.km", "--kernel", "laplacian", "--k", 10)
    (tmp_path / "holes.csv").write_text("x,y\n0,0\nNA,1\n")
    done = run("score", "m.km", "holes.csv", "-o", "s.csv", "--missing", "marginal")
    assert done.code == 2
    assert "needs a Gaussian kernel" in done.err
    assert not (tmp_path / "s.csv").exists()
    assert run("score", "m.km", "new.csv", "--missing", "marginal").code == 0


KEPT = "\n".join(
    [
        "id,code,x,y,n,m,word",
        "a,007,1.5,2,1,,A",
        "b,012,2.5,3,-2,5,3",
        '"c,d",1,3.5,4,3,6.5,"q ""x"""',
    ]
)


def test_kept_columns_of_a_text_file_stand_as_they_are_in_text(run):
    Path("k.csv").write_text(KEPT)
    run("fit", "new.csv", "-o", "m.km", "--k", 10, "--no-certificate")
    done = run("score", "m.km", "k.csv", "-o", "o.csv", "--keep", "id,code,x,m,word")
    assert done.code == 0, done.err
    lines = Path("o.csv").read_text().splitlines()
    assert lines[0] == "row,id,code,x,m,word,log_density"
    beside = [line.rpartition(",")[0] for line in lines[1:]]
    assert beside == ["0,a,007,1.5,,A", "1,b,012,2.5,5,3", '2,"c,d",1,3.5,6.5,"q ""x"""']


def test_kept_columns_have_types_where_a_table_has(run):
    Path("k.csv").write_text(KEPT)
    run("fit", "new.csv", "-o", "m.km", "--k", 10, "--no-certificate")
    done = run("score", "m.km", "k.csv", "-o", "o.jsonl", "--keep", "all")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
    assert [row.pop("log_density") < 0.0 for row in rows] == [True] * 3
    assert rows[0] == {
        "row": 0, "id": "a", "code": "007", "x": 1.5, "y": 2, "n": 1, "m": None, "word": "A",
    }  # fmt: skip
    assert [row["n"] for row in rows] == [1, -2, 3]
    assert [row["m"] for row in rows] == [None, 5.0, 6.5]
    assert [row["word"] for row in rows] == ["A", "3", 'q "x"']


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["1", "-20", "0"], Kind.whole),
        (["1", None], Kind.number),
        (["1.5", "-.5", "1e-3", "2."], Kind.number),
        (["1", "1e5"], Kind.number),
        (["12345678901234567890"], Kind.number),  # more digits than an integer has
        (["007"], Kind.word),
        (["1", "A7"], Kind.word),
        (["e5"], Kind.word),
        (["+1"], Kind.word),
        (["."], Kind.word),
    ],
)
def test_what_a_number_is(words, kind):
    values = np.array(words, dtype=object)
    (found,) = kinds(_Reader([values[:1], values[1:]]), ["column"])
    assert found == kind
    told = converted(values, found)
    expected = {Kind.whole: "i", Kind.number: "f", Kind.word: "O"}
    assert told.dtype.kind == expected[kind]


class _Reader:
    """Blocks of one column."""

    def __init__(self, parts):
        self.parts = parts

    def blocks(self, columns, labels):
        return (SimpleNamespace(labels=(part,)) for part in self.parts)

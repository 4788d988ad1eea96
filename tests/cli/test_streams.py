"""Standard input and output in the place of files, and what is written beside scores."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

from kernelmean.files import standard_input
from tests.cli.inputs import answer, cloud, write_models, written


@pytest.fixture
def typed(monkeypatch):
    """A function that puts bytes on standard input."""

    def put(data):
        text = data.encode() if isinstance(data, str) else data
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        standard_input.forget()

    yield put
    standard_input.forget()


def as_csv(X, delimiter=","):
    lines = [delimiter.join(map(str, row)) for row in X.tolist()]
    return "\n".join([delimiter.join("xy"), *lines]) + "\n"


def as_json_lines(X):
    return "".join(json.dumps(dict(zip("xy", row, strict=True))) + "\n" for row in X.tolist())


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "npy"])
def test_rows_come_by_standard_input_in_any_format(run, typed, form):
    X = cloud(120, 0)
    binary = io.BytesIO()
    np.save(binary, X)
    data = {
        "csv": as_csv(X),
        "tsv": as_csv(X, "\t"),
        "jsonl": as_json_lines(X),
        "npy": binary.getvalue(),
    }[form]
    typed(data)
    told = answer(run("fit", "-", "-o", "m.km", "--k", 9, "--no-certificate", "--json"))
    assert (told["file"], told["points"], told["centres"]) == ("standard input", 120, 9)
    names = None if form == "npy" else ["x", "y"]
    assert told["columns"] == names


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_scores_go_to_standard_output_and_facts_aside(run, typed, tmp_path, capsys, form):
    write_models(tmp_path, capsys)
    X = cloud(30, 5)
    typed(as_csv(X))
    done = run("score", "model.km", "-", "-o", "-", "--format", form)
    assert done.code == 0
    assert "mean log density" in done.err
    lines = done.out.splitlines()
    if form == "jsonl":
        rows = [json.loads(line) for line in lines]
        assert [row["row"] for row in rows] == list(range(30))
        assert set(rows[0]) == {"row", "log_density"}
    else:
        assert len(lines) == 31
        mark = "," if form == "csv" else "\t"
        assert [cell.strip('"') for cell in lines[0].split(mark)] == ["row", "log_density"]


def test_a_program_passes_rows_through(run, typed, tmp_path, capsys):
    """Rows in, the same rows with their scores out, back in as JSON lines."""
    write_models(tmp_path, capsys)
    typed(as_json_lines(cloud(20, 6)))
    first = run("score", "model.km", "-", "-o", "-", "--format", "jsonl", "--keep", "all")
    rows = [json.loads(line) for line in first.out.splitlines()]
    assert list(rows[0]) == ["row", "x", "y", "log_density"]
    np.testing.assert_allclose([[row["x"], row["y"]] for row in rows], cloud(20, 6))
    typed(first.out)
    again = run("score", "model.km", "-", "-o", "-", "--format", "jsonl", "--columns", "x,y")
    scores = [json.loads(line)["log_density"] for line in again.out.splitlines()]
    np.testing.assert_allclose(scores, [row["log_density"] for row in rows])


@pytest.mark.parametrize("target", ["s.csv", "s.parquet", "s.jsonl"])
def test_columns_are_kept_as_they_stand(run, tmp_path, capsys, monkeypatch, target):
    """Also those of dropped rows are left out, and blocks do not matter."""
    monkeypatch.setattr("kernelmean.files.source.MIN_BATCH_ROWS", 7)
    monkeypatch.setattr("kernelmean.files.source.BATCH_NUMBERS", 14)
    write_models(tmp_path, capsys)
    X = cloud(60, 7)
    lines = [f"{i:04d},{x},{y if i % 10 else ''},n°{i}" for i, (x, y) in enumerate(X.tolist())]
    (tmp_path / "named.csv").write_text("\n".join(["id,x,y,name", *lines]) + "\n")
    done = run("score", "model.km", "named.csv", "--drop-na", "--keep", "name,id", "-o", target)
    assert done.code == 0, done.err
    if target.endswith("jsonl"):
        rows = [json.loads(line) for line in (tmp_path / target).read_text().splitlines()]
        ids, names = [row["id"] for row in rows], [row["name"] for row in rows]
        columns = list(rows[0])
    else:
        table = written(target)
        ids, names, columns = list(table["id"]), list(table["name"]), list(table)
    kept = [i for i in range(60) if i % 10]
    assert columns == ["row", "name", "id", "log_density"]
    assert list(map(int, ids)) == kept
    assert names == [f"n°{i}" for i in kept]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("score model.km data.csv --keep z", "--keep: data.csv has no column 'z'; its columns are"),
        ("score model.km data.csv --keep x,x", "--keep names a column twice"),
        ("score model.km data.csv -o - --format xml", "'xml' is not one of 'csv', 'tsv', 'jsonl'"),
        ("compare - -", "standard input can be read once only: give - in one place"),
        ("score model.km -", "standard input, line 3: column 'y' holds 'two'"),
    ],
)
def test_wrong_streams_are_one_line(run, typed, tmp_path, capsys, line, said):
    write_models(tmp_path, capsys)
    typed(
        "x,y\n1,2\n2,two\n" if "line" not in said else '{"x": 1, "y": 2}\n\n{"x": 1, "y": "two"}\n'
    )
    done = run(*line.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_column_that_scores_have_is_refused(run, tmp_path, capsys):
    write_models(tmp_path, capsys)
    (tmp_path / "scored.csv").write_text("row,x,y\n0,1,2\n1,2,3\n")
    done = run("score", "model.km", "scored.csv", "--keep", "row")
    assert done.code == 2
    assert "the scores have a column 'row' of their own" in done.err


def test_one_of_two_samples_may_come_by_standard_input(run, typed):
    typed(as_csv(cloud(80, 1)))
    done = run("compare", "before.csv", "-", "--permutations", 49, "--json")
    assert answer(done)["difference"]["names"] == ["before", "standard input"]


def test_drawn_rows_go_to_standard_output(run, tmp_path, capsys):
    write_models(tmp_path, capsys)
    done = run("query", "model.km", "--sample", 5, "-o", "-", "--format", "jsonl")
    assert done.code == 0
    assert [set(json.loads(line)) for line in done.out.splitlines()] == [{"x", "y"}] * 5


@pytest.mark.parametrize(
    "line",
    [
        "fit new.csv -o m.km --k 9 --target kde --report r.html",
        "score model.km new.csv --report r.html",
        "query model.km --given x=1 --report r.html",
        "info model.km --report r.html",
        "embed before.csv after.csv --neighbors 1 --k 5 -o c.csv --report r.html",
        "proportions train.csv test.csv --label species --report r.html",
        "segment photo.jpg -o out.png --report r.html",
    ],
)
def test_every_file_that_is_written_is_named(run, tmp_path, capsys, line):
    write_models(tmp_path, capsys)
    before = set(tmp_path.iterdir())
    told = answer(run(*line.split(), "--json"))
    made = {path.name for path in set(tmp_path.iterdir()) - before}
    assert "r.html" in made
    assert made <= {value for value in told.values() if isinstance(value, str)}
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 1_500_000
    assert "To make this again" in page


def test_rows_can_be_kept_out_of_the_page_of_a_fit(run, tmp_path):
    line = ("fit", "new.csv", "-o", "m.km", "--k", 9, "--target", "kde", "--report", "r.html")
    assert run(*line, "--no-rows").code == 0
    assert "Rarest rows" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert run(*line).code == 0
    assert "Rarest rows" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_samples_of_one_distribution_are_noted(run, tmp_path):
    rng = np.random.default_rng(0)
    for shift, alike in ((0.0, True), (3.0, False)):
        rows = "".join(
            f"{x + shift * (k % 2)},{y},g{k}\n"
            for k in range(6)
            for x, y in rng.normal(size=(40, 2))
        )
        (tmp_path / "groups.csv").write_text("x,y,g\n" + rows)
        done = run("embed", "groups.csv", "--group", "g", "--method", "mds")
        assert done.code == 0
        assert ("nothing but chance" in done.err) == alike

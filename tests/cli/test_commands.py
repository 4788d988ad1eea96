"""Every command on small files, in this process: what it computes, prints and refuses."""

from __future__ import annotations

import html
import inspect
import json
import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from kernelmean import _progress, cli
from kernelmean.cli import results
from tests.cli.inputs import SPECIES, call, cloud, write_inputs, write_models
from tests.files import formats
from tests.files.formats import pa

COMMANDS = ("fit", "score", "compare", "embed", "proportions", "segment", "info")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return write_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture
def run(capsys, tmp_path, inputs, monkeypatch):
    """A command in a folder that has the inputs and nothing else."""
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: call(capsys, *arguments)


def answer(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def written(path):
    return (
        pa.parquet.read_table(path).to_pandas()
        if path.endswith("parquet")
        else pa.csv.read_csv(path).to_pandas()
    )


def examples(name):
    text = inspect.getdoc(getattr(cli, name).command)
    return [line.strip() for line in text.split("Examples:")[1].splitlines() if line.strip()]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_the_help_run(name, run, tmp_path, capsys):
    done = run(name, "--help")
    assert done.code == 0
    if name in ("score", "compare", "info"):
        write_models(tmp_path, capsys)
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
        for made in re.findall(r"(?:-o|--report) (\S+)", line):
            assert (tmp_path / made).stat().st_size > 100


def test_fit_saves_what_the_library_fits(run):
    found = answer(
        run(
            "fit",
            "new.csv",
            "-o",
            "m.km",
            "--k",
            15,
            "--bandwidth",
            0.5,
            "--scale",
            "std",
            "--json",
        )
    )
    X = np.asarray(km.read("new.csv"))
    expected = km.SparseKDE(k=15, bandwidth=0.5, scale="std", random_state=0).fit(X)
    mean = km.load("m.km")
    np.testing.assert_array_equal(mean.log(X), expected.score_samples(X))
    np.testing.assert_array_equal(mean.log_quantiles, expected.log_quantiles_)
    assert mean.columns == ("x", "y")
    assert found["relative_error"] == expected.mean_.certificate(X, random_state=0).relative_error
    assert (found["points"], found["centres"], found["kind"], found["columns"]) == (
        300,
        15,
        "density",
        ["x", "y"],
    )
    assert found["bandwidth"] == 0.5


def test_fit_hands_a_file_that_is_too_large_to_the_library_as_it_is(run, monkeypatch):
    whole = answer(run("fit", "data.csv", "-o", "m.km", "--k", 9, "--weights", "w", "--json"))
    monkeypatch.setattr("kernelmean.files.source._free_memory", lambda: 0)
    assert isinstance(km.read("data.csv").sample()[0], km.Source)
    streamed = answer(
        run(
            "fit",
            "data.csv",
            "-o",
            "s.km",
            "--k",
            9,
            "--weights",
            "w",
            "--json",
            "--report",
            "r.html",
        )
    )
    assert whole | {"model": "s.km"} == streamed
    np.testing.assert_array_equal(km.load("m.km").centers, km.load("s.km").centers)


def test_fit_says_where_units_do_not_go_together(run, tmp_path):
    (tmp_path / "units.csv").write_text(
        "km,mm,still\n" + "".join(f"{i % 7},{1000 * (i % 5)},0.1\n" for i in range(35))
    )
    said = (
        "column 'mm' spreads 707 times as far as 'km', and all columns share one bandwidth; "
        "--scale std makes them alike."
    )
    assert run("fit", "units.csv", "-o", "m.km", "--k", 5).err == f"kernelmean: {said}\n"
    assert (
        run("fit", "units.csv", "-o", "m.km", "--k", 5, "--columns", "km,mm", "--scale", "std").err
        == ""
    )
    assert run("fit", "units.csv", "-o", "m.km", "--k", 5, "--columns", "km,still").err == ""


def test_fit_says_where_there_are_fewer_distinct_points_than_centres(run, tmp_path):
    (tmp_path / "few.csv").write_text("x\n" + "".join(f"{i % 4}\n" for i in range(40)))
    said = "--k 9 asks for more centres than there are distinct points: each of these 4 is one."
    assert run("fit", "few.csv", "-o", "m.km", "--k", 9).err == f"kernelmean: {said}\n"
    assert run("fit", "few.csv", "-o", "m.km", "--k", 3).err == ""
    km.load("m.km").truncate(2).save("short.km")
    assert answer(run("info", "short.km", "--json"))["covering_radius"] is None


def test_fit_does_not_look_at_rows_of_weight_zero(run, tmp_path, monkeypatch):
    """Neither for units nor for the pictures; in a file that is too large, the first batch may hold
    none that counts.
    """
    rows = [f"{i % 7},{i % 5},{float(i > 9)}\n" for i in range(40)]
    (tmp_path / "some.csv").write_text("x,y,w\n" + "".join(rows[10:]))
    (tmp_path / "all.csv").write_text("x,y,w\n" + "0,1e9,0\n" * 10 + "".join(rows[10:]))
    some = run("fit", "some.csv", "-o", "m.km", "--k", 5, "--weights", "w", "--report", "some.html")
    for memory in (None, 0):
        if memory is not None:
            monkeypatch.setattr("kernelmean.files.source._free_memory", lambda: 0)
            monkeypatch.setattr("kernelmean.files.source.BATCH_NUMBERS", 16)
            monkeypatch.setattr("kernelmean.files.source.MIN_BATCH_ROWS", 4)
        done = run(
            "fit", "all.csv", "-o", "a.km", "--k", 5, "--weights", "w", "--report", "all.html"
        )
        assert (some.code, done.code, done.err) == (0, 0, "")
        np.testing.assert_array_equal(km.load("a.km").weights, km.load("m.km").weights)


def test_fit_signed_and_weighted(run):
    answer(
        run(
            "fit",
            "data.csv",
            "-o",
            "m.km",
            "--signed",
            "--weights",
            "w",
            "--k",
            20,
            "--kernel",
            "laplacian",
            "--json",
        )
    )
    X, w, _ = km.read("data.csv", weights="w").load()
    expected = km.sparse_kernel_mean(X, sample_weight=w, k=20, kernel="laplacian", random_state=0)
    mean = km.load("m.km")
    np.testing.assert_array_equal(mean.weights, expected.weights)
    assert mean.constraint is None
    assert mean.space == "rkhs"
    assert mean.dimension == 2
    done = run("score", "m.km", "new.csv")
    assert done.code == 2
    assert "signed kernel mean" in done.err


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


def test_compare_two_samples(run, tmp_path):
    np.save("a.npy", cloud(200, 0))
    np.save("b.npy", cloud(200, 1, 1.0))
    found = answer(run("compare", "a.npy", "b.npy", "--json"))
    A, B = np.load("a.npy"), np.load("b.npy")
    test = km.mmd_test(A, B, random_state=0)
    assert found["p_value"] == test.p_value <= 0.01
    full = km.mmd(A, B, kernel=test.kernel, sparse=False)
    assert abs(found["mmd"] - full) <= found["mmd_error_at_most"] + 1e-12
    assert found["kl_a_b"] == km.kl_divergence(A, B, random_state=0).value
    assert found["kl_b_a"] == km.kl_divergence(B, A, random_state=0).value
    assert answer(run("compare", "a.npy", "a.npy", "--json"))["p_value"] > 0.5


def test_columns_are_matched_by_name(run, tmp_path):
    """Columns in another order hold the same sample; without names, places count."""
    X = cloud(100, 0) * [1.0, 5.0]
    for name, points, header in (
        ("p", X, "x,y"),
        ("q", X[:, ::-1], "y,x"),
        ("bare", X[:, ::-1], ""),
    ):
        np.savetxt(
            tmp_path / f"{name}.csv", points, delimiter=",", header=header, comments="", fmt="%.17g"
        )
    options = ("--permutations", 9, "--json")
    assert answer(run("compare", "p.csv", "q.csv", *options))["mmd"] == 0.0
    assert answer(run("compare", "p.csv", "bare.csv", *options))["mmd"] > 0.1
    distances = answer(
        run("embed", "p.csv", "q.csv", "bare.csv", "--k", 10, "--neighbors", 2, "--json")
    )["distances"]
    assert distances[0][1] == 0.0
    assert distances[0][2] > 0.1


def test_compare_two_models(run, tmp_path, capsys):
    write_models(tmp_path, capsys)
    run("fit", "new.csv", "-o", "same.km", "--signed", "--k", 10)
    found = answer(run("compare", "a.km", "b.km", "--json"))
    assert found["l2_distance"] == pytest.approx(0.0, abs=1e-7)
    assert found["kl_a_b"] == pytest.approx(0.0, abs=1e-6)
    assert answer(run("compare", "same.km", "same.km", "--json"))["mmd"] == pytest.approx(
        0.0, abs=1e-7
    )
    for pair, said in ((("a.km", "new.csv"), "not one of each"), (("a.km", "same.km"), "space")):
        done = run("compare", *pair)
        assert done.code == 2
        assert said in done.err


@pytest.mark.parametrize("metric", ["mmd", "kl", "l2"])
def test_embed_files(run, metric):
    for i, shift in enumerate([0.0, 0.1, 3.0, 3.1]):
        np.save(f"s{i}.npy", cloud(150, i, shift))
    files = [f"s{i}.npy" for i in range(4)]
    found = answer(
        run(
            "embed",
            *files,
            "--metric",
            metric,
            "--neighbors",
            3,
            "-o",
            "c.csv",
            "--k",
            10,
            "--json",
        )
    )
    assert [row["name"] for row in found["coordinates"]] == ["s0", "s1", "s2", "s3"]
    D = np.array(found["distances"])
    samples = {f"s{i}": np.load(f"s{i}.npy") for i in range(4)}
    expected = km.DistributionEmbedding(metric=metric, n_neighbors=3, k=10, random_state=0).fit(
        samples
    )
    np.testing.assert_array_equal(D, expected.distances_)
    assert D[0, 1] < D[0, 2]
    table = written("c.csv")
    np.testing.assert_allclose(table[["x1", "x2"]], expected.embedding_)
    assert table["points"].tolist() == [150] * 4
    assert ("error" in table) == (metric != "kl")


def test_embed_names_samples_by_their_files(run, tmp_path):
    """Without folder and ending where that tells them apart; dots within a name are part of it, and
    a table may say either.
    """
    options = ("--neighbors", 1, "--k", 5, "--json")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("Fa13.BD.rep1", "Fa13.BD.rep2"):
            np.savetxt(
                tmp_path / folder / f"{name}.csv", cloud(50, 0, len(folder + name)), delimiter=","
            )
    (tmp_path / "meta.csv").write_text("file,lake\none/Fa13.BD.rep2.csv,west\nFa13.BD.rep1,east\n")
    found = answer(
        run(
            "embed",
            "one/Fa13.BD.rep1.csv",
            "one/Fa13.BD.rep2.csv",
            "--metadata",
            "meta.csv",
            *options,
        )
    )
    assert [(row["name"], row["lake"]) for row in found["coordinates"]] == [
        ("Fa13.BD.rep1", "east"),
        ("Fa13.BD.rep2", "west"),
    ]
    files = ["one/Fa13.BD.rep1.csv", "two/Fa13.BD.rep1.csv"]
    assert [row["name"] for row in answer(run("embed", *files, *options))["coordinates"]] == files


def test_embed_groups_with_a_column_to_colour_by(run, tmp_path):
    options = ("--neighbors", 3, "--k", 8, "--json", "-o", "c.parquet")
    found = answer(
        run("embed", "cells.parquet", "--group", "patient", "--color", "site", *options)
    )["coordinates"]
    assert [(row["name"], row["site"]) for row in found] == [
        ("anna", "north"),
        ("bert", "north"),
        ("carl", "south"),
        ("dora", "south"),
    ]
    assert written("c.parquet")["site"].tolist() == ["north", "north", "south", "south"]
    done = run("embed", "cells.parquet", "--group", "site", "--color", "patient", *options)
    assert done.code == 2
    assert "differs within group 'north'" in done.err
    plain = (*options, "--columns", "x,y")
    (tmp_path / "meta.csv").write_text("who,age\ndora,40\ncarl,30\nbert,20\nanna,10\nevan,99\n")
    found = answer(
        run(
            "embed",
            "cells.parquet",
            "--group",
            "patient",
            "--metadata",
            "meta.csv",
            "--color",
            "age",
            *plain,
        )
    )
    assert [row["age"] for row in found["coordinates"]] == [10, 20, 30, 40]
    (tmp_path / "meta.csv").write_text("who,age\ndora,40\n")
    done = run("embed", "cells.parquet", "--group", "patient", "--metadata", "meta.csv", *plain)
    assert done.code == 2
    assert "does not name the sample 'anna'" in done.err


@pytest.mark.parametrize("representation", ["none", "logistic", "forest"])
def test_proportions(run, representation):
    found = answer(
        run(
            "proportions",
            "train.csv",
            "test.csv",
            "--label",
            "species",
            "--representation",
            representation,
            "--json",
        )
    )
    rows = found["proportions"]
    assert [row["class"] for row in rows] == SPECIES.tolist()
    assert sum(row["proportion"] for row in rows) == pytest.approx(1.0)
    np.testing.assert_allclose([row["proportion"] for row in rows], [0.5, 0.5, 0.0], atol=0.1)
    assert all(
        row["lower"] <= row["proportion"] + 1e-9 and row["proportion"] <= row["upper"] + 1e-9
        for row in rows
    )


def test_proportions_select_centres_as_asked(run):
    line = (
        "proportions",
        "train.csv",
        "test.csv",
        "--label",
        "species",
        "--bandwidth",
        1.0,
        "--json",
    )
    usual, quick = (
        answer(run(*line, "--selection", name))["proportions"] for name in ("auto", "random")
    )
    differences = [
        abs(a["proportion"] - b["proportion"]) for a, b in zip(usual, quick, strict=True)
    ]
    assert 0.0 < max(differences) < 0.1


@pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "webp"])
def test_segment_writes_a_picture(run, ending):
    found = answer(run("segment", "photo.jpg", "-o", f"out.{ending}", "--min-size", 20, "--json"))
    picture = np.asarray(formats.Image.open(f"out.{ending}"))
    assert picture.shape == (20, 24, 3)
    assert found["segments"] == 3
    assert sum(row["pixels"] for row in found["largest"]) == 480
    expected = km.segment_image(np.asarray(formats.Image.open("photo.jpg")), min_size=20)
    if ending == "png":
        np.testing.assert_array_equal(picture, expected.image)


def test_segment_takes_grey_pictures(run):
    formats.Image.open("photo.jpg").convert("L").save("grey.png")
    found = answer(run("segment", "grey.png", "-o", "out.png", "--json"))
    assert np.asarray(formats.Image.open("out.png")).shape == (20, 24)
    assert re.fullmatch(r"#(\w\w)\1\1", found["largest"][0]["colour"])


def test_tables_are_aligned_for_people(run, tmp_path, capsys):
    write_models(tmp_path, capsys)
    lines = run("info", "model.km").out.splitlines()
    assert "columns" in lines[5]
    assert len({re.match(r"\S.*?\S  +", line).end() for line in lines}) == 1
    table = (
        run("proportions", "train.csv", "test.csv", "--label", "species")
        .out.split("\n\n")[1]
        .splitlines()
    )
    assert table[0].split() == ["class", "proportion", "lower", "upper"]
    assert len(table) == 4
    assert len({line.index(line.split()[1]) + len(line.split()[1]) for line in table}) == 1


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
    ("score half.km new.csv", "half.km is damaged or incomplete"),
    ("info half.km", "half.km is damaged or incomplete"),
    ("info .", "is a directory"),
    ("compare data.csv gone.csv", "gone.csv does not exist"),
    (
        "compare new.csv data.csv",
        "data.csv has a column 'w' and new.csv has none: name the common ones by --columns",
    ),
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
    if done.err.startswith("kernelmean: "):
        assert len(done.err.splitlines()) == 1
    else:
        assert done.err.startswith("Usage:")  # Typer's own words
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
        ("segment", "<script>p.png", "-o", "s.png", "--report", "r.html"),
    ]
    for name in ("<script>y.npy", "<b>.npy"):
        np.save(name, cloud(60, len(name), d=3))
    formats.Image.open("photo.jpg").save("<script>p.png")
    for line in lines:
        done = run(*line)
        assert done.code == 0, done.err
        page = Path("r.html").read_text(encoding="utf-8")
        assert html.escape(shlex.join(["kernelmean", *map(str, line)])) in page.replace(
            "&#39;", "&#x27;"
        ).replace("&#34;", "&quot;")
        assert "<script>x" not in page
        assert "<script>y" not in page
        assert "<script>p" not in page


def test_a_report_without_plotly_is_refused_before_the_work(run, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = run("fit", "new.csv", "-o", "m.km", "--report", "r.html")
    assert done.code == 2
    assert (
        done.err
        == "kernelmean: a report needs Plotly and Pillow: pip install 'kernelmean[report]'.\n"
    )
    assert not Path("m.km").exists()


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

    def missing(name, package=None):
        raise ModuleNotFoundError(name=name)

    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(needing.importlib, "import_module", missing)
    done = run("fit", "data.parquet", "-o", "m.km")
    assert done.code == 2
    assert (
        done.err
        == "kernelmean: reading data.parquet needs pyarrow, which is not installed: pip install "
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
    commands = [
        ("fit", "new.csv", "-o", "m.km", "--k", 10),
        ("score", "m.km", "new.csv"),
        ("embed", "before.csv", "after.csv", "--neighbors", 1, "--k", 5),
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
    assert results._plain(
        {"a": float("nan"), "b": np.float64("inf"), "c": np.arange(2), "d": (True, None, SPECIES)}
    ) == {
        "a": None,
        "b": None,
        "c": [0, 1],
        "d": [True, None, SPECIES.tolist()],
    }

"""``kernelmean query``: the answers of the library, in the units of the file."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import call, written
from tests.cli.queried import strict

DEFAULT = [0.05, 0.25, 0.5, 0.75, 0.95]


def quantiles(row):
    return [one["value"] for one in row["quantiles"]]


def test_without_a_question_every_column_is_summed_up(ask):
    found = ask("model.km")
    density = km.load("model.km")
    assert found["model"] == "model.km"
    assert list(found) == ["model", "columns"]
    assert [row["column"] for row in found["columns"]] == ["x", "y"]
    assert [row["mean"] for row in found["columns"]] == density.expectation().tolist()
    deviations = np.sqrt(np.diagonal(density.covariance()))
    assert [row["sd"] for row in found["columns"]] == deviations.tolist()
    expected = density.quantile(DEFAULT)
    for t, row in enumerate(found["columns"]):
        assert [one["p"] for one in row["quantiles"]] == DEFAULT
        assert quantiles(row) == expected[:, t].tolist()
    one = ask("one.km")["columns"]
    assert [quantiles(row) for row in one] == [km.load("one.km").quantile(DEFAULT).tolist()]


def test_the_table_has_a_line_for_each_column(query):
    lines = query("model.km").out.splitlines()
    assert lines[0] == "model  model.km"
    assert lines[2].split() == ["column", "mean", "sd", "5%", "25%", "50%", "75%", "95%"]
    found = km.load("model.km").quantile(DEFAULT, "y")
    assert lines[4].split()[3:] == [f"{value:.6g}" for value in found]
    head = query("model.km", "--quantiles", "0.07,0.123456789").out.splitlines()[2]
    assert head.split()[3:] == ["7%", "12.3456789%"]


@pytest.mark.parametrize(
    "question",
    [
        ("--cdf", "x=1"),
        ("--probability", "x<1"),
        ("--entropy",),
        ("--hdr", 0.5),
        ("--modes",),
        ("--sample", 2, "-o", "r.csv"),
        ("--columns", "x", "--save", "p.km"),
    ],
    ids=lambda words: words[0],
)
def test_another_question_takes_the_place_of_the_summary(ask, question):
    assert "columns" not in ask("one.km", *question)
    assert "columns" in ask("one.km", *question, "--quantiles", "0.5")


@pytest.mark.parametrize("given", ["x=1.2", "0=1.2", '"x"=1.2', " x = 1.2 "])
def test_given_values_leave_the_density_of_the_others(ask, given):
    found = ask("model.km", "--given", given, "--quantiles", "0.025,0.5")
    density = km.load("model.km").conditional({"x": 1.2})
    assert found["given"] == {"x": 1.2}
    (row,) = found["columns"]
    assert row["column"] == "y"
    assert row["mean"] == density.expectation()[0]
    assert quantiles(row) == density.quantile([0.025, 0.5]).tolist()


@pytest.mark.parametrize("given", [("--given", "z=-1,x=0.5"), ("--given", "z=-1", "--given=x=0.5")])
def test_values_may_be_given_together_or_one_by_one(ask, given):
    found = ask("copy.km", *given)
    density = km.load("copy.km").conditional({"x": 0.5, "z": -1.0})
    assert found["given"] == {"z": -1.0, "x": 0.5}
    assert [row["column"] for row in found["columns"]] == ["y"]
    assert quantiles(found["columns"][0]) == density.quantile(DEFAULT).tolist()


def test_the_ends_of_a_column_are_null(ask, query):
    found = ask("model.km", "--columns", "x", "--quantiles", "0,0.5,1")
    low, middle, high = quantiles(found["columns"][0])
    assert (low, high) == (None, None)
    assert middle == km.load("model.km").quantile(0.5, "x")[0]
    assert query("one.km", "--quantiles", "0,1").out.split()[-2:] == ["-inf", "inf"]


def test_cdf(ask):
    found = ask("model.km", "--cdf", "x=1.5,y=0", "--cdf", "1=-2")["cdf"]
    density = km.load("model.km")
    places = [("x", 1.5), ("y", 0.0), ("y", -2.0)]
    assert found == [
        {"column": name, "x": x, "probability": density.cdf(x, name)[0]} for name, x in places
    ]
    found = ask("model.km", "--given", "y=0", "--cdf", "x=1.5")["cdf"]
    assert found[0]["probability"] == density.conditional({"y": 0.0}).cdf(1.5)[0]


def test_probabilities_of_diagonal_covariances_are_closed_forms(ask):
    texts = ("0<x<2,y>1", "2>x>0, y > 1", "x>0,y>1,x<=2", "x<1", "x>1e9", "-inf<z<inf", "x>=1,x<=1")
    options = [word for text in texts for word in ("--probability", text)]
    found = ask("copy.km", *options)["probability"]
    density = km.load("copy.km")
    box = density.probability({"x": 0.0, "y": 1.0}, {"x": 2.0})
    below = density.probability({}, {"x": 1.0})
    assert [row["condition"] for row in found] == [text.strip() for text in texts]
    assert [row["probability"] for row in found] == [*[box] * 3, below, 0.0, 1.0, 0.0]
    assert {row["standard_error"] for row in found} == {0.0}
    assert 0.0 < box < below < 1.0


def test_probabilities_of_tilted_covariances_have_a_standard_error(ask, query):
    (found,) = ask("model.km", "--probability", "0<x<2,y>1", "--seed", 3)["probability"]
    expected = km.load("model.km").probability({"x": 0.0, "y": 1.0}, {"x": 2.0}, random_state=3)
    assert found["probability"] == expected
    assert found["standard_error"] == expected.standard_error > 0.0
    lines = query("model.km", "--probability", "0<x<2,y>1", "--seed", 3).out.splitlines()
    assert lines[2].split() == ["condition", "probability", "standard", "error"]
    assert lines[3].split()[1:] == [f"{expected:.6g}", f"{expected.standard_error:.6g}"]


def test_columns_alone(ask):
    found = ask("copy.km", "--columns", "z,x", "--entropy", "--quantiles", "0.5")
    density = km.load("copy.km").marginal(["z", "x"])
    assert [row["column"] for row in found["columns"]] == ["z", "x"]
    assert [quantiles(row)[0] for row in found["columns"]] == density.quantile(0.5)[0].tolist()
    assert found["entropy"]["value"] == density.entropy(random_state=0)
    found = ask("copy.km", "--given", "y=1", "--columns", "2", "--cdf", "z=0")["cdf"]
    both = km.load("copy.km").conditional({"y": 1.0}).marginal("z")
    assert found[0]["probability"] == both.cdf(0.0)[0]


def test_entropy(ask, query):
    expected = km.load("model.km").entropy(random_state=0)
    found = ask("model.km", "--entropy")["entropy"]
    assert found == {"value": expected, "standard_error": expected.standard_error}
    shown = f"entropy  {expected:.6g} ± {expected.standard_error:.2g}"
    assert query("model.km", "--entropy").out.splitlines()[1] == shown
    exact = km.load("one.km").entropy()
    assert ask("one.km", "--entropy")["entropy"] == {"value": exact, "standard_error": 0.0}
    assert query("one.km", "--entropy").out.splitlines()[1] == f"entropy  {exact:.6g}"


def test_the_smallest_region(ask, query):
    found = ask("one.km", "--hdr", 0.8)["hdr"]
    region = km.load("one.km").hdr(0.8)
    assert len(region.intervals) == 2
    assert found["intervals"] == region.intervals.tolist()
    assert (found["level"], found["log_threshold"]) == (0.8, region.log_threshold)
    assert found["standard_error"] == 0.0
    (a, b), (c, d) = region.intervals
    lines = query("one.km", "--hdr", 0.8).out.splitlines()
    assert re.split("  +", lines[3]) == ["region", f"{a:.6g} to {b:.6g}, {c:.6g} to {d:.6g}"]
    found = ask("model.km", "--hdr", 0.8, "--seed", 1)["hdr"]
    region = km.load("model.km").hdr(0.8, random_state=1)
    assert found == {
        "level": 0.8,
        "log_threshold": region.log_threshold,
        "standard_error": region.standard_error,
    }


def test_peaks(ask, query, monkeypatch):
    found = ask("model.km", "--modes")["modes"]
    peaks = km.load("model.km").modes()
    assert len(peaks.points) == 2
    assert [list(row["at"].values()) for row in found] == peaks.points.tolist()
    assert [row["log_density"] for row in found] == peaks.log_densities.tolist()
    table = query("model.km", "--modes").out.splitlines()[2:]
    assert re.split("  +", table[0]) == ["peak", "log density", "at"]
    assert table[1].endswith(f"x = {peaks.points[0, 0]:.6g}, y = {peaks.points[0, 1]:.6g}")
    monkeypatch.setattr("kernelmean.cli.query.MAX_PEAKS", 1)
    lines = query("model.km", "--modes").out.splitlines()
    assert lines[1] == "peaks  2, of which the 1 highest are shown"
    assert len(lines) == 5
    assert len(ask("model.km", "--modes")["modes"]) == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rows_are_drawn_with_the_given_values(ask, ending):
    found = ask("copy.km", "--given", "y=1.5", "--sample", 50, "-o", f"r.{ending}", "--seed", 4)
    assert (found["rows"], found["sample"]) == (50, f"r.{ending}")
    assert "columns" not in found
    table = written(f"r.{ending}")
    assert table.columns.tolist() == ["x", "y", "z"]
    expected = km.load("copy.km").sample(50, random_state=4, given={"y": 1.5})
    np.testing.assert_array_equal(table.to_numpy(), expected)
    ask("copy.km", "--given", "y=1.5", "--columns", "z,x", "--sample", 50, "-o", f"s.{ending}")
    assert written(f"s.{ending}").columns.tolist() == ["z", "x"]


def test_a_part_is_a_model(ask, capsys):
    found = ask("copy.km", "--given", "y=1.5", "--columns", "z,x", "--save", "part.km")
    assert found == {"model": "copy.km", "given": {"y": 1.5}, "saved": "part.km"}
    part = km.load("part.km")
    expected = km.load("copy.km").conditional({"y": 1.5}).marginal(["z", "x"])
    assert part.columns == ("z", "x")
    np.testing.assert_array_equal(part.centers, expected.centers)
    again = ask("part.km", "--given", "z=0", "--quantiles", "0.5")["columns"]
    assert [row["column"] for row in again] == ["x"]
    assert quantiles(again[0]) == expected.conditional({"z": 0.0}).quantile(0.5).tolist()
    done = call(capsys, "score", "part.km", "three.csv", "--json")
    X = np.asarray(km.read("three.csv", columns="z,x"))
    assert strict(done.out)["mean_log_density"] == pytest.approx(expected.log(X).mean(), rel=1e-12)


def test_all_questions_at_once(ask, query):
    arguments = (
        *("model.km", "--quantiles", "0.5", "--cdf", "x=0", "--probability", "x>1", "--entropy"),
        *(
            "--hdr",
            0.5,
            "--modes",
            "--sample",
            5,
            "-o",
            "r.csv",
            "--columns",
            "x",
            "--save",
            "p.km",
        ),
    )
    names = ["columns", "cdf", "probability", "entropy", "hdr", "modes", "rows", "sample", "saved"]
    assert list(ask(*arguments)) == ["model", *names]
    done = query(*arguments)
    assert done.code == 0
    assert len(done.out.split("\n\n")) == 5  # lines, and four tables


@pytest.mark.parametrize(
    ("model", "there", "back"),
    [
        ("log.km", np.log, np.exp),
        ("arcsinh.km", lambda x: np.arcsinh(x / 5.0), lambda y: 5.0 * np.sinh(y)),
    ],
)
def test_values_are_in_the_units_of_the_file(ask, model, there, back):
    density = km.load(model)
    found = ask(
        *(model, "--quantiles", "0.1,0.9", "--cdf", "x=2", "--probability", "1<x<3,y<4"),
        *("--modes", "--sample", 20, "-o", "r.parquet"),
    )
    expected = back(density.quantile([0.1, 0.9]))
    for t, row in enumerate(found["columns"]):
        assert quantiles(row) == expected[:, t].tolist()
        assert row["mean_after_transform"] == density.expectation()[t]
        assert row["sd_after_transform"] == np.sqrt(density.covariance()[t, t])
        assert "mean" not in row
    assert found["cdf"][0]["probability"] == density.cdf(there(2.0), "x")[0]
    upper = {"x": there(3.0), "y": there(4.0)}
    assert found["probability"][0]["probability"] == pytest.approx(
        density.probability({"x": there(1.0)}, upper, random_state=0), rel=1e-13
    )
    peaks = density.modes()
    assert [list(row["at"].values()) for row in found["modes"]] == back(peaks.points).tolist()
    assert [row["log_density"] for row in found["modes"]] == peaks.log_densities.tolist()
    rows = written("r.parquet").to_numpy()
    np.testing.assert_array_equal(rows, back(density.sample(20, random_state=0)))
    found = ask(model, "--given", "x=2", "--hdr", 0.9, "--save", "part.km")
    part = density.conditional({"x": there(2.0)})
    assert found["given"] == {"x": 2.0}
    assert found["hdr"]["intervals"] == back(part.hdr(0.9).intervals).tolist()
    assert quantiles(ask("part.km")["columns"][0]) == back(part.quantile(DEFAULT)).tolist()


def test_what_has_no_logarithm_has_no_probability(ask, query):
    texts = ("x<0", "x<-1,y>1", "-2<x<-1", "x>-1", "x>=-inf")
    options = [word for text in texts for word in ("--probability", text)]
    found = ask("log.km", *options, "--cdf", "x=-1,y=0")
    assert [row["probability"] for row in found["probability"]] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert [row["probability"] for row in found["cdf"]] == [0.0, 0.0]
    lines = query("log.km").out.splitlines()
    assert lines[1:3] == [
        "transform  log",
        "units      those of the file; means, deviations, entropy and densities are of values "
        "after log",
    ]
    assert lines[4].startswith("column  mean after transform  sd after transform ")


def test_the_page_has_the_answers(query, tmp_path):
    asked = ["--given", "x=1", "--entropy", "--probability", "y<1", "--modes"]
    done = query("model.km", *asked, "--report", "r.html")
    assert re.search(r"^report +r\.html$", done.out, re.MULTILINE)
    page = (tmp_path / "r.html").read_text()
    assert '<p class="eyebrow">kernelmean query</p>' in page
    assert "Given x = 1" in page
    assert "Probabilities of conditions" in page
    assert "y&lt;1" in page
    assert "Peaks, the highest first" in page
    assert re.search("entropy</th><td >[-0-9.]+</td>", page)

"""``--domain``: fitted, shown, scored and asked; and what is said where it makes no sense."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import kernelmean as km
from tests.cli import queried
from tests.cli.inputs import call
from tests.cli.queried import strict

DOMAIN = "age>=0,hour%24,species:category"
SPECIES = np.array(["setosa", "virginica"])


def write_table(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def mixed(n=400):
    """Ages are exponential; setosas are seen about midnight, virginicas about noon."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 4 == 0
    hour = np.where(kind, rng.normal(0.0, 1.0, n), rng.normal(12.0, 1.0, n)) % 24
    return {
        "age": rng.exponential(size=n).round(6),
        "hour": hour.round(6),
        "species": SPECIES[1 - kind.astype(int)],
    }


@pytest.fixture(scope="session")
def domain_models(tmp_path_factory):
    """Tables of rows."""
    folder = tmp_path_factory.mktemp("domain")
    write_table(folder / "mixed.csv", mixed())
    rng = np.random.default_rng(1)
    write_table(folder / "plain.csv", {"x": rng.normal(size=200), "y": rng.normal(size=200)})
    places = {"lon": rng.uniform(-180, 180, 200), "lat": rng.uniform(60, 90, 200)}
    write_table(folder / "places.csv", places)
    return folder


@pytest.fixture
def run(capsys, tmp_path, domain_models, monkeypatch):
    for path in domain_models.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: call(capsys, *arguments)


@pytest.fixture(scope="session")
def mixed_model(domain_models, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "mixed.km"
    queried.fitted(domain_models / "mixed.csv", "-o", path, "--domain", DOMAIN)
    return path


@pytest.fixture
def fitted(run, mixed_model):
    """The same, with a model of mixed.csv."""
    Path("mixed.km").symlink_to(mixed_model)
    return run


# Fit and info


def test_a_fit_knows_its_domain(fitted):
    mean = km.load("mixed.km")
    assert isinstance(mean, km.DomainMean)
    assert mean.columns == ("age", "hour", "species")
    assert mean.domain.levels == (("setosa", "virginica"),)
    found = mean.log(np.array([[-0.1, 1.0, "setosa"], [0.1, 25.0, "setosa"]], dtype=object))
    assert found[0] == -math.inf
    assert math.isfinite(found[1])


def test_info_shows_the_domain_in_a_line_and_in_json(fitted):
    said = fitted("info", "mixed.km")
    assert said.code == 0, said.err
    line = next(line for line in said.out.splitlines() if line.startswith("domain "))
    assert line.endswith("age ≥ 0, hour modulo 24, species: 2 categories")
    facts = strict(fitted("info", "mixed.km", "--json").out)
    assert facts["columns"] == ["age", "hour", "species"]
    assert facts["domain"] == "age ≥ 0, hour modulo 24, species: 2 categories"
    assert facts["domain_columns"] == [
        {"columns": ["age"], "kind": "bounds", "lower": 0.0, "upper": None},
        {"columns": ["hour"], "kind": "periodic", "period": 24.0, "start": 0.0},
        {"columns": ["species"], "kind": "categories", "categories": ["setosa", "virginica"]},
    ]


def test_a_fit_in_the_terminal_is_one_in_python(fitted):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    frame = pd.read_csv("mixed.csv")
    domain = {"age": (0, None), "hour": km.Periodic(24), "species": km.Categorical()}
    same = km.SparseKDE(domain=domain, random_state=0).fit(frame).mean_
    np.testing.assert_allclose(km.load("mixed.km").log(frame), same.log(frame), rtol=1e-9)


def test_rows_outside_are_told_by_the_names_of_their_columns(run):
    write_table("ages.csv", {"hour": np.arange(4), "age": [-1.0, 2.0, 3.0, 4.0]})
    done = run("fit", "ages.csv", "-o", "a.km", "--domain", "age>=0,hour<=2")
    assert done.code == 2
    assert "column 'hour' has 1 of 4 values" in done.err
    assert "column 'age' has 1 of 4 values" in done.err


def test_columns_and_weights_are_picked_beside_a_domain(run):
    table = mixed() | {"w": np.arange(400) % 3}
    write_table("weighted.csv", table)
    done = run("fit", "weighted.csv", "-o", "w.km", "--columns", "species,age", "--weights", "w",
               "--domain", "0<=age,0:category(setosa|virginica|versicolor)")  # fmt: skip
    assert done.code == 0, done.err
    mean = km.load("w.km")
    assert mean.columns == ("species", "age")
    assert mean.domain.levels == (("setosa", "virginica", "versicolor"),)


def test_places_on_a_sphere(run):
    done = run("fit", "places.csv", "-o", "p.km", "--domain", "lon/lat:sphere")
    assert done.code == 0, done.err
    assert "lon/lat on a sphere" in run("info", "p.km").out
    found = km.load("p.km").log([[-180.0, 80.0], [180.0, 80.0]])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_a_copy_on_a_domain(run):
    done = run("fit", "plain.csv", "-o", "c.km", "--domain", "x>=-9,y%20", "--k", 20)
    assert done.code == 0, done.err
    assert strict(run("info", "c.km", "--json").out)["centres"] <= 20


def test_the_error_of_a_copy_is_measured_where_columns_hold_numbers(run):
    how = ("--target", "kde", "--k", 20, "--json")
    flat = run("fit", "plain.csv", "-o", "c.km", "--domain", "x>=-9,y%20", *how)
    measured = km.load("c.km").certificate(np.asarray(km.read("plain.csv")), random_state=0)
    facts = strict(flat.out)
    assert facts["relative_error"] == pytest.approx(measured.relative_error, rel=1e-9)
    assert facts["certificate"] == "exact"
    mixed = run("fit", "mixed.csv", "-o", "m.km", "--domain", DOMAIN, *how)
    assert strict(mixed.out)["relative_error"] is None


@pytest.mark.parametrize("target", ["likelihood", "kde"])
def test_a_page_shows_the_domain(run, target):
    done = run("fit", "mixed.csv", "-o", "m.km", "--domain", DOMAIN, "--target", target, "--k", 5,
               "--report", "r.html")  # fmt: skip
    assert done.code == 0, done.err
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Its domain: age ≥ 0, hour modulo 24, species: 2 categories." in page
    assert "virginica" in page


# Score


def test_rows_are_scored_by_the_categories_of_the_model(fitted):
    write_table(
        "new.csv",
        {
            "species": ["virginica", "setosa", "other", "virginica"],
            "age": [0.5, 0.5, 0.5, -0.5],
            "hour": [12.0, 24.0, 12.0, 12.0],
        },
    )
    facts = strict(fitted("score", "mixed.km", "new.csv", "-o", "s.csv", "--json").out)
    assert facts["rows"] == 4
    assert facts["rows_outside"] == 2
    scores = np.asarray(km.read("s.csv", columns="row"))
    assert len(scores) == 4
    rows = np.array([[0.5, 12.0, "virginica"], [0.5, 0.0, "setosa"]], dtype=object)
    expected = km.load("mixed.km").log(rows)
    with open("s.csv") as file:
        found = [float(row["log_density"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(found[:2], expected, rtol=1e-9)
    assert found[2:] == [-math.inf, -math.inf]


def test_a_threshold_flags_what_lies_outside(fitted):
    write_table("new.csv", {"age": [0.2, 0.2], "hour": [12, 12], "species": ["virginica", "odd"]})
    facts = strict(fitted("score", "mixed.km", "new.csv", "--threshold", 0.01, "--json").out)
    assert facts["flagged"] == 1


def test_rows_that_lack_a_category_are_scored_by_the_rest(fitted):
    with open("gaps.csv", "w") as file:
        file.write("age,hour,species\n0.5,12,\n,12,virginica\n,,odd\n")
    assert fitted("score", "mixed.km", "gaps.csv").code == 2
    done = fitted("score", "mixed.km", "gaps.csv", "-o", "s.csv", "--missing", "marginal")
    assert done.code == 0, done.err
    mean = km.load("mixed.km")
    with open("s.csv") as file:
        found = [float(row["log_density"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(found[0], mean.marginal([0, 1]).log([[0.5, 12.0]])[0], rtol=1e-6)
    assert found[2] == -math.inf


# Query


def asked(run, *arguments):
    done = run("query", "mixed.km", *arguments, "--json")
    assert done.code == 0, done.err
    return strict(done.out)


def test_categories_have_probabilities_and_numbers_quantiles(fitted):
    found = asked(fitted)
    assert found["domain"] == "age ≥ 0, hour modulo 24, species: 2 categories"
    assert [row["column"] for row in found["columns"]] == ["age", "hour"]
    assert found["columns"][0]["mean"] > 0.5
    assert found["columns"][1]["mean"] is None  # hours come round
    shares = {row["category"]: row["probability"] for row in found["categories"]}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["setosa"] == pytest.approx(0.25, abs=0.03)
    text = fitted("query", "mixed.km").out
    assert "setosa" in text
    assert "virginica" in text


def test_a_category_can_be_given(fitted):
    found = asked(
        fitted, "--given", "species=setosa", "--probability", "hour<6", "--quantiles", ".5"
    )
    assert found["given"] == {"species": "setosa"}
    assert found["probability"][0]["probability"] == pytest.approx(0.5, abs=0.1)
    assert "categories" not in found
    said = fitted("query", "mixed.km", "--given", 'species="setosa",hour=23').out
    assert "given   species = setosa, hour = 23" in said


def test_numbers_can_be_given_for_the_probability_of_a_category(fitted):
    found = asked(fitted, "--given", "hour=23", "--columns", "species")
    shares = {row["category"]: row["probability"] for row in found["categories"]}
    assert shares["setosa"] > 0.9
    assert found["columns"] == []
    assert fitted("query", "mixed.km", "--columns", "species").code == 0


def test_events_of_categories_and_numbers(fitted):
    both, alone, rest, nothing = asked(
        fitted,
        *("--probability", "species=setosa,age>1"),
        *("--probability", "species=setosa"),
        *("--probability", "age>1,species=virginica"),
        *("--probability", "age<-1"),
    )["probability"]
    whole = asked(fitted, "--probability", "age>1")["probability"][0]["probability"]
    assert both["probability"] < alone["probability"]
    assert both["probability"] + rest["probability"] == pytest.approx(whole, rel=1e-6)
    assert nothing["probability"] == 0.0


def test_rows_are_drawn_with_words(fitted):
    done = fitted("query", "mixed.km", "--sample", 200, "-o", "rows.csv")
    assert done.code == 0, done.err
    with open("rows.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["species"] for row in rows} == set(SPECIES)
    assert all(float(row["age"]) >= 0 and 0 <= float(row["hour"]) < 24 for row in rows)
    fitted("query", "mixed.km", "--given", "species=setosa", "--sample", 5, "-o", "some.csv")
    with open("some.csv") as file:
        assert [row["species"] for row in csv.DictReader(file)] == ["setosa"] * 5


def test_a_part_is_saved_with_its_domain(fitted):
    done = fitted("query", "mixed.km", "--columns", "species,age", "--save", "part.km")
    assert done.code == 0, done.err
    facts = strict(fitted("info", "part.km", "--json").out)
    assert facts["columns"] == ["species", "age"]
    assert facts["domain"] == "species: 2 categories, age ≥ 0"


# What is refused


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("--domain size>=0", "--domain 'size>=0': 'size' is neither a column nor a number"),
        ("--domain age>=0,age%3", "names 'age' twice"),
        ("--domain species:words", "'words' is neither"),
        ("--columns age,hour --domain species:category", "'species' is neither a column"),
        ("--domain age>=0 --transform log", "--transform changes the values that --domain speaks"),
        ("--domain age>=0 --signed", "--signed asks for a kernel mean"),
        ("--domain age>=0 --workers 1", "--workers fits on a cluster"),
        ("--domain species>=0", "column 'species' holds 'virginica'"),
        ("", "--domain NAME:category"),
    ],
)
def test_fits_without_sense_are_refused(run, command, said):
    done = run("fit", "mixed.csv", "-o", "m.km", *command.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    if said == "column 'species' holds 'virginica'":
        assert "column 'species' holds '" in done.err
    else:
        assert said in done.err


@pytest.mark.parametrize(
    ("content", "domain", "said"),
    [
        ("age,k\n1,a\ntwo,b\n", "age>=0,k:category", "column 'age' holds 'two'"),
        ("age,k\n", "age>=0,k:category", "has no rows"),
        ("", "age>=0", "is empty"),
        ("age,k\n1,a\n,b\n", "age>=0,k:category", "1 row has missing or infinite values"),
    ],
)
def test_files_that_cannot_be_read_are_refused(run, content, domain, said):
    with open("odd.csv", "w") as file:
        file.write(content)
    done = run("fit", "odd.csv", "-o", "m.km", "--domain", domain)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        ("age>=1,species:category", r"column 'age' has "),
        ("species:category(setosa)", r"column 'species' has 300 of 400 values that are none of"),
    ],
)
def test_rows_outside_are_refused_with_their_count(run, domain, said):
    done = run("fit", "mixed.csv", "-o", "m.km", "--domain", domain)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("--given species=other", "'other' is neither a column, a number nor a category"),
        ("--given age=setosa", "'age' holds numbers, got 'setosa'"),
        ("--given species=1", "'species' has no category '1'; it has 'setosa', 'virginica'"),
        ("--probability species>0", "'species' holds categories, which have no order: ask for one"),
        ("--probability age=1", "'age=1' has the probability 0, since 'age' holds numbers"),
        ("--probability species=setosa,species=virginica", "gives 'species' two values"),
        ("--cdf species=setosa", "'species' holds categories, which have no order"),
    ],
)
def test_questions_without_sense_are_refused(fitted, question, said):
    done = fitted("query", "mixed.km", *question.split())
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_other_commands_say_that_they_know_no_domains(fitted):
    done = fitted("compare", "mixed.km", "mixed.km")
    assert done.code == 2
    assert "mixed.km holds a density on a domain, which compare cannot use" in done.err
    done = fitted("score", "mixed.km", "mixed.csv", "--transform", "log")
    assert done.code == 2
    assert "--transform log does not fit it" in done.err

"""``kernelmean compare``: two samples, or two models."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, cloud, write_models
from tests.comparison.examples import people

QUICK = ("--permutations", 99, "--spread", "none")
SAME = {"permutations": 99, "random_state": 0}  # what it means in Python


@pytest.fixture
def samples(run, tmp_path):
    """Two files of people, and one with a column that tells three sites apart."""
    A, B, columns = people(n=300)
    for name, rows in (("old", A), ("young", B)):
        lines = [",".join(f"{value:.6g}" for value in row) for row in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    sites = ["north"] * len(A) + ["south", "west"] * (len(B) // 2) + ["west"] * (len(B) % 2)
    lines = [
        ",".join([*(f"{value:.6g}" for value in row), site, "same", str(i)])
        for i, (row, site) in enumerate(zip([*A, *B], sites, strict=True))
    ]
    head = ",".join([*columns, "site", "kind", "id"])
    (tmp_path / "all.csv").write_text("\n".join([head, *lines]) + "\n")
    return A, B, columns


def test_compare_two_samples(run, tmp_path):
    np.save("a.npy", cloud(200, 0))
    np.save("b.npy", cloud(200, 1, 1.0))
    found = answer(run("compare", "a.npy", "b.npy", "--json"))
    A, B = np.load("a.npy"), np.load("b.npy")
    test = km.mmd_test(A, B, random_state=0)
    assert found["p_value"] == test.p_value <= 0.01
    full = km.mmd(A, B, bandwidth=found["bandwidth_of_mmd"], sparse=False)
    assert abs(found["mmd"] - full) <= found["mmd_error_at_most"] + 1e-12
    assert found["kl_a_b"] == km.kl_divergence(A, B, random_state=0).value
    assert found["kl_b_a"] == km.kl_divergence(B, A, random_state=0).value
    assert answer(run("compare", "a.npy", "a.npy", "--json"))["p_value"] > 0.5
    asked = answer(run("compare", "a.npy", "b.npy", "--bandwidth", "0.5", "--json"))
    own = km.mmd_test(A, B, bandwidth=0.5, random_state=0)
    assert asked["p_value_of_this_kernel"] == own.p_value
    assert asked["p_value"] == found["p_value"]
    assert asked["bandwidth_of_mmd"] == 0.5


def test_columns_are_matched_by_name(run, tmp_path):
    """A file with its columns in another order holds the same sample; else places count."""
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
    done = run("compare", "a.km", "b.km", "--report", "r.html")
    assert done.code == 2
    assert "--report shows rows, which models have not" in done.err


def test_the_answer_in_words_then_columns_and_regions(run, samples):
    A, B, columns = samples
    done = run("compare", "old.csv", "young.csv", *QUICK)
    assert done.code == 0, done.err
    found = km.difference(A, B, names=("old", "young"), columns=columns, **SAME)
    assert " ".join(done.out.split()).startswith(found.describe())
    for line in ("mmd error at most", "p value", "kl a b standard error", "kl b a"):
        assert f"\n{line}" in done.out
    assert "of the difference  95 % interval  median (correlation) in old" in done.out
    assert "\nregion around" in done.out
    assert "report" not in done.out
    assert all(len(line) <= 100 for line in done.out.splitlines()[:5])


def test_json_has_everything(run, samples):
    A, B, columns = samples
    told = answer(run("compare", "old.csv", "young.csv", "--level", 0.1, "--json", *QUICK))
    found = km.difference(A, B, names=("old", "young"), columns=columns, level=0.1, **SAME)
    assert told["sentence"] == found.describe()
    assert told["difference"]["names"] == ["old", "young"]
    assert told["difference"]["p_value"] == found.test.p_value
    assert told["difference"]["level"] == 0.1
    assert [row["column"] for row in told["columns"]] == [e.columns[0] for e in found.columns]
    assert told["pairs"][0]["columns"] == list(found.pairs[0].columns)
    assert len(told["regions"]) == len(found.regions) > 0
    first = told["regions"][0]
    assert first["more_in"] == found.names[found.regions[0].more]
    assert first["center"]["age"] == pytest.approx(found.regions[0].center[0], rel=1e-4)
    assert first["stands_apart_by"] == [columns[j] for j in found.regions[0].columns]


def test_the_page_is_written_and_named(run, samples, tmp_path):
    done = run("compare", "old.csv", "young.csv", "--report", "difference.html", *QUICK)
    assert done.code == 0, done.err
    assert "difference.html" in done.out
    page = (tmp_path / "difference.html").read_text(encoding="utf-8")
    assert "Where old and young differ" in page
    plain = page.replace('<span class="word">', "").replace("</span>", "")
    assert "kernelmean compare old.csv young.csv --report difference.html" in plain


def test_two_groups_of_one_file_are_two_samples(run, samples, tmp_path):
    rows = [line for line in (tmp_path / "all.csv").read_text().splitlines() if "west" not in line]
    (tmp_path / "two.csv").write_text("\n".join(rows) + "\n")
    options = ("--group", "site", "--columns", "age,income", "--json", *QUICK)
    told = answer(run("compare", "two.csv", *options))
    assert told["difference"]["names"] == ["north", "south"]
    assert told["points_a"] == told["difference"]["rows"][0] == len(samples[0])
    assert "mmd" in told


def test_more_groups_are_compared_with_the_rest(run, samples, tmp_path):
    options = ("--group", "site", "--columns", "age,income,height")
    told = answer(run("compare", "all.csv", *options, "--report", "g.html", "--json"))
    assert told["groups"] == 3
    assert {row["group"] for row in told["differences"]} == {"north", "south", "west"}
    first = told["differences"][0]
    assert first["difference"]["names"] == [first["group"], "the rest"]
    assert first["adjusted_p"] >= first["difference"]["p_value"]
    assert "How 3 groups differ" in (tmp_path / "g.html").read_text(encoding="utf-8")
    done = run("compare", "all.csv", *options)
    assert "groups" in done.out.splitlines()[0]
    lines = done.out.splitlines()
    table = next(i for i, line in enumerate(lines) if "adjusted p" in line and "explains" in line)
    assert table == len(lines) - 4
    assert lines[table + 1].split()[0] == first["group"]


@pytest.mark.parametrize(
    ("group", "said"),
    [("kind", "column 'kind' of all.csv has one value only"), ("id", "has one row only")],
)
def test_columns_that_name_no_groups(run, samples, group, said):
    done = run("compare", "all.csv", "--columns", "age,income", "--group", group)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_info_tells_what_a_saved_difference_holds(run, samples):
    A, B, columns = samples
    km.difference(A, B, names=("old", "young"), columns=columns, **SAME).save("d.km")
    told = answer(run("info", "d.km", "--json"))
    assert (told["kind"], told["samples"]) == ("difference", ["old", "young"])
    assert told["summary"].startswith("young has")
    km.difference(A, groups=np.arange(len(A)) % 3, **SAME).save("g.km")
    assert answer(run("info", "g.km", "--json"))["groups"] == ["0", "1", "2"]
    done = run("score", "d.km", "old.csv", "-o", "scores.csv")
    assert done.code == 2
    assert "holds a difference of samples, not a kernel mean" in done.err

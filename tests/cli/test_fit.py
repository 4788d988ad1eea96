"""``kernelmean fit``: what it computes, says and saves."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer


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
    how = ("--bandwidth", "scott", "--scale", "none", "--k", 9, "--weights", "w", "--json")
    whole = answer(run("fit", "data.csv", "-o", "m.km", *how))
    monkeypatch.setattr("kernelmean._checks.MAPPED", 0)
    monkeypatch.setattr("kernelmean._checks.free_memory", lambda: 0)
    assert isinstance(km.read("data.csv").sample()[0], km.Source)
    streamed = answer(run("fit", "data.csv", "-o", "s.km", *how, "--report", "r.html"))
    # Sums over batches are added in another order.
    numbers = {name for name, value in whole.items() if isinstance(value, float)}
    assert {name: streamed[name] for name in numbers} == pytest.approx(
        {name: whole[name] for name in numbers}, rel=1e-12
    )
    others = set(whole) - numbers - {"model", "model_bytes"}
    # A file writes numbers in as many digits as they need.
    assert streamed["model_bytes"] == pytest.approx(whole["model_bytes"], abs=8)
    assert {name: streamed[name] for name in others} == {name: whole[name] for name in others}
    np.testing.assert_array_equal(km.load("m.km").centers, km.load("s.km").centers)


def test_fit_says_where_units_do_not_go_together(run, tmp_path):
    (tmp_path / "units.csv").write_text(
        "km,mm,still\n" + "".join(f"{i % 7},{1000 * (i % 5)},0.1\n" for i in range(35))
    )
    said = (
        "column 'mm' spreads 707 times as far as 'km', and all columns share one bandwidth; "
        "--scale std makes them alike."
    )
    command = ("fit", "units.csv", "-o", "m.km", "--k", 5)
    plain = ("--bandwidth", "scott", "--scale", "none")
    both = ("--columns", "km,mm")
    for unscaled in (plain, ("--bandwidth", 1.0), ("--signed",)):
        assert run(*command, *unscaled).err == f"kernelmean: {said}\n"
    assert run(*command, *both, "--scale", "std").err == ""
    assert run(*command, *both).err == ""
    assert run(*command, *plain, "--columns", "km,still").err == ""


def test_covariances_by_likelihood_need_no_common_unit(run, tmp_path):
    """A word is due where a least width is given, or where atoms are round."""
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1.0, 1000.0]
    np.savetxt(tmp_path / "units.csv", X, delimiter=",", header="km,mm", comments="")
    command = ("fit", "units.csv", "-o", "m.km", "--scale", "none", "--target", "likelihood")
    assert run(*command).err == ""
    for shared in (("--bandwidth", 0.5), ("--spread", "scalar")):
        assert "all columns share one bandwidth" in run(*command, *shared).err


def test_fit_says_where_there_are_fewer_distinct_points_than_centres(run, tmp_path):
    (tmp_path / "few.csv").write_text("x\n" + "".join(f"{i % 4}\n" for i in range(40)))
    said = "--k 9 asks for more centres than there are distinct points: each of these 4 is one."
    assert run("fit", "few.csv", "-o", "m.km", "--k", 9).err == f"kernelmean: {said}\n"
    assert run("fit", "few.csv", "-o", "m.km", "--k", 3, "--target", "kde").err == ""
    km.load("m.km").truncate(2).save("short.km")
    assert answer(run("info", "short.km", "--json"))["covering_radius"] is None


def test_fit_does_not_look_at_rows_of_weight_zero(run, tmp_path, monkeypatch):
    """Neither for units nor for the pictures; in a file that is too large, the first batch may hold
    none that counts.
    """
    rows = [f"{i % 7},{i % 5},{float(i > 9)}\n" for i in range(40)]
    (tmp_path / "some.csv").write_text("x,y,w\n" + "".join(rows[10:]))
    (tmp_path / "all.csv").write_text("x,y,w\n" + "0,1e9,0\n" * 10 + "".join(rows[10:]))
    how = ("--k", 5, "--weights", "w", "--bandwidth", "scott", "--scale", "none")
    some = run("fit", "some.csv", "-o", "m.km", *how, "--report", "some.html")
    for memory in (None, 0):
        if memory is not None:
            monkeypatch.setattr("kernelmean._checks.MAPPED", 0)
            monkeypatch.setattr("kernelmean._checks.free_memory", lambda: 0)
            monkeypatch.setattr("kernelmean.files.source.BATCH_NUMBERS", 16)
            monkeypatch.setattr("kernelmean.files.source.MIN_BATCH_ROWS", 4)
        done = run("fit", "all.csv", "-o", "a.km", *how, "--report", "all.html")
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

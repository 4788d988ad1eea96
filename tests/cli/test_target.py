"""``--target``: a density by likelihood unless a copy of a kernel density estimate is asked for."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, written

PLAIN = ("--bandwidth", "scott", "--scale", "none")
MEASURED = ("relative_error", "error", "standard_error", "certificate", "estimated_error", "bound")


def points() -> np.ndarray:
    return np.asarray(km.read("new.csv"))


def test_the_default_is_that_of_the_library(run):
    found = answer(run("fit", "new.csv", "-o", "m.km", "--json"))
    X = points()
    expected = km.SparseKDE(random_state=0).fit(X)
    np.testing.assert_array_equal(km.load("m.km").log(X), expected.score_samples(X))
    assert (found["target"], found["stopped_by"]) == (expected.target_, "likelihood")
    assert found["bandwidth"] == expected.bandwidth_
    assert found["centres"] == expected.mean_.k
    np.testing.assert_allclose(found["divided_by"], 1.0 / np.diag(expected.scale_))
    assert found["mean_log_density"] == pytest.approx(expected.score(X) / len(X), abs=0.02)


def test_no_error_is_measured_where_there_is_no_copy(run, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a density by likelihood is near to no kernel mean")

    monkeypatch.setattr(km.SparseKernelMean, "certificate", refuse)
    command = ("fit", "new.csv", "-o", "m.km", "--k", 5, "--target", "likelihood", "--certificate")
    found = answer(run(*command, "--json"))
    assert {name: found[name] for name in MEASURED} == dict.fromkeys(MEASURED)
    said = run(*command).out
    assert "relative error" not in said
    assert "target            likelihood" in said


def test_info_tells_the_same_from_the_file(run):
    found = answer(
        run("fit", "new.csv", "-o", "m.km", "--k", 5, "--target", "likelihood", "--json")
    )
    told = answer(run("info", "m.km", "--json"))
    shared = set(found) & set(told)
    assert {"target", "bandwidth", "divided_by", "mean_log_density", "centres"} <= shared
    assert {name: told[name] for name in shared} == {name: found[name] for name in shared}


def test_score_flags_by_the_quantiles_of_the_training_density(run):
    run("fit", "new.csv", "-o", "m.km")
    found = answer(run("score", "m.km", "new.csv", "-o", "s.csv", "--threshold", 0.1, "--json"))
    expected = km.SparseKDE(random_state=0).fit(points()).score_samples(points())
    np.testing.assert_allclose(written("s.csv")["log_density"], expected, rtol=1e-12)
    assert found["flagged"] == 30
    assert found["mean_log_density"] == pytest.approx(expected.mean())


def test_a_report_has_no_indicator(run, tmp_path):
    assert (
        run(
            "fit",
            "new.csv",
            "-o",
            "m.km",
            "--k",
            5,
            "--target",
            "likelihood",
            "--report",
            "fit.html",
        ).code
        == 0
    )
    page = (tmp_path / "fit.html").read_text()
    assert "fitted by likelihood" in page
    assert "Error indicator" not in page


@pytest.mark.parametrize("how", [(), ("--target", "kde")])
def test_a_bandwidth_of_ones_own_gives_a_certified_copy(run, how):
    found = answer(run("fit", "new.csv", "-o", "m.km", *PLAIN, *how, "--json"))
    X = points()
    settings = {"bandwidth": "scott", "scale": None, "target": "kde", "random_state": 0}
    expected = km.SparseKDE(**settings).fit(X).mean_
    np.testing.assert_array_equal(km.load("m.km").log(X), expected.log(X))
    assert (found["target"], found["scaled"], found["divided_by"]) == ("kde", False, None)
    assert found["relative_error"] == expected.certificate(X, random_state=0).relative_error


def test_a_copy_by_default_takes_bandwidth_and_scale_from_the_data(run):
    answer(run("fit", "new.csv", "-o", "m.km", "--target", "kde", "--json"))
    X = points()
    expected = km.SparseKDE(target="kde", random_state=0).fit(X)
    np.testing.assert_array_equal(km.load("m.km").log(X), expected.score_samples(X))


def test_a_kernel_mean_keeps_its_own_defaults(run):
    found = answer(run("fit", "new.csv", "-o", "m.km", "--signed", "--k", 9, "--json"))
    expected = km.sparse_kernel_mean(points(), k=9, random_state=0)
    np.testing.assert_array_equal(km.load("m.km").weights, expected.weights)
    assert (found["target"], found["scaled"], found["mean_log_density"]) == (None, False, None)
    assert found["relative_error"] is not None


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (("--signed",), "--signed asks for a kernel mean"),
        (("--error", 0.01), "near to no kernel mean"),
        (("--kernel", "laplacian"), "needs a Gaussian kernel, not laplacian"),
        (("--selection", "kcenter"), "selects no centres"),
        (("--refine", 2), "moves its centres by itself"),
        (("--spread", "none"), "has no point centres"),
    ],
)
def test_what_no_likelihood_heeds_ends_in_one_line(run, tmp_path, how, words):
    done = run("fit", "new.csv", "-o", "m.km", "--target", "likelihood", *how)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "m.km").exists()


def test_workers_fit_what_one_machine_fits(run):
    pytest.importorskip("distributed", reason="pip install 'kernelmean[cluster]'")
    one = answer(run("fit", "new.csv", "-o", "a.km", "--k", 5, "--target", "likelihood", "--json"))
    many = answer(
        run(
            "fit",
            "new.csv",
            "-o",
            "b.km",
            "--k",
            5,
            "--target",
            "likelihood",
            "--workers",
            2,
            "--json",
        )
    )
    assert many["target"] == one["target"] == "likelihood"
    assert many["mean_log_density"] == pytest.approx(one["mean_log_density"], abs=0.05)

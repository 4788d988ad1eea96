"""``--error``: as few centres as reach an error, and what fits say of theirs."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer


@pytest.mark.parametrize("signed", [(), ("--signed",)])
def test_fit_reaches_the_error_and_info_remembers_it(run, signed):
    found = answer(run("fit", "new.csv", "-o", "m.km", "--error", 0.05, *signed, "--json"))
    assert found["stopped_by"] == "error"
    assert found["relative_error"] <= 0.05
    assert answer(run("info", "m.km", "--json"))["estimated_error"] == found["estimated_error"]
    X = np.asarray(km.read("new.csv"))
    options = {"error": 0.05, "random_state": 0}
    expected = (
        km.sparse_kernel_mean(X, **options) if signed else km.SparseKDE(**options).fit(X).mean_
    )
    assert found["centres"] == expected.k


def test_errors_that_make_no_sense_end_in_one_line(run):
    for how, words in (
        (("--error", 0.05, "--k", 5), "give one of the two"),
        (("--error", 2), "below 1"),
        (("--error", -1), "greater than 0"),
    ):
        done = run("fit", "new.csv", "-o", "m.km", *how)
        assert done.code == 2
        assert words in done.err


def test_a_large_error_is_noted_with_the_option_that_helps(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    np.save(tmp_path / "x.npy", X)
    done = run("fit", tmp_path / "x.npy", "-o", "m.km", "--bandwidth", 0.01)
    assert done.code == 0
    assert "--error 0.1 takes as many as that needs" in done.err
    assert "FitWarning" not in done.err
    given = run("fit", tmp_path / "x.npy", "-o", "m.km", "--bandwidth", 0.01, "--k", 20)
    assert "--error" not in given.err

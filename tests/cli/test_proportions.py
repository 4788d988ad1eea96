"""``kernelmean proportions``: how much of each class there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.inputs import SPECIES, answer


@pytest.mark.parametrize("representation", ["auto", "raw", "none", "logistic", "forest"])
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


def test_it_says_whether_the_classes_explain_the_file(run):
    line = ("proportions", "train.csv", "test.csv", "--label", "species", "--bandwidth", 1.0)
    done = run(*line)
    assert done.code == 0
    assert "explained        p = 1\n" in done.out
    assert "do not trust" not in done.err
    found = answer(run(*line, "--json"))
    assert found["p_value"] > 0.01
    assert 0.0 < found["distance"] < 2.0 * found["expected_distance"]


def test_it_warns_of_a_file_that_is_no_mixture_of_the_classes(run):
    """The columns of another file, whose points lie between and beside the classes."""
    rng = np.random.default_rng(0)
    lines = [f"{x},{y}" for x, y in rng.normal(size=(100, 2)) * [1.0, 4.0]]
    Path("changed.csv").write_text("\n".join(["x,y", *lines]))
    line = ("proportions", "train.csv", "changed.csv", "--label", "species", "--bandwidth", 1.0)
    done = run(*line)
    assert done.code == 0
    assert "do not trust these proportions" in done.err
    assert answer(run(*line, "--json"))["p_value"] < 0.01


def test_classes_of_two_rows_have_no_p_value(run):
    Path("few.csv").write_text("x,y,species\n0,0,a\n1,0,a\n5,5,b\n5,6,b\n")
    line = ("proportions", "few.csv", "test.csv", "--label", "species", "--bandwidth", 1.0)
    assert answer(run(*line, "--json"))["p_value"] is None


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

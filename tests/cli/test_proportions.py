"""``kernelmean proportions``: how much of each class there is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.inputs import SPECIES, answer


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

"""``--spread``: centres with a width of their own, in every command that fits means."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer

WORDS = {"none": None, "scalar": "scalar", "full": "full"}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("signed", [(), ("--signed",)])
def test_fit_and_info_name_the_spread(run, word, signed):
    copy = ("--bandwidth", "scott", "--scale", "none", "--selection", "kmeans")
    how = ("--k", 12, *copy, "--spread", word, *signed, "--json")
    found = answer(run("fit", "new.csv", "-o", "m.km", *how))
    assert found["spread"] == WORDS[word]
    assert answer(run("info", "m.km", "--json"))["spread"] == WORDS[word]
    said = run("info", "m.km").out.splitlines()
    assert next(line.split() for line in said if line.startswith("spread")) == ["spread", word]
    X = np.asarray(km.read("new.csv"))
    options = {"k": 12, "selection": "kmeans", "spread": WORDS[word], "random_state": 0}
    options |= {"bandwidth": "scott", "scale": None}
    expected = (
        km.sparse_kernel_mean(X, **options) if signed else km.SparseKDE(**options).fit(X).mean_
    )
    np.testing.assert_allclose(km.load("m.km")(X), expected(X), rtol=1e-9)


def test_auto_is_what_the_library_chooses(run):
    found = answer(run("fit", "new.csv", "-o", "m.km", "--k", 12, "--json"))
    X = np.asarray(km.read("new.csv"))
    expected = km.SparseKDE(k=12, random_state=0).fit(X).mean_
    assert found["spread"] == expected.expansion.atoms.kind


@pytest.mark.parametrize("word", WORDS)
def test_the_other_commands_hand_it_on(run, monkeypatch, word):
    """What a command asks of the library, whichever function of it fits the means."""
    asked = []
    from kernelmean.fitting import spreads

    kinds = spreads.kinds

    def noted(settings, *rest):
        asked.append(settings.spread)
        return kinds(settings, *rest)

    monkeypatch.setattr(spreads, "kinds", noted)
    for line in (
        ("compare", "before.csv", "after.csv", "--permutations", 9),
        ("embed", "patient1.fcs", "patient2.fcs", "patient3.fcs", "--columns", "FSC-A,CD3"),
        ("proportions", "train.csv", "test.csv", "--label", "species", "--bandwidth", 1.0),
        ("segment", "photo.jpg", "-o", "out.png"),
    ):
        asked.clear()
        done = run(*line, "--spread", word)
        assert done.code == 0, done.err
        assert set(asked) == {WORDS[word]}, line[0]


def test_embed_and_segment_name_the_spread(run):
    embed = ("embed", "patient1.fcs", "patient2.fcs", "patient3.fcs", "--columns", "FSC-A,CD3")
    rows = answer(run(*embed, "--spread", "scalar", "--json"))["coordinates"]
    assert {row["spread"] for row in rows} == {"scalar"}
    found = answer(run("segment", "photo.jpg", "-o", "out.png", "--spread", "full", "--json"))
    assert found["spread"] == "full"
    assert found["centres"] > 0


def test_other_kernels_have_points_only(run):
    done = run("fit", "new.csv", "-o", "m.km", "--kernel", "laplacian", "--spread", "scalar")
    assert done.code == 2
    assert "needs a Gaussian kernel" in done.err
    found = answer(run("fit", "new.csv", "-o", "m.km", "--kernel", "laplacian", "--json"))
    assert found["spread"] is None

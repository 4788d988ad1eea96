"""``kernelmean compare``: two samples, or two models."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, cloud, write_models


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

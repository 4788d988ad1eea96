"""``kernelmean embed``: many samples as points in a plane."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, cloud, written


@pytest.mark.parametrize("metric", ["mmd", "kl", "l2"])
def test_embed_files(run, metric):
    for i, shift in enumerate([0.0, 0.1, 3.0, 3.1]):
        np.save(f"s{i}.npy", cloud(150, i, shift))
    files = [f"s{i}.npy" for i in range(4)]
    found = answer(
        run(
            "embed",
            *files,
            "--metric",
            metric,
            "--neighbors",
            3,
            "-o",
            "c.csv",
            "--k",
            10,
            "--json",
        )
    )
    assert [row["name"] for row in found["coordinates"]] == ["s0", "s1", "s2", "s3"]
    D = np.array(found["distances"])
    samples = {f"s{i}": np.load(f"s{i}.npy") for i in range(4)}
    expected = km.DistributionEmbedding(metric=metric, n_neighbors=3, k=10, random_state=0).fit(
        samples
    )
    np.testing.assert_array_equal(D, expected.distances_)
    assert D[0, 1] < D[0, 2]
    table = written("c.csv")
    np.testing.assert_allclose(table[["x1", "x2"]], expected.embedding_)
    assert table["points"].tolist() == [150] * 4
    assert ("error" in table) == (metric != "kl")


def test_embed_names_samples_by_their_files(run, tmp_path):
    """Without folder and ending where that tells them apart; dots within a name are part of it, and
    a table may say either.
    """
    options = ("--neighbors", 1, "--k", 5, "--json")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("Fa13.BD.rep1", "Fa13.BD.rep2"):
            np.savetxt(
                tmp_path / folder / f"{name}.csv", cloud(50, 0, len(folder + name)), delimiter=","
            )
    (tmp_path / "meta.csv").write_text("file,lake\none/Fa13.BD.rep2.csv,west\nFa13.BD.rep1,east\n")
    found = answer(
        run(
            "embed",
            "one/Fa13.BD.rep1.csv",
            "one/Fa13.BD.rep2.csv",
            "--metadata",
            "meta.csv",
            *options,
        )
    )
    assert [(row["name"], row["lake"]) for row in found["coordinates"]] == [
        ("Fa13.BD.rep1", "east"),
        ("Fa13.BD.rep2", "west"),
    ]
    files = ["one/Fa13.BD.rep1.csv", "two/Fa13.BD.rep1.csv"]
    assert [row["name"] for row in answer(run("embed", *files, *options))["coordinates"]] == files


def test_embed_groups_with_a_column_to_colour_by(run, tmp_path):
    options = ("--neighbors", 3, "--k", 8, "--json", "-o", "c.parquet")
    found = answer(
        run("embed", "cells.parquet", "--group", "patient", "--color", "site", *options)
    )["coordinates"]
    assert [(row["name"], row["site"]) for row in found] == [
        ("anna", "north"), ("bert", "north"), ("carl", "south"), ("dora", "south"),
    ]  # fmt: skip
    assert written("c.parquet")["site"].tolist() == ["north", "north", "south", "south"]
    done = run("embed", "cells.parquet", "--group", "site", "--color", "patient", *options)
    assert done.code == 2
    assert "differs within group 'north'" in done.err
    plain = (*options, "--columns", "x,y")
    (tmp_path / "meta.csv").write_text("who,age\ndora,40\ncarl,30\nbert,20\nanna,10\nevan,99\n")
    found = answer(
        run(
            "embed",
            "cells.parquet",
            "--group",
            "patient",
            "--metadata",
            "meta.csv",
            "--color",
            "age",
            *plain,
        )
    )
    assert [row["age"] for row in found["coordinates"]] == [10, 20, 30, 40]
    (tmp_path / "meta.csv").write_text("who,age\ndora,40\n")
    done = run("embed", "cells.parquet", "--group", "patient", "--metadata", "meta.csv", *plain)
    assert done.code == 2
    assert "does not name the sample 'anna'" in done.err

"""AnnData's files in the terminal: donors as points in a plane, and a density of cells."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from tests.cli.inputs import answer, written

pytest.importorskip("anndata", reason="needs anndata: pip install 'kernelmean[anndata]'")


@pytest.fixture
def made(tmp_path):
    from tests.files.test_annotated import cells

    found = cells()
    found.write_h5ad(tmp_path / "cells.h5ad")
    return found


def test_embed_donors_of_one_file(run, made):
    options = ("--columns", "obsm:X_pca", "--neighbors", 2, "--k", 8, "--json", "-o", "c.csv")
    found = answer(run("embed", "cells.h5ad", "--group", "donor", "--color", "age", *options))
    rows = found["coordinates"]
    assert [(row["name"], row["age"]) for row in rows] == [
        ("anna", 30.0), ("bert", 40.0), ("carl", 50.0),
    ]  # fmt: skip
    samples = {
        name: made.obsm["X_pca"][made.obs["donor"] == name] for name in ("anna", "bert", "carl")
    }
    expected = km.DistributionEmbedding(n_neighbors=2, k=8, random_state=0).fit(samples)
    np.testing.assert_array_equal(found["distances"], expected.distances_)
    assert written("c.csv")["name"].tolist() == list(samples)


def test_fit_and_score_cells(run, made):
    assert run("fit", "cells.h5ad", "--columns", "obsm:X_pca", "-o", "m.km", "--k", 5).code == 0
    assert km.load("m.km").columns == ("X_pca-0", "X_pca-1", "X_pca-2")
    assert run("score", "m.km", "cells.h5ad", "-o", "s.csv").code == 0
    expected = km.SparseKDE.load("m.km").mean_.log(made.obsm["X_pca"])
    np.testing.assert_allclose(written("s.csv")["log_density"], expected, rtol=1e-6)


def test_an_unknown_table(run, made):
    done = run("embed", "cells.h5ad", "--group", "donor", "--columns", "obsm:X_tsne")
    assert done.code == 2
    assert "has no column 'obsm:X_tsne'; its columns are 'X_pca'" in done.err

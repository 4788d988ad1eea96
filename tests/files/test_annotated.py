"""AnnData's files: tables of the file by name, single columns, labels of obs."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import kernelmean as km

anndata = pytest.importorskip("anndata", reason="needs anndata: pip install 'kernelmean[anndata]'")

CELLS = 60


def cells(matrix=sparse.csr_matrix):
    """Cells of three donors, with an embedding, a frame, sparse counts and a layer."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, size=(CELLS, 4)).astype(np.float32)
    obs = pd.DataFrame(
        {
            "donor": pd.Categorical(np.repeat(["anna", "bert", "carl"], CELLS // 3)),
            "age": np.repeat([30.0, 40.0, 50.0], CELLS // 3),
            "dead": rng.random(CELLS) < 0.3,
            "CD3": "a word",
        },
        index=[f"cell{i}" for i in range(CELLS)],
    )
    var = pd.DataFrame(index=["CD3", "CD4", "twin", "twin"])
    with pytest.warns(UserWarning, match="Variable names are not unique"):
        made = anndata.AnnData(matrix(counts), obs=obs, var=var)
    made.obsm["X_pca"] = (
        rng.normal(size=(CELLS, 3)) + np.repeat([0.0, 0.1, 3.0], CELLS // 3)[:, None]
    )
    made.obsm["X_umap"] = rng.normal(size=(CELLS, 2))
    made.obsm["markers"] = pd.DataFrame(
        rng.normal(size=(CELLS, 2)), columns=["u", "v"], index=made.obs_names
    )
    made.layers["raw"] = matrix(2.0 * counts)
    return made


@pytest.fixture(
    params=[sparse.csr_matrix, sparse.csc_matrix, np.asarray], ids=["csr", "csc", "dense"]
)
def file(request, tmp_path):
    made = cells(request.param)
    path = tmp_path / "cells.h5ad"
    made.write_h5ad(path)
    return path, made


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def test_tables_and_columns(file):
    path, made = file
    pca = made.obsm["X_pca"]
    source = km.read(path)
    assert source.shape == (CELLS, 3)
    assert source.columns == ["X_pca-0", "X_pca-1", "X_pca-2"]
    np.testing.assert_array_equal(source, pca)
    for columns, expected in {
        "obsm:X_pca": pca,
        "X_pca": pca,
        "X_pca-2,X_pca-0": pca[:, [2, 0]],
        "obsm:X_umap": made.obsm["X_umap"],
        "obsm:markers": made.obsm["markers"],
        "markers-v": made.obsm["markers"][["v"]],
        "layers:raw": dense(made.layers["raw"]),
        "CD4": dense(made.X)[:, [1]],
        "var:CD3,age,dead": np.column_stack([dense(made.X)[:, 0], made.obs[["age", "dead"]]]),
        "raw:CD4,obs:age": np.column_stack([dense(made.layers["raw"])[:, 1], made.obs["age"]]),
        "X_pca,age": np.column_stack([pca, made.obs["age"]]),
    }.items():
        np.testing.assert_array_equal(np.asarray(km.read(path, columns=columns)), expected)
    everything = km.read(path, columns="X")
    assert everything.columns == ["var:CD3", "CD4", "twin", "twin-1"]
    np.testing.assert_array_equal(everything, dense(made.X))


def test_labels_weights_and_what_is_no_number(file):
    path, made = file
    source = km.read(path, columns="obsm:X_umap", labels="donor", weights="age")
    assert source.labels.tolist() == made.obs["donor"].tolist()
    np.testing.assert_array_equal(source.weights, made.obs["age"])
    with pytest.raises(ValueError, match="column 'donor' holds words or categories"):
        km.read(path, columns="donor,age")
    with pytest.raises(ValueError, match=r"has no column 'CD8'; its columns are 'X_pca', "):
        km.read(path, columns="CD8")
    with pytest.raises(ValueError, match="'X_pca-0' is no column of obs"):
        km.read(path, labels="X_pca-0").labels  # noqa: B018
    coded = km.read(path, columns="age,donor", categories="donor")
    assert coded.levels == {"donor": ("anna", "bert", "carl")}


def test_missing_values(tmp_path):
    made = cells()
    made.obs.loc["cell0", "donor"] = np.nan
    made.obs["count"] = pd.array([None, *range(1, CELLS)], dtype="Int64")
    made.write_h5ad(tmp_path / "cells.h5ad")
    with pytest.raises(ValueError, match="1 row has"):
        km.read(tmp_path / "cells.h5ad", labels="donor").load()
    labels = km.read(tmp_path / "cells.h5ad", labels="donor", drop_na=True).labels
    assert len(labels) == CELLS - 1
    numbers = km.read(tmp_path / "cells.h5ad", columns="count", drop_na=True).load().points
    np.testing.assert_array_equal(numbers[:, 0], np.arange(1, CELLS))


def test_which_table_where_none_is_named(tmp_path):
    made = cells()
    path = tmp_path / "cells.h5ad"
    del made.obsm["X_pca"]
    made.write_h5ad(path)
    with pytest.raises(ValueError, match=r"which table of .* Say columns='obsm:NAME'"):
        km.read(path)
    assert km.read(path, columns="CD4,age").shape == (CELLS, 2)
    del made.obsm["markers"]
    made.write_h5ad(path)
    assert km.read(path).columns == ["X_umap-0", "X_umap-1"]
    del made.obsm["X_umap"]
    made.var_names = ["CD2", "CD4", "CD8", "CD19"]
    made.write_h5ad(path)
    assert km.read(path).columns == ["CD2", "CD4", "CD8", "CD19"]
    np.testing.assert_array_equal(np.asarray(km.read(path)), made.X.toarray())


def test_rows_come_in_blocks(tmp_path, monkeypatch):
    made = cells()
    made.write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.setattr("kernelmean.files.annotated.BLOCK_NUMBERS", 30)
    source = km.read(tmp_path / "cells.h5ad", columns="obsm:X_pca,CD4", labels="donor")
    found = [batch.labels.tolist() for batch in source.numbered(25)]
    assert [len(part) for part in found] == [25, 25, 10]
    assert [label for part in found for label in part] == made.obs["donor"].tolist()
    np.testing.assert_array_equal(np.asarray(source)[:, :3], made.obsm["X_pca"])


@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_a_damaged_file(tmp_path, keep):
    path = tmp_path / "cells.h5ad"
    cells().write_h5ad(path)
    contents = path.read_bytes()
    path.write_bytes(contents[: int(keep * len(contents))])
    with pytest.raises(ValueError, match=r"cells\.h5ad"):
        km.read(path).load()


def test_hdf5_of_another_kind(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["X"] = np.zeros((3, 2))
    with pytest.raises(ValueError, match="holds no table 'obs' as AnnData writes it"):
        km.read(tmp_path / "other.h5ad")


def test_anndata_is_named_where_it_is_missing(tmp_path, monkeypatch):
    (tmp_path / "cells.h5ad").write_bytes(b"something")
    monkeypatch.setitem(sys.modules, "anndata.io", None)
    with pytest.raises(ImportError, match=r"needs anndata, .*'kernelmean\[anndata\]'"):
        km.read(tmp_path / "cells.h5ad")

"""Cells of AnnData: scored and embedded, and what is written back survives a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

anndata = pytest.importorskip("anndata", reason="needs anndata: pip install 'kernelmean[anndata]'")

from kernelmean.integrations import anndata as km_ad  # noqa: E402
from tests.files import test_annotated  # noqa: E402
from tests.files.test_annotated import CELLS  # noqa: E402


def cells():
    made = test_annotated.cells()
    made.var_names_make_unique()
    return made


def stored(made, path):
    """The same after it was written and read."""
    made.write_h5ad(path)
    return anndata.read_h5ad(path)


def test_densities_of_cells(tmp_path):
    made = cells()
    density = km_ad.log_density(made)
    expected = km.SparseKDE(random_state=0).fit(made.obsm["X_pca"])
    found = stored(made, tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(
        found.obs["log_density"], expected.score_samples(made.obsm["X_pca"])
    )
    params = found.uns["log_density"]["params"]
    assert params["use_rep"] == "X_pca"
    assert params["bandwidth"] == density.bandwidth_
    source = km.read(tmp_path / "cells.h5ad", columns="obsm:X_pca")  # columns have the same names
    assert source.columns == list(density.feature_names_in_)
    np.testing.assert_array_equal(
        density.score_samples(pd.DataFrame(np.asarray(source), columns=source.columns)),
        made.obs["log_density"],
    )


def test_a_fitted_density_scores_other_cells():
    made = cells()
    density = km_ad.log_density(made, km.SparseKDE(k=5, random_state=1), key_added="first")
    other = made[: CELLS // 3].copy()
    assert km_ad.log_density(other, density, key_added="again") is density
    np.testing.assert_array_equal(other.obs["again"], other.obs["first"])


@pytest.mark.parametrize(
    ("use_rep", "width"), [("X_umap", 2), ("markers", 2), ("X", 4), ("X_pca", 3)]
)
def test_representations(use_rep, width):
    made = cells()
    detector = km.SparseKDEOutlierDetector(bandwidth=1.0, random_state=0)
    model = km_ad.log_density(made, detector, use_rep=use_rep)
    assert model.n_features_in_ == width
    assert not hasattr(detector, "n_features_in_")  # a copy was fitted


def test_donors_as_points(tmp_path):
    made = cells()
    embedding = km_ad.embed_samples(made, "donor")
    found = stored(made, tmp_path / "cells.h5ad")
    kept = found.uns["sample_embedding"]
    assert kept["names"].tolist() == ["anna", "bert", "carl"]
    D = kept["distances"]
    np.testing.assert_array_equal(D, embedding.distances_)
    assert D[0, 1] < D[0, 2]
    assert kept["params"]["groupby"] == "donor"
    of_cells = found.obsm["X_sample_embedding"]
    np.testing.assert_array_equal(of_cells, np.repeat(kept["coordinates"], CELLS // 3, axis=0))


def test_cells_of_no_donor_are_left_out():
    made = cells()
    whole = km_ad.embed_samples(made[1:].copy(), "donor")
    made.obs.loc["cell0", "donor"] = np.nan
    estimator = km.DistributionEmbedding(embedding="mds", random_state=0)
    embedding = km_ad.embed_samples(made, "donor", estimator, key_added="donors")
    np.testing.assert_array_equal(embedding.distances_, whole.distances_)
    assert np.isnan(made.obsm["X_donors"][0]).all()
    assert np.isfinite(made.obsm["X_donors"][1:]).all()


def test_distances_alone(tmp_path):
    made = cells()
    km_ad.embed_samples(made, "donor", km.DistributionEmbedding(embedding=None, random_state=0))
    assert "X_sample_embedding" not in made.obsm
    assert "coordinates" not in stored(made, tmp_path / "cells.h5ad").uns["sample_embedding"]


def test_what_is_not_there():
    made = cells()
    with pytest.raises(KeyError, match="obs has no column 'patient'; it has 'donor'"):
        km_ad.embed_samples(made, "patient")
    with pytest.raises(KeyError, match="obsm has no 'X_tsne'; it has 'X_pca'"):
        km_ad.log_density(made, use_rep="X_tsne")
    del made.obsm["X_pca"]
    with pytest.raises(ValueError, match="which representation"):
        km_ad.log_density(made)


def test_elements_of_obsm_are_tables_as_any():
    made = cells()
    for key in ("X_pca", "markers"):
        density = km.SparseKDE(random_state=0).fit(made.obsm[key])
        assert density.n_features_in_ == made.obsm[key].shape[1]
    groups = made.obs["donor"].to_numpy().astype(str)
    embedding = km.DistributionEmbedding(embedding=None).fit(made.obsm["X_pca"], groups=groups)
    assert embedding.names_ == ["anna", "bert", "carl"]

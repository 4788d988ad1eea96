"""Data with named dimensions: as tables in every fit, and results in the places of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

xr = pytest.importorskip("xarray", reason="needs xarray: pip install 'kernelmean[xarray]'")

from kernelmean.integrations import xarray as km_xr  # noqa: E402

NAMES = ["wind", "rain"]


def table(n=300):
    return np.random.default_rng(0).normal(size=(n, 2))


def as_dataset(X):
    donors = ("sample", np.repeat("anna", len(X)))
    columns = {name: ("sample", X[:, j]) for j, name in enumerate(NAMES)}
    return xr.Dataset(columns, coords={"donor": donors})


def as_array(X):
    return xr.DataArray(X, dims=("sample", "variable"), coords={"variable": NAMES})


def grid():
    """Wind and rain over time and place, with a place where one is missing; height of the place."""
    rng = np.random.default_rng(0)
    wind, rain = rng.normal(size=(2, 20, 15))
    rain[:, 3] = np.nan
    coords = {"time": pd.date_range("2020-01-01", periods=20), "x": np.arange(15.0)}
    return xr.Dataset(
        {
            "wind": (("time", "x"), wind),
            "rain": (("time", "x"), rain),
            "height": ("x", rng.normal(size=15)),
        },
        coords,
    )


@pytest.mark.parametrize("wrap", [as_dataset, as_array])
def test_tables_with_names(wrap):
    X = table()
    named = wrap(X)
    plain = km.SparseKDE(random_state=0).fit(X)
    density = km.SparseKDE(random_state=0).fit(named)
    assert list(density.feature_names_in_) == NAMES
    np.testing.assert_array_equal(density.score_samples(named), plain.score_samples(X))
    frame = pd.DataFrame(X, columns=NAMES)
    np.testing.assert_array_equal(density.score_samples(frame), plain.score_samples(X))
    with pytest.raises(ValueError, match="must be in the same order"):
        density.score_samples(frame[NAMES[::-1]])
    mean = km.sparse_kernel_mean(named, k=5, random_state=0)
    np.testing.assert_array_equal(mean(named), mean(X))
    bounded = km.SparseKDE(k=5, domain={"wind": (-9, None)}, random_state=0).fit(named)
    assert np.isfinite(bounded.score_samples(named)).all()
    holes = named.where(named > -1.0)
    assert np.isfinite(density.score_samples(holes, missing="marginal")).all()
    y = (X[:, 0] > 0).astype(int)
    model = km.SparseKDEClassifier(random_state=0).fit(named, y)
    assert (model.predict(named) == y).mean() > 0.9
    groups = np.repeat(["a", "b"], len(X) // 2)
    embedding = km.DistributionEmbedding(embedding=None, random_state=0).fit(named, groups=groups)
    assert list(embedding.feature_names_in_) == NAMES


def test_arrays_without_labels_are_arrays():
    X = table()
    for labels in (None, [1, 2]):
        coords = None if labels is None else {"variable": labels}
        density = km.SparseKDE(random_state=0).fit(xr.DataArray(X, coords, ("sample", "variable")))
        assert not hasattr(density, "feature_names_in_")


def test_chunks_stay_where_they_are():
    pytest.importorskip("distributed", reason="needs Dask: pip install 'kernelmean[cluster]'")
    X = table()
    chunks = as_array(X).chunk({"sample": 100})
    density = km.SparseKDE(k=5, engine="cluster", random_state=0).fit(chunks)
    expected = km.SparseKDE(k=5, random_state=0).fit(X)
    lazily = density.score_samples(chunks)
    assert hasattr(lazily, "compute")
    np.testing.assert_allclose(lazily.compute(), expected.score_samples(X), rtol=1e-6)


def test_a_dataset_of_several_dimensions_is_no_table():
    with pytest.raises(ValueError, match=r"this one has time, x: kernelmean\.integrations\.xarray"):
        km.SparseKDE().fit(grid())


def test_results_have_the_dimensions_of_the_rows():
    data = grid()
    density = km_xr.fit(km.SparseKDE(random_state=0), data)
    assert list(density.feature_names_in_) == ["wind", "rain", "height"]
    found = km_xr.apply(density.score_samples, data)
    assert found.dims == ("time", "x")
    assert found.name == "score_samples"
    xr.testing.assert_equal(found.coords.to_dataset(), data.coords.to_dataset())
    assert np.isnan(found.isel(x=3)).all()
    row = data.isel(time=4, x=7)
    values = pd.DataFrame([[float(row[name]) for name in data]], columns=list(data))
    assert float(found.isel(time=4, x=7)) == pytest.approx(density.score_samples(values)[0])
    gradients = km_xr.apply(density.score_gradient, data, output="slope")
    assert dict(gradients.sizes) == {"time": 20, "x": 15, "slope": 3}


def test_a_dimension_has_the_columns_wherever_it_stands():
    values = np.random.default_rng(0).normal(size=(2, 30, 10))
    data = xr.DataArray(values, dims=("variable", "time", "x"), coords={"variable": NAMES})
    density = km_xr.fit(km.SparseKDE(random_state=0), data, features="variable")
    found = km_xr.apply(density.score_samples, data, features="variable")
    expected = density.score_samples(pd.DataFrame(values.reshape(2, -1).T, columns=NAMES))
    np.testing.assert_array_equal(found.values.ravel(), expected)
    with pytest.raises(ValueError, match="which dimension has the columns"):
        km_xr.rows(data)
    with pytest.raises(ValueError, match="features= is for arrays"):
        km_xr.rows(grid(), features="x")


def test_labels_keep_their_type_where_nothing_is_missing():
    data = as_array(table())
    detector = km_xr.fit(km.SparseKDEOutlierDetector(random_state=0), data)
    found = km_xr.apply(detector.predict, data)
    assert found.dtype.kind == "i"
    holes = km_xr.apply(lambda rows: np.repeat("word", len(rows)), data.where(data > 0.0))
    assert set(holes.values.tolist()) == {"word", None}
    with pytest.raises(ValueError, match="the function gave 1 results for 300 rows"):
        km_xr.apply(lambda rows: [1.0], data)


def test_one_dimension_is_one_column():
    data = xr.DataArray(table()[:, 0], dims="time")
    density = km_xr.fit(km.SparseKDE(random_state=0), data)
    assert density.n_features_in_ == 1
    assert km_xr.apply(density.score_samples, data).dims == ("time",)


def test_distances_by_name():
    samples = {"anna": table(), "bert": table() + 1.0}
    embedding = km.DistributionEmbedding(embedding=None, random_state=0).fit(samples)
    D = km_xr.distances(embedding)
    assert float(D.sel(sample="anna", other="bert")) == embedding.distances_[0, 1]

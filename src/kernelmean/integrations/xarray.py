"""Arrays with named dimensions: rows of xarray's data in, results with its dimensions out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kernelmean.embedding.estimator import DistributionEmbedding
from kernelmean.files.optional_imports import need

Estimator = TypeVar("Estimator")


class Rows(NamedTuple):
    """The rows of xarray's data.

    Attributes
    ----------
    table : DataFrame of shape (n, d)
        One row per place, one column per variable or feature.
    places : DataArray
        An array with the dimensions and the coordinates of the rows, in their order.
    complete : ndarray of bool of shape (n,)
        The rows in which no value is missing.
    """

    table: Any
    places: Any
    complete: np.ndarray[Any, Any]


def rows(data: Any, features: str | None = None) -> Rows:
    """Every place of a Dataset or a DataArray as a row.

    The variables of a Dataset are columns, and its rows are the places of all dimensions, such as
    time, latitude and longitude; a variable that lacks some of them is repeated. Of a DataArray one
    dimension has the columns, and the others the rows.

    Parameters
    ----------
    data : Dataset or DataArray
        The data, which may have missing values.
    features : str or None, default=None
        The dimension of a DataArray that has the columns. None is the last one of two; one
        dimension alone is a single column.

    Returns
    -------
    Rows
        The table of rows, the places that they stand for, and which of them are complete. Memory
        O(n·d).

    Raises
    ------
    ValueError
        If a DataArray has more than two dimensions, and none of them is named.

    See Also
    --------
    apply : A function of rows, with its results put back into their places.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from kernelmean.integrations.xarray import rows
    >>> grid = xr.Dataset({"wind": (("time", "x"), np.zeros((3, 2))), "rain": ("time", np.ones(3))})
    >>> rows(grid).table.shape, rows(grid).places.dims
    ((6, 2), ('time', 'x'))
    """
    array = _with_columns_last(data, features)
    pandas = need("pandas", "kernelmean.integrations.xarray", "xarray")
    values = np.asarray(array.values, dtype=np.float64)
    labels = array.coords.get(array.dims[-1])
    columns = range(values.shape[-1]) if labels is None else labels.values
    places = array.isel({array.dims[-1]: 0}, drop=True)
    named = labels is not None and labels.dtype.kind in "OUT"
    flat = values.reshape(-1, values.shape[-1])
    table = pandas.DataFrame(flat, columns=[str(c) if named else c for c in columns])
    return Rows(table, places, np.asarray(np.isfinite(flat).all(axis=1)))


def fit(estimator: Estimator, data: Any, features: str | None = None, **options: Any) -> Estimator:
    """Fit an estimator to the complete rows of a Dataset or a DataArray.

    Parameters
    ----------
    estimator : estimator
        Any estimator of this package, or of scikit-learn, that needs no labels.
    data : Dataset or DataArray
        The data, as :func:`rows` takes it.
    features : str or None, default=None
        The dimension of a DataArray that has the columns.
    **options : object
        Whatever else ``fit`` takes.

    Returns
    -------
    estimator
        The estimator itself, fitted. Time and memory are those of its ``fit``.

    See Also
    --------
    apply : Its methods on such data.

    Examples
    --------
    >>> import numpy as np, xarray as xr, kernelmean as km
    >>> import kernelmean.integrations.xarray as km_xr
    >>> values = np.random.default_rng(0).normal(size=(50, 40, 2))
    >>> grid = xr.DataArray(values, dims=("time", "x", "variable"))
    >>> density = km_xr.fit(km.SparseKDE(random_state=0), grid, features="variable")
    >>> km_xr.apply(density.score_samples, grid, features="variable").sizes
    Frozen({'time': 50, 'x': 40})
    """
    found = rows(data, features)
    estimator.fit(_plain(found.table[found.complete]), **options)  # type: ignore[attr-defined]
    return estimator


def apply(
    function: Callable[[Any], Any],
    data: Any,
    features: str | None = None,
    *,
    output: str = "output",
) -> Any:
    """A function of rows on a Dataset or a DataArray, with its results in the places of the rows.

    Parameters
    ----------
    function : callable
        Takes a table with one row per place and gives a value, or several, for each: such as
        ``density.score_samples``, ``classifier.predict_proba`` or ``detector.predict``.
    data : Dataset or DataArray
        The data, as :func:`rows` takes it. Rows with missing values are not handed over.
    features : str or None, default=None
        The dimension of a DataArray that has the columns.
    output : str, default='output'
        The name of the last dimension of the results, where each row has several.

    Returns
    -------
    DataArray
        The results, with the dimensions and the coordinates of the rows; NaN where a row was not
        complete. Time and memory are those of the function.

    See Also
    --------
    fit : Learns from such data.
    rows : What is handed over.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from kernelmean.integrations.xarray import apply
    >>> grid = xr.Dataset({"a": ("x", [1.0, np.nan, 3.0]), "b": ("x", [1.0, 1.0, 1.0])})
    >>> apply(lambda table: table.sum(axis=1), grid).values
    array([ 2., nan,  4.])
    """
    xarray = need("xarray", "kernelmean.integrations.xarray", "xarray")
    found = rows(data, features)
    results = np.asarray(function(_plain(found.table[found.complete])))
    if len(results) != found.complete.sum():
        raise ValueError(
            f"the function gave {len(results)} results for {found.complete.sum()} rows."
        )
    values = _filled(results, found.complete)
    places = found.places
    dims = (*places.dims, *([output] if values.ndim > 1 else []))
    shaped = values.reshape(*places.shape, *values.shape[1:])
    name = getattr(function, "__name__", None)
    return xarray.DataArray(shaped, coords=places.coords, dims=dims, name=name)


def distances(embedding: DistributionEmbedding) -> Any:
    """The distances of the samples of a fitted embedding, by their names.

    Parameters
    ----------
    embedding : DistributionEmbedding
        A fitted embedding of N samples.

    Returns
    -------
    DataArray of shape (N, N)
        The distances, with the dimensions "sample" and "other". Costs nothing but memory O(N²).

    See Also
    --------
    kernelmean.DistributionEmbedding : Compares the samples.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> from kernelmean.integrations.xarray import distances
    >>> rng = np.random.default_rng(0)
    >>> samples = {name: rng.normal(size=(100, 2)) for name in ("anna", "bert")}
    >>> embedding = km.DistributionEmbedding(embedding=None, random_state=0).fit(samples)
    >>> float(distances(embedding).sel(sample="anna", other="anna"))
    0.0
    """
    xarray = need("xarray", "kernelmean.integrations.xarray", "xarray")
    coords = {"sample": embedding.names_, "other": embedding.names_}
    return xarray.DataArray(embedding.distances_, coords, ("sample", "other"), "distance")


def _with_columns_last(data: Any, features: str | None) -> Any:
    """A DataArray whose last dimension has the columns."""
    if hasattr(data, "data_vars"):
        if features is not None:
            raise ValueError("the columns of a Dataset are its variables: features= is for arrays.")
        return data.to_dataarray("variable").transpose(..., "variable")
    if features is not None:
        return data.transpose(..., features)
    if data.ndim == 1:
        return data.expand_dims("variable", axis=1)
    if data.ndim != 2:
        raise ValueError(
            f"which dimension has the columns? Say features=; there are {', '.join(data.dims)}."
        )
    return data


def _plain(table: Any) -> Any:
    """A frame where columns have names, else an array."""
    return table if all(isinstance(name, str) for name in table.columns) else table.to_numpy()


def _filled(results: np.ndarray[Any, Any], complete: np.ndarray[Any, Any]) -> Any:
    """The results of complete rows, and NaN, or None among words, for the others."""
    if complete.all():
        return results
    number = results.dtype.kind in "biuf"
    kind = np.result_type(results.dtype, np.float64) if number else np.dtype(object)
    values = np.full((len(complete), *results.shape[1:]), np.nan if number else None, dtype=kind)
    values[complete] = results
    return values

"""Tables with named dimensions as frames, which every other module knows."""

from __future__ import annotations

from typing import Any


def as_frame(X: Any) -> Any:
    """A Dataset or a DataArray of xarray as a pandas frame; anything else as it is.

    The variables of a Dataset along one dimension are columns. A DataArray of two dimensions has
    its rows along the first, and names of columns where the second has labels that are text; where
    it is in chunks it is the Dask array behind it.
    """
    if not is_named(X):
        return X
    if hasattr(X, "data_vars"):
        return _of_dataset(X)
    if X.chunks is not None:
        return X.data
    labels = X.coords.get(X.dims[1]) if X.ndim == 2 else None
    named = labels is not None and labels.dtype.kind in "OUT"
    return X.to_pandas() if named else X.to_numpy()


def is_named(X: object) -> bool:
    """Whether it is xarray's, which speaks for Dask too, in chunks or not."""
    return type(X).__module__.partition(".")[0] == "xarray"


def _of_dataset(X: Any) -> Any:
    names = list(X.data_vars)
    if not names or any(len(X[name].dims) != 1 for name in names) or len(X.sizes) != 1:
        raise ValueError(
            f"a Dataset is a table where its variables have one dimension in common, and this one "
            f"has {', '.join(map(str, X.sizes))}: kernelmean.integrations.xarray takes others."
        )
    return X[names].reset_coords(drop=True).to_dataframe()[names]

"""Results of the library, and on the device, of what was asked about: torch, CuPy and others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def apply(function: Callable[[Any], Any], X: Any) -> Any:
    """A function of rows, with its results as an array of the same library on the same device.

    Rows on a CUDA device are read there, by estimators with ``engine="gpu"``; results are small,
    and travel by the host.

    Parameters
    ----------
    function : callable
        Takes a table with one row per point, such as ``density.score_samples``.
    X : array-like of shape (n, d)
        The rows: a tensor of torch, an array of CuPy, or of any library with ``asarray``.

    Returns
    -------
    array
        The results: of the library of X, where X is; an array of NumPy if X is no array of any.
        Time and memory are those of the function.

    Raises
    ------
    TypeError
        If the library of X cannot make arrays of NumPy's.

    See Also
    --------
    kernelmean.integrations.xarray.apply : Named dimensions in the place of a device.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.integrations.array_api import apply
    >>> apply(lambda rows: rows.sum(axis=1), np.ones((2, 3)))
    array([3., 3.])
    """
    results = np.asarray(function(X))
    library = _library(X)
    if library is None:
        return results
    if not hasattr(library, "asarray"):
        raise TypeError(f"{library.__name__} has no asarray, which makes arrays of NumPy's.")
    try:
        return library.asarray(results, device=X.device)
    except TypeError:  # CuPy's takes no device, which is a context there
        with X.device:
            return library.asarray(results)


def _library(X: Any) -> Any:
    """The namespace of an array, by the standard or by where its type is defined."""
    if isinstance(X, np.ndarray) or not hasattr(X, "device"):
        return None
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    return sys.modules.get(type(X).__module__.partition(".")[0])

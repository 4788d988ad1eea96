"""What every estimator does with the arrays it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernelmean import _checks, engines
from kernelmean._types import ArrayLike, Points, Vector


def points(
    estimator: Any, X: ArrayLike, *, reset: bool, least: int = 1, sample: bool | None = None
) -> Points:
    """X as finite float64 numbers, with the number and the names of its columns recorded or
    compared.

    A sample in a file or on a cluster stays there: to be fitted (``sample``, by default where
    ``reset``) it is checked now, to be evaluated at when it is read.
    """
    if engines.in_parts(X):
        compared = _in_parts(estimator, X, reset, least)
        return engines.points(compared, estimator.engine) if sample and not reset else compared
    names = X.columns if _checks.is_batched(X) else None
    if names is not None and not reset and hasattr(estimator, "feature_names_in_"):
        if list(estimator.feature_names_in_) != names:
            raise ValueError(
                f"the columns are {names}, but {list(estimator.feature_names_in_)} were fitted, "
                "in this order."
            )
        return _checks.points(X, columns=estimator.n_features_in_)
    given = np.asarray(X) if names is not None else X
    with _naming_columns(X):
        checked: Points = validate_data(
            estimator, given, reset=reset, dtype=np.float64, ensure_min_samples=least
        )
    _checks.within_reach(float(checked.min()), float(checked.max()), "X")
    if names is not None and reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return checked


def _in_parts(estimator: Any, X: Any, reset: bool, least: int) -> Points:
    # A Dask collection says here whether it is a table; nothing is computed yet.
    width = int(
        (engines.queries(X, estimator.engine, "X") if _checks.is_collection(X) else X).shape[1]
    )
    names = getattr(X, "columns", None)
    names = (
        None if names is None or not all(isinstance(name, str) for name in names) else list(names)
    )
    if not reset:
        fitted = column_names(estimator)
        if names is not None and fitted is not None and list(fitted) != names:
            raise ValueError(
                f"the columns are {names}, but {list(fitted)} were fitted, in this order."
            )
        _checks.table_shape((1, width), "X", estimator.n_features_in_)
        return X  # type: ignore[no-any-return]
    checked = engines.points(X, estimator.engine)
    if len(checked) < least:
        raise ValueError(f"X has {len(checked)} rows, but at least {least} are needed.")
    estimator.n_features_in_ = width
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return checked


def points_and_labels(
    estimator: Any, X: ArrayLike, y: ArrayLike, least: int = 1
) -> tuple[Points, np.ndarray[Any, Any]]:
    """X as above, and y as one label per row."""
    with _naming_columns(X):
        checked, labels = validate_data(estimator, X, y, dtype=np.float64, ensure_min_samples=least)
    return checked, labels


@contextmanager
def _naming_columns(X: object) -> Iterator[None]:
    """scikit-learn says which value is no number; in a frame, where it stands helps more."""
    try:
        yield
    except (TypeError, ValueError) as error:
        odd = _checks.odd_column(X)
        if odd is None:
            raise
        raise ValueError(
            f"X has a column that is not numeric: {odd}; drop it, or encode it as numbers."
        ) from error


def weights(sample_weight: ArrayLike | float | None, n: int) -> Vector | None:
    """Weights per row; a single number means equal ones."""
    if isinstance(sample_weight, float | int):
        return _checks.weights(np.full(n, float(sample_weight)), n)
    return _checks.weights(sample_weight, n)


def column_names(estimator: Any) -> tuple[str, ...] | None:
    """Names of the columns seen in ``fit``, where the data had them."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def fewest(bandwidth: Any) -> int:
    """Rows that a fit needs: a rule cannot find a spread in one."""
    return 2 if isinstance(bandwidth, str) else 1

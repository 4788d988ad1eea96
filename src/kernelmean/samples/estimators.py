"""What every estimator does with the arrays it is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernelmean import _checks, engines
from kernelmean._frames import as_frame
from kernelmean._types import ArrayLike, Points, Vector
from kernelmean.samples.checking import check, check_queries, lies_elsewhere
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import Queries, Sample, WeightedSample


def sample(estimator: Any, X: ArrayLike | Sample, *, reset: bool = True, least: int = 1) -> Sample:
    """Points to be fitted, checked; the number and the names of their columns are recorded.

    Without ``reset`` they are compared with what was recorded before. A sample in a file or on a
    cluster stays there.
    """
    if isinstance(X, Sample):
        estimator.n_features_in_ = X.dimension
        return X
    given = as_frame(X)
    if not _stays(given):
        return _placed(estimator, _points(estimator, given, reset=reset, least=least))
    if not reset:
        _compare(estimator, given)
        return check(given, estimator.engine)
    checked = check(given, estimator.engine)
    if len(checked) < least:
        raise ValueError(f"X has {len(checked)} rows, but at least {least} are needed.")
    estimator.n_features_in_ = checked.dimension
    names = _names(given)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return checked


def weighted_sample(
    estimator: Any,
    X: ArrayLike | Sample,
    sample_weight: ArrayLike | float | None,
    *,
    reset: bool = True,
    least: int = 1,
) -> WeightedSample:
    """:func:`sample` with its weights; rows of weight zero are absent."""
    checked = sample(estimator, X, reset=reset, least=least)
    return WeightedSample.of(checked, weights(sample_weight, len(checked)))


def queries(estimator: Any, X: ArrayLike) -> Queries:
    """Places to evaluate at, compared with what was fitted; Dask collections stay lazy."""
    X = as_frame(X)
    if not _stays(X):
        return ArraySample(_points(estimator, X, reset=False))
    _compare(estimator, X)
    return check_queries(X, estimator.engine, "X", estimator.n_features_in_)


def _stays(X: object) -> bool:
    """Whether X is left where it is: in files, on a cluster or on a device."""
    return lies_elsewhere(X) or _checks.on_device(X)


def incomplete(estimator: Any, X: ArrayLike) -> Points:
    """Rows to evaluate at, in which NaN stands for what is missing."""
    X = as_frame(X)
    names = _names(X)
    if names is not None and column_names(estimator) is not None:
        _require_names(estimator, names)
    return _checks.incomplete_points(X, "X", estimator.n_features_in_)


def sample_and_labels(
    estimator: Any, X: ArrayLike, y: ArrayLike, least: int = 1
) -> tuple[Sample, np.ndarray[Any, Any]]:
    """Points to be fitted, and one label per row."""
    X = as_frame(X)
    with _naming_columns(X):
        checked, labels = validate_data(estimator, X, y, dtype=np.float64, ensure_min_samples=least)
    return _placed(estimator, checked), labels


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


def _placed(estimator: Any, X: Points) -> Sample:
    """A checked array where the engine wants it: here, or on the workers of a cluster."""
    if engines.is_cluster(estimator.engine):
        return check(X, estimator.engine)
    return ArraySample(X)


def _points(estimator: Any, X: ArrayLike, *, reset: bool, least: int = 1) -> Points:
    """An array of finite numbers, with its columns recorded or compared by scikit-learn."""
    _checks.refuse_codes(X)
    names = X.columns if _checks.is_batched(X) else None
    if names is not None and not reset and hasattr(estimator, "feature_names_in_"):
        _require_names(estimator, names)
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


def _compare(estimator: Any, X: Any) -> None:
    """Raise a ValueError where the columns of X are not those that were fitted."""
    # A Dask collection says here whether it is a table; nothing is computed yet.
    table = check_queries(X, estimator.engine, "X") if _checks.is_collection(X) else X
    names = _names(X)
    if names is not None and column_names(estimator) is not None:
        _require_names(estimator, names)
    _checks.table_shape((1, int(table.shape[1])), "X", estimator.n_features_in_)


def _names(X: Any) -> list[str] | None:
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return list(names)


def _require_names(estimator: Any, names: list[str]) -> None:
    if list(estimator.feature_names_in_) != names:
        raise ValueError(
            f"the columns are {names}, but {list(estimator.feature_names_in_)} were fitted, in "
            "this order."
        )


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

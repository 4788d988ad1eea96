"""Rows for an estimator with a domain: names of columns recorded, categories as codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from kernelmean import _checks
from kernelmean.domains import Categorical, Domain, DomainAsked, outside_error, tables
from kernelmean.samples.checking import lies_elsewhere
from kernelmean.samples.estimators import column_names, weights
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import WeightedSample


class CodedSample(NamedTuple):
    """The rows that count, as numbers, and what their columns can hold."""

    sample: WeightedSample
    domain: Domain
    given: ArraySample  # all rows, absent ones included


def weighted_sample(estimator: Any, X: Any, sample_weight: Any, least: int = 1) -> CodedSample:
    """Rows to be fitted, checked against ``estimator.domain``; their columns are recorded."""
    _require_memory(X)
    table = _table(X)
    names = tables.column_names(table)
    asked = DomainAsked.of(estimator.domain, tables.width(table), names)
    levels = _given_levels(estimator.domain, asked)
    coded = tables.code(table, asked.categories, levels)
    if len(coded.rows) < least:
        raise ValueError(f"X has {len(coded.rows)} rows, but at least {least} are needed.")
    given = ArraySample(coded.rows)
    sample = WeightedSample.of(given, weights(sample_weight, len(given)))
    rows = sample.sample.array()
    for t in asked.categories:
        missing = int(np.isnan(rows[:, t]).sum())
        if missing:
            label = t if names is None else repr(names[t])
            raise ValueError(f"column {label} has {missing} missing values; drop these rows.")
    domain = asked.learned(rows, sample.weights, coded.levels)
    problem = outside_error(domain, rows, names)
    if problem is not None:
        raise problem
    _record(estimator, domain.dimension, names)
    return CodedSample(sample, domain, given)


def queries(estimator: Any, X: Any, domain: Domain, *, incomplete: bool = False) -> ArraySample:
    """Coded rows to evaluate at, compared with what was fitted."""
    _require_memory(X)
    table = _table(X)
    names = tables.column_names(table)
    known = column_names(estimator)
    if names is not None and known is not None and names != known:
        raise ValueError(
            f"the columns are {list(names)}, but {list(known)} were fitted, in this order."
        )
    if tables.width(table) != domain.dimension:
        raise ValueError(
            f"X has {tables.width(table)} features, but {type(estimator).__name__} is expecting "
            f"{domain.dimension} features as input."
        )
    categories = tuple(domain.categories.tolist())
    return ArraySample(tables.code(table, categories, domain.levels, incomplete=incomplete).rows)


def _given_levels(domain: Any, asked: DomainAsked) -> tuple[tuple[Any, ...] | None, ...]:
    """The levels that are known before a row is seen, of each column of categories."""
    if isinstance(domain, Domain):
        return domain.levels
    kinds = [asked.kinds[t] for t in asked.categories]
    return tuple(kind.categories for kind in kinds if isinstance(kind, Categorical))


def _require_memory(X: Any) -> None:
    if lies_elsewhere(X) or _checks.on_device(X):
        raise TypeError(
            "domain= needs rows in the memory of this process: give a NumPy array or a frame, such "
            "as np.asarray(X) makes of a file that fits."
        )


def _table(X: Any) -> Any:
    """A frame or a source of batches as it is; anything else as an array of two dimensions."""
    if _checks.is_batched(X) or getattr(X, "columns", None) is not None:
        return X
    return check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0)


def _record(estimator: Any, columns: int, names: tuple[str, ...] | None) -> None:
    """What scikit-learn records of the columns in ``fit``."""
    estimator.n_features_in_ = columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_

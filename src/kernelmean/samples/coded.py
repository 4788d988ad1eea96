"""Rows for an estimator with a domain: names of columns recorded, categories as codes."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import check_array

from kernelmean import _checks
from kernelmean._frames import as_frame
from kernelmean._types import Points
from kernelmean.domains import Categorical, Domain, DomainAsked, outside_error, tables
from kernelmean.samples.checking import lies_elsewhere
from kernelmean.samples.estimators import column_names, weights
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import WeightedSample

# Of each column of categories; None where they are to be learned from the rows.
GivenLevels: TypeAlias = tuple[tuple[Any, ...] | None, ...]


class CodedSample(NamedTuple):
    """The rows that count, as numbers, and what their columns can hold."""

    sample: WeightedSample
    domain: Domain
    given: ArraySample  # all rows, absent ones included


class CheckedTable(NamedTuple):
    """Coded rows, and the names that their columns had."""

    rows: CodedSample
    names: tuple[str, ...] | None


def weighted_sample(estimator: Any, X: Any, sample_weight: Any, least: int = 1) -> CodedSample:
    """Rows to be fitted, checked against ``estimator.domain``; their columns are recorded."""
    checked = on_domain(X, estimator.domain, sample_weight, least)
    estimator.n_features_in_ = checked.rows.domain.dimension
    if checked.names is not None:
        estimator.feature_names_in_ = np.array(checked.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return checked.rows


def on_domain(X: Any, given: Any, sample_weight: Any, least: int = 1) -> CheckedTable:
    """Rows to be fitted, checked against a domain as users write it."""
    _require_memory(X)
    table = _table(X)
    names = tables.column_names(table)
    asked = DomainAsked.of(given, tables.width(table), names)
    levels = _given_levels(given, asked)
    coded = tables.code(table, asked.categories, levels)
    if len(coded.rows) < least:
        raise ValueError(f"X has {len(coded.rows)} rows, but at least {least} are needed.")
    counts = weights(sample_weight, len(coded.rows))
    sample = WeightedSample.of(ArraySample(coded.rows), counts)
    _refuse_missing(sample.sample.array(), asked.categories, names)
    if sample.present is not None and None in levels:
        known = _occurring(coded, sample.sample.array(), asked.categories, levels)
        coded = tables.code(table, asked.categories, known)
    every = ArraySample(np.where(np.isnan(coded.rows), tables.UNKNOWN, coded.rows))
    sample = WeightedSample.of(every, counts)
    rows = sample.sample.array()
    domain = asked.learned(rows, sample.weights, coded.levels)
    problem = outside_error(domain, rows, names)
    if problem is not None:
        raise problem
    return CheckedTable(CodedSample(sample, domain, every), names)


def _occurring(
    coded: tables.Coded, present: Points, categories: tuple[int, ...], given: GivenLevels
) -> GivenLevels:
    """The levels that are given, or else those of the rows that count: absent ones teach none."""
    return tuple(
        tuple(found[int(code)] for code in np.unique(present[:, t])) if known is None else known
        for t, known, found in zip(categories, given, coded.levels, strict=True)
    )


def _refuse_missing(
    rows: Points, categories: tuple[int, ...], names: tuple[str, ...] | None
) -> None:
    """A ValueError for rows whose category is not known."""
    for t in categories:
        missing = int(np.isnan(rows[:, t]).sum())
        if missing:
            label = t if names is None else repr(names[t])
            raise ValueError(f"column {label} has {missing} missing values; drop these rows.")


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
    rows = tables.code(table, categories, domain.levels, incomplete=incomplete).rows
    if not incomplete:
        _refuse_missing(rows, categories, names)
    return ArraySample(rows)


def _given_levels(domain: Any, asked: DomainAsked) -> GivenLevels:
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
    """A frame or a source of batches as it is; anything else as an array of two dimensions.

    Lists keep what they hold: NumPy would make words of the numbers beside a word.
    """
    X = as_frame(X)
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object)
    if _checks.is_batched(X) or getattr(X, "columns", None) is not None:
        return X
    return check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0)

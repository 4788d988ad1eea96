"""Rows for an estimator with a domain: names of columns recorded, categories as codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from kernelmean import _checks
from kernelmean._types import Points
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
    known = _given_levels(given, asked)
    coded = tables.code(table, asked.categories, known)
    if len(coded.rows) < least:
        raise ValueError(f"X has {len(coded.rows)} rows, but at least {least} are needed.")
    masses = weights(sample_weight, len(coded.rows))
    if masses is not None:
        coded = _without_absent(coded, asked.categories, known, masses > 0.0)
    every = ArraySample(coded.rows)
    sample = WeightedSample.of(every, masses)
    rows = sample.sample.array()
    _refuse_missing(rows, asked.categories, names)
    domain = asked.learned(rows, sample.weights, coded.levels)
    problem = outside_error(domain, rows, names)
    if problem is not None:
        raise problem
    return CheckedTable(CodedSample(sample, domain, every), names)


def _without_absent(
    coded: tables.Coded,
    categories: tuple[int, ...],
    known: tuple[tuple[Any, ...] | None, ...],
    live: NDArray[np.bool_],
) -> tables.Coded:
    """Of levels that were learned only those that a row has which counts."""
    rows = coded.rows.copy()
    levels = list(coded.levels)
    for i, t in enumerate(categories):
        codes = rows[:, t]
        seen = np.unique(codes[live & (codes >= 0.0)]).astype(np.intp)
        if known[i] is not None or len(seen) in (0, len(levels[i])):
            continue
        places = np.full(len(levels[i]), -1.0)
        places[seen] = np.arange(len(seen))
        held = codes >= 0.0
        rows[held, t] = places[codes[held].astype(np.intp)]
        levels[i] = tuple(levels[i][level] for level in seen)
    return coded._replace(rows=rows, levels=tuple(levels))


def _refuse_missing(
    rows: Points, categories: tuple[int, ...], names: tuple[str, ...] | None
) -> None:
    """A ValueError for rows to be fitted whose category is not known."""
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

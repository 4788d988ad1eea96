"""What a stream is compared with: rows that stand for a reference of any size."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, samples
from kernelmean._random import Streams
from kernelmean._types import IntVector, Points, Vector
from kernelmean.comparison.pairs import columns_of, require_distinct
from kernelmean.compiled.window_evidence import Judge
from kernelmean.fitting.honesty import FitWarning
from kernelmean.mean import sampling
from kernelmean.mean.expansion import AnyMean, KernelMean, expansion_of
from kernelmean.mean.value import SparseKernelMean
from kernelmean.monitoring import calibration
from kernelmean.monitoring.calibration import RunLengths
from kernelmean.monitoring.features import Features
from kernelmean.monitoring.windows import LEAST_WINDOW

ROWS = 20_000  # of a reference, on which everything is learned, and
ROWS_PER_WINDOW = 10  # or so many for each row of the longest window
MANY_TIMES = 10  # as many rows as are drawn, and numbering all of them would cost memory
KEPT_ROWS = 2000  # to say later what has changed
FEW_ROWS = 100  # of which too little can be learned


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows of a reference in a random order, and how many rows they stand for."""

    rows: Points
    n_points: int
    columns: tuple[str, ...] | None
    transform: str | None


@dataclass(frozen=True, eq=False)
class Baseline:
    """All that is known of a reference when rows are watched."""

    features: Features
    judge: Judge
    run_lengths: RunLengths
    threshold: float
    rows: Points  # (≤ KEPT_ROWS, d)
    n_points: int

    @classmethod
    def of(
        cls, rows: Points, n_points: int, run_length: float, window: int, streams: Streams
    ) -> Baseline:
        """Learn features and threshold. Time O(n·k·(d + k)) and O(run_length·R)."""
        if len(rows) < FEW_ROWS:
            warnings.warn(
                f"a reference of {len(rows)} rows says little about the rows to come: false alarms "
                f"may come more often than every {run_length:g} rows. Give {FEW_ROWS} rows or "
                "more.",
                FitWarning,
                stacklevel=4,
            )
        features = Features.of(rows, streams.of("monitor features"))
        table = features(rows)
        longest = max(LEAST_WINDOW, min(window, len(rows) // ROWS_PER_WINDOW))
        judge = calibration.judge_of(table, features, longest, run_length, streams)
        lengths = calibration.run_lengths(table, judge, run_length, streams)
        threshold = calibration.threshold_of(lengths, run_length)
        return cls(features, judge, lengths, threshold, rows[:KEPT_ROWS].copy(), n_points)


def reference_of(
    reference: Any, columns: Sequence[str] | None, window: int, streams: Streams
) -> Reference:
    """Rows of an array, a frame or a source; of a mean, rows drawn without the kernel's noise."""
    most = max(ROWS, ROWS_PER_WINDOW * window)
    rng = streams.of("monitor reference")
    if isinstance(reference, str | os.PathLike):
        raise TypeError(f"reference is a path; read the file first: km.read({str(reference)!r}).")
    if isinstance(reference, BaseEstimator):
        check_is_fitted(reference)
    mean = getattr(reference, "mean_", reference)
    if isinstance(mean, SparseKernelMean | KernelMean):
        return _from_mean(mean, columns, most, rng)
    names = columns_of(reference)
    require_distinct(names, "reference")
    if names is not None and columns is not None and not _checks.is_batched(reference):
        reference = picked(reference, _distinct(columns), "reference")
        names = columns_of(reference)
    sample = samples.check(reference, "cpu", "reference")
    order = _drawn(len(sample), _weights_of(reference), most, rng)
    if len(order) < 2:
        raise ValueError("reference has one row only: what is usual takes at least two.")
    distinct, place = np.unique(order, return_inverse=True)
    rows = sample.rows(distinct)[place]
    which, named = _wanted(names, columns, rows.shape[1])
    transform = getattr(reference, "transform", None)
    return Reference(
        np.ascontiguousarray(rows[:, which]),
        len(sample),
        named,
        None if transform is None else str(transform),
    )


def _weights_of(reference: Any) -> Vector | None:
    """Weights of the rows of a source that was read with some."""
    return getattr(reference, "weights", None) if _checks.is_batched(reference) else None


def _drawn(n: int, weights: Vector | None, most: int, rng: np.random.Generator) -> IntVector:
    """Rows in a random order: all of them or so many; those of larger weight more often."""
    if weights is not None:
        found = rng.choice(n, size=min(n, most), p=weights / weights.sum())
    elif n > MANY_TIMES * most:
        found = rng.choice(n, size=most, replace=False)  # without a number for every row
    else:
        found = rng.permutation(n)[:most]
    return np.asarray(found, dtype=np.intp)


def picked(X: Any, names: Sequence[str], which: str) -> Any:
    """Some columns of a frame, in the order of these names; it may have others."""
    known = columns_of(X) or ()
    require_distinct(known, which)
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(
            f"{which} has no column {missing[0]!r}; it has {', '.join(known) or 'none'}."
        )
    order = [known.index(name) for name in names]
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    if hasattr(X, "column_names"):
        return np.column_stack([X.column(j).to_numpy() for j in order])
    return X[[X.columns[j] for j in order]]


def _from_mean(
    mean: AnyMean, columns: Sequence[str] | None, most: int, rng: np.random.Generator
) -> Reference:
    expansion = expansion_of(mean)
    if (expansion.weights < 0.0).any():
        raise ValueError(
            "the mean has negative weights, so that no rows can be drawn from it: fit it with "
            "constraint='simplex', or give the rows themselves."
        )
    n = max(2, round(float(expansion.n_points)))
    rows = sampling.draw(mean, min(n, most), rng, kernel_noise=False)
    known = getattr(mean, "columns", None)
    named = None if known is None else tuple(str(name) for name in known)
    which, named = _wanted(named, columns, rows.shape[1])
    return Reference(
        np.ascontiguousarray(rows[:, which]), n, named, getattr(mean, "transform", None)
    )


def _wanted(
    known: tuple[str, ...] | None, asked: Sequence[str] | None, d: int
) -> tuple[list[int], tuple[str, ...] | None]:
    """Which columns are watched, and what they are called."""
    everything = list(range(d))
    if asked is None:
        return everything, known
    names = _distinct(asked)
    if known is None:
        if len(names) != d:
            raise ValueError(
                f"columns must be {d} different names, one for each column, got {asked!r}."
            )
        return everything, names
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(f"reference has no column {missing[0]!r}; it has {', '.join(known)}.")
    return [known.index(name) for name in names], names


def _distinct(asked: Sequence[str]) -> tuple[str, ...]:
    names = () if isinstance(asked, str) else tuple(str(name) for name in asked)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"columns must be different names in a list, got {asked!r}.")
    return names

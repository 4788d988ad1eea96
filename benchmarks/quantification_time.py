"""How long class proportions take beside QuaPy's KDEyML, both with the same classifier, and with a
million training rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

import kernelmean as km
from benchmarks import cluster_sets, quantification_sets
from benchmarks import quantification_peers as peers
from benchmarks.measuring import Row
from benchmarks.quantification_sets import REPORT, Split, standardised
from benchmarks.tables import AbsentError

TIMED = 20  # samples that are predicted from many training rows; else those of all prevalences
ROWS, POOL, COLUMNS, CLASSES = 1_000_000, 20_000, 10, 5
APART = 3.5  # root mean square distance of centres: a logistic regression errs on one row in five
SUBSET = 100_000  # rows that KDEyML is timed on; its time grows with their number
FASTER = 50


class Clock(NamedTuple):
    """Seconds to fit and to predict the samples, and the mean absolute error."""

    fit: float
    predict: float
    error: float

    @property
    def total(self) -> float:
        return self.fit + self.predict


def clocked(fit: Callable[[], Any], split: Split, samples: list[peers.Drawn]) -> Clock:
    """An estimator on the samples one by one, as QuaPy's protocols hand them out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the classifier's steps
        start = time.perf_counter()
        model = fit()
        between = time.perf_counter()
        estimates = [model.predict(split.pool[sample.rows]) for sample in samples]
        end = time.perf_counter()
    error = float(peers.absolute_errors(samples, np.array(estimates)).mean())
    return Clock(between - start, end - between, error)


def ours(split: Split, samples: list[peers.Drawn], **options: Any) -> Clock:
    model = km.ClassProportions(random_state=0, **options)
    return clocked(lambda: model.fit(split.X, split.y), split, samples)


def theirs(split: Split, samples: list[peers.Drawn]) -> Clock:
    method = peers.quapy().method.aggregative.KDEyML(LogisticRegression())
    return clocked(lambda: method.fit(split.X, split.y), split, samples)


def same_classifier(names: Iterable[str] = tuple(REPORT)) -> list[Row]:
    """Fit and predict with a logistic regression given to both; the default's own choice of a
    classifier apart.
    """
    rows, warm = [], False
    for name in names:
        try:
            split = quantification_sets.load(name)
            samples = peers.drawn(split.pool_labels)
        except AbsentError as reason:
            rows.append(Row(name, None, "–", f"skipped: {reason}"))
            continue
        if not warm:  # what is compiled, and imported
            ours(split, samples[:1], representation=LogisticRegression())
            theirs(split, samples[:1])
            warm = True
        rows.append(_beside(name, split, samples))
    return rows


def _beside(name: str, split: Split, samples: list[peers.Drawn]) -> Row:
    mine = ours(split, samples, representation=LogisticRegression())
    peer = theirs(split, samples)
    choice = ours(split, samples)
    detail = (
        f"fit {mine.fit:.2f} s, predict {len(samples)} samples {mine.predict:.2f} s, against "
        f"{peer.fit:.2f} s and {peer.predict:.2f} s; with the choice of a classifier "
        f"{choice.fit:.2f} s and {choice.predict:.2f} s"
    )
    return Row(name, mine.total / peer.total, "≤ 1", detail)


def large() -> list[Row]:
    """Many training rows with one classifier for both: drawn Gaussians, and all rows of cover."""
    rows = []
    for name, make in {"drawn Gaussians": gaussians, "cover": cover}.items():
        try:
            split = make()
            rows += _extrapolated(name, split, peers.drawn(split.pool_labels, TIMED))
        except AbsentError as reason:
            rows.append(Row(name, None, "–", f"skipped: {reason}"))
    return rows


def gaussians() -> Split:
    """Round clusters that overlap."""
    centers = cluster_sets.scattered(CLASSES, COLUMNS, APART, 0)
    return _cut(*cluster_sets.gaussians(ROWS + POOL, centers, 0))


def cover() -> Split:
    return standardised(_cut(*cluster_sets.in_folder("large/cover.npz")))


def _cut(X: np.ndarray, y: np.ndarray) -> Split:
    """The last rows are the pool; they are in random order."""
    return Split(X[:-POOL], y[:-POOL], X[-POOL:], y[-POOL:])


def _extrapolated(name: str, split: Split, samples: list[peers.Drawn]) -> list[Row]:
    """KDEyML on a part of the rows, its times multiplied by what is missing."""
    some = split._replace(X=split.X[:SUBSET], y=split.y[:SUBSET])
    factor = len(split.X) / len(some.X)
    mine = ours(split, samples, representation=LogisticRegression())
    peer = theirs(some, samples)
    here = f"{peer.fit:.1f} s and {peer.predict:.1f} s with {len(some.X)}"
    both = f"KDEyML {here} rows, times {factor:.1f}"
    case = f"{name}, {len(split.X)} rows"
    goal = f"≥ {FASTER}" if len(split.X) == ROWS else "–"
    predicted = f"{mine.predict:.3f} s for {TIMED} samples of {len(samples[0].rows)}; {both}"
    in_all = f"{mine.total:.1f} s, of which the fit {mine.fit:.1f} s, the classifier's included"
    return [
        Row(f"{case}: predict", factor * peer.predict / mine.predict, goal, predicted),
        Row(f"{case}: fit and predict", factor * peer.total / mine.total, "–", in_all),
        Row(
            f"{case}: error",
            mine.error / peer.error,
            "≤ 1",
            f"{mine.error:.4f} against {peer.error:.4f} of KDEyML with {len(some.X)} rows",
        ),
    ]

"""QuaPy's methods by their defaults, given posteriors that were computed once.

QuaPy's methods take a classifier, cross-validate it for the posteriors of the training rows and
aggregate. A classifier that hands on the posteriors it is given leaves the aggregation alone, so
that a classifier is trained once for all methods. With the folds that QuaPy makes itself (five,
stratified, not shuffled) the estimates are those of its own ``fit`` and ``predict``:
``tests/test_quantification_benchmark.py`` compares every method. HDy knows two classes only; with
more it takes one against all others, by the columns of the posteriors. (QuaPy 0.2.3 can do that,
too, but labels the classes True and False, which HDy takes for a mask: estimates are wrong then.)

Errors are kept in a file, since they do not change when the library does: ``python -m
benchmarks.quantification_peers [--only NAME …] [--cache FILE]`` computes what is not kept yet for
QuaPy's own classifier.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from benchmarks import cluster_peers, quantification_sets
from benchmarks.quantification_sets import Split
from benchmarks.tables import AbsentError

VERSION = 1  # of what is kept: raise it when a peer changes
CACHE = cluster_peers.CACHE.with_name("quantification_peers.json")
PREVALENCES = 100
SIZE, SMALL_SIZE = 500, 100  # of a sample, and of one from a small pool
SMALL_POOL = 1500
FOLDS = 5  # QuaPy's own number
OWN = "its own"  # the name of QuaPy's default classifier in tables

Estimate = Callable[[np.ndarray], np.ndarray]


class Posteriors(NamedTuple):
    """Of the training rows, out of fold, and of the pool; (n, C) and (m, C)."""

    training: np.ndarray
    pool: np.ndarray


class Drawn(NamedTuple):
    """Rows of the pool that make up a test sample, and the prevalence of each class in it."""

    rows: np.ndarray
    truth: np.ndarray


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are posteriors already."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.classes_ = np.arange(count)

    def fit(self, P: np.ndarray, y: np.ndarray) -> Self:
        return self

    def predict_proba(self, P: np.ndarray) -> np.ndarray:
        return P

    def predict(self, P: np.ndarray) -> np.ndarray:
        return P.argmax(axis=1)


def quapy() -> Any:
    """The package, imported late; :class:`AbsentError` where it is not installed."""
    for package in ("quapy", "quadprog"):  # EDy needs the second one
        if importlib.util.find_spec(package) is None:
            raise AbsentError(f"the package {package} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import quapy
    return quapy


def fitted(method: str, P: np.ndarray, y: np.ndarray) -> Estimate:
    """The estimate by one of :data:`METHODS` after these posteriors and labels."""
    if method == "HDy" and P.shape[1] > 2:
        return _one_against_all(P, y)
    return _peer(method, P.shape[1]).fit(P, y).predict


def _peer(method: str, count: int) -> Any:
    cls = vars(quapy().method.aggregative)[method]
    return cls(Given(count), fit_classifier=False, **METHODS[method])


# What QuaPy's methods need to be told; an option that is not here has its default.
_VALIDATED: dict[str, Any] = {"val_split": None}  # the posteriors given are out of fold
METHODS: dict[str, dict[str, Any]] = {
    "CC": {},
    "PCC": {},
    "ACC": _VALIDATED,
    "PACC": _VALIDATED,
    "EMQ": {},
    "HDy": _VALIDATED,
    "DMy": _VALIDATED,
    "EDy": _VALIDATED,
    "KDEyML": _VALIDATED,
    "KDEyCS": _VALIDATED,
    "KDEyHD": _VALIDATED | {"random_state": 0},
}


def _one_against_all(P: np.ndarray, y: np.ndarray) -> Estimate:
    """A binary estimate for each class, divided by their sum."""
    binary = [
        _peer("HDy", 2).fit(_against_others(column), (y == c).astype(int))
        for c, column in enumerate(P.T)
    ]

    def estimate(Q: np.ndarray) -> np.ndarray:
        parts = [
            peer.predict(_against_others(column))[1]
            for peer, column in zip(binary, Q.T, strict=True)
        ]
        return quapy().functional.normalize_prevalence(np.array(parts))

    return estimate


def _against_others(column: np.ndarray) -> np.ndarray:
    return np.column_stack([1.0 - column, column])


def by_default(split: Split) -> Posteriors:
    """Posteriors of QuaPy's default classifier, on the folds that QuaPy makes."""
    return of_classifier(LogisticRegression(), split)


def of_classifier(classifier: BaseEstimator, split: Split) -> Posteriors:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 100 steps, the default, do not always suffice
        out_of_fold = cross_val_predict(
            classifier, split.X, split.y, cv=FOLDS, method="predict_proba"
        )
        trained = classifier.fit(split.X, split.y)
    return Posteriors(out_of_fold, trained.predict_proba(split.pool))


def drawn(labels: np.ndarray, repeats: int = PREVALENCES) -> list[Drawn]:
    """Samples of a pool by QuaPy's protocol UPP: prevalences that are uniform on the simplex."""
    numbers = np.arange(len(labels))
    pool = quapy().data.LabelledCollection(numbers[:, None], labels)
    size = sample_size(labels)
    protocol = quapy().protocol.UPP(pool, sample_size=size, repeats=repeats, random_state=0)
    return [Drawn(rows.ravel(), truth) for rows, truth in protocol()]


def sample_size(labels: np.ndarray) -> int:
    """How many rows of a pool make up a sample."""
    return SIZE if len(labels) >= SMALL_POOL else SMALL_SIZE


def absolute_errors(samples: Sequence[Drawn], estimates: np.ndarray) -> np.ndarray:
    """QuaPy's absolute error of each estimate, a mean over classes."""
    return quapy().error.ae(np.array([sample.truth for sample in samples]), np.array(estimates))


def errors(
    name: str,
    who: str,
    P: Posteriors,
    split: Split,
    samples: Sequence[Drawn],
    cache: Path = CACHE,
    methods: Iterable[str] | None = None,
) -> dict[str, float]:
    """The mean absolute error of every method, or of some, kept or computed and kept.

    ``who`` names the classifier whose posteriors these are. What was kept is taken if the
    posteriors are the same to six decimals.
    """
    everything = np.concatenate([P.training, P.pool])
    return {
        method: cluster_peers.kept(
            f"{name}, {method}, {who} classifier, QuaPy {quapy().__version__}, version {VERSION}",
            everything,
            partial(_error, method, P, split, samples),
            cache,
        )
        for method in methods or METHODS
    }


def _error(method: str, P: Posteriors, split: Split, samples: Sequence[Drawn]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of QuaPy's own loops: NumPy scalars, steps of EM
        estimate = fitted(method, P.training, split.y)
        estimates = np.array([estimate(P.pool[sample.rows]) for sample in samples])
    return float(absolute_errors(samples, estimates).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(quantification_sets.REPORT))
    parser.add_argument("--cache", type=Path, default=CACHE, help="where peers are kept")
    options = parser.parse_args()
    for name in options.only:
        split = quantification_sets.load(name)
        samples = drawn(split.pool_labels)
        found = errors(name, OWN, by_default(split), split, samples, options.cache)
        print(name, ", ".join(f"{who} {error:.4f}" for who, error in found.items()), flush=True)


if __name__ == "__main__":
    main()

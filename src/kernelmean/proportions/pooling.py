"""Several classifiers as one, each trusted as far as rows that it has not seen allow."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from kernelmean import _blas
from kernelmean._types import ArrayLike, IntVector, Matrix, Points
from kernelmean.proportions.calibration import (
    BIAS_PENALTY,
    BIAS_PENALTY_OF_OTHERS,
    Calibration,
    Scores,
    calibrate,
    log_loss,
    log_odds,
)
from kernelmean.proportions.families import Family, families
from kernelmean.proportions.representing import decisions, method_of
from kernelmean.proportions.representing import folds as folds_of


class CalibratedPool(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A calibrated classifier out of several: the weighted product of their posteriors.

    Every family of classifiers predicts each training row by one of its kind that has not seen the
    row. From these scores the pool learns how much to trust which family and how to mend their
    posteriors; then the families that are trusted learn from all rows.

    Parameters
    ----------
    classifier : scikit-learn classifier or None, default=None
        The only member. None: the pool has a linear, a kernel, a neighbours and two tree
        classifiers to choose from.
    random_state : int, default=0
        Seeds the folds and the classifiers.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The labels, sorted.
    names_ : list of str
        The families that are trusted.
    losses_ : dict
        The mean log-loss of each family that was tried, calibrated alone, on rows it has not seen.
    calibration_ : Calibration
        How scores of the members turn into posteriors.
    out_of_fold_ : ndarray of shape (n, C)
        The posteriors of the training rows by classifiers that have not seen them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from kernelmean.proportions.pooling import CalibratedPool
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] > 0.0, "right", "left")
    >>> pool = CalibratedPool(LogisticRegression()).fit(X, y)
    >>> pool.predict(np.array([[-1.0, 0.0], [1.0, 0.0]])).tolist()
    ['left', 'right']
    """

    def __init__(self, classifier: Any = None, *, random_state: int = 0) -> None:
        self.classifier = classifier
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labelled rows; every class needs two of them."""
        rows, labels = validate_data(self, X, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        tried = self._families(rows)
        count = folds_of(codes, self.classes_.tolist())
        folds = StratifiedKFold(count, shuffle=True, random_state=self.random_state)
        parts = [*folds.split(rows, codes)]
        with warnings.catch_warnings(), _blas.one_thread(), self._workers() as workers:
            if self.classifier is None:  # of ours, which need not converge to be of use
                warnings.simplefilter("ignore", ConvergenceWarning)
            # scikit-learn takes the filters of this moment along, and one of its threads may have
            # emptied them for a moment: then another believes that nothing was taken along.
            warnings.filterwarnings("ignore", message="`sklearn.utils.parallel.delayed`")
            jobs = [(family, rows, codes, *part) for family in tried for part in parts]
            found = [*workers.map(_held_out, jobs)]
            tables = [found[i : i + count] for i in range(0, len(found), count)]
            methods = [method_of(family.make()) for family in tried]
            scores = [
                _together(table, parts, method, len(self.classes_))
                for table, method in zip(tables, methods, strict=True)
            ]
            trusted = self._settle(tried, np.stack(scores), codes)
            self.members_ = [*workers.map(_fitted, [(family, rows, codes) for family in trusted])]
        return self

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """(n, C) calibrated posteriors, in the order of ``classes_``."""
        check_is_fitted(self, "members_")
        rows = validate_data(self, X, reset=False)
        if self.classifier is not None:
            member = self.members_[0]
            own = log_odds(decisions(member, rows), method_of(member))
            return self.calibration_.posteriors(own[None])
        with _blas.one_thread(), self._workers() as workers:
            scores = workers.map(_scores, [(member, rows) for member in self.members_])
            return self.calibration_.posteriors(np.stack([*scores]))

    def predict(self, X: ArrayLike) -> Any:
        """(n,) the most probable label of each row."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def named(self, classes: Any) -> CalibratedPool:
        """The same pool, fitted on codes 0, 1, …, with the labels that these stand for."""
        labelled = copy(self)
        labelled.classes_ = np.asarray(classes)
        return labelled

    def _families(self, X: Points) -> list[Family]:
        if self.classifier is None:
            return families(X, len(self.classes_), self.random_state)
        method_of(self.classifier)
        return [Family(type(self.classifier).__name__, lambda: clone(self.classifier))]

    def _workers(self) -> ThreadPoolExecutor:
        """One thread for each core; one for a classifier of the user's, which may have its own."""
        return ThreadPoolExecutor(os.cpu_count() if self.classifier is None else 1)

    def _settle(self, tried: list[Family], scores: Scores, codes: IntVector) -> list[Family]:
        """The families that are trusted, and the posteriors of rows that follow from it."""
        penalty = BIAS_PENALTY if self.classifier is None else BIAS_PENALTY_OF_OTHERS
        alone = [calibrate(scores[[j]], codes, penalty) for j in range(len(tried))]
        losses = [log_loss(one.posteriors(scores[[j]]), codes) for j, one in enumerate(alone)]
        self.losses_ = dict(zip(_names(tried), losses, strict=True))
        self.calibration_, kept = _pooled(scores, codes, alone, losses)
        self.out_of_fold_ = self.calibration_.posteriors(scores[kept])
        trusted = [tried[j] for j in kept]
        self.names_ = _names(trusted)
        return trusted


def _pooled(
    scores: Scores, codes: IntVector, alone: list[Calibration], losses: list[float]
) -> tuple[Calibration, IntVector]:
    """The calibration of all families that have a part in it, and which these are."""
    best = int(np.argmin(losses))
    kept: IntVector = np.array([best])
    if len(alone) > 1:
        kept = np.flatnonzero(calibrate(scores, codes).slopes > 0.0)
    if len(kept) <= 1:
        return alone[best], np.array([best])
    return calibrate(scores[kept], codes), kept


def _names(tried: Iterable[Family]) -> list[str]:
    return [family.name for family in tried]


def _scores(job: tuple[Any, Points]) -> Matrix:
    """(n, C) scores of rows by a fitted classifier; on one thread, as it was fitted."""
    member, X = job
    with threadpool_limits(1, user_api="openmp"):
        return log_odds(decisions(member, X), method_of(member))


def _held_out(job: tuple[Family, Points, IntVector, IntVector, IntVector]) -> Matrix:
    """What a classifier that learns from some rows says of others."""
    family, X, codes, learned, asked = job
    return decisions(_fitted((family, X[learned], codes[learned])), X[asked])


def _fitted(job: tuple[Family, Points, IntVector]) -> Any:
    """A classifier of the family, fitted.

    On one thread, since several are fitted at a time: those of OpenMP, which boosting has, would
    wait for one another longer than they work.
    """
    family, X, codes = job
    with threadpool_limits(1, user_api="openmp"):
        return family.make().fit(X, codes)


def _together(
    found: list[Matrix], parts: list[tuple[IntVector, IntVector]], method: str, classes: int
) -> Matrix:
    """(n, C) scores of all rows, from those of each part."""
    columns = found[0].shape[1]
    if columns != classes and not (columns == 1 and classes == 2):
        raise ValueError(
            f"the classifier's {method} has {columns} columns for {classes} classes; it must have "
            "one for each class (decision_function_shape='ovr', not 'ovo')."
        )
    values = np.empty((sum(map(len, found)), found[0].shape[1]))
    for table, (_, asked) in zip(found, parts, strict=True):
        values[asked] = table
    return log_odds(values, method)

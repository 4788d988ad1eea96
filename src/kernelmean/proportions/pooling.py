"""Several classifiers as one, each trusted as far as rows that it has not seen allow."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from kernelmean._types import IntVector, Matrix, Points
from kernelmean.proportions.calibration import calibrate, log_loss, log_odds
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

    def fit(self, X: Points, y: Any) -> Self:
        """Learn from labelled rows; every class needs two of them."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        tried = self._families(X)
        folds = StratifiedKFold(
            folds_of(codes, self.classes_.tolist()), shuffle=True, random_state=self.random_state
        )
        with warnings.catch_warnings():
            if self.classifier is None:  # of ours, which need not converge to be of use
                warnings.simplefilter("ignore", ConvergenceWarning)
            held_out = [_held_out(family, X, codes, folds) for family in tried]
            self._settle(tried, np.stack(held_out), codes)
            self.members_ = [family.make().fit(X, codes) for family in self._trusted]
        return self

    def predict_proba(self, X: Points) -> Matrix:
        """(n, C) calibrated posteriors, in the order of ``classes_``."""
        check_is_fitted(self, "members_")
        scores = np.stack([log_odds(decisions(member, X)) for member in self.members_])
        return self.calibration_.posteriors(scores)

    def predict(self, X: Points) -> Any:
        """(n,) the most probable label of each row."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def _families(self, X: Points) -> list[Family]:
        if self.classifier is None:
            return families(X, len(self.classes_), self.random_state)
        method_of(self.classifier)
        return [Family(type(self.classifier).__name__, lambda: clone(self.classifier))]

    def _settle(self, tried: list[Family], scores: Any, codes: IntVector) -> None:
        """Trust, and the posteriors of rows that follow from it."""
        alone = [calibrate(scores[[j]], codes).posteriors(scores[[j]]) for j in range(len(tried))]
        losses = [log_loss(P, codes) for P in alone]
        self.losses_ = dict(zip(_names(tried), losses, strict=True))
        kept = np.flatnonzero(calibrate(scores, codes).slopes > 0.0)
        kept = kept if len(kept) else np.array([int(np.argmin(losses))])
        self._trusted = [tried[j] for j in kept]
        self.names_ = _names(self._trusted)
        self.calibration_ = calibrate(scores[kept], codes)
        self.out_of_fold_ = self.calibration_.posteriors(scores[kept])


def _names(tried: Iterable[Family]) -> list[str]:
    return [family.name for family in tried]


def _held_out(family: Family, X: Points, codes: IntVector, folds: StratifiedKFold) -> Matrix:
    """(n, C) scores of rows by classifiers that have not seen them."""
    classifier = family.make()
    values = cross_val_predict(classifier, X, codes, cv=folds, method=method_of(classifier))
    return log_odds(np.asarray(values, dtype=np.float64).reshape(len(X), -1))

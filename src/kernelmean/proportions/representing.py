"""Kernel means over what a classifier thinks of a point, instead of over the point itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Points

FOLDS = 5  # of the training points, for posteriors of points that a classifier has not seen
METHODS = ("predict_proba", "decision_function")


class Representation(NamedTuple):
    """A fitted classifier and what it is asked for."""

    classifier: Any
    method: str

    def __call__(self, X: Points) -> Points:
        """(n, C) posteriors, or decision values, of new points."""
        return _table(getattr(self.classifier, self.method)(X))


def represent(
    classifier: Any, X: Points, y: IntVector, names: Any, seed: int
) -> tuple[Representation, Points]:
    """The classifier fitted on everything, and out-of-fold posteriors of the training points.

    Posteriors of points that the classifier was fitted on are too sure; those of held-out points
    are like those of test points. ``predict_proba`` is asked, or ``decision_function`` where there
    is none. Stratified folds, at most 5 and at most the points of the smallest class, so that each
    part of the training data has every class.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    method = _method(classifier)
    smallest = int(np.argmin(np.bincount(y)))
    folds = min(FOLDS, int(np.bincount(y)[smallest]))
    if folds < 2:
        raise ValueError(
            f"class {names[smallest]!r} has one point, but representation= needs two or more of "
            "each class: it predicts "
            "training points by classifiers that have not seen them."
        )
    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    held_out = _table(cross_val_predict(clone(classifier), X, y, cv=split, method=method))
    return Representation(clone(classifier).fit(X, y), method), held_out


def _method(classifier: Any) -> str:
    method = next((name for name in METHODS if hasattr(classifier, name)), None)
    if method is None or not hasattr(classifier, "fit") or isinstance(classifier, type):
        raise TypeError(
            "representation must be None or a classifier with predict_proba or "
            f"decision_function, got {classifier!r}."
        )
    return method


def _table(scores: Any) -> Points:
    """One column of decision values is a table too."""
    return _checks.points(
        np.asarray(scores, dtype=np.float64).reshape(len(scores), -1),
        "what representation= predicts",
    )

"""Kernel means over what a classifier thinks of a point, instead of over the point itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelmean import _checks
from kernelmean._types import IntVector, Points

FOLDS = 5  # of the training points, for posteriors of points that a classifier has not seen
METHODS = ("predict_proba", "decision_function")


class Representation(NamedTuple):
    """A fitted classifier that is asked for posteriors, or decision values."""

    classifier: Any

    def scores(self, X: Points) -> Points:
        """(n, C) posteriors, or decision values, of new points."""
        return decisions(self.classifier, X)


def represent(
    classifier: Any, X: Points, y: IntVector, names: Any, seed: int
) -> tuple[Representation, Points]:
    """The classifier fitted on everything, and out-of-fold posteriors of the training points.

    Posteriors of points that the classifier was fitted on are too sure; those of held-out points
    are like those of test points. Stratified folds, at most 5 and at most the points of the
    smallest class, so that each part of the training data has every class.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    split = StratifiedKFold(folds(y, names), shuffle=True, random_state=seed)
    method = method_of(classifier)
    held_out = _table(cross_val_predict(clone(classifier), X, y, cv=split, method=method))
    return Representation(clone(classifier).fit(X, y)), held_out


def folds(y: IntVector, names: Any) -> int:
    """Into how many parts rows with these classes are divided; each part has every class."""
    counts = np.bincount(y)
    smallest = int(np.argmin(counts))
    if counts[smallest] < 2:
        raise ValueError(
            f"class {names[smallest]!r} has one point, but representation= needs two or more of "
            "each class: it predicts "
            "training points by classifiers that have not seen them."
        )
    return int(min(FOLDS, counts[smallest]))


def decisions(classifier: Any, X: Points) -> Points:
    """(n, C) posteriors of a fitted classifier, or its decision values where it has none."""
    return _table(getattr(classifier, method_of(classifier))(X))


def method_of(classifier: Any) -> str:
    """``predict_proba``, or ``decision_function`` where there is none."""
    method = next((name for name in METHODS if hasattr(classifier, name)), None)
    if method is None or not hasattr(classifier, "fit") or isinstance(classifier, type):
        raise TypeError(
            "representation must be 'auto', 'raw', None or a classifier with predict_proba or "
            f"decision_function, got {classifier!r}."
        )
    if method == "decision_function" and _of_pairs(classifier):
        raise ValueError(
            "representation compares pairs of classes (decision_function_shape='ovo'), but one "
            "value for each class is needed: take decision_function_shape='ovr'."
        )
    return method


def _of_pairs(classifier: Any) -> bool:
    """Whether decision values are of pairs of classes, which three columns do not show."""
    return bool(classifier.get_params().get("decision_function_shape") == "ovo")


def _table(scores: Any) -> Points:
    """One column of decision values is a table too."""
    return _checks.points(
        np.asarray(scores, dtype=np.float64).reshape(len(scores), -1),
        "what representation= predicts",
    )

"""Shares of classes with their intervals, and whether a mixture of them explains a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Vector
from kernelmean.proportions.estimator import ClassProportions
from kernelmean.proportions.explaining import GoodnessOfFit
from kernelmean.proportions.intervals import ProportionIntervals

DOUBTFUL = 0.05  # p-value below which a sample is hardly a mixture of the classes
UNEXPLAINED = 0.01  # below which it is none


class ProportionView(NamedTuple):
    """Each class with its share, the largest first."""

    names: list[str]
    shares: Vector  # (C,)
    lower: Vector  # (C,)
    upper: Vector  # (C,)
    level: float  # of the intervals
    training: Vector | None  # (C,) shares in the labelled rows, where they are known
    fit: GoodnessOfFit | None
    order: IntVector  # (C,) places of the classes in the estimator

    @property
    def verdict(self) -> str:
        """What the test says: "explained", "doubtful", "unexplained" or "not tested"."""
        if self.fit is None:
            return "not tested"
        if self.fit.p_value < UNEXPLAINED:
            return "unexplained"
        return "doubtful" if self.fit.p_value < DOUBTFUL else "explained"


def proportion_view(
    model: ClassProportions,
    found: ProportionIntervals,
    fit: GoodnessOfFit | None = None,
    training: Sequence[float] | None = None,
) -> ProportionView:
    """What is drawn of the answer of an estimator."""
    if not isinstance(model, ClassProportions):
        raise TypeError(f"a fitted ClassProportions is needed, got {type(model).__name__}.")
    names = [str(name) for name in model.classes_.tolist()]
    if len(found.proportions) != len(names):
        raise ValueError(
            f"there are {len(names)} classes, but {len(found.proportions)} proportions."
        )
    order = np.argsort(-found.proportions, kind="stable")
    before = None if training is None else np.asarray(training, dtype=np.float64)[order]
    return ProportionView(
        [names[i] for i in order],
        found.proportions[order],
        found.lower[order],
        found.upper[order],
        found.level,
        before,
        fit,
        order,
    )

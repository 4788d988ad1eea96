"""The classifiers that ``representation="auto"`` tries, from lines to trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from kernelmean._types import Points

# The middle of a column, in per cent of its rows, and how many times its width values may lie from
# the median: what is beyond would make the standard deviation its own.
MIDDLE = (2.5, 97.5)
OUTLYING = 2.0
FARTHEST = 3.0  # standard deviations of a column, beyond which values are all the same
HUGE = 1e30  # beyond which float32 does not keep values
NEIGHBORS = 15
TREES = 200
LANDMARKS = 400
MEDIAN_ROWS = 500  # whose distances have the median
# The kernel's bandwidth, in median distances, and how little its coefficients are shrunk.
BANDWIDTH = 0.5
LOOSE = 100.0
MOST_BOOSTING = 5_000_000  # rows × columns × classes, beyond which boosting takes too long


class Family(NamedTuple):
    """A kind of classifier, and how one is made."""

    name: str
    make: Callable[[], Any]


def families(X: Points, classes: int, seed: int) -> list[Family]:
    """Those that suit rows like X: each has its own view of what makes a class.

    Columns have unit variance and no far values for all that measure lengths, so that neither
    units nor outliers matter.
    """
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    gamma = _gamma(X)
    few = len(X) // 2  # in the smallest part that is learned from
    found = [
        Family("linear", lambda: _standardized(LogisticRegression(max_iter=1000))),
        Family(
            "kernel",
            lambda: _standardized(
                Nystroem(gamma=gamma, n_components=min(LANDMARKS, few), random_state=seed),
                LogisticRegression(C=LOOSE, max_iter=1000),
            ),
        ),
        Family(
            "neighbours",
            lambda: _standardized(KNeighborsClassifier(min(NEIGHBORS, few), weights="distance")),
        ),
        Family("trees", lambda: _small(X, ExtraTreesClassifier(TREES, random_state=seed))),
    ]
    if X.size * classes <= MOST_BOOSTING:
        found.append(
            Family(
                "boosting",
                lambda: _small(
                    X, HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
                ),
            )
        )
    return found


def _standardized(*steps: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import RobustScaler, StandardScaler

    return make_pipeline(
        RobustScaler(quantile_range=MIDDLE),
        _clipped(OUTLYING),
        StandardScaler(),
        _clipped(FARTHEST),
        *steps,
    )


def _small(X: Points, trees: Any) -> Any:
    """Trees, which keep float32 and do not mind units; those of huge values are changed first."""
    return trees if np.abs(X).max() < HUGE else _standardized(trees)


def _clipped(most: float) -> Any:
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(np.clip, kw_args={"a_min": -most, "a_max": most})


def _gamma(X: Points) -> float:
    """1/(2σ²) for a σ of half the median distance; 1 where all rows are equal."""
    some = X[:: max(1, len(X) // MEDIAN_ROWS)]
    lengths = pdist(_standardized().fit_transform(some))
    sigma = BANDWIDTH * float(np.median(lengths)) if len(lengths) else 0.0
    return 1.0 / (2.0 * sigma**2) if sigma > 0.0 else 1.0

"""Which of three ways counts the classes, and the way by posteriors.

Kernel means of the features; kernel means of the scores of a classifier; or the likelihood of the
posteriors of a calibrated one, which is the way unless somebody asks for kernel means.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from kernelmean._random import Streams
from kernelmean._types import IntVector
from kernelmean.kernels import Gaussian
from kernelmean.proportions import searching
from kernelmean.proportions.calibration import LEAST_POSTERIOR
from kernelmean.proportions.choosing import Candidate, Choice, balanced
from kernelmean.proportions.counting import Counter, counter
from kernelmean.proportions.fitting import Settings, is_word, plan_of
from kernelmean.proportions.pooling import CalibratedPool
from kernelmean.proportions.representing import method_of
from kernelmean.proportions.simplex_means import CELLS
from kernelmean.samples import ArraySample, Sample

LEARNED_ROWS = 20_000  # that classifiers of our own choice learn from
FEATURE_ROWS = 1000  # on which the features themselves are tried
BETTER = 0.9  # of the error of the posteriors, which the features must stay below
Way = Literal["features", "scores", "posteriors"]


class Learned(NamedTuple):
    """A calibrated classifier, and what its posteriors say of the classes."""

    classifier: CalibratedPool
    counter: Counter


def way(settings: Settings, representation: Any, counts: IntVector, names: Sequence[Any]) -> Way:
    """What the options ask for."""
    if representation is None or is_word(representation, "raw"):
        return "features"
    if not is_word(representation, "auto"):
        method_of(representation)
        return "scores" if settings.about_means() else "posteriors"
    if settings.about_means():
        return "features"
    if counts.min() > 1:
        return "posteriors"
    lonely = (
        f"class {names[int(np.argmin(counts))]!r} has one row, so no classifier can be judged on "
        "rows of it that it has not seen"
    )
    if settings.solver == "likelihood":
        raise ValueError(f"{lonely}, and solver='likelihood' needs one.")
    warnings.warn(f"{lonely}: kernel means of the features are compared instead.", stacklevel=4)
    return "features"


def learn(
    points: Sample, y: IntVector, classifier: Any, settings: Settings, streams: Streams
) -> Learned:
    """Fit the classifier, or a pool of our own, and count by its posteriors."""
    if not points.summary().std.any():
        raise ValueError(
            "there is no spread in the data: all training points are equal, and nothing tells the "
            "classes apart."
        )
    pool = CalibratedPool(classifier, random_state=streams.seed("classifiers"))
    if classifier is None:
        rows = balanced(y, LEARNED_ROWS, streams.of("learned rows"))
        whole = len(rows) == len(y) and points.resident
        X = points.array() if whole else points.rows(rows)
        y = y[rows]
    else:
        X = points.array()
    pool.fit(X, y)
    _warn_if_ignorant(pool, y)
    solver = "auto" if settings.solver == "auto" else "likelihood"
    found = counter(pool.out_of_fold_, y, solver, CELLS, settings.engine, streams)
    return Learned(pool, found)


def with_features(
    points: Sample, y: IntVector, learned: Learned, settings: Settings, streams: Streams
) -> Choice | None:
    """The choice with kernel means of the features among the candidates, tried in the same way.

    They are chosen where they recover simulated mixtures clearly better. None without a choice.
    """
    choice = learned.counter.choice
    if choice is None:
        return None
    rows = balanced(y, FEATURE_ROWS, streams.of("feature rows"))
    X = ArraySample(points.rows(rows))
    groups = [X.restrict(np.flatnonzero(y[rows] == c)) for c in range(int(y.max()) + 1)]
    plan = plan_of(groups, settings.of_features(), streams)
    mapped = [X if plan.scale is None else X.map(plan.scale, groups[0].first) for X in groups]
    trial = searching.Trial(mapped, None, plan, "moments", streams)
    assert isinstance(plan.kernel, Gaussian)  # the usual one, since nobody asked for another
    error = trial.error(plan.kernel.bandwidth) / len(groups)
    features = Candidate("features")
    return Choice(
        features if error < BETTER * float(choice.errors.min()) else choice.chosen,
        [*choice.candidates, features],
        np.append(choice.errors, error),
    )


def _warn_if_ignorant(pool: CalibratedPool, y: IntVector) -> None:
    """Say that nothing is known where posteriors are no better than the classes' shares."""
    prior = np.bincount(y) / len(y)
    own = np.maximum(pool.out_of_fold_[np.arange(len(y)), y], LEAST_POSTERIOR)
    gain = np.log(own / prior[y])
    if gain.mean() <= gain.std() / np.sqrt(len(y)):
        warnings.warn(
            "no classifier tells the classes apart better than chance, on rows that it has not "
            "seen: proportions can hardly be estimated, and intervals are wide.",
            stacklevel=5,
        )

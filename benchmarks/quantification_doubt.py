"""Whether class proportions know how far to be trusted: coverage of intervals, and p-values where
the classes are as before and where they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import kernelmean as km
from benchmarks import quantification_sets
from benchmarks.measuring import Row
from benchmarks.quantification_peers import Drawn, sample_size
from benchmarks.quantification_sets import REPORT, Split
from benchmarks.tables import AbsentError

LEVEL, LOW, HIGH = 0.95, 0.93, 0.97
SAMPLES = 100  # with prevalences by Dirichlet(1), for intervals
TESTED = 50  # for p-values
ALARM = 0.05
NOISE = 0.5  # standard deviations of a column
UNSEEN = 0.2  # of a sample: rows of a class that was not in the training data


def ours(X: np.ndarray, y: np.ndarray) -> km.ClassProportions:
    """The estimator by default; chance is fixed."""
    return km.ClassProportions(random_state=0).fit(X, y)


def mixtures(labels: np.ndarray, count: int, seed: int) -> list[Drawn]:
    """Rows drawn from populations with Dirichlet(1) prevalences, which are the truth.

    Not the counts in the sample: an interval is for the population.
    """
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    found = []
    for _ in range(count):
        truth = rng.dirichlet(np.ones(len(members)))
        counts = rng.multinomial(sample_size(labels), truth)
        rows = [rng.choice(m, n) for m, n in zip(members, counts, strict=True)]
        found.append(Drawn(np.concatenate(rows), truth))
    return found


def coverage(names: Iterable[str] = tuple(REPORT)) -> list[Row]:
    """How often an interval holds the population's proportion, over classes and samples."""
    return _lines(names, covered, _mean_coverage)


def covered(name: str) -> Row:
    split = quantification_sets.load(name)
    drawn = mixtures(split.pool_labels, SAMPLES, 0)
    found = ours(split.X, split.y).predict_interval(
        [split.pool[sample.rows] for sample in drawn], level=LEVEL
    )
    lower, upper = (
        np.array([interval.lower for interval in found]),
        np.array([interval.upper for interval in found]),
    )
    truth = np.array([sample.truth for sample in drawn])
    inside = (lower <= truth) & (truth <= upper)
    width = float((upper - lower).mean())
    detail = f"{inside.size} intervals, mean width {width:.3f}"
    return Row(f"{name}, {split.classes} classes", f"{inside.mean():.3f}", "–", detail)


def _mean_coverage(rows: list[Row]) -> list[Row]:
    mean, spread = _mean(rows)
    return [Row("mean", f"{mean:.3f}", f"{LOW} to {HIGH}", spread)]


class Shares(NamedTuple):
    """Parts of the samples that are called incompatible with the classes."""

    prior: float
    noise: float
    unseen: float | None


def goodness(names: Iterable[str] = tuple(REPORT)) -> list[Row]:
    """How often p ≤ .05: where only prevalences changed, then where the classes did."""
    shares: list[Shares] = []

    def measure(name: str) -> Row:
        split = quantification_sets.load(name)
        shares.append(alarms(split))
        return Row(f"{name}, {split.classes} classes", *_words(shares[-1]))

    return _lines(names, measure, lambda _: _means(shares))


def alarms(split: Split) -> Shares:
    """Over as many divisions of the rows into training and pool as there are samples.

    One division would give every sample the same luck with its training rows. No row is drawn
    twice, since a class of twenty rows, each drawn ten times, is another class.
    """
    found: list[list[bool]] = [[], [], []]
    for seed in range(TESTED):
        rng = np.random.default_rng(seed)
        training, pool, y, labels = train_test_split(
            np.concatenate([split.X, split.pool]),
            np.concatenate([split.y, split.pool_labels]),
            train_size=len(split.y),
            stratify=np.concatenate([split.y, split.pool_labels]),
            random_state=seed,
        )
        last = int(labels.max())
        rows = _some(labels, np.unique(labels), rng)
        noise = NOISE * training.std(axis=0) * rng.normal(size=(len(rows), training.shape[1]))
        whole = _tested(training, y)
        found[0].append(_alarm(whole, pool[rows]))
        found[1].append(_alarm(whole, pool[rows] + noise))
        if last > 1:
            mixed = _with_unseen(labels, last, rng)
            found[2].append(_alarm(_tested(training[y != last], y[y != last]), pool[mixed]))
    prior, noisy, unseen = (float(np.mean(some)) if some else None for some in found)
    assert prior is not None
    assert noisy is not None
    return Shares(prior, noisy, unseen)


def _some(labels: np.ndarray, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows with Dirichlet(1) prevalences in random order, at most all of a class."""
    shares = rng.dirichlet(np.ones(len(classes)))
    counts = rng.multinomial(sample_size(labels), shares)
    members = [rng.permutation(np.flatnonzero(labels == c)) for c in classes]
    kept = [rows[:n] for rows, n in zip(members, counts, strict=True)]
    return rng.permutation(np.concatenate(kept))


def _with_unseen(labels: np.ndarray, last: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of the classes before `last`, of which a part is replaced by rows of `last`."""
    known = _some(labels, np.arange(last), rng)
    foreign = rng.permutation(np.flatnonzero(labels == last))
    return np.concatenate([foreign[: round(UNSEEN * len(known))], known])[: len(known)]


def _tested(X: np.ndarray, y: np.ndarray) -> km.ClassProportions:
    """The test looks at the features, however proportions are estimated: here in no time."""
    options = {"representation": "raw", "bandwidth": "median", "k": 3, "selection": "random"}
    return km.ClassProportions(**options, spread=None, random_state=0).fit(X, y)


def _alarm(model: km.ClassProportions, X: np.ndarray) -> bool:
    return bool(model.goodness_of_fit(X).p_value <= ALARM)


def _words(found: Shares) -> tuple[str, str, str]:
    unseen = "no third class" if found.unseen is None else f"unseen class {found.unseen:.2f}"
    return f"{found.prior:.2f}", "–", f"noise {found.noise:.2f}, {unseen}"


def _means(shares: list[Shares]) -> list[Row]:
    unseen = [found.unseen for found in shares if found.unseen is not None]
    prior, noise = (
        np.mean([found.prior for found in shares]),
        np.mean([found.noise for found in shares]),
    )
    rows = [
        Row("prevalences alone, mean", f"{prior:.3f}", f"about {ALARM}", f"{TESTED} samples each"),
        Row("noise, mean", f"{noise:.2f}", "–", f"{NOISE} deviations in each column"),
    ]
    if unseen:
        words = f"{UNSEEN:.0%} of a sample are rows of a class that was not learned"
        rows.append(Row("unseen class, mean", f"{np.mean(unseen):.2f}", "–", words))
    return rows


def _lines(
    names: Iterable[str],
    measure: Callable[[str], Row],
    totals: Callable[[list[Row]], list[Row]],
) -> list[Row]:
    """A line for each set that is present, and what they come to before them."""
    found, absent = [], []
    for name in names:
        try:
            found.append(measure(name))
        except AbsentError as reason:
            absent.append(Row(name, None, "–", f"skipped: {reason}"))
    return [*(totals(found) if found else []), *found, *absent]


def _mean(rows: list[Row]) -> tuple[float, str]:
    figures = [float(row.ratio or 0.0) for row in rows]
    return float(np.mean(figures)), f"{min(figures):.3f} to {max(figures):.3f} on {len(rows)} sets"

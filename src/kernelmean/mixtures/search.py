"""How many components, and how free: by the rows that a mixture has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kernelmean import _blas
from kernelmean._random import Streams
from kernelmean._types import Vector
from kernelmean.engines import Engine, PointCloud, thread_count
from kernelmean.mixtures import starts
from kernelmean.mixtures.expectation import Prior, climb, shared_out
from kernelmean.mixtures.gaussians import Gaussians, Shape, feature_count, joined
from kernelmean.mixtures.rows import Rows
from kernelmean.mixtures.stacking import DRAFT_ROUNDS, Stack

SEARCH_STEPS = 15  # of EM for each trial
LAST_STEPS = 10  # of EM on all rows, from what a trial has reached
STARTS = 2  # k-means++ starts of each number of components
LEAST_ROWS = 4  # per component
LEAST_GAIN = 0.005  # nats, by which more components must improve the stack
WITHOUT_GAIN = 2  # doublings in a row that end the search
MOST_MEMBERS = 8  # of a stack
MAX_ROWS_EACH = 600  # up to which a component for each row is tried
MAX_STEP_WORK = 1e9  # rows × components × features in a step of EM


class Trial(NamedTuple):
    """A mixture to try: its number of components (0 for one per row), start and freedom."""

    k: int
    start: int
    strength: float


class Limits(NamedTuple):
    """What the search may use."""

    k: int | None  # components exactly, or
    k_max: int  # in all
    shape: Shape


@dataclass(frozen=True, eq=False)
class Found:
    """The mixture, and what held-out rows say of it."""

    mixture: Gaussians
    held_out: float  # mean log-density of rows that were held out, in nats


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to fit on, in an engine, and rows to judge by."""

    rows: Rows
    cloud: PointCloud
    judges: Rows


@dataclass(frozen=True, eq=False)
class Search:
    """Trials on the folds of some rows."""

    folds: list[Fold]
    floor: Vector
    shape: Shape
    streams: Streams
    threads: int
    kept: dict[Trial, list[Gaussians]] = field(default_factory=dict)  # one for each fold
    logs: dict[Trial, Vector] = field(default_factory=dict)  # of all judging rows

    def run(self, trials: list[Trial]) -> None:
        """Fit and judge, several at a time: each is a function of its own arguments."""
        with _blas.one_thread(), ThreadPoolExecutor(self.threads) as pool:
            made = list(pool.map(self._fit, trials))
        for trial, mixtures in zip(trials, made, strict=True):
            self.kept[trial] = mixtures
            judged = zip(mixtures, self.folds, strict=True)
            self.logs[trial] = np.concatenate(
                [mixture.log_density(fold.judges.points) for mixture, fold in judged]
            )

    def _fit(self, trial: Trial) -> list[Gaussians]:
        return [self._on(fold, i, trial) for i, fold in enumerate(self.folds)]

    def _on(self, fold: Fold, number: int, trial: Trial) -> Gaussians:
        if trial.k == 0:
            return starts.each_row(fold.rows, self.floor)
        rng = self.streams.of("likelihood starts", number, trial.k, trial.start)
        sums = starts.cells(fold.cloud, fold.rows.size, trial.k, self.shape, rng)
        return climb(fold.rows, sums, self.prior(trial), self.shape, SEARCH_STEPS)

    def prior(self, trial: Trial) -> Prior:
        """The floor, and the strength of the trial."""
        return Prior(self.floor, trial.strength)

    def stack(self) -> Stack:
        """All trials so far, as held-out rows see them."""
        masses = np.concatenate([fold.judges.masses for fold in self.folds])
        return Stack(np.stack(list(self.logs.values()), axis=1), masses)

    @property
    def smallest(self) -> int:
        """Rows of the smallest fold."""
        return min(len(fold.rows) for fold in self.folds)


def likeliest(
    some: Rows, every: Rows, floor: Vector, limits: Limits, engine: Engine, streams: Streams
) -> Found:
    """The mixture that is the likeliest at held-out rows: searched for on ``some`` rows, and
    fitted to ``every`` one that may be used.

    Numbers of components are doubled, each with free covariances and with covariances drawn
    towards the common one, from two starts, while that helps the stack of all; a few members of
    the stack then become the mixture. With k given it is the best mixture of k.
    """
    search = _opened(some, floor, limits.shape, engine, streams)
    if limits.k is None:
        _doubled(search, limits, len(every))
        stack = search.stack()
        sizes = np.array([float(trial.k or len(every)) for trial in search.logs])
        shares = stack.few(sizes, MOST_MEMBERS, limits.k_max)
    else:
        search.run(list(_trials(min(limits.k, max(1, search.smallest)), some.dimension)))
        stack = search.stack()
        values = [stack.value(unit) for unit in np.eye(len(search.logs))]
        shares = np.eye(len(search.logs))[int(np.argmax(values))]
    members = [trial for trial, share in zip(search.logs, shares, strict=True) if share > 0.0]
    mixtures = _gone_on(search, members, every)
    return Found(joined(mixtures, shares[shares > 0.0]), stack.value(shares))


def _opened(rows: Rows, floor: Vector, shape: Shape, engine: Engine, streams: Streams) -> Search:
    pairs = rows.folds(streams.of("likelihood folds"))
    folds = [
        Fold(rows[fit], engine.load(rows[fit].points, rows[fit].masses), rows[judged])
        for fit, judged in pairs
    ]
    return Search(folds, floor, shape, streams, thread_count(engine))


def _doubled(search: Search, limits: Limits, n: int) -> None:
    """1, 2, 4, … components, until the stack of all trials gains no more."""
    d = search.folds[0].rows.dimension
    if n <= min(MAX_ROWS_EACH, limits.k_max) and limits.shape == "full":
        search.run([Trial(0, 0, 0.0)])
    work = float(search.smallest * feature_count(d, limits.shape))
    most = min(search.smallest / LEAST_ROWS, limits.k_max, MAX_STEP_WORK / work)
    best = -np.inf
    idle = 0
    k = 1
    while k <= max(1.0, most) and idle < WITHOUT_GAIN:
        search.run(list(_trials(k, d)))
        stack = search.stack()
        value = stack.value(stack.shares(rounds=DRAFT_ROUNDS))
        idle = 0 if value > best + LEAST_GAIN else idle + 1
        best = max(best, value)
        k *= 2


def _trials(k: int, d: int) -> Iterator[Trial]:
    for start in range(STARTS if k > 1 else 1):
        for strength in (0.0, d + 1.0):
            yield Trial(k, start, strength)


def _gone_on(search: Search, members: list[Trial], every: Rows) -> list[Gaussians]:
    """The members after further steps on every row, from what they were on the first fold."""

    def one(trial: Trial) -> Gaussians:
        if trial.k == 0:
            return starts.each_row(every, search.floor)
        sums, _ = shared_out(every, search.kept[trial][0], search.shape)
        return climb(every, sums, search.prior(trial), search.shape, LAST_STEPS)

    with _blas.one_thread(), ThreadPoolExecutor(search.threads) as pool:
        return list(pool.map(one, members))

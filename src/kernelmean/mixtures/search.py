"""How many components, and how free: by the rows that a mixture has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from kernelmean import _blas, _progress
from kernelmean._random import Streams
from kernelmean._types import Vector
from kernelmean.engines import Engine, PointCloud, thread_count
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures.expectation import climb
from kernelmean.mixtures.gaussian_family import GaussianFamily
from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.novelty import Novelty
from kernelmean.mixtures.protocols import Family, Mixture
from kernelmean.mixtures.rows import Rows
from kernelmean.mixtures.stacking import DRAFT_ROUNDS, Stack

STEPS = 10  # of EM for each trial, which has shown by then what it is worth
LAST_STEPS = 30  # at most, for the members of the stack on all rows
# For how many times d + 1 points the common covariance counts in each component.
STRENGTHS = (0.0, 1.0)
MANY_STRENGTHS = (0.0, 1.0, 10.0, 100.0)  # where k is given, and may be more than rows can bear
STARTS = 2  # k-means++ starts of each number of components
LEAST_ROWS = 4  # per component
LEAST_GAIN = 0.005  # nats, by which more components must improve the stack
WITHOUT_GAIN = 2  # doublings in a row that end the search
MOST_MEMBERS = 8  # of a stack
LEAST_SHARE = 0.01  # of a kernel density estimate beside a stack, to be worth its components
LEAST_WORTH = 0.5  # nats of all rows, by which estimates of another kind must be likelier
MAX_STEP_WORK = 5e8  # rows × components × features in a step of EM

M = TypeVar("M", bound=Mixture)


class Trial(NamedTuple):
    """A mixture to try: its number of components, start and freedom.

    With k = 0 it is a kernel density estimate, and ``start`` says which.
    """

    k: int
    start: int
    strength: float


class Limits(NamedTuple):
    """What the search may use."""

    k: int | None  # components exactly, or
    k_max: int  # in all
    kind: SpreadKind


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to fit on, in an engine as k-means sees them, and rows to judge by."""

    rows: Rows
    cloud: PointCloud
    judges: Rows


@dataclass(frozen=True, eq=False)
class Search(Generic[M]):
    """Trials on the folds of some rows.

    Each is judged with the wide components beside it that it will have, if any.
    """

    family: Family[M]
    folds: list[Fold]
    streams: Streams
    threads: int
    novelty: Novelty[M] | None
    logs: dict[Trial, Vector] = field(default_factory=dict)  # of all judging rows
    kept: dict[Trial, M] = field(default_factory=dict)  # on the first fold

    def run(self, trials: list[Trial]) -> None:
        """Fit and judge, several at a time: each is a function of its own arguments."""
        alike = [list(group) for _, group in groupby(trials, lambda trial: trial[:2])]
        with _blas.one_thread(), ThreadPoolExecutor(self.threads) as pool:
            fitted = pool.map(self._on_folds, alike)
            for found in _progress.track(fitted, _counted(trials), len(alike)):
                self.logs.update(found)

    def _on_folds(self, alike: list[Trial]) -> dict[Trial, Vector]:
        """The log-densities of all judging rows, for trials that begin alike."""
        parts: dict[Trial, list[Vector]] = {trial: [] for trial in alike}
        for i, fold in enumerate(self.folds):
            for trial, mixture in self.fit(fold, i, alike).items():
                self.kept.setdefault(trial, mixture)
                whole = self.whole([mixture], np.ones(1))
                parts[trial].append(self.family.log_density(whole, fold.judges.points))
        return {trial: np.concatenate(logs) for trial, logs in parts.items()}

    def fit(
        self, fold: Fold, number: int, alike: list[Trial], steps: int = STEPS
    ) -> dict[Trial, M]:
        """The mixtures on the rows of a fold, which has a number, of trials that begin alike."""
        k, start, _ = alike[0]
        rng = self.streams.of("likelihood starts", number, k, start)
        if k == 0:
            return dict.fromkeys(alike, self.family.estimate(fold.cloud, fold.rows, start, rng))
        sums = self.family.cells(fold.cloud, fold.rows, k, rng)
        return {
            trial: climb(self.family, fold.rows, sums, trial.strength, steps) for trial in alike
        }

    def on_every_row(self, rows: Rows, trials: list[Trial], engine: Engine) -> list[M]:
        """The trials fitted to every row."""
        whole = Fold(rows, engine.load(self.family.as_seen(rows), rows.masses), rows)
        with _blas.one_thread(), ThreadPoolExecutor(self.threads) as pool:
            fitted = pool.map(lambda trial: self._last(whole, trial), trials)
            return list(_progress.track(fitted, "fitting every row", len(trials)))

    def _last(self, whole: Fold, trial: Trial) -> M:
        """From the beginning, or from what the trial was on the first fold: the likelier one.

        A new start may end worse than the one that was judged. The old one may know nothing of
        rows that were held out there, which then blow up its widest component.
        """
        fresh = self.fit(whole, len(self.folds), [trial], LAST_STEPS)[trial]
        if trial not in self.kept or trial.k == 0:
            return fresh
        rows = whole.rows
        family = self.family
        sums, _ = family.shared_out(rows, self.kept[trial])
        further = climb(family, rows, sums, trial.strength, LAST_STEPS)
        values = [family.log_density(f, rows.points) @ rows.masses for f in (fresh, further)]
        return fresh if values[0] >= values[1] else further

    def whole(self, mixtures: list[M], shares: Vector) -> M:
        """Mixtures by their shares, with the wide components beside them."""
        if self.novelty is None:
            return self.family.joined(mixtures, shares)
        return self.family.joined(*self.novelty.beside(mixtures, shares))

    def stack(self) -> Stack:
        """All trials so far, as held-out rows see them."""
        masses = np.concatenate([fold.judges.masses for fold in self.folds])
        return Stack(np.stack(list(self.logs.values()), axis=1), masses)

    @property
    def rows_judged(self) -> int:
        """Rows that a trial is judged by."""
        return sum(len(fold.judges) for fold in self.folds)

    @property
    def smallest(self) -> int:
        """Rows of the smallest fold."""
        return min(len(fold.rows) for fold in self.folds)


def _counted(trials: list[Trial]) -> str:
    """What a bar says of trials."""
    k = max((trial.k for trial in trials), default=0)
    return "estimates" if k == 0 else f"trying {k} component{'s' * (k > 1)}"


def likeliest(
    some: Rows,
    every: Rows,
    floor: Vector,
    limits: Limits,
    engine: Engine,
    streams: Streams,
    novelty: Novelty[Gaussians] | None = None,
) -> Gaussians:
    """The mixture of Gaussians that is the likeliest at held-out rows.

    ``floor`` are variances (d,) that are added to each covariance.
    """
    family = GaussianFamily(some.dimension, floor, limits.kind)
    return likeliest_of(family, some, every, limits, engine, streams, novelty)


def likeliest_of(
    family: Family[M],
    some: Rows,
    every: Rows,
    limits: Limits,
    engine: Engine,
    streams: Streams,
    novelty: Novelty[M] | None = None,
) -> M:
    """The mixture of a family that is the likeliest at held-out rows.

    It is searched for on ``some`` rows, and fitted to ``every`` one that may be used. Numbers of
    components are doubled, each with free covariances and with covariances drawn towards the
    common one, from two starts, while that helps the stack of all; a few members of the stack then
    become the mixture, with the components of ``novelty`` beside theirs. With k given it is the
    best mixture of k.
    """
    folds = [
        Fold(some[fit], engine.load(family.as_seen(some[fit]), some[fit].masses), some[judged])
        for fit, judged in some.folds(streams.of("likelihood folds"), family.continuous)
    ]
    search = Search(family, folds, streams, thread_count(engine), novelty)
    if limits.k is not None:
        best = _best_of_size(search, limits.k)
        return search.on_every_row(every, [best], engine)[0]
    _doubled(search, limits, len(every))
    size = family.estimate_size(len(every))
    sizes = np.array([float(trial.k or size) for trial in search.logs])
    shares = search.stack().few(sizes, MOST_MEMBERS, limits.k_max)
    if not family.estimates_first:
        room = (limits.k_max - sizes @ (shares > 0.0)) // size
        shares = _beside_estimates(search, shares, len(every), int(room))
    members = [trial for trial, share in zip(search.logs, shares, strict=True) if share > 0.0]
    mixtures = search.on_every_row(every, members, engine)
    return search.whole(mixtures, shares[shares > 0.0])


def _beside_estimates(search: Search[M], shares: Vector, n: int, most: int) -> Vector:
    """The shares of a stack and of kernel density estimates beside it, at most so many of these.

    They are all of one kind: another one is taken, place by place, where that is likelier, also
    than the stack alone.
    """
    if most < 1 or not search.family.estimates(n, n):
        return shares
    least = search.rows_judged * search.stack().value(shares)
    best = _beside_kind(search, shares, n, 0)
    kind = 0
    for place in range(search.family.bends):
        tried = _beside_kind(search, shares, n, kind | 1 << place)
        if tried.value > max(best.value, least) + LEAST_WORTH:
            best = tried
            kind |= 1 << place
    found = np.zeros(len(search.logs))
    found[: len(best.shares)] = best.shares
    estimates = np.array([trial.k == 0 for trial in search.logs])
    order = np.argsort(np.where(estimates, -found, 0.0), kind="stable")
    found[order[most : estimates.sum()]] = 0.0
    found[estimates & (found < LEAST_SHARE)] = 0.0
    kept: Vector = found / found.sum()
    return kept


class _Beside(NamedTuple):
    """A stack with kernel density estimates of one kind beside it."""

    shares: Vector  # of the trials so far
    value: float  # nats, of all judging rows together


def _beside_kind(search: Search[M], shares: Vector, n: int, kind: int) -> _Beside:
    """With all estimates of this kind."""
    count = search.family.estimates(n, n)
    search.run([Trial(0, number, 0.0) for number in range(kind * count, (kind + 1) * count)])
    padded = np.zeros(len(search.logs))
    padded[: len(shares)] = shares
    stack = search.stack()
    found = stack.beside(padded, np.arange(len(padded) - count, len(padded)))
    return _Beside(found, search.rows_judged * stack.value(found))


def _best_of_size(search: Search[M], k: int) -> Trial:
    """The likeliest of the trials of k components; on folds with as many as they have rows."""
    lines = search.family.lines
    search.run(list(_trials(min(k, search.smallest), lines, MANY_STRENGTHS)))
    stack = search.stack()
    values = [stack.value(unit) for unit in np.eye(len(search.logs))]
    return list(search.logs)[int(np.argmax(values))]._replace(k=k)


def _doubled(search: Search[M], limits: Limits, n: int) -> None:
    """1, 2, 4, … components, until the stack of all trials gains no more."""
    family = search.family
    if family.estimates_first:
        estimates = range(family.estimates(n, limits.k_max))
        search.run([Trial(0, number, 0.0) for number in estimates])
    work = float(search.smallest * family.feature_count)
    most = min(search.smallest / LEAST_ROWS, limits.k_max, MAX_STEP_WORK / work)
    best = -np.inf
    idle = 0
    k = 1
    while k <= max(1.0, most) and idle < WITHOUT_GAIN:
        search.run(list(_trials(k, family.lines, STRENGTHS)))
        stack = search.stack()
        value = stack.value(stack.shares(rounds=DRAFT_ROUNDS))
        idle = 0 if value > best + LEAST_GAIN else idle + 1
        best = max(best, value)
        k *= 2


def _trials(k: int, lines: int, strengths: tuple[float, ...]) -> Iterator[Trial]:
    for start in range(STARTS if k > 1 else 1):
        for strength in strengths:
            yield Trial(k, start, strength * (lines + 1))

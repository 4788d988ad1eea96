"""``selection="auto"``: several selections side by side, and the one that serves best.

E_k is comparable between selections because ‖z̄‖² is common to all. With constrained weights the
objective they reach is compared instead, and for densities the mean log-density of some rows,
because E hardly sees the tails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kernelmean import coefficients
from kernelmean._lazy import lazy
from kernelmean._types import Constraint, IntVector, Points, Solver, Vector
from kernelmean.coefficients import Growth, Path, Progress, Stopping
from kernelmean.coefficients.sources import Source
from kernelmean.engines import PointCloud
from kernelmean.kernels import Formula
from kernelmean.linalg.factor import Factor
from kernelmean.selection import (
    Greedy,
    KCenter,
    OffData,
    Task,
    first_center,
    first_row,
    open_source,
)
from kernelmean.selection.greedy import EVERYTHING, Candidates, draft
from kernelmean.selection.kmeans import LLOYD_ITERATIONS, lloyd
from kernelmean.selection.listed import Listed, d2_batches

TRIAL = 128  # centres after which the worse of two growing selections is given up
LIKELIHOOD_ROWS = 2000
# From four dimensions on farthest-first is never better than the greedy selection in the tables of
# docs/selection.md; below, it can win where k covers the support many times over, so that further
# centres gain next to nothing. Densities need its tails.
COVERED_DIMENSION = 3
FEW = 64  # centres
SOME = 256  # centres
MANY = 1024  # centres
STARTS = 2  # of Lloyd's iteration, where rows and centres are few
DENSITY_STARTS = 3  # of Lloyd's iteration, where rows and centres are few
SHORT_ITERATIONS = 6  # of Lloyd's, where more would take longer than all the rest, and
DRAFT_ITERATIONS = 10  # for densities, where the centroids are those of a sample anyway
# one in so many centres of a density in low dimension is a farthest-first row among centroids
FRINGE = 8
APART = 1e-12  # squared distance, in units of the kernel's, below which two centres are one
LAST = 8  # centres at the end, and the shares of Σy² that each of them gains, below which
CENTROIDS_IN_THE_WAY = 1e-7  # the greedy selection is better without centroids, and
COVERED = 1e-10  # farthest-first may be better than both
TIE = 1e-14  # differences below this share of the objective are rounding


class Selected(NamedTuple):
    """The selection that serves best, with its weights."""

    path: Path
    weights: Vector


@dataclass(frozen=True)
class Criterion:
    """What makes one set of centres better than another."""

    task: Task
    constraint: Constraint
    solver: Solver
    density: Formula  # the kernel itself, for the log-density

    def weights(self, factor: Factor, k: int) -> Vector:
        """α on the first k centres."""
        return coefficients.weights(factor, k, self.constraint, self.solver)

    def loss(self, factor: Factor, alpha: Vector) -> float:
        """The objective that α reaches, or the mean negative log-density: the smaller the better."""
        k = len(alpha)
        if self.task.density:
            cloud = self.task.engine.load(factor.centers[:k])
            return -float(cloud.log_kernel_sum(self.density, self._rows, alpha).mean())
        return factor.objective(alpha)

    @lazy
    def _rows(self) -> Points:
        cloud = self.task.cloud
        return cloud.rows(
            cloud.locate(self.task.streams.of("judging rows").random(LIKELIHOOD_ROWS))
        )


def select(
    selection: str | IntVector, criterion: Criterion, rule: Stopping, progress: Progress
) -> Selected:
    """Centres by the selection named, with their weights."""
    task = criterion.task
    if isinstance(selection, str) and selection == "auto":
        return choose(criterion, rule, progress)
    path = coefficients.grow(
        task.cloud, task.radial, open_source(selection, task), rule, progress=progress
    )
    return Selected(path, criterion.weights(path.factor, path.k))


def choose(criterion: Criterion, rule: Stopping, progress: Progress) -> Selected:
    """The best of several selections with exactly k centres; with k open, the better of two that
    grow side by side.
    """
    task = criterion.task
    first = _first_row(task)
    growths = [Growth(task.cloud, task.radial, source, rule) for source in _sources(task, first)]
    if rule.k is None:
        growths = [_winner_of_trial(growths, criterion)]
    for growth in growths:
        while not growth.over:
            growth.step()
            progress.advance(growth.factor.size, rule.limit)
    paths = [growth.path() for growth in growths]
    if rule.k is None and task.density and task.cloud.summary.size > task.limit:
        paths.append(_centroid_path(paths[0], task))
    if rule.k is not None and not task.density:
        # Projected weights suit farthest-first rows at any k: the better a selection with signed
        # weights, the worse with those.
        gain = (
            0.0
            if criterion.constraint == "simplex-projection"
            else _last_gain(min(paths, key=_indicator), task)
        )
        sources = _rows_alone(task, first, gain)
        rows = [
            coefficients.grow(task.cloud, task.radial, source, rule, progress=progress)
            for source in sources
        ]
        paths = [*rows, *paths]  # rows win a tie
    return _best(paths, criterion)


def _last_gain(path: Path, task: Task) -> float:
    """What each of the last centres gains, as a share of all gains; none where fewer centres than
    wanted were worth having.
    """
    squares = path.factor.y[: path.k] ** 2
    return (
        float(squares[-LAST:].mean() / squares.sum())
        if path.k == task.limit and squares.any()
        else 0.0
    )


def _first_row(task: Task) -> int | None:
    """Where farthest-first begins, if it may take part: drawn before all else, as by
    ``selection="kcenter"``.
    """
    summary = task.cloud.summary
    if task.density or summary.dimension <= COVERED_DIMENSION or summary.size <= task.limit:
        return first_center(task.cloud, task.streams)
    return None


def _rows_alone(task: Task, first: int | None, gain: float) -> Iterator[Source]:
    """Selections that win only where further centres gain so little: centroids taken early are then
    in the way of rows.

    Farthest-first in low dimension, and the greedy selection where all rows are candidates.
    """
    if task.cloud.summary.size <= task.limit:
        return
    if first is not None and gain < COVERED:
        yield KCenter(task.cloud, first)
    if _small(task, SOME) and gain < CENTROIDS_IN_THE_WAY:
        yield Greedy(task)


def _centroid_path(found: Path, task: Task) -> Path:
    """As many centroids as another selection took: densities gain most by them, but their number
    must be known.
    """
    exactly = replace(task, limit=found.k, fixed=True)
    source = _off_data(
        exactly, _centroids(exactly, draft(exactly, task.streams.of("centroid rows"))[0])
    )
    path = coefficients.grow(task.cloud, task.radial, source, Stopping(found.k, found.k, 0.0, 1))
    return replace(path, reason=found.reason)


def _sources(task: Task, first: int | None) -> Iterator[Source]:
    """The selections that may win, those on the data first; with k given others may follow (see
    :func:`_rows_alone`).
    """
    if first is not None and (
        task.density or not task.fixed or task.cloud.summary.size <= task.limit
    ):
        yield KCenter(task.cloud, first)
    if task.cloud.summary.size <= task.limit:  # every distinct point becomes a centre
        return
    if not task.fixed:
        # for densities farthest-first finds how many, and as many centroids are compared with it
        if not task.density:
            yield Greedy(task)
        return
    # Centroids make up for draws: each draw per centre costs an n × k sum and, from a thousand
    # centres on, as much in algebra.
    draws = (
        2 if (task.density and task.limit <= MANY) or task.cloud.summary.size <= EVERYTHING else 1
    )
    candidates = Candidates(task, draws, EVERYTHING if _small(task, SOME) else 0)
    often = DENSITY_STARTS if task.density else STARTS
    starts = [
        _centroids(task, candidates.draft, which)
        for which in range(often if _small(task, FEW) else 1)
    ]
    kappas = [task.cloud.kernel_sum(task.radial, centroids) for centroids in starts]
    for centroids, kappa in zip(starts, kappas, strict=True):
        yield _off_data(task, centroids, kappa)
    if not _costlier_than_sums(task):
        yield Greedy(task, candidates, (np.concatenate(starts), np.concatenate(kappas)))


def _costlier_than_sums(task: Task) -> bool:
    """Whether the k × k algebra of the greedy selection would take longer than everything else.

    So it is with many centres where sums are fast, in low dimension; there farthest-first and
    centroids are tried. For densities the weights would take seconds as well, and centroids won
    wherever measured.
    """
    return task.limit > MANY and (task.density or task.cloud.summary.dimension <= COVERED_DIMENSION)


def _small(task: Task, centers: int) -> bool:
    """Few rows, and no more centres than so many; for densities any number, since centroids are all
    they have.
    """
    return task.cloud.summary.size <= EVERYTHING and (task.density or task.limit <= centers)


def _iterations(task: Task, draft: PointCloud) -> int:
    """Of Lloyd's."""
    if task.density:
        return LLOYD_ITERATIONS if draft is task.cloud else DRAFT_ITERATIONS
    return LLOYD_ITERATIONS if _small(task, FEW) else SHORT_ITERATIONS


def _centroids(task: Task, draft: PointCloud, which: int = 0) -> Points:
    """Lloyd's centroids of the draft; those of large densities in low dimension get a fringe.

    Centroids shun the tails, and a density without centres there loses more likelihood than all the
    rest.
    """
    wanted = task.limit // FRINGE if _fringed(task) else 0
    seeds = (
        Listed("kmeans++", draft, d2_batches(draft, task.streams.of("centroids", which)))
        .take(task.limit - wanted)
        .points
    )
    centroids = lloyd(draft, seeds, _iterations(task, draft))
    return np.concatenate([centroids, *_fringe(task, centroids, wanted)]) if wanted else centroids


def _fringe(task: Task, centroids: Points, wanted: int) -> Iterator[Points]:
    """Farthest-first rows that are no centroids themselves, as a lonely point may be."""
    traversal = task.cloud.traverse(first_row(task.cloud, task.streams.of("first fringe row")))
    while wanted and len(picks := traversal.take(wanted).indices):
        rows = task.cloud.rows(picks)
        squared = task.engine.load(rows).nearest(centroids).distances().values()
        rows = rows[task.radial.rate * squared > APART]
        wanted -= len(rows)
        yield rows


def _fringed(task: Task) -> bool:
    """With fewer centres than MANY the bulk needs them all."""
    return task.density and task.cloud.summary.dimension <= COVERED_DIMENSION and task.limit > MANY


def _off_data(task: Task, points: Points, kappa: Vector | None = None) -> OffData:
    summed = task.cloud.kernel_sum(task.radial, points) if kappa is None else kappa
    return OffData("kmeans+kcenter" if _fringed(task) else "kmeans", task.cloud, points, summed)


def _winner_of_trial(growths: list[Growth], criterion: Criterion) -> Growth:
    """Grow each to a first checkpoint and keep the better one, compared at equal k."""
    if len(growths) == 1:
        return growths[0]
    for growth in growths:
        while not growth.over and growth.factor.size < TRIAL:
            growth.step()
    k = min(growth.path().k for growth in growths)
    return min(
        growths,
        key=lambda growth: criterion.loss(growth.factor, criterion.weights(growth.factor, k)),
    )


def _best(paths: list[Path], criterion: Criterion) -> Selected:
    """The path of least loss.

    E bounds the objective of constrained weights from below: no weights are needed where E is no
    better than what another path reaches.
    """
    if len(paths) == 1:
        return Selected(paths[0], criterion.weights(paths[0].factor, paths[0].k))
    first, *others = sorted(paths, key=_indicator)
    best = Selected(first, criterion.weights(first.factor, first.k))
    least = criterion.loss(first.factor, best.weights)
    for path in others:
        if criterion.task.density or _indicator(path) < least - TIE * abs(least):
            alpha = criterion.weights(path.factor, path.k)
            loss = criterion.loss(path.factor, alpha)
            if loss < least - TIE * abs(least):
                best = Selected(path, alpha)
                least = loss
    return best


def _indicator(path: Path) -> float:
    return float(path.factor.indicator[path.k - 1])

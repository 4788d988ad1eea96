"""The contenders of "auto" while they are tried: what they share, and what conditions may ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import Points, StopReason, Vector
from kernelmean.coefficients import Growth, Progress, Stopping
from kernelmean.coefficients.sources import Source
from kernelmean.engines import PointCloud
from kernelmean.selection import Greedy, KCenter, OffData, first_center
from kernelmean.selection.centroids import draft_centroids, has_fringe
from kernelmean.selection.criterion import Criterion, Entry, Selected, best_of
from kernelmean.selection.greedy import MAX_ROWS_ALL_CANDIDATES, Candidates, draft

MAX_LOW_DIMENSION = 3  # coordinates in which farthest-first rows can cover a support
MAX_K_SECOND_START = 64  # centres, on small samples, for which Lloyd's iteration runs long, twice
MAX_K_ALL_ROWS = 256  # centres, on small samples, for which all rows are candidates
MAX_K_GREEDY_LOW_DIMENSION = 1024  # centres, where sums are fast and algebra would dominate
TRIAL_CENTERS = 128  # centres after which, with k open, the worse of two selections is given up
LAST_CENTERS = 8  # centres at the end of a path whose mean gain says how well it covers
ITERATIONS_FEW_CENTERS = 20  # of Lloyd's, up to MAX_K_SECOND_START centres
ITERATIONS_MANY_CENTERS = 6  # of Lloyd's, where more would take longer than all the rest
ITERATIONS_DENSITY = 10  # of Lloyd's, for densities, whose centroids have to be good by themselves
DRAWS_SMALL_SAMPLE = 2  # D² draws per centre that become candidates besides the centroids
DRAWS_LARGE_SAMPLE = 1  # the same, where each draw costs an n × k sum


class Contest:
    """The contenders that have been tried so far, what they share, and what conditions may ask.

    With k given each grows to k centres. With k open two selections of a mean grow side by side
    until the trial is over, and the better one goes on. For a density farthest-first finds how many
    centres there are to be; from then on k is given.
    """

    def __init__(self, criterion: Criterion, rule: Stopping, progress: Progress) -> None:
        self.task = criterion.task
        self._criterion = criterion
        self._rule = rule
        self._progress = progress
        self._growths: list[Growth] = []
        self._reason: StopReason | None = None  # why a density has as many centres as it has
        self._centroids: dict[int, Points] = {}
        self._kappas: dict[int, Vector] = {}

    def enter(self, source: Source) -> None:
        """Let another contender grow."""
        growth = Growth(self.task.cloud, self.task.radial, source, self._rule)
        self._grow(growth, TRIAL_CENTERS if self.k_open and self.mean else self._rule.limit)
        self._growths.append(growth)
        if self.k_open and self.density:
            found = growth.path()
            self._reason = found.reason
            self._rule = Stopping(found.k, found.k, 0.0, 1)
            self.task = replace(self.task, limit=found.k, fixed=True)

    def winner(self) -> Selected:
        """The best contender, grown to its end; compared at equal k where k is open."""
        paths = [growth.path() for growth in self._growths]
        common = min(path.k for path in paths)
        best = best_of(
            [Entry(self._criterion, path, common if self.k_open else path.k) for path in paths]
        )
        if self.k_open:
            growth = next(g for g in self._growths if g.factor is best.path.factor)
            self._grow(growth, self._rule.limit)
            path = growth.path()
            best = Entry(self._criterion, path, path.k)
        reason = self._reason or best.path.reason
        return Selected(replace(best.path, reason=reason), best.weights)

    @property
    def density(self) -> bool:
        """Whether the likelihood decides, so that tails count."""
        return self.task.density

    @property
    def mean(self) -> bool:
        """Whether the objective decides."""
        return not self.task.density

    @property
    def k_open(self) -> bool:
        """Whether the number of centres is still to be found."""
        return self._rule.k is None

    @property
    def k_given(self) -> bool:
        """Whether the number of centres is known."""
        return self._rule.k is not None

    @property
    def low_dimension(self) -> bool:
        """Whether farthest-first rows may cover the support, and sums are fast."""
        return self.task.cloud.summary.dimension <= MAX_LOW_DIMENSION

    @property
    def few_centers(self) -> bool:
        """Whether Lloyd's iteration is so cheap that it runs long, and twice."""
        return self._small_sample and self.task.limit <= MAX_K_SECOND_START

    @property
    def all_rows(self) -> bool:
        """Whether all rows are candidates of the greedy selection."""
        return self._small_sample and self.task.limit <= MAX_K_ALL_ROWS

    @property
    def greedy_affordable(self) -> bool:
        """Whether k × k algebra takes no longer than the n × k sums, which are fast in low
        dimension.
        """
        return not self.low_dimension or self.task.limit <= MAX_K_GREEDY_LOW_DIMENSION

    def covered(self, share: float) -> bool:
        """Whether each of the last centres of the best contender so far gained less than such a
        share of all gains, or there are fewer centres worth having than wanted.

        Projected weights suit rows at any k: the better a selection is with signed weights, the
        worse it is with those.
        """
        paths = [growth.path() for growth in self._growths]
        best = min(paths, key=lambda path: float(path.factor.indicator[path.k - 1]))
        gains = best.factor.y[: best.k] ** 2
        short = best.k < self.task.limit or self._criterion.constraint == "simplex-projection"
        return short or float(gains[-LAST_CENTERS:].mean()) < share * float(gains.sum())

    def kcenter(self) -> KCenter:
        """Farthest-first rows, from the same first row as by ``selection="kcenter"``."""
        return KCenter(self.task.cloud, first_center(self.task.cloud, self.task.streams))

    def greedy(self) -> Greedy:
        """Greedy rows, as by ``selection="greedy"``."""
        return Greedy(self.task)

    def centroids(self, which: int) -> OffData:
        """Centroids from the start of that number."""
        points, kappa = self._centroids_and_kappa(which)
        name = "kmeans+kcenter" if has_fringe(self.task) else "kmeans"
        return OffData(name, self.task.cloud, points, kappa)

    def greedy_with_centroids(self) -> Greedy:
        """The greedy selection with all centroids found so far among its candidates."""
        self._centroids_and_kappa(0)
        points = np.concatenate([self._centroids[which] for which in self._kappas])
        kappa = np.concatenate(list(self._kappas.values()))
        return Greedy(self.task, self._candidates, (points, kappa))

    @property
    def _small_sample(self) -> bool:
        return self.task.cloud.summary.size <= MAX_ROWS_ALL_CANDIDATES

    @lazy
    def _candidates(self) -> Candidates:
        draws = DRAWS_SMALL_SAMPLE if self._small_sample else DRAWS_LARGE_SAMPLE
        return Candidates(self.task, draws, MAX_ROWS_ALL_CANDIDATES if self.all_rows else 0)

    @lazy
    def _draft(self) -> PointCloud:
        """The rows that have the centroids: those that give the candidates, if there are any."""
        if self.mean:
            return self._candidates.draft
        return draft(self.task, self.task.streams.of("centroid rows"))[0]

    def _centroids_and_kappa(self, which: int) -> tuple[Points, Vector]:
        """Found once, for the centroids themselves and for the candidates that they become."""
        points = self.centroid_points(which)
        if which not in self._kappas:
            self._kappas[which] = self.task.cloud.kernel_sum(self.task.radial, points)
        return points, self._kappas[which]

    def centroid_points(self, which: int) -> Points:
        """The centroids from the start of that number, as points."""
        if which not in self._centroids:
            found = draft_centroids(self.task, self._draft, self._iterations, which)
            self._centroids[which] = found
        return self._centroids[which]

    @property
    def _iterations(self) -> int:
        if self.density:
            return ITERATIONS_DENSITY
        return ITERATIONS_FEW_CENTERS if self.few_centers else ITERATIONS_MANY_CENTERS

    def _grow(self, growth: Growth, centers: int) -> None:
        while not growth.over and growth.factor.size < centers:
            growth.step()
            self._progress.advance(growth.factor.size, self._rule.limit)

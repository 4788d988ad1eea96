"""Orthogonal greedy selection, linear in n: the best of a pool of candidates.

Their κ is summed over all points once. The pool joins farthest-first rows, for the fringe, with D²
draws, for the bulk. It grows with the number of centres, so that a fit that stops early has paid
for few candidates.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kernelmean._types import IntVector, Points, StopReason, Vector
from kernelmean.coefficients.sources import Batch
from kernelmean.engines import Distances, PointCloud, orthonormal_basis
from kernelmean.linalg.pursuit import GreedyPursuit
from kernelmean.selection.base import Task, first_row
from kernelmean.selection.listed import d2_batches, distinct_rows

FIRST_STAGE_CENTERS = 64  # centres that the first pool is made for, where their number is open
CENTERS_PER_FRINGE_ROW = 4  # centres for each farthest-first row among the candidates
DRAWS_PER_CENTER = 3  # D² draws among the candidates
MIN_DRAWS = 256  # D² draws among the candidates, however few the centres
MAX_ROWS_ALL_CANDIDATES = 8192  # rows up to which all of them are candidates
DRAFT_ROWS = 50_000  # rows among which candidates are drawn, or
DRAFT_ROWS_PER_CENTER = 50  # as many per centre: with 20, centroids of densities were clearly worse


class Candidates:
    """Distinct rows worth considering as centres.

    They are drawn from a draft, a sample of rows that stands for all where these are many; the
    fringe knows them all.
    """

    def __init__(
        self, task: Task, draws: int = DRAWS_PER_CENTER, max_rows_all: int | None = None
    ) -> None:
        self._cloud = task.cloud
        self._per_center = draws
        self._traversal = task.cloud.traverse(
            first_row(task.cloud, task.streams.of("first candidate"))
        )
        self.everything = task.cloud.summary.size <= max(
            MAX_ROWS_ALL_CANDIDATES if max_rows_all is None else max_rows_all, draws * task.limit
        )
        self.draft, rows = draft(task, task.streams.of("candidate rows"))
        self._draws = (
            batch if rows is None else rows[batch]
            for batch in d2_batches(self.draft, task.streams.of("candidates"))
        )
        self._seen: set[bytes] = set()
        self._fringe = 0
        self._bulk = 0

    def fringe(self, centers: int) -> IntVector:
        """The new farthest-first rows for so many centres."""
        wanted = max(-(-centers // CENTERS_PER_FRINGE_ROW) - self._fringe, 0)
        self._fringe += wanted
        return self._new([self._traversal.take(wanted).indices])

    def bulk(self, centers: int) -> IntVector:
        """The other new candidates for so many centres.

        These are all rows where they are few, else D² draws.
        """
        if self.everything:
            return self._new([np.arange(self._cloud.summary.count)])
        wanted = max(self._per_center * centers, MIN_DRAWS)
        parts = []
        while self._bulk < wanted and (batch := next(self._draws, None)) is not None:
            self._bulk += len(batch)
            parts.append(batch)
        if self._bulk < wanted:  # the draft has no more distinct points; the sample may have
            parts.append(self._traversal.take(wanted - self._bulk).indices)
            self._bulk = wanted
        return self._new(parts)

    def _new(self, batches: Iterable[IntVector]) -> IntVector:
        return np.fromiter(distinct_rows(self._cloud, batches, self._seen), dtype=np.intp)


def draft(task: Task, rng: np.random.Generator) -> tuple[PointCloud, IntVector | None]:
    """A stratified sample of rows by weight, loaded, and which rows these are.

    A small sample is its own draft; then there is None in place of the rows. Nothing here depends
    on how weights are written, so that integer weights draw as repeated rows do.
    """
    size = max(DRAFT_ROWS, DRAFT_ROWS_PER_CENTER * task.limit)
    if task.cloud.summary.size <= size:
        return task.cloud, None
    rows = task.cloud.locate((np.arange(size) + rng.random(size)) / size)
    return task.engine.load(task.cloud.rows(rows)), rows


class Greedy:
    """Picks from a pool that grows in stages.

    ``off_data``, points and their κ, are further candidates that are no rows of X. Where the number
    of centres is known there is one stage. For densities the farthest-first quarter becomes centres
    first: the error hardly sees the tails, the likelihood does.
    """

    def __init__(
        self,
        task: Task,
        candidates: Candidates | None = None,
        off_data: tuple[Points, Vector] | None = None,
    ) -> None:
        self._task = task
        self._candidates = Candidates(task) if candidates is None else candidates
        self._on_data = off_data is None
        self.name = "greedy" if off_data is None else "greedy+kmeans"
        points, kappa = (
            (np.empty((0, task.cloud.summary.dimension)), np.empty(0))
            if off_data is None
            else off_data
        )
        self._pursuit = GreedyPursuit(
            task.radial,
            task.unit_sum,
            points,
            kappa,
            orthonormal_basis(task.cloud, task.radial, task.limit),
        )
        self._indices: IntVector = np.full(len(points), -1, np.intp)
        self._goal = 0
        self._handed = 0

    def take(self, m: int) -> Batch:
        """The next m picks; fewer when none is left whose P² is above the floor."""
        pursuit = self._pursuit
        wanted = min(self._handed + m, self._task.limit)
        while len(pursuit.picks) < wanted:
            if len(pursuit.picks) >= self._goal:
                self._next_stage()
            goal = min(self._goal, wanted)
            pursuit.take(goal - len(pursuit.picks))
            if len(pursuit.picks) < goal:
                break
        picks = pursuit.picks[self._handed : wanted]
        self._handed += len(picks)
        ended: StopReason = "distinct" if len(pursuit.picks) == len(pursuit.points) else "rank"
        return Batch(
            pursuit.points[picks],
            self._indices[picks] if self._on_data else None,
            pursuit.kappa[picks],
            ended,
        )

    def distances(self, centers: Points) -> Distances:
        """Distances of all points to these centres."""
        return self._task.cloud.nearest(centers).distances()

    def _next_stage(self) -> None:
        """Fill the pool for twice as many centres, or for all where their number is known."""
        limit = self._task.limit
        self._goal = (
            limit if self._task.fixed else min(max(FIRST_STAGE_CENTERS, 2 * self._goal), limit)
        )
        fringe = self._candidates.fringe(self._goal)
        bulk = self._candidates.bulk(self._goal)
        rows = np.concatenate([fringe, bulk])
        known = len(self._indices)
        self._indices = np.concatenate([self._indices, rows])
        points = self._task.cloud.rows(rows)
        everything = self._candidates.everything
        self._pursuit.extend(
            points,
            self._task.kappa[rows]
            if everything
            else self._task.cloud.kernel_sum(self._task.radial, points),
        )
        if self._task.density:
            self._pursuit.follow(known + np.arange(len(fringe)))

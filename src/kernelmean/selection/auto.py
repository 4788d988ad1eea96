"""``selection="auto"``: several selections side by side, and the one that serves best.

:data:`CONTENDERS` is the whole of it: which selections are tried when, and why each is on the list.
:meth:`Criterion.prefers <kernelmean.selection.criterion.Criterion.prefers>` is the one rule by
which they are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernelmean import coefficients
from kernelmean._types import IntVector
from kernelmean.coefficients import Progress, Stopping
from kernelmean.coefficients.sources import Source
from kernelmean.selection import Task, open_source
from kernelmean.selection.contest import Contest
from kernelmean.selection.criterion import Criterion, Selected

__all__ = ["CONTENDERS", "Contender", "Criterion", "Selected", "choose", "select"]

COVERED_GREEDY = 1e-7  # share of all gains below which centroids are in the way of greedy rows
COVERED_KCENTER = 1e-10  # share of all gains below which farthest-first may be better than both


@dataclass(frozen=True)
class Contender:
    """A selection that is tried when a condition holds, and what would be lost without it.

    Contenders are tried in the order of the list: a condition may ask what earlier ones reached.
    """

    name: str
    when: Callable[[Contest], bool]
    source: Callable[[Contest], Source]
    why: str


# ``why`` says what the errors of "auto" are without that line, as a multiple of those with it: the
# geometric mean over the cells of a grid of ``python -m benchmarks.contenders_of_auto``, and the
# worst cell. The grid "means" is the table beside the peers, 632 cells on eleven sets. A line stays
# that costs 2 % in the mean or 10 % in a cell. For densities a multiple is exp of the nats lost.
CONTENDERS = (
    Contender(
        "kcenter",
        when=lambda c: c.density,
        source=lambda c: c.kcenter(),
        why="4.9 × (tails), 1.00 × (densities); it also finds k where k is open",
    ),
    Contender(
        "kcenter",
        when=lambda c: c.mean and c.k_open and c.low_dimension,
        source=lambda c: c.kcenter(),
        why="1.18 × (open): a line under a wide kernel, 108 × in one cell",
    ),
    Contender(
        "greedy",
        when=lambda c: c.mean and c.k_open,
        source=lambda c: c.greedy(),
        why="2.32 × (open), 17 × in one cell",
    ),
    Contender(
        "kmeans",
        when=lambda c: c.k_given,
        source=lambda c: c.centroids(0),
        why="1.006 × (means), 2.6 × in one of 15 cells above 1.1; 5.9 × (densities)",
    ),
    Contender(
        "kmeans, second start",
        when=lambda c: c.mean and c.k_given and c.few_centers,
        source=lambda c: c.centroids(1),
        why="1.001 × (means), 1.9 × in one of 7 cells above 1.1",
    ),
    Contender(
        "greedy+kmeans",
        when=lambda c: c.mean and c.k_given and c.greedy_affordable,
        source=lambda c: c.greedy_with_centroids(),
        why="1.179 × (means), 531 × in one of 290 cells above 1.1",
    ),
    Contender(
        "greedy",
        when=lambda c: c.mean and c.k_given and c.all_rows and c.covered(COVERED_GREEDY),
        source=lambda c: c.greedy(),
        why="0.998 × (means), 3.8 × in one of 4 cells above 1.1",
    ),
    Contender(
        "kcenter",
        when=lambda c: c.mean and c.k_given and c.low_dimension and c.covered(COVERED_KCENTER),
        source=lambda c: c.kcenter(),
        why="1.022 × (means), 15 × in one of 8 cells above 1.1, all in two dimensions",
    ),
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
    """The best of the contenders; farthest-first where every point becomes a centre anyway."""
    if every_point_is_a_center(criterion.task):
        return select("kcenter", criterion, rule, progress)
    return held(criterion, rule, progress).winner()


def every_point_is_a_center(task: Task) -> bool:
    """Whether there are as many centres to take as points, or more."""
    return task.cloud.summary.size <= task.limit


def held(criterion: Criterion, rule: Stopping, progress: Progress) -> Contest:
    """The contest after all contenders have been tried."""
    contest = Contest(criterion, rule, progress)
    for contender in CONTENDERS:
        if contender.when(contest):
            contest.enter(contender.source(contest))
    return contest

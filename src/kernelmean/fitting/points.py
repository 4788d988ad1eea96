"""Fits whose centres are points: so many, or as many as the indicator or an error asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from kernelmean._types import IntVector, StopReason
from kernelmean.coefficients import Progress, Stopping
from kernelmean.fitting.refine import refined_points
from kernelmean.fitting.searching import fewest
from kernelmean.mean.gauge import Candidate, Gauge
from kernelmean.selection.auto import Criterion, Selected, select

# The estimated relative error above which a small indicator ends no fit, and a fit says so.
HONEST = 0.1
OPEN_ENDS = ("tol", "rank")  # reasons that are read off the indicator of free weights

# Told a number of centres, and whether it is the last to be tried; None where more have to be.
SelectedAt: TypeAlias = Callable[[int, bool], Selected | None]


@dataclass(frozen=True)
class PointFit:
    """A fit of points: what it needs besides their number."""

    criterion: Criterion
    which: str | IntVector
    rule: Stopping
    steps: int  # of refinement, that were asked for
    gauge: Gauge
    progress: Progress
    error: float | None = None  # to be reached, where that decides on the number

    def selected(self) -> Selected:
        """As many points as asked for, or as many as it takes."""
        if self.rule.k is not None:
            return self.by(self.rule)
        if self.error is None:
            return self.honest()
        return searched(
            lambda k, last: self.at(k), self.gauge, self.error, self.rule.limit, self.criterion
        )

    def at(self, k: int) -> Selected:
        """The same as where k is asked for."""
        task = replace(self.criterion.task, limit=k, fixed=True)
        fixed = replace(self, criterion=replace(self.criterion, task=task))
        return fixed.by(replace(self.rule, k=k))

    def by(self, rule: Stopping) -> Selected:
        """Points until a rule is met."""
        selected = select(self.which, self.criterion, rule, self.progress)
        auto = isinstance(self.which, str) and self.which == "auto"
        return refined_points(selected, self.criterion, self.steps, polish=auto)

    def honest(self) -> Selected:
        """Points until the indicator settles, at an error that is not large.

        Centres that lie beside what matters change little, one after the other; and the indicator
        is that of free weights. So where the error is large the growth goes on, to twice as many at
        least, up to ``k_max``. ``patience=1`` is the paper's rule, which ends where it says.
        """
        rule = self.rule
        found = self.by(rule)
        while rule.patience > 1 and found.path.reason in OPEN_ENDS and found.path.k < rule.limit:
            estimated = self.gauge.estimate(Candidate.on(found.path.factor, found.weights))
            if estimated is None or estimated <= HONEST:
                break
            rule = replace(rule, least=min(2 * found.path.k, rule.limit))
            more = self.by(rule)
            if more.path.k <= found.path.k:
                break
            found = more
        return found


def searched(
    at: SelectedAt, gauge: Gauge, error: float, limit: int, criterion: Criterion
) -> Selected:
    """As few centres as reach the error, or the most that may be."""
    most = min(limit, max(1, int(criterion.task.cloud.summary.size)))

    def enough(selected: Selected) -> bool:
        return gauge.reaches(Candidate.on(selected.path.factor, selected.weights), error)

    found, reached = fewest(at, enough, most)
    reason: StopReason = "error" if reached else "k_max"
    return Selected(replace(found.path, reason=reason), found.weights)

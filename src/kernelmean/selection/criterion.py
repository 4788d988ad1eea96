"""What makes one set of centres better than another: the one rule by which "auto" compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean import coefficients
from kernelmean._lazy import lazy
from kernelmean._types import Constraint, Points, Solver, Space, Vector
from kernelmean.coefficients import Path
from kernelmean.kernels import Atoms, Formula, Kernel
from kernelmean.linalg.factor import Factor
from kernelmean.selection.base import Task

# On the data of ``kernelmean demo`` (10⁶ rows) the mean log-densities of farthest-first rows and of
# centroids differ by 0.003 nats, their errors in L2 by a factor of four. The difference at one row
# has a standard deviation of 0.1: the mean over 2000 rows had a standard error as large as the
# difference, so that the seed decided. More rows make that rarer, but what they would decide by is
# of no use. Hence a margin that is worth having, and so many rows that the standard error is well
# below it: 0.0014 there, 0.005 for Student's t with three degrees of freedom in two dimensions.
MAX_JUDGING_ROWS = 5000  # rows whose log-density decides between selections of a density
LIKELIHOOD_MARGIN = 0.02  # nats of mean log-density, 2 % of a density, below which L2 decides
ROUNDING = 1e-14  # share of the objective below which a difference is rounding


class Selected(NamedTuple):
    """The selection that serves best, with its weights."""

    path: Path
    weights: Vector


@dataclass(frozen=True)
class Criterion:
    """What makes one set of centres better than another.

    E_k is comparable between selections because ‖z̄‖² is common to all. With constrained weights
    the objective they reach is compared instead, and for densities the mean log-density of rows,
    because E hardly sees the tails.
    """

    task: Task
    constraint: Constraint
    solver: Solver
    kernel: Kernel
    space: Space
    judges: Points | None = None  # rows whose log-density decides; by default some of the sample's
    judge_weights: Vector | None = None  # of these rows

    def weights(self, factor: Factor, k: int) -> Vector:
        """α on the first k centres."""
        return coefficients.weights(factor, k, self.constraint, self.solver)

    def log_density(self, atoms: Atoms, alpha: Vector) -> Vector:
        """The log of Σ_a α_a φ_a(x) at the rows that decide, φ_a the kernel at centre a."""
        engine = self.task.engine
        if atoms.spreads is None:
            cloud = engine.load(atoms.centers)
            return cloud.log_kernel_sum(self._profile, self._judging_rows, alpha)
        return engine.load_atoms(atoms).log_kernel_sum(self._profile, self._judging_rows, alpha)

    def prefers(self, rival: Entry, best: Entry) -> bool:
        """Whether ``rival`` is better than ``best``.

        A mean is better if its objective is smaller. A density is better if its mean log-density
        is larger by more than a margin; where it is as likely as the other, the smaller objective
        decides, which is the error in L2.
        """
        least = best.objective - ROUNDING * abs(best.objective)
        if not self.task.density:
            return rival.indicator < least and rival.objective < least
        with np.errstate(invalid="ignore"):  # both may exclude a row
            gain = float(
                np.average(rival.log_density - best.log_density, weights=self.judge_weights)
            )
        return rival.objective < least if abs(gain) <= LIKELIHOOD_MARGIN else gain > 0.0

    @property
    def _profile(self) -> Formula:
        """The kernel itself; constants are common to all."""
        return self.kernel.formula(self.task.cloud.summary.dimension)

    @lazy
    def _judging_rows(self) -> Points:
        """One row from each of equal shares of the weight: every row where they are few."""
        if self.judges is not None:
            return self.judges
        cloud = self.task.cloud
        count = max(1, round(min(MAX_JUDGING_ROWS, cloud.summary.size)))
        offsets = self.task.streams.of("judging rows").random(count)
        return cloud.rows(cloud.locate((np.arange(count) + offsets) / count))


@dataclass(frozen=True)
class Entry:
    """The first k centres of a path in comparison; what they reach is found when asked for."""

    criterion: Criterion
    path: Path
    k: int

    @classmethod
    def of(cls, criterion: Criterion, selected: Selected) -> Entry:
        """An entry whose weights are known."""
        entry = cls(criterion, selected.path, selected.path.k)
        entry.__dict__["weights"] = selected.weights
        return entry

    @property
    def indicator(self) -> float:
        """E_k, which bounds the objective of constrained weights from below."""
        return float(self.path.factor.indicator[self.k - 1])

    @lazy
    def weights(self) -> Vector:
        """α on the centres."""
        return self.criterion.weights(self.path.factor, self.k)

    @lazy
    def objective(self) -> float:
        """αᵀKα − 2κᵀα, which is E_k for free weights."""
        return self.path.factor.objective(self.weights)

    @lazy
    def log_density(self) -> Vector:
        """The log-density at the rows that decide."""
        return self.criterion.log_density(self.path.factor.atoms[: self.k], self.weights)


def best_of(entries: list[Entry]) -> Entry:
    """The entry that none is preferred to; of equal ones that on the data."""
    best, *others = sorted(entries, key=lambda e: (e.indicator, e.path.indices is None))
    for rival in others:
        if rival.criterion.prefers(rival, best):
            best = rival
    return best

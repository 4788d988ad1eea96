"""Centres moved off the data, by the few steps that "auto" adds or by as many as asked for."""

from __future__ import annotations

import numpy as np

from kernelmean import coefficients
from kernelmean._types import Vector
from kernelmean.coefficients import Path, refinement
from kernelmean.kernels import Slope
from kernelmean.linalg.factor import Factor
from kernelmean.selection import OffData, Task
from kernelmean.selection.auto import Criterion, Selected
from kernelmean.selection.greedy import MAX_ROWS_ALL_CANDIDATES

# Without these steps the errors of "auto" are larger by 14 % in the geometric mean over the 632
# cells of the table beside the peers, and threefold in one (benchmarks/contenders_of_auto.py).
POLISH = 3  # steps: the first ones gain most, and each costs about as much as κ with 1 + d columns
MAX_K_POLISH = 640  # centres up to which their algebra takes no longer than the choice itself


def worth_polishing(choice: Selected, criterion: Criterion) -> bool:
    """Whether "auto" moves its centres by a few more steps.

    It does where the steps cost little and nothing is lost by them, because the centres are no rows
    of the data anyway. It does not for densities, whose tails the error hardly sees; nor for many
    points or centres, where the steps would cost more than the choice; nor for a kernel of the
    user's own, which may not know its slope.
    """
    task = criterion.task
    k = choice.path.k
    small = task.cloud.summary.size <= MAX_ROWS_ALL_CANDIDATES and k <= MAX_K_POLISH
    reliable = criterion.kernel.traits.reliable_slope
    return choice.path.indices is None and small and not task.density and reliable


def refined_points(choice: Selected, criterion: Criterion, steps: int, *, polish: bool) -> Selected:
    """The choice after as many steps as asked for, or as "auto" adds where it ``polish``es."""
    kernel = criterion.kernel
    if polish and worth_polishing(choice, criterion):
        steps = max(steps, POLISH)
    if not steps:
        return choice
    slope = kernel.slope(criterion.task.cloud.summary.dimension, criterion.space)
    return refined(choice, criterion, slope, steps)


def free_or_exact(criterion: Criterion) -> refinement.Solve:
    """The weights of least objective, at which gradients are taken.

    Projected weights are no minimum: their centres follow those of free weights.
    """
    exact = None if criterion.constraint == "simplex-projection" else criterion.constraint

    def solve(factor: Factor, guess: Vector | None) -> Vector:
        return coefficients.weights(factor, factor.size, exact, "cholesky", guess)

    return solve


def rows_to_refine_on(task: Task) -> np.random.Generator:
    """Draws the rows that the early steps look at, the same for points and atoms."""
    return task.streams.of("refining rows")


def refined(choice: Selected, criterion: Criterion, slope: Slope, iterations: int) -> Selected:
    """The choice after so many steps along ``slope``.

    It stays as it was where its mean would not be strictly better. A few steps leave the order of
    the centres a good one for prefixes; after more they are put in order again.
    """
    path, alpha = choice
    task = criterion.task
    objective = refinement.Objective(task.cloud, task.radial, slope, free_or_exact(criterion))
    rng = rows_to_refine_on(task)
    factor = refinement.refine(objective, task.engine, path.centers, iterations, rng)
    if factor is None:
        return choice
    if iterations > POLISH:
        factor = refinement.in_greedy_order(factor)
    moved = criterion.weights(factor, path.k)
    if not factor.objective(moved) < path.factor.objective(alpha):
        return choice
    source = OffData(f"{path.source.name}+refined", task.cloud, factor.centers, factor.kappa)
    return Selected(Path(path.k, path.reason, factor, None, source), moved)

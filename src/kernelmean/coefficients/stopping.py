"""When to stop: increments of the error indicator, or pivots, that stay small.

Small increments are relative to the indicator, small pivots are at the numerical floor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Vector

SHORTEST_RUN_PIVOTS = 10  # at the floor, in a row: they show numerical rank


def first_run(flags: NDArray[np.bool_], length: int, least: int = 0) -> int | None:
    """Position just past the first ``length`` consecutive True, at least ``least``.

    None if there is no such run.
    """
    run = 0
    for position, flag in enumerate(flags, start=1):
        run = run + 1 if flag else 0
        if run >= length and position >= least:
            return position
    return None


def converged_at(y: Vector, tol: float, patience: int, least: int = 0) -> int | None:
    """First m ≥ max(3, least) that ends ``patience`` consecutive y_m² ≤ tol·Σ_{2≤i≤m} y_i².

    This is |E_{m−1} − E_m| ≤ tol·|E_1 − E_m| without a subtraction; ``patience=1`` is the paper's
    rule. One small step is no evidence: the residual changes sign, so y_m ≈ 0 happens by accident
    long before convergence.
    """
    squares = y[1:] ** 2
    total = np.cumsum(squares)
    if len(total) and total[-1] <= 0.0:
        return 1  # constant in kernel terms: one centre says it all
    small = (squares <= tol * total) & (total > 0.0)
    if len(small):
        small[0] = False  # at m = 2 the ratio is 1 by definition
    end = first_run(small, patience, least - 1)
    return None if end is None else end + 1


def exhausted_at(pivots: Vector, jitters: Vector, patience: int, least: int = 0) -> int | None:
    """Centres, at least ``least``, before the first long run of pivots at the floor.

    The rest add nothing that float64 can see. A few low pivots are no evidence: they may be centres
    that nearly coincide.
    """
    length = max(patience, SHORTEST_RUN_PIVOTS)
    end = first_run(pivots <= 4.0 * jitters, length, least + length)
    return None if end is None else end - length

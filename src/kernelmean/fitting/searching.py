"""The fewest centres that reach an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

FEWEST_CENTERS = 16  # that the search for their number begins with
CLOSE_ENOUGH = 1.1  # ratio of the number found to one that is too few

T = TypeVar("T")


def fewest(
    at: Callable[[int, bool], T | None], enough: Callable[[T], bool], limit: int
) -> tuple[T, bool]:
    """What ``at`` gives for as few centres as are enough, or for ``limit``; and whether they are.

    ``at`` is told the number, and whether it is the last; it may have None for any but the last.
    The number is doubled until it is enough and then narrowed down at a few places between the
    last two: most selections change with their number, so there are no free prefixes.
    """
    low = 0
    k = min(FEWEST_CENTERS, limit)
    found = at(k, k == limit)
    while (found is None or not enough(found)) and k < limit:
        low = k
        k = min(2 * k, limit)
        found = at(k, k == limit)
    assert found is not None
    if k == limit and not enough(found):
        return found, False
    while k > CLOSE_ENOUGH * max(low, 1) and k > low + 1:
        middle = min(max(round(np.sqrt(max(low, 1) * k)), low + 1), k - 1)
        trial = at(middle, False)
        if trial is not None and enough(trial):
            k = middle
            found = trial
        else:
            low = middle
    return found, True

"""Centres on demand: what the two methods of farthest-first traversal share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Vector


class Rounds(ABC):
    """Farthest-first order from row ``first``: picks while there is room for centres to wait, then
    all points meet them.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._taken = 0

    def take(self, m: int) -> tuple[IntVector, Vector]:
        """Rows of the next m centres and their squared radii (inf for the first); fewer once none
        is left.
        """
        rows = np.empty(m, np.int64)
        squares = np.empty(m)
        done = 0
        if self._taken == 0 and m > 0:
            rows[0] = self._first
            squares[0] = np.inf
            done = 1
        while done < m:
            stop = min(m, done + self._capacity())
            done += self._pick(rows[done:stop], squares[done:stop])
            if self._exhausted():
                break
            if done < m:
                self._meet()
        self._taken += done
        return rows[:done].astype(np.intp), squares[:done]

    @abstractmethod
    def squared_distances(self) -> Vector:
        """min_c ‖x_i − c‖² over the centres taken so far, in the order of X."""

    @abstractmethod
    def _capacity(self) -> int:
        """How many more centres may wait."""

    @abstractmethod
    def _pick(self, rows: NDArray[np.int64], squares: Vector) -> int:
        """Fill in the next centres, as far as they can be told; how many. They wait to be met."""

    @abstractmethod
    def _exhausted(self) -> bool:
        """Whether, after a pick, every distinct point is a centre."""

    @abstractmethod
    def _meet(self) -> None:
        """Let all points hear of the centres that wait."""

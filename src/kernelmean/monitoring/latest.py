"""What is kept of a stream: its latest rows, and the course of the statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernelmean._types import IntVector, Points, Vector

BUCKETS = 1024  # of the course, at most


@dataclass(eq=False)
class LatestRows:
    """The latest rows of a stream, at most as many as there is room for."""

    ring: Points  # (window, d)
    seen: int = 0

    @classmethod
    def empty(cls, window: int, d: int) -> LatestRows:
        """Before any row."""
        return cls(np.zeros((window, d)))

    def add(self, X: Points) -> None:
        """Take some rows in; the oldest go."""
        window = len(self.ring)
        late = X[-window:]
        first = self.seen + len(X) - len(late)
        self.ring[(first + np.arange(len(late))) % window] = late
        self.seen += len(X)

    def last(self, count: int) -> Points:
        """The latest rows, the oldest of them first; fewer where there are fewer."""
        kept = min(count, self.seen, len(self.ring))
        return self.ring[(self.seen - kept + np.arange(kept)) % len(self.ring)]


class Course(NamedTuple):
    """A statistic over time, as its largest values in consecutive rows."""

    rows: IntVector  # (m,) the last row of each group of rows, from 0
    statistics: Vector  # (m,) the largest there; −inf where nothing was tested


@dataclass(eq=False)
class History:
    """The course of a statistic in bounded memory: groups of rows double when they are many."""

    width: int
    largest: Vector  # (BUCKETS,)
    seen: int = 0

    @classmethod
    def empty(cls) -> History:
        """Before any row."""
        return cls(1, np.full(BUCKETS, -np.inf))

    def add(self, statistics: Vector) -> None:
        """Take in the statistics of some rows."""
        while self.seen + len(statistics) > self.width * BUCKETS:
            paired = self.largest.reshape(-1, 2).max(axis=1)
            self.largest = np.append(paired, np.full(BUCKETS - len(paired), -np.inf))
            self.width *= 2
        bucket = (self.seen + np.arange(len(statistics))) // self.width
        np.maximum.at(self.largest, bucket, statistics)
        self.seen += len(statistics)

    def course(self) -> Course:
        """What has been seen."""
        used = -(-self.seen // self.width)
        rows = np.minimum(self.width * (1 + np.arange(used)), self.seen) - 1
        return Course(rows.astype(np.intp), self.largest[:used].copy())

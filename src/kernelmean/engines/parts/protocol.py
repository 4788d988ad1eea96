"""A sample in parts, which stands in for an (n, d) array, and what its parts can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from kernelmean._types import IntVector

# What a part can be asked: the names of the methods of ``kernelmean.engines.parts.part.Part``. They
# travel as names, since parts may be on the workers of a cluster.
Question: TypeAlias = Literal[
    "facts",
    "rows",
    "probabilities",
    "apply",
    "ask",
    "moments",
    "second_moments",
    "extremes",
    "weight_up_to",
    "between",
    "cells",
    "offer",
    "cover",
    "reduce",
]


class Parts(Protocol):
    """Parts of a sample, wherever they are; answers come in the order of the parts."""

    @property
    def sizes(self) -> IntVector:
        """Rows of each part, none of which is empty."""

    @property
    def dimension(self) -> int:
        """Number of coordinates."""

    def each(
        self,
        question: Question,
        *arguments: Any,
        own: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> list[Any]:
        """Every part's answer; ``own`` are further arguments of each part, and parts with None are
        not asked.
        """


@runtime_checkable
class SlowParts(Protocol):
    """Parts for which asking is dear beside computing."""

    @property
    def offered(self) -> int:
        """How many points a round of a traversal may look at."""


def starts(sizes: IntVector) -> IntVector:
    """Global row at which each part begins, and n."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def divided(rows: IntVector, begins: IntVector) -> list[IntVector | None]:
    """Global rows as positions in each part, in the order given; None for parts without any."""
    part = np.searchsorted(begins, rows, side="right") - 1
    return [
        np.flatnonzero(part == i) if (part == i).any() else None for i in range(len(begins) - 1)
    ]

"""What runs on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from distributed import get_worker

from kernelmean import _checks, engines
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.cpu.threads import limited
from kernelmean.engines.parted.part import Part


def checked(block: Any, name: str, columns: int) -> Points:
    """One partition as finite float64 numbers, in one piece; it may be empty."""
    if len(block) == 0:
        return np.empty((0, columns))
    values = block.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(block, "to_numpy") else block
    return np.ascontiguousarray(_checks.points(values, name, columns))


def taken(X: Points, rows: IntVector) -> Points:
    """Some rows."""
    return X[rows]


def mapped(X: Points, matrix: Matrix, origin: Vector) -> Points:
    """A(x − origin)."""
    found: Points = (X - origin) @ matrix.T
    return found


def part(X: Points, weights: Vector | None, local: str) -> Part:
    """One part in a room of this worker's engine, with the worker's number of threads."""
    with limited(get_worker().state.nthreads):
        return Part(X, weights, engines.precise(engines.open(local)))


def answers(parts: Sequence[Part], question: str, arguments: tuple[Any, ...], own: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What each of the parts on this worker says."""
    return [getattr(part, question)(*arguments, *further) for part, further in zip(parts, own, strict=True)]


def evaluated(block: Any, label: str, columns: int, maps: Sequence[tuple[Matrix, Vector]], function: Callable[[Points], Any]) -> Any:
    """function of the rows of one partition."""
    X = checked(block, label, columns)
    for matrix, origin in maps:
        X = mapped(X, matrix, origin)
    with limited(get_worker().state.nthreads if _on_worker() else 1):
        return function(X) if len(X) else function(np.zeros((1, columns)))[:0]


def _on_worker() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True

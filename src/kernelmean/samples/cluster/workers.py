"""What runs on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from distributed import get_worker

from kernelmean import _checks, engines
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.compiled.threads import limited
from kernelmean.engines import arrays
from kernelmean.engines.parts.part import Part
from kernelmean.engines.parts.protocol import Question


def loaded(block: Any, name: str, columns: int, local: str) -> Part:
    """One partition for this worker's engine, with the worker's number of threads."""
    with limited(get_worker().state.nthreads):
        return Part(checked(block, name, columns), None, engines.precise(engines.open(local)))


def checked(block: Any, name: str, columns: int) -> Points:
    """One partition as finite float64 numbers, in one piece; it may be empty."""
    if len(block) == 0:
        return np.empty((0, columns))
    values = (
        block.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(block, "to_numpy") else block
    )
    return np.ascontiguousarray(_checks.points(values, name, columns))


def taken(part: Part, rows: IntVector) -> Part:
    """Some rows as a part of their own."""
    return Part(part.rows(rows), None, part.engine)


def mapped(part: Part, matrix: Matrix, origin: Vector) -> Part:
    """A(x − origin) of all rows, as a part of their own."""
    return Part(_mapped(np.asarray(part.X), matrix, origin), None, part.engine)


def weighted(part: Part, weights: Vector) -> Part:
    """The same rows with weights."""
    return Part(np.asarray(part.X), weights, part.engine)


def size(part: Part) -> int:
    """Rows of a part."""
    return len(part.X)


def rows(part: Part) -> Points:
    """All rows of a part."""
    return np.asarray(part.X)


def _mapped(X: Points, matrix: Matrix, origin: Vector) -> Points:
    return arrays.mapped(X, matrix, np.ravel(origin))


def answers(
    parts: Sequence[Part],
    question: Question,
    arguments: tuple[Any, ...],
    own: Sequence[tuple[Any, ...]],
) -> list[Any]:
    """What each of the parts on this worker says."""
    with limited(get_worker().state.nthreads):
        return [
            methodcaller(question, *arguments, *further)(part)
            for part, further in zip(parts, own, strict=True)
        ]


def evaluated(
    block: Any,
    label: str,
    columns: int,
    maps: Sequence[tuple[Matrix, Vector]],
    function: Callable[[Points], Any],
) -> Any:
    """function of the rows of one partition."""
    X = checked(block, label, columns)
    for matrix, origin in maps:
        X = _mapped(X, matrix, origin)
    with limited(get_worker().state.nthreads if _on_worker() else 1):
        return function(X) if len(X) else function(np.zeros((1, columns)))[:0]


def _on_worker() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True

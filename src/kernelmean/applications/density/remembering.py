"""The selections of the last few data sets, so that a search over bandwidths does not repeat them.

Only what is a function of its key is remembered: the data, the settings and the seed. Without a seed the selection is
random, but fits of the same data share it while it is remembered, so that bandwidths are compared on the same centres.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmean._types import Points, RandomState, Vector
from kernelmean.mean import SparseKernelMean

ENTRIES = 16  # a mean is small: folds of a cross-validation, and some more

_memory: dict[tuple[Any, ...], SparseKernelMean] = {}


def recall(
    settings: Any, X: Points, weights: Vector | None, random_state: RandomState, select: Callable[[], SparseKernelMean]
) -> SparseKernelMean:
    """What ``select`` gave for the same data, settings and seed, or gives now."""
    if not isinstance(X, np.ndarray) or not (random_state is None or isinstance(random_state, int | np.integer)):
        return select()  # points in a file or on a cluster may change; a generator moves on with every fit
    key = (_digest(X), None if weights is None else _digest(weights), _settings_key(settings), random_state)
    mean = _memory.pop(key, None)
    if mean is None:
        mean = select()
    _memory[key] = mean  # last in the order of use
    for old in list(_memory)[:-ENTRIES]:
        _memory.pop(old, None)
    return mean


def _digest(A: np.ndarray[Any, Any]) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(A).data, digest_size=16, key=repr(A.shape).encode()[:64]).digest()


def _settings_key(settings: Any) -> tuple[Any, ...]:
    values = vars(settings).values()
    return tuple(_digest(np.asarray(value)) if isinstance(value, np.ndarray | list) else value for value in values)

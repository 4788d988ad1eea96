"""The types of compiled functions: arrays that are read, arrays that are written to, the numbers of
a radial function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

Loop = Callable[..., None]


def read(ndim: int) -> Any:
    """An array of so many dimensions that is only read."""
    return types.Array(types.float64, ndim, "C", readonly=True)


def write(ndim: int) -> Any:
    """An array of so many dimensions that is written to."""
    return types.Array(types.float64, ndim, "C")


NUMBERS = (types.float64, types.float64, read(2))  # rate, shape, table

"""Functions that a user writes: scalar Python, or what Numba made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

ScalarFunction: TypeAlias = Callable[[float], float]  # s -> value


@runtime_checkable
class CompiledByNumba(Protocol):
    """A function that ``numba.njit`` made; this package does without importing Numba."""

    @property
    def py_func(self) -> ScalarFunction:
        """The function in Python."""


def in_python(scalar: ScalarFunction) -> ScalarFunction:
    """The user's function as plain Python, whether or not it was compiled by Numba.

    Parameters
    ----------
    scalar : callable
        A function of one number, plain or made by ``numba.njit``.

    Returns
    -------
    callable
        The function that can be called on any object.
    """
    return scalar.py_func if isinstance(scalar, CompiledByNumba) else scalar


@dataclass(frozen=True)
class UserFactor:
    """The user's scalar function as a factor: elementwise in NumPy, and the very function for
    compilers.

    Factors of one function are equal, also after they have travelled to another process.

    Parameters
    ----------
    scalar : callable
        The function of s.
    """

    scalar: ScalarFunction

    def __call__(self, s: Any, shape: float, sqrt: Any) -> Any:
        """The function at every s; shape and sqrt have no part in it."""
        return np.vectorize(in_python(self.scalar), otypes=[np.float64])(s)

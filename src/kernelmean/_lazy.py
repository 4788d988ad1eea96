"""Attributes computed when first asked for.

Unlike ``functools.cached_property`` of Python 3.11 this holds no lock: a lock shared by all
instances would make point clouds wait for one another, and a fork while it is held would leave the
child waiting for ever. Two threads may compute a value twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

KEPT = 4  # values of a function that are kept


class lazy(Generic[T]):  # noqa: N801
    """``@lazy`` on a method without arguments: computed once, then kept in ``__dict__``."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | lazy[T]:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value


def kept(made: dict[K, T], key: K, make: Callable[[K], T]) -> T:
    """What was made for this key, of the last few keys asked for."""
    if (found := made.get(key)) is None:
        found = make(key)
        if len(made) >= KEPT:
            made.clear()
        made[key] = found
    return found

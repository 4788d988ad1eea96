"""A thread pool of our own, made anew after a fork, over compiled loops that release the GIL.

Work is cut into fixed blocks that do not depend on the number of threads, so results do not either.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

PIECES = 16

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_lock = threading.Lock()
_inside = threading.local()
_limit: ContextVar[int | None] = ContextVar("_limit", default=None)


@contextmanager
def limited(count: int) -> Iterator[None]:
    """Engines that are opened inside take so many threads by default: a worker of a cluster has its
    own number.
    """
    token = _limit.set(count)
    try:
        yield
    finally:
        _limit.reset(token)


def default_count() -> int:
    """KERNELMEAN_NUM_THREADS, or the cores this process may use; a worker's own number on a
    cluster.
    """
    if (limit := _limit.get()) is not None:
        return limit
    given = os.environ.get("KERNELMEAN_NUM_THREADS", "")
    if given:
        if not (given.isascii() and given.isdecimal()) or int(given) < 1:
            raise ValueError(
                f"KERNELMEAN_NUM_THREADS must be a positive whole number, got {given!r}."
            )
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pieces(n: int) -> list[slice]:
    """0..n in a fixed number of parts, whatever the number of threads."""
    cuts = [n * part // PIECES for part in range(PIECES + 1)]
    return [slice(a, b) for a, b in pairwise(cuts) if b > a]


def run(function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int) -> None:
    """function(*task) for every task; each writes to its own part of an output."""
    if count == 1 or len(tasks) == 1 or getattr(_inside, "pool", False):
        for task in tasks:
            function(*task)
        return
    for _ in _pool(count).map(lambda task: function(*task), tasks):
        pass


def _pool(count: int) -> ThreadPoolExecutor:
    key = (os.getpid(), count)  # a forked child inherits the object but not its threads
    with _lock:
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(count, "kernelmean", initializer=_enter)
        return _pools[key]


def _enter() -> None:
    _inside.pool = True


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()  # the parent may have held it while forking


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

"""One thread for BLAS, where its threads would wait for one another longer than they work.

The number of threads of OpenBLAS belongs to the process, not to the caller: of two callers that
each save and restore it, the one that came second saves what the first has set, and restores that
for good. So callers are counted here; the first one in saves and sets, the last one out restores.
Of libraries that count threads for each caller (MKL), each caller saves and restores its own. A
forked child keeps what its one thread has entered, and nothing of the others.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

Saved = list[tuple[Any, int]]  # libraries, and their numbers of threads from before

_lock = threading.RLock()
# ``depth``: how often this thread is inside; ``saved``: of libraries that count for each thread.
_own = threading.local()
_inside = 0  # threads
_saved: Saved = []  # of libraries that count for the process


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS runs on one thread while anybody is inside."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _saved  # noqa: PLW0603
    if _depth() == 0:
        with _lock:
            libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            _own.saved = _set_to_one(
                [library for library in libraries if _counts_for_each_thread(library)]
            )
            if _inside == 0:
                _saved = _set_to_one(
                    [library for library in libraries if not _counts_for_each_thread(library)]
                )
            _inside += 1
    _own.depth = _depth() + 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    _own.depth = _depth() - 1
    if _own.depth == 0:
        with _lock:
            _restore(_own.saved)
            _inside -= 1
            if _inside == 0:
                _restore(_saved)


def _depth() -> int:
    return getattr(_own, "depth", 0)


def _counts_for_each_thread(library: Any) -> bool:
    """MKL; and OpenBLAS on OpenMP, from the version of threadpoolctl on that asks OpenMP."""
    on_openmp = getattr(library, "threading_layer", "") == "openmp" and hasattr(
        library, "_real_set_num_threads"
    )
    return library.internal_api == "mkl" or on_openmp


def _set_to_one(libraries: list[Any]) -> Saved:
    saved = [(library, library.num_threads) for library in libraries]
    for library in libraries:
        _set(library, 1)
    return saved


def _restore(saved: Saved) -> None:
    while saved:
        _set(*saved.pop())


def _set(library: Any, count: int) -> None:
    """Set the number of threads, from any thread.

    threadpoolctl 3.8 heeds one of them only, but the last one out need not be the first one in.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


def _after_fork_in_child() -> None:
    """The other threads are not here to leave."""
    global _inside  # noqa: PLW0603
    _inside = min(_depth(), 1)
    if _inside == 0:
        _restore(_saved)
    _lock.release()


if hasattr(os, "register_at_fork"):
    # Held while forking, so that no other thread is between saving and setting.
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork_in_child
    )

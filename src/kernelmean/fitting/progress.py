"""A progress bar for fits that take longer than a second, on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelmean import _progress
from kernelmean.coefficients import Progress


class _Bar(Progress):
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def advance(self, centers: int, limit: int) -> None:
        self._bar.total = limit
        self._bar.update(centers - self._bar.n)


@contextmanager
def progress_bar(show: bool) -> Iterator[Progress]:
    """Centres done of at most so many, on stderr; nothing unless asked for."""
    if not (show or _progress.wanted()):
        yield Progress()
        return
    with _progress.bar("centres") as bar:
        yield _Bar(bar)

"""A progress bar for fits that take longer than a second, on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    if not show:
        yield Progress()
        return
    from tqdm import tqdm

    with tqdm(desc="centres", unit="", delay=1.0, leave=False) as bar:
        yield _Bar(bar)

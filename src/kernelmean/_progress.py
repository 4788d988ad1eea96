"""Progress bars on stderr, with the remaining time, only where they are asked for.

They appear for work that takes longer than a second, and their clocks go on where no step ends for
long. ``with shown():`` asks, for everything that runs inside it, in this thread; ``with whole():``
is a clock from the start of a task to its end, above the bars of its parts. Where progress is told
is also where work can end: Ctrl-C is lost where it meets compiled code that ignores errors, and is
remembered until then.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

DELAY_SECONDS = 1.0  # shorter work needs no bar
TICK_SECONDS = 0.25  # between two looks at the clock
PHASE = "{desc} {elapsed}"
SHARE = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"

_stopping = threading.Event()
_wanted: ContextVar[bool] = ContextVar("progress bars wanted", default=False)


@contextmanager
def shown(show: bool = True) -> Iterator[None]:
    """Bars, or none, for the work inside."""
    before = _wanted.set(show)
    try:
        yield
    finally:
        _wanted.reset(before)


@contextmanager
def asked(verbose: Any) -> Iterator[None]:
    """Bars for the work inside where they are asked for here; else as it was."""
    if not verbose or wanted():
        yield
        return
    with shown(), whole("fitting"):
        yield


@contextmanager
def whole(name: str) -> Iterator[None]:
    """The time that a task takes, from its start to its end, whatever its parts tell."""
    if not wanted():
        yield
        return
    with bar(name, total=1.0, bar_format=PHASE):
        yield


@contextmanager
def stoppable() -> Iterator[None]:
    """Ctrl-C ends the work inside at once, or where it next tells its progress.

    It is for the main thread of a program.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _stopping.clear()
    before = signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _stopping.clear()


def _stop(*_: Any) -> None:
    _stopping.set()
    raise KeyboardInterrupt


def _go_on() -> None:
    if _stopping.is_set():
        raise KeyboardInterrupt


def wanted() -> bool:
    """Whether bars were asked for."""
    return _wanted.get()


def tell(text: str) -> None:
    """A line on stderr for who watches, above the bars."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)


def track(items: Iterable[T], name: str, total: int) -> Iterator[T]:
    """The items, one step of the bar each."""
    if not wanted():
        for item in items:
            yield item
            _go_on()
        return
    with bar(name, total=total) as steps:
        for item in items:
            yield item
            _go_on()
            steps.update()


class Share:
    """How much of some work is done, from 0 to 1."""

    def __init__(self, steps: Any = None) -> None:
        self._steps = steps

    def reach(self, done: float) -> None:
        """Move the bar to this share."""
        _go_on()
        if self._steps is not None:
            self._steps.update(max(done - self._steps.n, 0.0))


@contextmanager
def share(name: str) -> Iterator[Share]:
    """A bar for work that knows its share but not its number of steps."""
    if not wanted():
        yield Share()
        return
    with bar(name, total=1.0, bar_format=SHARE) as steps:
        yield Share(steps)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """The time that goes by, for work that does not know how much of it is left."""
    with whole(name):
        yield
    if wanted():
        _go_on()


@contextmanager
def bar(name: str, **options: Any) -> Iterator[Any]:
    """A bar that appears after a second, whose clock goes on, and that leaves nothing behind."""
    from tqdm import tqdm

    ended = threading.Event()
    with tqdm(desc=name, unit="", delay=DELAY_SECONDS, leave=False, **options) as steps:
        ticking = threading.Thread(target=_tick, args=(steps, ended), daemon=True)
        ticking.start()
        try:
            yield steps
        finally:
            ended.set()
            ticking.join()


def _tick(steps: Any, ended: threading.Event) -> None:
    """Show the time, from the moment on at which a bar would appear."""
    wait = DELAY_SECONDS
    while not ended.wait(wait):
        steps.refresh()
        wait = TICK_SECONDS

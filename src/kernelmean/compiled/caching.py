"""Where compiled loops are kept, and what is said where they cannot be, or where compiling takes
long.

Numba keeps them in NUMBA_CACHE_DIR, beside the sources, or in the home directory: in the first of
these that can be written. Those before it are read all the same, so that loops which an image or an
administrator brings are found by whoever cannot write there.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import IO

from kernelmean import _progress

NOTICE_SECONDS = 2.0  # of compiling, after which somebody who watches is told
# Packages whose lines a warning does not point to; in a thread there are no others.
OWN = ("kernelmean", "numba", "concurrent", "threading")

_seconds = 0.0  # that this process has spent on loops that are kept
_told = False  # whether the notice was given
_warned = False
_turns: Path | None = None  # where processes that share out loops say what they compile
_held: dict[str, IO[bytes]] = {}  # the loops that this one compiles, and their locks


class CacheWarning(UserWarning):
    """Compiled loops cannot be kept where they should be, so that they are compiled again.

    It is given once in a process, and only where something was compiled. The text names the folder
    and says what to set; results are the same.

    See Also
    --------
    FitWarning : What a fit says of its own error.

    Examples
    --------
    >>> import warnings, kernelmean as km
    >>> warnings.simplefilter("ignore", km.CacheWarning)
    """


def places(file: str) -> list[str]:
    """The folders for loops of a source file, in the order in which Numba tries them."""
    from numba.core.caching import _CacheLocator  # slow to import
    from numba.misc.appdirs import AppDirs

    below = _CacheLocator.get_suitable_cache_subpath(file)
    asked = [os.path.join(folder, below)] if (folder := asked_for()) else []
    beside = os.path.join(os.path.dirname(file), "__pycache__")
    at_home = os.path.join(AppDirs(appname="numba", appauthor=False).user_cache_dir, below)
    return [*asked, beside, at_home]


def asked_for() -> str:
    """NUMBA_CACHE_DIR, as Numba has read it; empty where it is not set."""
    from numba import config

    folder: str = config.CACHE_DIR  # type: ignore[attr-defined]
    return folder


def readable(file: str, written: str | None) -> list[str]:
    """The folders that are looked through: up to the one that is written to, or all if none is."""
    known = places(file)
    if written is None:
        return known
    return [*known[: known.index(written)], written] if written in known else [written]


def kept(seconds: float, folder: str) -> None:
    """Tell who watches that it will not take so long again; warn where another folder was asked
    for.
    """
    global _seconds, _told  # noqa: PLW0603
    _seconds += seconds
    if _seconds > NOTICE_SECONDS and not _told and _progress.wanted():
        _told = True
        _progress.tell("kernelmean: compiling once, cached afterwards")
    if (asked := asked_for()) and not Path(folder).is_relative_to(asked):
        warn(
            f"NUMBA_CACHE_DIR={asked} cannot be written, and compiled loops are kept in "
            f"{folder} instead; set it to a folder that can be written."
        )


def not_kept(places: list[str], why: OSError | None = None) -> None:
    """Warn that every process will compile anew."""
    reason = "" if why is None else f" ({why.strerror or why})"
    where = " or ".join(places)
    warn(
        f"compiled loops cannot be kept in {where}{reason}, and every process compiles them anew: "
        "set NUMBA_CACHE_DIR to a folder that can be written."
    )


def warn(text: str) -> None:
    """A CacheWarning, the first time in this process, for the line that called the library."""
    global _warned  # noqa: PLW0603
    if _warned:
        return
    _warned = True
    warnings.warn(text, CacheWarning, stacklevel=_depth())


def _depth() -> int:
    """How far up the first line is that belongs neither to us nor to the compiler."""
    frame: FrameType | None = sys._getframe(2)
    depth = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OWN:
        frame = frame.f_back
        depth += 1
    return depth


def share_out(folder: Path) -> None:
    """From now on, wait for loops that another process with the same folder compiles."""
    global _turns  # noqa: PLW0603
    _turns = folder


def begin(name: str) -> bool:
    """Take the turn to compile a loop, where loops are shared out; whether to look for it again,
    since another process may have had the turn.
    """
    if _turns is None or name in _held:
        return False
    import fcntl

    _held[name] = open(_turns / name, "wb")
    fcntl.flock(_held[name], fcntl.LOCK_EX)
    return True


def end(name: str) -> None:
    """Give the turn back: the loop is on disk."""
    if (lock := _held.pop(name, None)) is not None:
        lock.close()

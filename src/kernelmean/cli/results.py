"""What a command says: an aligned table or JSON on stdout; progress and warnings on stderr."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TextIO

from kernelmean import _progress

Facts = Mapping[str, Any]  # names, in the words of JSON, and values of any kind

_arguments: ContextVar[Sequence[str]] = ContextVar("arguments", default=())


@contextmanager
def called(arguments: Sequence[str]) -> Iterator[None]:
    """Remember how the program was called, for the report."""
    before = _arguments.set(arguments)
    try:
        yield
    finally:
        _arguments.reset(before)


def command_line() -> str:
    """The command that runs, to be typed again."""
    return shlex.join(["kernelmean", *_arguments.get()])


def on_terminal(quiet: bool) -> bool:
    """Whether progress is to be seen."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def working(quiet: bool) -> Iterator[None]:
    """Progress bars for the work inside, where somebody sees them, under a clock of all of it."""
    with _progress.shown(on_terminal(quiet)), _progress.whole("kernelmean"):
        yield


@contextmanager
def watching(quiet: bool) -> Iterator[None]:
    """The same for work that may wait for ever, and has a bar of its own."""
    with _progress.shown(on_terminal(quiet)):
        yield


def show(facts: Facts, as_json: bool, *, aside: bool = False, **tables: Any) -> None:
    """Facts as lines of name and value, then each table; one JSON object of the same names for
    machines. Aside, on stderr, where stdout holds rows.
    """
    file = sys.stderr if aside else None
    if as_json:
        told = _plain({**facts, **tables})
        say(json.dumps(told, indent=2, allow_nan=False, ensure_ascii=False), file)
        return
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        say(f"{name.replace('_', ' '):<{width}}  {_text(value)}".rstrip(), file)
    for rows in tables.values():
        say("\n" * bool(facts) + aligned(rows), file)


def show_line(facts: Facts) -> None:
    """One JSON object in one line, at once: for facts that come one after the other."""
    say(json.dumps(_plain(facts), allow_nan=False, ensure_ascii=False))
    sys.stdout.flush()


def say(text: str, file: TextIO | None = None) -> None:
    """Print, whatever bytes the names of files are made of."""
    from kernelmean.files import readable

    print(readable(text), file=file)


def aligned(rows: Sequence[Facts]) -> str:
    """A table: numbers to the right, words to the left."""
    import numpy as np

    names = list(rows[0])
    cells = [
        [name.replace("_", " ") for name in names],
        *([_text(row[name]) for name in names] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [isinstance(rows[0][name], int | float | np.generic) for name in names]
    lines = (
        "  ".join(
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, right, strict=True)
        )
        for line in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def write_text(path: Path, text: str) -> None:
    """A text file, whole or absent."""
    from kernelmean.files import atomic_write

    with atomic_write(path) as beside:
        beside.write_text(text, encoding="utf-8")


def written(path: Path | None, text: str) -> dict[str, str]:
    """Write a page where one is wanted; the fact that names it."""
    if path is None:
        return {}
    write_text(path, text)
    return {"report": str(path)}


def note(text: object) -> None:
    """One line on stderr."""
    from kernelmean.files.standard_input import titled

    say(f"kernelmean: {titled(said(text))}", sys.stderr)


def said(error: object) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror[:1].lower()}{error.strerror[1:]}."
    if isinstance(error, MemoryError):
        return f"out of memory{f': {error}' if str(error) else ''}."
    return " ".join(str(error).split()) or type(error).__name__


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)


def _plain(value: Any) -> Any:
    """What JSON knows; numbers that are not finite become null."""
    import numpy as np

    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | bool | None) else str(value)

"""The compiled loops that are on disk: what they are of, and which nobody will use again."""

from __future__ import annotations

import ast
import contextlib
import pickle
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numba
from numba.core.registry import cpu_target

from kernelmean.compiled import caching, compiling

NAME = re.compile(r"(?P<loop>.+)_[0-9a-f]{16}-\d+\.py(?P<python>\w+)-[0-9a-f]{20}\.nbi")
KERNEL = re.compile(r"\blog_(\w+)")  # a formula, in what a loop was made of
PAIRS = "one"  # the formula of no kernel: distances alone
MOST_OWN = 17  # of a dimension in what a loop was made of, which stands for all beyond it


class State(StrEnum):
    """Who can use a loop."""

    here = "here"  # this version of the source, on this processor
    elsewhere = "elsewhere"  # the same version on another processor, or under another Python
    stale = "stale"  # nobody: the source has changed, or Numba


@dataclass(frozen=True)
class StoredLoop:
    """One loop on disk."""

    files: tuple[Path, ...]  # the index first
    name: str
    state: State
    kernel: str | None  # None where it serves every kernel, or that cannot be told
    dimension: int | None

    @property
    def size(self) -> int:
        """Bytes on disk."""
        found = 0
        for file in self.files:
            with contextlib.suppress(FileNotFoundError):
                found += file.stat().st_size
        return found


def folders() -> list[Path]:
    """Where loops are looked for; those that exist."""
    found = [Path(place) for file in _sources() for place in caching.readable(*file)]
    return [place for place in dict.fromkeys(found) if place.is_dir()]


def written() -> list[Path]:
    """Where new loops are kept; nothing where no folder can be written, or not the one that was
    asked for.
    """
    places = [place for _, place in _sources()]
    asked = caching.asked_for()
    if any(place is None or (asked and not Path(place).is_relative_to(asked)) for place in places):
        return []
    return [Path(place) for place in places if place is not None]


def _sources() -> list[tuple[str, str | None]]:
    """A source file of each folder that makes loops, and the folder that these go to."""
    package = Path(compiling.__file__).parents[1]
    modules = [list((package / folder).glob("*.py")) for folder in compiling.COMPILED_FOLDERS]
    makers = [
        str(own[0])
        for own in modules
        if any(b"compiling import" in module.read_bytes() for module in own)
    ]
    return [(file, _writable(caching.places(file))) for file in makers]


def _writable(places: Iterable[str]) -> str | None:
    """The first folder that can be written, or made: as Numba finds it, but nothing is made."""
    for place in places:
        there = next(path for path in (Path(place), *Path(place).parents) if path.exists())
        with contextlib.suppress(OSError):
            tempfile.TemporaryFile(dir=there).close()
            return place
    return None


def loops() -> list[StoredLoop]:
    """All that are on disk, by name."""
    indices = [index for folder in folders() for index in folder.glob("*.nbi")]
    return sorted(filter(None, map(_read, indices)), key=lambda loop: (loop.name, loop.files))


def remove_stale() -> list[StoredLoop]:
    """Remove what nobody will use again; what was removed."""
    removed = []
    for loop in loops():
        if loop.state is State.stale:
            with contextlib.suppress(OSError):  # somebody else's, or gone
                for file in loop.files:
                    file.unlink()
                removed.append(loop)
    return removed


def _read(index: Path) -> StoredLoop | None:
    """A loop by its index; None for what is not ours."""
    named = NAME.fullmatch(index.name)
    if named is None:
        return None
    files = (index, *sorted(index.parent.glob(f"{index.stem}.*.nbc")))
    state, made_of = _facts(index, named["python"])
    return StoredLoop(files, named["loop"].replace(".locals", ""), state, *_kind(made_of))


def _facts(index: Path, python: str) -> tuple[State, str]:
    """Who can use a loop, and what it was made of, as text."""
    try:
        with index.open("rb") as file:
            if pickle.load(file) != numba.__version__:  # noqa: S301
                return State.stale, ""
            (_, source, made_of), overloads = pickle.load(file)  # noqa: S301
    except Exception:  # of a version that wrote something else, or damaged
        return State.stale, ""
    if source != compiling._source_hash():
        return State.stale, made_of
    here = cpu_target.target_context.codegen().magic_tuple()
    ours = python.startswith(f"{sys.version_info[0]}{sys.version_info[1]}")
    fits = ours and any(key[1] == here for key in overloads)
    return (State.here if fits else State.elsewhere), made_of


def _kind(made_of: str) -> tuple[str | None, int | None]:
    """Kernel and dimension, as far as they can be told from what a loop was made of."""
    constants: tuple[Any, ...] = ()
    with contextlib.suppress(ValueError, SyntaxError):
        constants = ast.literal_eval(made_of)[2:]  # after the name and the arithmetic
    named = KERNEL.search(" ".join(part for part in constants if isinstance(part, str)))
    number = constants[-1] if constants else None
    dimension = number if type(number) is int and 1 <= number <= MOST_OWN else None
    return (None if named is None or named[1] == PAIRS else named[1]), dimension

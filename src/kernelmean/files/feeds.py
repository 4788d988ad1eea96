"""Bytes as they arrive: from a file that grows, from a pipe, or from what is there already."""

from __future__ import annotations

import io
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

READ_BYTES = 1 << 20  # at a time: larger batches are no faster, and keep those who wait for them


class Patience(NamedTuple):
    """How to wait for more: with looks this many seconds apart, until somebody says stop."""

    poll: float
    stop: Callable[[], bool] | None

    def ends(self) -> bool:
        """Whether the next look for more is the last one.

        Asked before the look, so that what had arrived when somebody said stop is read.
        """
        return self.stop is not None and self.stop()


class Feed(Protocol):
    """Bytes that arrive."""

    @property
    def stopped(self) -> bool:
        """Whether it was ended by somebody, so that more might have come."""

    def read(self) -> bytes:
        """Those that are there, or else the next ones to come; none at the end."""


class Whole:
    """Bytes that are all there."""

    stopped = False

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def read(self) -> bytes:
        return self._read(READ_BYTES)


class Pipe:
    """Bytes as they come out of a pipe: many where it is fast, a line where it is slow."""

    def __init__(self, file: int, patience: Patience) -> None:
        self.stopped = False
        self._file = file
        self._patience = patience
        self._ended = False

    def read(self) -> bytes:
        while not (self._ended or self.stopped):
            last = self._patience.ends()
            if self._ready(0.0 if last else self._patience.poll):
                return self._drained()
            self.stopped = last
        return b""

    def _drained(self) -> bytes:
        """All that is there: a pipe hands out no more than 64 KiB at once."""
        parts = bytearray()
        while not self._ended and len(parts) < READ_BYTES and self._ready(0.0):
            data = os.read(self._file, READ_BYTES - len(parts))
            self._ended = not data
            parts += data
        return bytes(parts)

    def _ready(self, seconds: float) -> bool:
        return bool(select.select([self._file], [], [], seconds)[0])


class Growing:
    """Bytes of a file from its beginning, and those that are appended later."""

    def __init__(self, path: Path, file: int, patience: Patience) -> None:
        self.stopped = False
        self._path = path
        self._file = file
        self._patience = patience
        self._position = 0

    def read(self) -> bytes:
        while not self.stopped:
            last = self._patience.ends()
            data = os.read(self._file, READ_BYTES)
            if data:
                self._position += len(data)
                return data
            self._refuse_another()
            self.stopped = last
            if not last:
                time.sleep(self._patience.poll)
        return b""

    def _refuse_another(self) -> None:
        """A ValueError where what follows does not belong to the file that was begun."""
        mine = os.fstat(self._file)
        if mine.st_size < self._position:
            raise ValueError(
                f"{self._path} has become shorter while it was followed, from {self._position} to "
                f"{mine.st_size} bytes: it was truncated or is written anew."
            )
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return  # moved away: what takes its place is noticed when it comes
        if not os.path.samestat(mine, there):
            raise ValueError(
                f"{self._path} was replaced by another file while it was followed, as by a "
                "rotation of logs."
            )


@contextmanager
def opened(path: Path, patience: Patience, follow: bool) -> Iterator[Feed]:
    """The bytes of a file or of a named pipe."""
    file = os.open(path, os.O_RDONLY)
    try:
        if not path.is_file():
            yield Pipe(file, patience)
        elif follow:
            yield Growing(path, file, patience)
        else:
            yield Whole(partial(os.read, file))
    finally:
        os.close(file)


def standard_input(patience: Patience) -> Feed:
    """Past Python's buffer, which waits to be full; or what a program has put in its place."""
    if sys.stdin is None:
        raise ValueError("standard input is closed, so no rows can arrive on it.")
    try:
        return Pipe(sys.stdin.fileno(), patience)
    except io.UnsupportedOperation:
        return Whole(sys.stdin.buffer.read)

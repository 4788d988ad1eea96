"""Text that arrives piece by piece: its whole rows as numbers, and the line of what is wrong."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernelmean._types import Points
from kernelmean.files import cells, faults, text
from kernelmean.files.faults import Faults
from kernelmean.files.feeds import Feed
from kernelmean.files.text import TextReader

LINE_END = re.compile(r"[\r\n]")


class Piece(NamedTuple):
    """Some rows, and where each of them is."""

    numbers: Points  # (m, columns asked for), NaN where a value is missing
    place: Callable[[int], str]  # the file and the line of the row of this number, from 0


class Lines:
    """Rows of text by the rules of ``TextReader``, of bytes that are read once.

    A row counts when its line has ended. What is left at the end and is no row is ``unfinished``.
    """

    def __init__(self, path: Path, feed: Feed) -> None:
        self.unfinished: str | None = None
        self._path = path
        self._feed = feed
        self._held = b""  # what has arrived and is not used
        self._line = 1  # the number of the line that it begins with

    def begin(self) -> TextReader | None:
        """The layout, once the first line is there; None where reading was stopped before."""
        while True:
            data = self._feed.read()
            self._held += data
            final = not data and not self._feed.stopped
            # After a CR that is the last byte, an LF may come that belongs to it.
            known = self._held if final else self._held.removesuffix(b"\r")
            layout = text.layout(known, self._path, final)
            if layout is not None:
                self._use(layout.offset)
                return layout
            if final or len(self._held) > faults.BLOCK_BYTES:
                raise text.without_rows(self._held, self._path, final)
            if not data:
                self._leave()
                return None

    def pieces(self, layout: TextReader, columns: Sequence[str]) -> Iterator[Piece]:
        """The rows after the beginning, as soon as they arrive.

        Those before a fault come out before the ValueError.
        """
        known = {name: j for j, name in enumerate(layout.names)}
        table = _Table(self._path, layout, [known[name] for name in columns])
        first = True
        more = True
        while more:
            rows = self._use(cells.whole(self._held, table.mark))
            if rows:
                # Whole files are read so, too: one such mark before the first row means nothing.
                yield from self._read(rows.removeprefix(cells.BOM) if first else rows, table)
                first = False
            if len(self._held) > faults.BLOCK_BYTES:
                raise table.faults(self._line).long()
            data = self._feed.read()
            self._held += data
            more = bool(data)
        yield from self._last(table)

    def _use(self, count: int) -> bytes:
        """The first so many bytes, and on to the line after them."""
        used = self._held[:count]
        self._held = self._held[count:]
        self._line += _ends(used)
        return used

    def _read(self, rows: bytes, table: _Table) -> Iterator[Piece]:
        """The rows that have just been used, up to a fault."""
        line = self._line - _ends(rows)
        found = table.numbers(rows, line)
        fault = None
        if isinstance(found, ValueError):
            rows, fault = table.before_fault(rows, line, found)
            found = table.numbers(rows, line)
            assert not isinstance(found, ValueError)
        if len(found):
            yield Piece(found, lambda row: table.place(table.line_of(rows, line, row)))
        if fault is not None:
            raise fault

    def _last(self, table: _Table) -> Iterator[Piece]:
        """A last line without an end: a row where nothing more can come and nothing is lacking."""
        ended = self._held + b"\n"
        if not ended.strip(b"\r\n"):
            return
        whole = cells.whole(ended, table.mark) == len(ended)
        if not whole and not self._feed.stopped and _ends(ended) > 1:
            raise table.faults(self._line).unclosed()  # a quote has swallowed lines
        closed = ended.endswith(b"\r\n")  # a CR ends a line, too, where no LF can follow
        if whole and (closed or (not self._feed.stopped and table.is_row(ended))):
            self._held = ended
            yield from self._read(self._use(len(ended)), table)
        else:
            self._leave()

    def _leave(self) -> None:
        """Keep the beginning of what is left, to be told, unless it is blank."""
        said = self._held.decode("utf-8", "replace").strip("\ufeff\r\n")
        if said.strip():
            self.unfinished = LINE_END.split(said, 1)[0][: faults.SHOWN_CHARACTERS]


class _Table(NamedTuple):
    """How rows of text become numbers."""

    path: Path
    layout: TextReader
    columns: list[int]

    @property
    def mark(self) -> bytes:
        """What stands between fields."""
        return self.layout.delimiter.encode()

    def place(self, line: int) -> str:
        return f"{self.path}, line {line}"

    def faults(self, line: int) -> Faults:
        return Faults(self.place(line), self.layout.names, self.layout.delimiter)

    def line_of(self, rows: bytes, line: int, row: int) -> int:
        """The line of a row, among rows that begin at a line."""
        return line + _ends(rows[: cells.starts(rows, self.mark)[row]])

    def numbers(self, rows: bytes, line: int) -> Points | ValueError:
        """What whole rows hold, or what is wrong with one of them, as if it were the first."""
        # After an empty line, which is no row, a mark of byte order is what it is here: a fault.
        stream = io.BytesIO(b"\n" + rows if rows.startswith(cells.BOM) else rows)
        try:
            parts = [found for found, _ in text.rows(stream, self.faults(line), self.columns, ())]
        except ValueError as error:
            return error
        return np.concatenate(parts)

    def before_fault(self, rows: bytes, line: int, fault: ValueError) -> tuple[bytes, ValueError]:
        """The rows before the first one that cannot be read, and what is wrong with that."""
        starts = [*cells.starts(rows, self.mark), len(rows)]
        good = 0  # rows before this one can be read
        bad = len(starts) - 1  # rows before this one cannot
        while bad - good > 1:
            middle = (good + bad) // 2
            if isinstance(self.numbers(rows[starts[good] : starts[middle]], line), ValueError):
                bad = middle
            else:
                good = middle
        odd = self.numbers(rows[starts[good] : starts[bad]], self.line_of(rows, line, good))
        return rows[: starts[good]], odd if isinstance(odd, ValueError) else fault

    def is_row(self, line: bytes) -> bool:
        """Whether a last line is one; with too many fields it was not cut off, but is wrong."""
        found = cells.record(line, 0, self.mark, final=True)
        if found is not None and len(found[0]) > len(self.layout.names):
            return True
        numbers = self.numbers(line, 0)
        return not isinstance(numbers, ValueError) and not np.isnan(numbers).any()


def _ends(block: bytes) -> int:
    """How many lines end in a block."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")

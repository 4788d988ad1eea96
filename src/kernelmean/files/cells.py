"""Rows of text as numbers and labels, by the standard library and NumPy.

This serves where pyarrow is not installed. What is a field, a number or a missing value follows
pyarrow's CSV reader to the letter; tests compare the two.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from kernelmean._types import Points, Vector
from kernelmean.files import faults
from kernelmean.files.faults import Faults
from kernelmean.files.reader import Labels

MISSING = frozenset(  # what pyarrow takes for a missing value
    b"|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN"
    b"|N/A|NA|NULL|NaN|n/a|nan|null".split(b"|")
)
NUMBER = re.compile(
    rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?P<inf>inf(?:inity)?)|(?P<nan>nan(?:\([a-z0-9_]*\))?))",
    re.IGNORECASE,
)
PLAIN = b"0123456789+-.eE"  # of these alone, float() takes what pyarrow takes
BOM = b"\xef\xbb\xbf"
# Blocks read where pyarrow reads one: the cells of a block take ten times its memory, or more.
BLOCKS_PER_READ = 4


class Stream(Protocol):
    """Bytes, in order."""

    def read(self, size: int, /) -> bytes:
        """At most so many; none at the end."""


def blocks(
    stream: Stream, fault: Faults, columns: Sequence[int], labels: Sequence[int]
) -> Iterator[tuple[Points, tuple[Labels, ...]]]:
    """The numbers of these columns and the values of those, block by block.

    A row is no longer than ``faults.BLOCK_BYTES``.
    """
    rest = b""
    size = max(1, faults.BLOCK_BYTES // BLOCKS_PER_READ)
    start = True
    while data := stream.read(size):
        block = rest + (data.removeprefix(BOM) if start else data)
        values, used = _parsed(block, fault, columns, labels, final=False)
        rest = block[used:]
        start = False
        if len(rest) > faults.BLOCK_BYTES:
            raise fault.long()
        yield values
    if rest:
        yield _parsed(rest, fault, columns, labels, final=True)[0]


def record(
    block: bytes, start: int, delimiter: bytes, final: bool
) -> tuple[list[bytes], int] | None:
    """The fields of the row at ``start`` and where the next one begins.

    None where the block ends before the row does.
    """
    row = []
    match = _field(delimiter).match(block, start)
    while match is not None:
        quoted, plain, end = match.groups()
        row.append(plain if quoted is None else quoted.replace(b'""', b'"') + plain)
        start = match.end()
        if end != delimiter:
            return row, start
        match = _field(delimiter).match(block, start)
    if not final:
        return None
    rest = block[start:]
    return [*row, rest[1:].replace(b'""', b'"') if rest[:1] == b'"' else rest], len(block)


def whole(block: bytes, delimiter: bytes) -> int:
    """Where the last row ends that has its end in the block, which begins with a row.

    A CR that is the last byte is left for later, since an LF may follow that belongs to it.
    """
    stop = len(block) - block.endswith(b"\r")
    if b'"' not in block:
        return max(block.rfind(b"\n", 0, stop), block.rfind(b"\r", 0, stop)) + 1
    used = 0
    while match := _line(delimiter).match(block, used, stop):
        used = match.end()
    return used


def starts(block: bytes, delimiter: bytes) -> list[int]:
    """Where the rows begin in a block of whole ones; empty lines are no rows."""
    found = []
    used = 0
    while match := _line(delimiter).match(block, used):
        if block[used : match.end()].strip(b"\r\n"):
            found.append(used)
        used = match.end()
    return found


@lru_cache(maxsize=8)
def _line(delimiter: bytes) -> re.Pattern[bytes]:
    """The fields of a row and what ends it, by the same rules as a field alone."""
    mark = re.escape(delimiter)
    field = rb'(?:"(?:[^"]++|"")*+"|(?!"))[^%s\r\n]*+' % mark
    return re.compile(rb"(?:%s%s)*+%s(?:\r\n?|\n)" % (field, mark, field))


@lru_cache(maxsize=8)
def _field(delimiter: bytes) -> re.Pattern[bytes]:
    """A field and what ends it.

    Quotes count at its beginning, twice where they are meant, and text may follow them.
    """
    mark = re.escape(delimiter)
    return re.compile(rb'(?:"((?:[^"]++|"")*+)"|(?!"))([^%s\r\n]*+)(%s|\r\n?|\n)' % (mark, mark))


def _parsed(
    block: bytes, fault: Faults, columns: Sequence[int], labels: Sequence[int], final: bool
) -> tuple[tuple[Points, tuple[Labels, ...]], int]:
    """What the whole rows of a block hold, and where they end."""
    delimiter = fault.delimiter.encode()
    used = len(block) if final else max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
    if b'"' not in block:
        quick = _all_numbers(block[:used], delimiter, len(fault.names)) if not labels else None
        if quick is not None:
            return (quick[:, list(columns)], ()), used
        cells = _split(block[:used], delimiter, fault)
    else:
        cells, used = _unquoted(block, delimiter, fault, final)
    width = len(fault.names)
    numbers = np.empty((len(cells) // width, len(columns)))
    for place, column in enumerate(columns):
        numbers[:, place] = _numbers(cells[column::width], column, fault)
    return (numbers, tuple(_labels(cells[j::width], j, fault) for j in labels)), used


def _all_numbers(block: bytes, delimiter: bytes, width: int) -> Points | None:
    """All columns at once, by NumPy, where nothing but plain numbers is there.

    None where something is to be looked at.
    """
    if not block.strip(b"\r\n") or block.translate(None, PLAIN + delimiter + b"\r\n"):
        return None
    try:
        values: Points = np.loadtxt(
            io.BytesIO(block),
            delimiter=delimiter.decode(),
            comments=None,
            ndmin=2,
            encoding="latin-1",
        )
    except ValueError:
        return None
    return values if values.shape[1] == width else None


def _split(block: bytes, delimiter: bytes, fault: Faults) -> list[bytes]:
    """The fields of rows without quotes, one row after the other; empty lines are no rows."""
    lines = [line for line in block.replace(b"\r", b"\n").split(b"\n") if line]
    odd = next((line for line in lines if line.count(delimiter) != len(fault.names) - 1), None)
    if odd is not None:
        raise fault.ragged(odd.count(delimiter) + 1, odd.decode("utf-8", "replace"))
    return delimiter.join(lines).split(delimiter) if lines else []


def _unquoted(
    block: bytes, delimiter: bytes, fault: Faults, final: bool
) -> tuple[list[bytes], int]:
    """The fields of rows with quotes, and where the last whole row ends."""
    cells: list[bytes] = []
    used = 0
    while used < len(block) and (found := record(block, used, delimiter, final)) is not None:
        row, end = found
        empty = block[used:end].strip(b"\r\n") == b""
        if not empty and len(row) != len(fault.names):
            raise fault.ragged(len(row), block[used:end].decode("utf-8", "replace"))
        cells += [] if empty else row
        used = end
    return cells, used


def _numbers(cells: list[bytes], column: int, fault: Faults) -> Vector:
    """Float64 with NaN where a value is missing."""
    if not b"".join(cells).translate(None, PLAIN):
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:  # an empty one, or no number after all
            pass
    return np.fromiter((_number(cell, column, fault) for cell in cells), np.float64, len(cells))


def _number(cell: bytes, column: int, fault: Faults) -> float:
    if cell in MISSING:
        return np.nan
    trimmed = cell.strip(b" \t")
    match = NUMBER.fullmatch(trimmed)
    if match is None:
        raise fault.number(column, trimmed.decode("utf-8", "replace"))
    return np.nan if match["nan"] else float(trimmed)


def _labels(cells: list[bytes], column: int, fault: Faults) -> Labels:
    """Text; None where it is missing."""
    values: np.ndarray[Any, Any] = np.empty(len(cells), dtype=object)
    try:
        values[:] = [None if cell in MISSING else cell.decode() for cell in cells]
    except UnicodeDecodeError:
        raise fault.text(column) from None
    return values

"""Csv and tsv, also compressed: rows of values, streamed.

They are read by pyarrow where it is installed, else by the standard library.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean._types import Points
from kernelmean.files import cells, faults
from kernelmean.files.faults import Faults, first_line
from kernelmean.files.optional_imports import has_arrow, need
from kernelmean.files.reader import Block, Labels

COMPRESSIONS = (".gz", ".bz2", ".zst")
ENDINGS = (".csv", ".tsv", ".txt")  # of text, also compressed
DELIMITERS = ",;\t|"
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:[.' ]\d{3})+),\d+")
# Columns that pyarrow is given: each takes kilobytes, though the file may have a byte for it.
MAX_PYARROW_COLUMNS = 4096
# Lines as pyarrow and the standard library cut them: nothing else ends a line.
LINE = re.compile(rb"[^\r\n]+")
WIDE = (b"\xff\xfe", b"\xfe\xff")  # UTF-16

Parsed = tuple[Points, tuple[Labels, ...]]


@dataclass(frozen=True, eq=False)
class TextReader:
    """Lines of values; a first line that holds anything but numbers is the header."""

    path: Path
    names: list[str]
    named: bool
    delimiter: str
    offset: int  # bytes before the first row
    aliases: Mapping[str, str] = field(default_factory=dict)
    extras: Sequence[str] = ()
    count: int | None = None

    def refused(self, columns: Sequence[str]) -> str | None:
        """Text says nothing of its types."""
        return None

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """Numbers are read as numbers, and labels as text, from the first row on.

        So nothing depends on what comes first.
        """
        fault = Faults(self.path, self.names, self.delimiter)
        size = max(1, self.path.stat().st_size)
        known = {name: j for j, name in enumerate(self.names)}
        places = [known[name] for name in columns]
        words = [known[name] for name in labels]
        with _damaged(self.path), self.path.open("rb") as raw:
            stream = decompressed(raw, self.path)
            stream.read(self.offset)
            for numbers, values in rows(stream, fault, places, words):
                yield Block(numbers, values, raw.tell() / size)


def rows(
    stream: cells.Stream, fault: Faults, columns: Sequence[int], labels: Sequence[int]
) -> Iterator[Parsed]:
    """The numbers of these columns and the values of those, of text that begins with a row."""
    parse = _by_arrow if len(fault.names) <= MAX_PYARROW_COLUMNS and has_arrow() else cells.blocks
    return _to_the_end(
        parse(_Closed(stream, fault.closing.encode()), fault, columns, labels), fault
    )


def read_text(path: Path) -> TextReader:
    """Delimiter and header from the first line that is not empty."""
    with _damaged(path), path.open("rb") as raw:
        head = decompressed(raw, path).read(faults.BLOCK_BYTES)
    final = len(head) < faults.BLOCK_BYTES
    found = layout(head, path, final)
    if found is None:
        raise without_rows(head, path, final)
    return found


def layout(head: bytes, path: Path, final: bool) -> TextReader | None:
    """The reader of text that begins so; None where its first line is not whole.

    ``final`` says that no more comes, which makes any line whole.
    """
    if head.startswith(WIDE):
        raise ValueError(f"{path} cannot be read: it is in UTF-16; save it as UTF-8.")
    start = _first_line(head)
    if start is None:
        return None
    tabs = (
        path.name.lower()
        .removesuffix(path.suffix.lower() if path.suffix.lower() in COMPRESSIONS else "")
        .endswith(".tsv")
    )
    first = _first_row(head, start, "\t" if tabs else DELIMITERS, final)
    if first is None:
        return None
    delimiter, row, end = first
    headed = not all(map(_is_value, row))
    names = [cell.strip() for cell in row] if headed else list(map(str, range(len(row))))
    return TextReader(path, names, headed, delimiter, end if headed else start)


def decompressed(raw: Any, path: Path) -> Any:
    """The text of an open file, whatever it is packed in; nothing is unpacked before it is read."""
    kind = path.suffix.lower()
    if kind == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if kind == ".bz2":
        return bz2.BZ2File(raw)
    if kind == ".zst":
        arrow = need("pyarrow", f"reading {path}")
        return arrow.CompressedInputStream(arrow.PythonFile(raw, mode="r"), "zstd")
    return raw


def without_rows(head: bytes, path: Path, final: bool) -> ValueError:
    """What is wrong with text that begins so and has no layout."""
    if _first_line(head) is not None:
        return Faults(path, []).long()
    return ValueError(
        f"{path} is empty." if final else f"{path} begins with {len(head)} bytes of empty lines."
    )


def _first_line(head: bytes) -> int | None:
    """Where the first line begins that is not empty; a mark of byte order is none of its text."""
    start = len(cells.BOM) if head.startswith(cells.BOM) else 0
    for line in LINE.finditer(head, start):
        if line.group().decode("utf-8", "replace").strip():
            return line.start()
    return None


def _first_row(
    head: bytes, start: int, delimiters: str, final: bool
) -> tuple[str, list[str], int] | None:
    """The delimiter of the first line, its fields, and where they end; None where it does not end.

    It is the delimiter that makes a row of numbers, or else the most fields.
    """
    best: tuple[str, list[str], int] | None = None
    for delimiter in delimiters:
        found = cells.record(head, start, delimiter.encode(), final)
        if found is None:
            return None
        row = [cell.decode("utf-8", "replace") for cell in found[0]]
        if best is None or _likeness(row) > _likeness(best[1]):
            best = delimiter, row, found[1]
    return best


def _likeness(row: list[str]) -> tuple[bool, int]:
    return len(row) > 1 and all(map(_is_value, row)), len(row)


def _is_value(cell: str) -> bool:
    """Whether a cell of the first line could be a value rather than a name.

    It may be of a kind that is refused.
    """
    text = cell.strip()
    try:
        float(text)
    except ValueError:
        return (
            text.encode("utf-8", "replace") in cells.MISSING
            or DECIMAL_COMMA.fullmatch(text) is not None
        )
    return True


class _Closed:
    """The rows of a stream and one more, of missing values.

    Where that is not the last to come out, a quote was left open.
    """

    closed = False

    def __init__(self, stream: Any, end: bytes) -> None:
        self._stream = stream
        self._end = end

    def read(self, size: int) -> bytes:
        """At most so many bytes."""
        data: bytes = self._stream.read(size)
        if not data:
            data = self._end[:size]
            self._end = self._end[size:]
        return data

    def readable(self) -> bool:
        """pyarrow asks."""
        return True

    def close(self) -> None:
        """Whoever opened the stream closes it."""


def _to_the_end(parts: Iterator[Parsed], fault: Faults) -> Iterator[Parsed]:
    """The same without the row that was added."""
    held: Parsed | None = None
    for part in parts:
        if len(part[0]):
            if held is not None:
                yield held
            held = part
    numbers, labels = held if held is not None else (np.zeros((1, 1)), ())
    if not np.isnan(numbers[-1]).all() or any(values[-1] is not None for values in labels):
        raise fault.unclosed()
    yield numbers[:-1], tuple(values[:-1] for values in labels)


def _by_arrow(
    stream: Any, fault: Faults, columns: Sequence[int], labels: Sequence[int]
) -> Iterator[Parsed]:
    """The same as ``cells.blocks``, several times as fast."""
    arrow = need("pyarrow", f"reading {fault.path}")
    text = need("pyarrow.csv", f"reading {fault.path}")
    names = list(map(str, range(len(fault.names))))
    types = {names[j]: arrow.float64() for j in columns}
    types |= {names[j]: arrow.string() for j in labels}
    how = (
        text.ReadOptions(column_names=names, block_size=faults.BLOCK_BYTES),
        text.ParseOptions(delimiter=fault.delimiter, newlines_in_values=True),
        text.ConvertOptions(
            column_types=types, include_columns=list(types), strings_can_be_null=True
        ),
    )
    try:
        for batch in text.open_csv(arrow.PythonFile(stream, mode="r"), *how):
            numbers = np.empty((batch.num_rows, len(columns)))
            for place, j in enumerate(columns):
                numbers[:, place] = (
                    batch.column(names[j]).cast("float64").to_numpy(zero_copy_only=False)
                )
            yield (
                numbers,
                tuple(np.array(batch.column(names[j]).to_pylist(), dtype=object) for j in labels),
            )
    except arrow.ArrowInvalid as error:
        raise _translated(str(error), fault) from error


def _translated(said: str, fault: Faults) -> ValueError:
    """What pyarrow says, in the words that are used without it."""
    if found := re.search(
        r"CSV column #(\d+):.*conversion error to double: invalid value '(.*)'", said, re.DOTALL
    ):
        return fault.number(int(found[1]), found[2])
    if found := re.search(r"CSV column #(\d+):.*invalid UTF8 data", said):
        return fault.text(int(found[1]))
    if found := re.search(r"Expected \d+ columns, got (\d+): (.*)", said, re.DOTALL):
        return fault.ragged(int(found[1]), found[2])
    if "straddling object" in said:
        return fault.long()
    return ValueError(f"{fault.path} cannot be read: {said.splitlines()[0].rstrip('.')}.")


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    """What is wrong with a compressed file, under its name.

    What the system says of any file has the name already.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{path} cannot be read: {first_line(error)}.") from error

"""Tables with types that are streamed, through pyarrow: parquet, feather and arrow.

A parquet table may be a file or a folder.
"""

from __future__ import annotations

import mmap
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelmean._types import Vector
from kernelmean.files.faults import first_line
from kernelmean.files.optional_imports import need
from kernelmean.files.reader import Block, Labels

BLOCK_ROWS = 1 << 16  # of a parquet file, read at a time


class Piece(NamedTuple):
    """A pyarrow record batch, and the share of the file that it ends at."""

    batch: Any
    done: float


@dataclass(frozen=True, eq=False)
class ArrowReader(ABC):
    """Record batches of named columns; what a subclass knows is where they come from."""

    path: Path
    names: list[str]
    named: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)
    extras: Sequence[str] = ()
    count: int | None = None
    schema: Any = None  # of the columns; None where types are not known before reading

    def refused(self, columns: Sequence[str]) -> str | None:
        """The schema tells before anything is read."""
        if self.schema is None:
            return None
        wrong = (name for name in columns if not _is_number(self.schema.field(name).type))
        name = next(wrong, None)
        return (
            None if name is None else f"column {name!r} has the type {self.schema.field(name).type}"
        )

    def blocks(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Block]:
        """The record batches as numbers."""
        with _opening(self.path):
            for batch, done in self.pieces(columns, labels):
                numbers = np.empty((batch.num_rows, len(columns)))
                for j, name in enumerate(columns):
                    numbers[:, j] = _numbers(batch.column(name))
                yield Block(numbers, tuple(_labels(batch.column(name)) for name in labels), done)

    @abstractmethod
    def pieces(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Piece]:
        """Batches that hold these columns."""


class ParquetReader(ArrowReader):
    """Row groups, a part at a time; the files of a folder in the natural order of their names."""

    def pieces(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Piece]:
        """Only the columns asked for are decoded."""
        wanted = list(dict.fromkeys([*columns, *labels]))
        read = 0
        for path in parquet_files(self.path):
            for batch in _parquet_batches(path, wanted, labels):
                read += batch.num_rows
                yield Piece(batch, read / max(1, self.count or 0))
        if read != self.count:
            raise ValueError(
                f"{self.path} is damaged or incomplete: it should hold {self.count} rows and has "
                f"{read}."
            )


class IpcReader(ArrowReader):
    """Feather version 2, which is Arrow's file format, and Arrow's streams."""

    def pieces(self, columns: Sequence[str], labels: Sequence[str]) -> Iterator[Piece]:
        """Record batch by record batch, from a mapped file."""
        wanted = list(dict.fromkeys([*columns, *labels]))
        with _mapped(self.path) as source:
            _, batches = _ipc_batches(source, self.path)
            for batch, done in batches:
                part = batch.select(wanted)
                # Pyarrow follows offsets and indices that it has not looked at.
                part.validate(full=True)
                yield Piece(part, done)


def read_parquet(path: Path) -> ParquetReader:
    """Columns and rows are in the footer of each file."""
    parquet = need("pyarrow.parquet", f"reading {path}")
    files = parquet_files(path)
    footers = []
    schemas = []
    names = []
    for file in files:
        with _opening(file), _mapped(file) as source:
            footers.append(parquet.read_metadata(source))
            schemas.append(footers[-1].schema.to_arrow_schema())
            names.append(schemas[-1].names)
    odd = next((i for i, listed in enumerate(names) if listed != names[0]), None)
    if odd is not None:
        raise unlike(path, files[0], files[odd])
    return ParquetReader(
        path, names[0], count=sum(footer.num_rows for footer in footers), schema=schemas[0]
    )


def without_files(folder: Path) -> ValueError:
    """A folder that is no table."""
    return ValueError(f"{folder} is a folder without parquet files.")


def unlike(folder: Path, first: Path, other: Path) -> ValueError:
    """Two files of a folder that do not belong together."""
    return ValueError(
        f"the files of {folder} differ in their columns: {first.name} and {other.name}."
    )


def _parquet_batches(path: Path, columns: list[str], labels: Sequence[str]) -> Iterator[Any]:
    """Record batches, one row group after the other.

    pyarrow keeps what it has read of all the row groups it was asked for until the last one: so it
    is asked for one at a time. The file is mapped, and opened anew for each: the pages of a row
    group are the system's to take back, however large it is. Labels that the file keeps once for
    many rows are kept so here.
    """
    parquet = need("pyarrow.parquet", f"reading {path}")
    with _mapped(path) as source:
        footer = parquet.read_metadata(source)
    for group in range(footer.num_row_groups):
        with (
            _mapped(path) as source,
            parquet.ParquetFile(source, metadata=footer, read_dictionary=list(labels)) as file,
        ):
            yield from file.iter_batches(BLOCK_ROWS, row_groups=[group], columns=columns)


@contextmanager
def _mapped(path: Path) -> Iterator[Any]:
    """A file for pyarrow to read from, mapped here: it takes no name that is not UTF-8."""
    arrow = need("pyarrow", f"reading {path}")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise ValueError(f"{path} is empty.")
        with arrow.BufferReader(
            arrow.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        ) as source:
            yield source


def parquet_files(path: Path) -> list[Path]:
    """The file itself, or those of a folder: part.2 before part.10."""
    if not path.is_dir():
        return [path]
    found = files_within(path)
    if not found:
        raise without_files(path)
    return found


def files_within(folder: Path) -> list[Path]:
    """Those that are there, in the natural order of their names."""
    found = [file for pattern in ("*.parquet", "*.pq") for file in folder.rglob(pattern)]
    return sorted(
        found,
        key=lambda file: [
            (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _runs(file)
        ],
    )


def read_ipc(path: Path) -> IpcReader:
    """The schema is known before the rows."""
    with _opening(path), _mapped(path) as source:
        schema, _ = _ipc_batches(source, path)
        return IpcReader(path, schema.names, schema=schema)


def _ipc_batches(source: Any, path: Path) -> tuple[Any, Iterator[Piece]]:
    """The schema and the batches of an open file, or of a stream where it is one."""
    ipc = need("pyarrow.ipc", f"reading {path}")
    if source.read(6) == b"ARROW1":
        file = ipc.open_file(source)
        last = max(1, file.num_record_batches)
        return file.schema, (
            Piece(file.get_batch(i), (i + 1) / last) for i in range(file.num_record_batches)
        )
    source.seek(0)
    stream = ipc.open_stream(source)
    return stream.schema, (Piece(batch, source.tell() / max(1, source.size())) for batch in stream)


def _runs(file: Path) -> list[str]:
    """Runs of digits and of anything else."""
    return re.findall(r"\d+|\D+", str(file))


def _is_number(kind: Any) -> bool:
    types = need("pyarrow.types", "reading tables")
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _numbers(column: Any) -> Vector:
    """Float64 with NaN where a value is missing."""
    types = need("pyarrow.types", "reading tables")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_boolean(column.type):
        column = column.cast("int8")
    values: Vector = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    return values


def _labels(column: Any) -> Labels:
    """As they are; objects where they are text or some are missing."""
    if need("pyarrow.types", "reading tables").is_dictionary(column.type):
        if column.type.value_type == "string":  # each kept once, however many rows have it
            places = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
            words: Labels = np.array([*column.dictionary.to_pylist(), None], dtype=object)[places]
            return words
        column = column.dictionary_decode()
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)
    values: Labels = column.to_numpy(zero_copy_only=False)
    return values


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Errors of every kind, as damaged files make them, under the name of the file."""
    need("pyarrow", f"reading {path}")
    try:
        yield
    except Exception as error:
        if str(path) in str(error) or (isinstance(error, OSError) and error.errno is not None):
            raise
        raise ValueError(f"{path} cannot be read: {first_line(error)}.") from error

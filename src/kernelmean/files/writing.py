"""Tables out, row block by row block: parquet, feather or arrow, csv or tsv (also .gz), JSON lines.

Text is written without pyarrow too.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kernelmean.files.atomic import atomic_write
from kernelmean.files.optional_imports import has_arrow, need

Columns = Mapping[str, np.ndarray[Any, Any] | list[Any]]

ENDINGS = (
    ".parquet", ".feather", ".arrow", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".ndjson",
)  # fmt: skip
TEXTS = ("csv", "tsv", "jsonl")  # what standard output takes


class TableWriter(Protocol):
    """Takes blocks of columns; the first one says which columns there are."""

    def __call__(self, columns: Columns) -> None: ...


@contextmanager
def table_writer(path: str | os.PathLike[str]) -> Iterator[TableWriter]:
    """A function that appends rows to a file which appears, whole, at the end."""
    target = Path(path)
    begin = _beginning(table_format(target))
    if begin is _by_arrow:
        need("pyarrow", f"writing {target}")  # said before there is anything to write
    begun: list[TableWriter] = []
    with atomic_write(target) as beside, ExitStack() as stack:

        def append(columns: Columns) -> None:
            if not begun:  # opened here: pyarrow takes no name that is not UTF-8
                begun.append(begin(target, stack.enter_context(beside.open("wb")), stack))
            begun[0](columns)

        yield append
        if not begun:
            raise ValueError(f"nothing to write to {target}.")


@contextmanager
def standard_output(form: str) -> Iterator[TableWriter]:
    """A function that writes rows to standard output, as one of ``TEXTS``."""
    target = Path(f"standard output.{form}")
    begun: list[TableWriter] = []
    with ExitStack() as stack:

        def append(columns: Columns) -> None:
            if not begun:
                begun.append(_beginning(f".{form}")(target, _Unclosed(), stack))
            begun[0](columns)

        yield append


class _Unclosed(io.RawIOBase):
    """Standard output, which goes on after a table."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        sys.stdout.flush()  # what was printed before
        written: int = sys.stdout.buffer.write(data)
        return written


def _beginning(ending: str) -> Callable[[Path, Any, ExitStack], TableWriter]:
    """What writes tables of this ending."""
    if ending in (".jsonl", ".ndjson"):
        return _by_json
    return _by_text if ending.startswith((".csv", ".tsv")) else _by_arrow


def table_format(path: str | os.PathLike[str]) -> str:
    """The ending that says how a table is written; a ValueError where it is none of them."""
    name = Path(path).name.lower()
    found = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    if found is None:
        raise ValueError(
            f"{path} names no table format that can be written; the endings are "
            f"{', '.join(ENDINGS)}."
        )
    return found


def _by_text(target: Path, file: Any, stack: ExitStack) -> TableWriter:
    """Numbers alone by pyarrow, which is many times as fast, but puts all words in quotes."""
    ending = table_format(target)
    if ending.endswith(".gz"):
        file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", filename=""))
    begun: list[TableWriter] = []

    def write(columns: Columns) -> None:
        if not begun:
            wordless = all(np.asarray(values).dtype.kind in "biuf" for values in columns.values())
            begin = _by_arrow if wordless and has_arrow() else _by_csv
            begun.append(begin(target, file, stack))
        begun[0](columns)

    return write


def _by_csv(target: Path, file: Any, stack: ExitStack) -> TableWriter:
    """Numbers with all their digits, text in quotes where needed, nothing for a missing value."""
    text = stack.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    writer = csv.writer(text, delimiter=_delimiter(target), lineterminator="\n")
    headed: list[str] = []

    def write(columns: Columns) -> None:
        if not headed:
            headed.extend(columns)
            writer.writerow(headed)
        writer.writerows(zip(*map(_plain, columns.values()), strict=True))

    return write


def _by_json(target: Path, file: Any, stack: ExitStack) -> TableWriter:
    """An object a line; what JSON has no number for, NaN and infinity, is null."""
    text = stack.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))

    def write(columns: Columns) -> None:
        listed = [
            values.tolist() if isinstance(values, np.ndarray) else values
            for values in columns.values()
        ]
        for row in zip(*listed, strict=True):
            known = [None if isinstance(v, float) and not math.isfinite(v) else v for v in row]
            text.write(
                json.dumps(dict(zip(columns, known, strict=True)), ensure_ascii=False) + "\n"
            )

    return write


def _plain(values: np.ndarray[Any, Any] | list[Any]) -> list[Any]:
    """As pyarrow writes them: true and false in small letters."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    return [str(value).lower() if isinstance(value, bool | np.bool_) else value for value in listed]


def _by_arrow(target: Path, file: Any, stack: ExitStack) -> TableWriter:
    arrow = need("pyarrow", f"writing {target}")
    opened: list[Any] = []

    def write(columns: Columns) -> None:
        arrays = {name: _arrow_array(arrow, values) for name, values in columns.items()}
        batch = arrow.record_batch(arrays)
        if not opened:
            opened.append(
                stack.enter_context(_arrow_writer(arrow, target, file, batch.schema, stack))
            )
        opened[0].write_batch(batch) if hasattr(opened[0], "write_batch") else opened[0].write(
            batch
        )

    return write


def _arrow_array(arrow: Any, values: np.ndarray[Any, Any] | list[Any]) -> Any:
    """A column; words stay words in a block where all of them are missing."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        listed = values.tolist()
        if all(value is None or isinstance(value, str) for value in listed):
            return arrow.array(listed, type=arrow.string())
    return arrow.array(values)


def _arrow_writer(arrow: Any, target: Path, file: Any, schema: Any, stack: ExitStack) -> Any:
    ending = table_format(target)
    if ending == ".parquet":
        return need("pyarrow.parquet", f"writing {target}").ParquetWriter(file, schema)
    if ending in (".feather", ".arrow"):
        return need("pyarrow.ipc", f"writing {target}").new_file(file, schema)
    text = need("pyarrow.csv", f"writing {target}")
    head = io.StringIO()
    csv.writer(head, delimiter=_delimiter(target), lineterminator="\n").writerow(schema.names)
    file.write(head.getvalue().encode("utf-8"))
    options = text.WriteOptions(
        include_header=False, delimiter=_delimiter(target), quoting_style="needed"
    )
    return text.CSVWriter(file, schema, write_options=options)


def _delimiter(target: Path) -> str:
    return "\t" if table_format(target).startswith(".tsv") else ","

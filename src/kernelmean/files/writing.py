"""Tables out, row block by row block: parquet, feather or arrow, csv or tsv (also .gz)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kernelmean.files.needing import need
from kernelmean.files.whole import whole

Columns = Mapping[str, np.ndarray[Any, Any] | list[Any]]

ENDINGS = (".parquet", ".feather", ".arrow", ".csv", ".tsv", ".csv.gz", ".tsv.gz")


class TableWriter(Protocol):
    """Takes blocks of columns; the first one says which columns there are."""

    def __call__(self, columns: Columns) -> None: ...


@contextmanager
def table_writer(path: str | os.PathLike[str]) -> Iterator[TableWriter]:
    """A function that appends rows to a file which appears, whole, at the end."""
    target = Path(path)
    table_format(target)
    arrow = need("pyarrow", f"writing {target}")
    with whole(target) as beside, ExitStack() as stack:
        opened: list[Any] = []

        def append(columns: Columns) -> None:
            batch = arrow.record_batch({name: arrow.array(values) for name, values in columns.items()})
            if not opened:
                opened.append(stack.enter_context(_writer(arrow, target, beside, batch.schema, stack)))
            opened[0].write_batch(batch) if hasattr(opened[0], "write_batch") else opened[0].write(batch)

        yield append
        if not opened:
            raise ValueError(f"nothing to write to {target}.")


def table_format(path: str | os.PathLike[str]) -> str:
    """The ending that says how a table is written; a ValueError where it is none of them."""
    name = Path(path).name.lower()
    found = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    if found is None:
        raise ValueError(f"{path} names no table format that can be written; the endings are {', '.join(ENDINGS)}.")
    return found


def _writer(arrow: Any, target: Path, beside: Path, schema: Any, stack: ExitStack) -> Any:
    ending = table_format(target)
    if ending == ".parquet":
        return need("pyarrow.parquet", f"writing {target}").ParquetWriter(beside, schema)
    if ending in (".feather", ".arrow"):
        return need("pyarrow.ipc", f"writing {target}").new_file(str(beside), schema)
    text = need("pyarrow.csv", f"writing {target}")
    delimiter = "\t" if ending.startswith(".tsv") else ","
    compression = "gzip" if ending.endswith(".gz") else None
    stream = stack.enter_context(arrow.output_stream(str(beside), compression=compression))
    return text.CSVWriter(stream, schema, write_options=text.WriteOptions(delimiter=delimiter, quoting_style="needed"))

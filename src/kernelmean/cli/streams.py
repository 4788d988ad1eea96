"""``-``: rows from standard input, and tables to standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelmean.cli import declare

if TYPE_CHECKING:
    from kernelmean.files import TableWriter

STANDARD = "-"


class Form(StrEnum):
    """Tables that standard output takes."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"


Format = Annotated[Form, declare.Option("--format", help="Of a table that goes to -o -.")]


def given(path: str) -> str:
    """A file to read; standard input is kept in one, since it is read several times."""
    if path != STANDARD:
        return path
    from kernelmean.files import standard_input

    return str(standard_input.kept())


def title(path: str) -> str:
    """What a file is called in facts."""
    return "standard input" if path == STANDARD else path


def refuse_twice(paths: Iterable[str | None]) -> None:
    """A ValueError where standard input is asked for in two places."""
    if list(paths).count(STANDARD) > 1:
        raise ValueError("standard input can be read once only: give - in one place.")


def is_standard(path: Path | None) -> bool:
    """Whether a table goes to standard output, where facts would be in its way."""
    return path is not None and str(path) == STANDARD


def has_types(path: Path | None, form: Form) -> bool:
    """Whether a table that is written tells numbers from words."""
    if path is None:
        return False
    if is_standard(path):
        return form == Form.jsonl
    from kernelmean.files.writing import table_format

    return not table_format(path).startswith((".csv", ".tsv"))


@contextmanager
def table_to(path: Path, form: Form) -> Iterator[TableWriter]:
    """Where rows go: to a file, or to standard output."""
    from kernelmean.files import standard_output, table_writer

    if is_standard(path):
        with standard_output(form.value) as write:
            yield write
        sys.stdout.flush()
        return
    with table_writer(path) as write:
        yield write

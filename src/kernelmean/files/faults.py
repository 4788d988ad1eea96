"""What is said of a table of text that cannot be read, whoever has parsed it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

BLOCK_BYTES = 1 << 23  # of a text file, read at a time: no row may be longer
COMMAS = re.compile(r"\s*[+-]?\d[\d.,' ]*\s*")  # numbers of some countries and spreadsheets
SHOWN_CHARACTERS = 60  # of a row or a value in a message


class Faults(NamedTuple):
    """Sentences about one file."""

    path: Path | str  # with the line, where one is meant
    names: list[str]  # of its columns
    delimiter: str = ","

    @property
    def closing(self) -> str:
        """A row of missing values, to be read after the last.

        What does not end with it ends within quotes.
        """
        return "\n" + self.delimiter.join(["NA"] * len(self.names)) + "\n"

    def ragged(self, found: int, row: str) -> ValueError:
        """A row of another length."""
        shown = (row.splitlines() or [""])[0][:SHOWN_CHARACTERS]
        return ValueError(
            f"{self.path} cannot be read: Expected {len(self.names)} columns, got {found}: "
            f"{shown!r}."
        )

    def number(self, column: int, value: str) -> ValueError:
        """A value of a coordinate that is no number."""
        if value.endswith(self.closing):
            return self.unclosed()
        what = f"column {self.names[column]!r} holds {value[:SHOWN_CHARACTERS]!r}"
        if COMMAS.fullmatch(value):
            return ValueError(
                f"{self.path}: {what}; numbers need a point for the decimals and no other mark."
            )
        return ValueError(not_numeric(self.path, what))

    def text(self, column: int) -> ValueError:
        """A label in another encoding."""
        return ValueError(
            f"{self.path}: column {self.names[column]!r} holds text that is not UTF-8."
        )

    def long(self) -> ValueError:
        """A row without an end."""
        return ValueError(
            f"{self.path} cannot be read: a row is longer than {BLOCK_BYTES} bytes, or a quote is "
            "never closed."
        )

    def unclosed(self) -> ValueError:
        """A file that ends within a value."""
        return ValueError(
            f"{self.path} cannot be read: it ends within quotes, so one is never closed."
        )


def not_numeric(path: Path | str, what: str) -> str:
    """What to do about a column that holds something else."""
    return (
        f"{path}: {what}, but coordinates are numbers: name the numeric columns "
        "(columns=[...], --columns A,B), or say that it holds categories (categories=[...], "
        "--domain NAME:category)."
    )


def first_line(error: BaseException) -> str:
    """The first line of what a library says, without a full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:200]

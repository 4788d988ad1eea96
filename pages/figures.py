"""Figures in prose come from generated pages: {{ page | section | case | column }} is replaced by that cell of that table.

A page is written by a script (``make bench``), so a figure quoted elsewhere follows it; one that is gone fails the build.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
QUOTED = re.compile(r"\{\{\s*([^|{}]+?)\s*\|\s*([^|{}]+?)\s*\|\s*([^|{}]+?)\s*\|\s*([^|{}]+?)\s*\}\}")


def fill_in(text: str) -> str:
    """The text with every quoted figure in its place."""
    return QUOTED.sub(lambda match: cell(*match.groups()), text)


def cell(page: str, section: str, case: str, column: str) -> str:
    """One cell; ``case`` is the first cell of its row, or the first few, joined by " / "."""
    tables = _tables(DOCS / page)
    if section not in tables:
        raise LookupError(f"docs/{page} has no table under {section!r}; it has {sorted(tables)}.")
    header, *rows = tables[section]
    wanted = case.split(" / ")
    found = [row for row in rows if row[: len(wanted)] == wanted]
    if len(found) != 1 or column not in header:
        raise LookupError(f"docs/{page}, {section!r}: {len(found)} rows are {case!r}, columns are {header}; wanted {column!r}.")
    return found[0][header.index(column)]


@cache
def _tables(path: Path) -> dict[str, list[list[str]]]:
    """The table under each heading of a page, row by row, the header first."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line):
            tables.setdefault(heading, []).append([part.strip() for part in line.strip().strip("|").split("|")])
    return tables

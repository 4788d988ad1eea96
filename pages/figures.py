"""Figures in prose come from generated pages, by {{ page | section | case | column }}.

This is replaced by that cell of that table; a fifth part picks the n-th number of a cell that has
several.

A page is written by a script (``make bench``), so a figure quoted elsewhere follows it; one that is
gone fails the build. Pictures that lie elsewhere in the repository, beside the results they show,
get a place in the site.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
QUOTED = re.compile(r"\{\{([^{}]+)\}\}")
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:e[-+]\d+)?")
PICTURE = re.compile(r"(!\[[^\]]*\]\()\.\./([\w/.-]+\.(?:png|svg|gif))\)")


def fill_in(text: str) -> str:
    """The text with every quoted figure in its place."""
    return QUOTED.sub(lambda match: _quoted([part.strip() for part in match[1].split("|")]), text)


def _quoted(parts: list[str]) -> str:
    if not 4 <= len(parts) <= 5:
        raise LookupError(
            f"{{{{ {' | '.join(parts)} }}}} must be page | section | case | column, and perhaps "
            "which number."
        )
    found = cell(*parts[:4])
    return found if len(parts) == 4 else NUMBER.findall(found)[int(parts[4]) - 1]


def cell(page: str, section: str, case: str, column: str) -> str:
    """One cell; ``case`` is the first cell of its row, or the first few, joined by " / "."""
    tables = _tables(DOCS / page)
    if section not in tables:
        raise LookupError(f"docs/{page} has no table under {section!r}; it has {sorted(tables)}.")
    header, *rows = tables[section]
    wanted = case.split(" / ")
    found = [row for row in rows if row[: len(wanted)] == wanted]
    if len(found) != 1 or column not in header:
        raise LookupError(
            f"docs/{page}, {section!r}: {len(found)} rows are {case!r}, columns are {header}; "
            f"wanted {column!r}."
        )
    return found[0][header.index(column)]


def pictures_elsewhere() -> list[tuple[str, Path]]:
    """(place in the site, file) of every picture outside docs/ that a page of docs/ shows."""
    shown = {match[2] for page in DOCS.glob("*.md") for match in PICTURE.finditer(page.read_text())}
    return [(name, ROOT / name) for name in sorted(shown)]


def moved_pictures(text: str) -> str:
    """The text of a page of docs/ with such pictures where the site has them."""
    return PICTURE.sub(r"\1\2)", text)


@cache
def _tables(path: Path) -> dict[str, list[list[str]]]:
    """The table under each heading of a page, row by row, the header first."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line):
            tables.setdefault(heading, []).append(
                [part.strip() for part in line.strip().strip("|").split("|")]
            )
    return tables

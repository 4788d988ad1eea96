"""What a density was asked, and its answers, as a section of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelmean.pictures.html import facts, page

Row = Mapping[str, object]

CAPTIONS = {
    "columns": "Every column by itself",
    "categories": "Probabilities of categories",
    "cdf": "Probabilities of values up to these",
    "probability": "Probabilities of conditions",
    "modes": "Peaks, the highest first",
}


def answers_section(lines: Row, tables: Mapping[str, Sequence[Row]]) -> str:
    """Answers that are a number or two, then a table for each of the others."""
    told = [(_named(name), _told(value)) for name, value in lines.items()]
    parts = [page.table("Of the whole density", ("quantity", "value"), told)] if told else []
    parts += [_table(CAPTIONS.get(name, name), rows) for name, rows in tables.items()]
    return page.section("answers", "Answers", *parts)


def _table(caption: str, rows: Sequence[Row]) -> str:
    names = list(rows[0])
    right = [i for i, name in enumerate(names) if isinstance(rows[0][name], int | float)]
    cells = [[_told(row[name]) for name in names] for row in rows]
    return page.table(caption, list(map(_named, names)), cells, numbers=right)


def _named(name: str) -> str:
    return name.replace("_", " ")


def _told(value: object) -> str:
    return facts.number(value) if isinstance(value, int | float) else str(value)

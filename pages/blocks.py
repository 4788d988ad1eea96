"""Code blocks of a page, so that tests can run what the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^([ ]*)```([^\n]*)\n(.*?)^\1```[ ]*$", flags=re.DOTALL | re.MULTILINE)

# The extras that it names, and other packages.
INSTALL = re.compile(r"pip install '?kernelmean(?:\[([\w,]+)\])?'?((?: [a-z]+)*)")


class Block(NamedTuple):
    """A fenced block: its language, its text without indentation, and the line where it begins."""

    language: str
    text: str
    line: int


def blocks(path: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    page, found = path.read_text(), []
    for match in FENCE.finditer(page):
        indent, words, body = match.groups()
        text = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        found.append(
            Block(words.split(" ")[0].strip(), text, page.count("\n", 0, match.start()) + 1)
        )
    return found

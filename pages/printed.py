"""Bring what pages show as printed up to date.

Their Python and shell blocks are run, and what a Python block printed is written into the text
block below it.

    python -m pages.printed docs/quickstart.md docs/guides/streaming.md

Tests compare the same outputs; read the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

from pages.blocks import FENCE
from pages.running import shell


def refreshed(text: str) -> str:
    """The page with every output in its place.

    Blocks run in one namespace, in a folder of their own.
    """
    parts, last, printed = [], 0, ""
    space: dict[str, object] = {"__name__": "page"}
    for match in FENCE.finditer(text):
        language, body = match.group(2).split(" ")[0], match.group(3)
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(body, "page", "exec", dont_inherit=True), space)
            printed = output.getvalue()
        elif language == "shell":
            shell(body)
        elif language == "text" and printed:
            parts += [text[last : match.start(3)], printed]
            last, printed = match.end(3), ""
    return "".join([*parts, text[last:]])


def main(paths: list[str]) -> None:
    """Refresh the pages named."""
    for page in [Path(path).resolve() for path in paths]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(refreshed(page.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Figures of the guides, from what their own blocks have computed.

A guide shows ``![words](drawn/clusters_strays.png)``. The function ``strays`` of
``pages/guides/clusters.py`` draws it, given the names that the blocks above the picture have made;
a function without a parameter needs none of them, and a guide that has only such is not run.

    python -m pages.drawn docs/guides/clusters.md folder
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from pages import dark
from pages.blocks import FENCE
from pages.examples import dark_name, save
from pages.running import shell

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
DRAWINGS = Path(__file__).parent / "guides"
CACHE = ROOT / ".cache" / "guides"
LIMIT = 900  # seconds after which a guide counts as stuck
SHOWN = re.compile(r"!\[[^\]]*\]\(drawn/((\w+?)_(\w+)\.png)\)")


def guides() -> list[Path]:
    """The guides that have drawings, in the order of their names."""
    return [page for page in sorted(GUIDES.glob("*.md")) if SHOWN.search(page.read_text())]


def results(page: Path) -> list[tuple[str, Path]]:
    """(place in the site, file) of the pictures of a guide, drawn now or remembered."""
    folder = CACHE / f"{page.stem}-{_fingerprint(page)}"
    names = [match[1] for match in SHOWN.finditer(page.read_text())]
    if not all((folder / dark_name(name)).exists() for name in names):
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pages.drawn", str(page), str(folder)]
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        if done.returncode:
            raise RuntimeError(f"the figures of {page.name} failed:\n{done.stderr}")
    variants = [variant for name in names for variant in (name, dark_name(name))]
    return [(f"guides/drawn/{variant}", folder / variant) for variant in variants]


def _fingerprint(page: Path) -> str:
    """Of the code and the pictures of the page, of its drawings and of the library."""
    digest = hashlib.sha256()
    text = page.read_text()
    digest.update(repr([match.groups() for match in FENCE.finditer(text)]).encode())
    digest.update(repr([match[1] for match in SHOWN.finditer(text)]).encode())
    for path in [
        Path(__file__),
        Path(dark.__file__),
        *sorted(DRAWINGS.glob("_*.py")),
        DRAWINGS / f"{page.stem}.py",
        *sorted((ROOT / "src").rglob("*.py")),
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def drawings(stem: str) -> ModuleType:
    """The module with the figures of a guide."""
    return importlib.import_module(f"pages.guides.{stem}")


def functions(stem: str) -> dict[str, Callable[..., None]]:
    """The figures of a guide by their names."""
    module = drawings(stem)
    return {
        name: value
        for name, value in inspect.getmembers(module, inspect.isfunction)
        if value.__module__ == module.__name__ and name[0] != "_"
    }


def with_code(text: str) -> str:
    """The Markdown of a guide with the code of each figure folded below it."""

    def folded(match: re.Match[str]) -> str:
        code = textwrap.indent(f"```python\n{code_of(functions(match[2])[match[3]])}\n```", "    ")
        return f'{match[0]}\n\n??? quote "The code of this figure"\n\n{code}\n'

    return SHOWN.sub(folded, text)


def code_of(draw: Callable[..., None]) -> str:
    """The body of a drawing as a reader of the guide would write it: names without ``page.``."""
    source = textwrap.dedent(inspect.getsource(draw))
    body = ast.parse(source).body[0].body[1:]  # type: ignore[attr-defined]  # after the docstring
    code = textwrap.dedent("\n".join(source.splitlines()[body[0].lineno - 1 :]))
    return re.sub(r"\bpage\.", "", code)


def run(page: Path, folder: Path) -> None:
    """Run the blocks of a guide one after the other, and draw each figure where it is shown."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    text, known = page.read_text(), functions(page.stem)
    parts: list[tuple[int, re.Match[str]]] = [
        (match.start(), match) for found in (FENCE, SHOWN) for match in found.finditer(text)
    ]
    needing = [m for m in SHOWN.finditer(text) if inspect.signature(known[m[3]]).parameters]
    last = needing[-1].start() if needing else 0
    space: dict[str, Any] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for start, match in sorted(parts, key=lambda part: part[0]):
            if match.re is SHOWN:
                _draw(known[match[3]], space, folder / match[1])
                plt.close("all")
            elif start < last:
                _run_block(match[2].split(" ")[0], match[3], page, space)
                plt.close("all")


def _draw(draw: Callable[..., None], space: dict[str, Any], place: Path) -> None:
    """Draw and write one figure; a warning is an error, since it is of what will be seen."""
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(*([SimpleNamespace(**space)] if inspect.signature(draw).parameters else []))
        save(plt.gcf(), place)


def _run_block(language: str, code: str, page: Path, space: dict[str, Any]) -> None:
    if language == "python":
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(page), "exec", dont_inherit=True), space)
    elif language == "shell":
        shell(code)


if __name__ == "__main__":
    run(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())

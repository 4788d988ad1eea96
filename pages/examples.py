"""Examples as pages: a script is run cell by cell, and what it prints and draws is kept.

The module docstring begins with the title; the rest of it is the introduction, in Markdown. A line
``# %%`` begins a new cell, and the comment right below it is the text of that cell.

    python -m pages.examples examples/plot_why.py folder
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pages import dark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
CACHE = ROOT / ".cache" / "gallery"
DPI = 220  # shown at half the size, so that screens of double density are sharp
LIMIT = 600  # seconds after which an example counts as stuck


class Cell(NamedTuple):
    """A part of a script: its text in Markdown, its code, and the line where the code begins."""

    text: str
    code: str
    line: int


class Script(NamedTuple):
    """An example as it is written."""

    name: str
    title: str
    introduction: str
    cells: list[Cell]


class Ran(NamedTuple):
    """What a cell printed and drew."""

    output: str
    pictures: list[str]


def scripts() -> list[Script]:
    """All examples of the gallery, in the order of their names."""
    return [parse(path) for path in sorted(EXAMPLES.glob("plot_*.py"))]


def parse(path: Path) -> Script:
    """A script as title, introduction and cells."""
    source = path.read_text()
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree)
    if not docstring:
        raise ValueError(
            f"{path.name} needs a docstring: its title, an empty line, its introduction."
        )
    title, _, introduction = docstring.partition("\n")
    end = tree.body[0].end_lineno or 0
    return Script(
        path.stem, title.rstrip("."), introduction.strip(), list(_cells(source.splitlines(), end))
    )


def _cells(lines: list[str], start: int) -> Iterator[Cell]:
    marks = [
        start,
        *(i for i, line in enumerate(lines) if i >= start and line.startswith("# %%")),
        len(lines),
    ]
    for begin, end in pairwise(marks):
        first = begin + 1 if begin < len(lines) and lines[begin].startswith("# %%") else begin
        text = []
        while first < end and lines[first].startswith("#") and first > begin:
            text.append(lines[first].removeprefix("#").removeprefix(" "))
            first += 1
        code = "\n".join(lines[first:end]).strip("\n")
        if text or code:
            skipped = next((i for i in range(first, end) if lines[i].strip()), first)
            yield Cell("\n".join(text), code, skipped)


def results(script: Script) -> tuple[Path, list[Ran]]:
    """The folder with the pictures of a script, and what its cells did.

    It is run now, or remembered while nothing has changed.
    """
    folder = CACHE / f"{script.name}-{_fingerprint(script)}"
    record = folder / "cells.json"
    if not record.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = EXAMPLES / f"{script.name}.py"
        command = [sys.executable, "-m", "pages.examples", str(source), str(folder)]
        alone = os.environ | {
            "OPENBLAS_NUM_THREADS": "1"
        }  # two examples run at a time; threads that spin would slow both
        done = subprocess.run(
            command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        if done.returncode:
            raise RuntimeError(f"examples/{script.name}.py failed:\n{done.stderr}")
    return folder, [Ran(**cell) for cell in json.loads(record.read_text())]


def _fingerprint(script: Script) -> str:
    """Of the script, of the library and of this module."""
    digest = hashlib.sha256()
    for path in [
        EXAMPLES / f"{script.name}.py",
        Path(__file__),
        Path(dark.__file__),
        *sorted((ROOT / "src").rglob("*.py")),
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def run(path: Path, folder: Path) -> None:
    """Run a script cell by cell in one namespace, and write pictures and ``cells.json``.

    Warnings are errors.
    """
    import warnings

    import matplotlib

    matplotlib.use("Agg")
    warnings.simplefilter("error")
    script, space = parse(path), {"__name__": "__main__", "__file__": str(path)}
    record = []
    for number, cell in enumerate(script.cells, start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * cell.line + cell.code, str(path), "exec"), space)
        record.append(
            {
                "output": printed.getvalue(),
                "pictures": _pictures(space, folder, f"{script.name}_{number}"),
            }
        )
    (folder / "cells.json").write_text(json.dumps(record))


def _pictures(space: dict[str, Any], folder: Path, stem: str) -> list[str]:
    """Save what a cell has drawn, light and dark, animations as GIF; names of the light files."""
    import matplotlib.pyplot as plt
    from matplotlib.animation import Animation, PillowWriter

    names = []
    for variable in [name for name, value in space.items() if isinstance(value, Animation)]:
        animation = space.pop(variable)
        names.append(f"{stem}_{variable}.gif")
        animation.save(folder / names[-1], writer=PillowWriter(fps=8), dpi=80)
        plt.close(animation._fig)
    for number in plt.get_fignums():
        names.append(f"{stem}_{number}.png")
        save(plt.figure(number), folder / names[-1])
    plt.close("all")
    return names


def save(figure: Figure, place: Path) -> None:
    """Write a figure light, and dark beside it."""
    figure.savefig(place, dpi=DPI)
    dark.darken(figure)
    figure.savefig(place.with_name(dark_name(place.name)), dpi=DPI)


def dark_name(name: str) -> str:
    """The file of a picture for dark mode; an animation has one for both."""
    return name.replace(".png", "-dark.png")


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))

"""Pages of the gallery: one per example, and one that shows them all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from pages.examples import EXAMPLES, Ran, Script, results, scripts

FOLDER = "gallery"


class Made(NamedTuple):
    """A file of the site: its path there, and its text or where it lies."""

    path: str
    text: str | None = None
    source: Path | None = None


def navigation() -> list[dict[str, str] | str]:
    """The overview, then every example by its title."""
    return [
        f"{FOLDER}/index.md",
        *({script.title: f"{FOLDER}/{script.name}.md"} for script in scripts()),
    ]


def pages() -> Iterator[Made]:
    """Every file of the gallery; the examples run two at a time."""
    found = scripts()
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(results, found))
    for script, (folder, cells) in zip(found, outcomes, strict=True):
        yield Made(f"{FOLDER}/{script.name}.md", text=page(script, cells))
        for name in (name for cell in cells for name in cell.pictures):
            yield Made(f"{FOLDER}/{name}", source=folder / name)
    yield Made(
        f"{FOLDER}/index.md",
        text=overview([(s, cells) for s, (_, cells) in zip(found, outcomes, strict=True)]),
    )


def page(script: Script, cells: list[Ran]) -> str:
    """One example: text, code, what it printed, what it drew."""
    parts = [f"# {script.title}", script.introduction]
    for cell, ran in zip(script.cells, cells, strict=True):
        parts += [cell.text, f"```python\n{cell.code}\n```" if cell.code else ""]
        parts += [f"```text\n{ran.output.rstrip()}\n```" if ran.output.strip() else ""]
        parts += [f"![{script.title}]({name})" for name in ran.pictures]
    parts.append(f"Source: `{EXAMPLES.name}/{script.name}.py`. It ran when this page was built.")
    return "\n\n".join(part for part in parts if part) + "\n"


def overview(found: list[tuple[Script, list[Ran]]]) -> str:
    """A card with a picture for every example."""
    cards = []
    for script, cells in found:
        pictures = [name for cell in cells for name in cell.pictures]
        if not pictures:
            raise ValueError(
                f"examples/{script.name}.py draws nothing; the gallery shows pictures."
            )
        shown = f"[![{script.title}]({pictures[-1]}){{ loading=lazy }}]({script.name}.md)"
        first = script.introduction.split("\n\n")[0].replace("\n", " ")
        cards.append(f"-   {shown}\n\n    **[{script.title}]({script.name}.md)**\n\n    {first}")
    head = "# Gallery\n\nEvery picture was made by the script beside it, when this site was built."
    return head + '\n\n<div class="grid cards" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>\n"

"""Pages of the gallery: one per example, and one that shows them all."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ruff.__main__ import find_ruff_bin

from pages.examples import EXAMPLES, Ran, Script, dark_name, results, scripts

FOLDER = "gallery"
COLUMNS = 86  # of code on a page

# What one wants to do, and the examples of it, the best picture first; every example has its place.
TASKS: dict[str, list[str]] = {
    "A density": [
        "plot_why",
        "plot_flights",
        "plot_conditional",
        "plot_domains",
        "plot_groups",
        "plot_bandwidths",
        "plot_streaming",
    ],
    "Outliers, clusters, segments": [
        "plot_segments",
        "plot_clusters",
        "plot_significant_modes",
        "plot_anomalies",
        "plot_mean_shift_paths",
    ],
    "Many samples, or two": [
        "plot_cells",
        "plot_difference",
        "plot_proportions",
        "plot_monitoring",
        "plot_two_samples",
    ],
    "How the method works": [
        "plot_farthest_first",
        "plot_spreads",
        "plot_refinement",
        "plot_kernels",
        "plot_error_against_k",
        "plot_certificate_against_truth",
        "plot_stopping",
        "plot_valid_densities",
        "plot_spaces",
        "plot_dimension",
        "plot_when_it_pays",
    ],
    "The paper's experiments": [
        "plot_paper_embedding",
        "plot_paper_segmentation",
        "plot_paper_proportions",
        "plot_paper_random",
        "plot_errata",
    ],
}


class Made(NamedTuple):
    """A file of the site: its path there, and its text or where it lies."""

    path: str
    text: str | None = None
    source: Path | None = None


def by_task(found: list[Script]) -> dict[str, list[Script]]:
    """The scripts under what they are for."""
    known = {script.name: script for script in found}
    placed = [name for names in TASKS.values() for name in names]
    if sorted(placed) != sorted(known):
        wrong = sorted(set(placed) ^ set(known)) or "one of them twice"
        raise LookupError(f"pages/gallery.py has to place every example once: {wrong}")
    return {task: [known[name] for name in names] for task, names in TASKS.items()}


def navigation() -> list[dict[str, object] | str]:
    """The overview, then every example by its title under its task."""
    return [
        f"{FOLDER}/index.md",
        *(
            {task: [{script.title: f"{FOLDER}/{script.name}.md"} for script in found]}
            for task, found in by_task(scripts()).items()
        ),
    ]


def pages() -> Iterator[Made]:
    """Every file of the gallery; the examples run two at a time."""
    found = scripts()
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(results, found))
    cells_of = {}
    for script, (folder, cells) in zip(found, outcomes, strict=True):
        cells_of[script.name] = cells
        yield Made(f"{FOLDER}/{script.name}.md", text=page(script, cells))
        for name in (name for cell in cells for name in cell.pictures):
            for variant in dict.fromkeys([name, dark_name(name)]):
                yield Made(f"{FOLDER}/{variant}", source=folder / variant)
    yield Made(f"{FOLDER}/index.md", text=overview(by_task(found), cells_of))


def page(script: Script, cells: list[Ran]) -> str:
    """One example: text, code, what it printed, what it drew."""
    parts = [f"# {script.title}", script.introduction]
    for cell, ran in zip(script.cells, cells, strict=True):
        parts += [cell.text, f"```python\n{narrow(cell.code)}\n```" if cell.code else ""]
        parts += [f"```text\n{ran.output.rstrip()}\n```" if ran.output.strip() else ""]
        parts += [f"![{script.title}]({name})" for name in ran.pictures]
    parts.append(f"Source: `{EXAMPLES.name}/{script.name}.py`. It ran when this page was built.")
    return "\n\n".join(part for part in parts if part) + "\n"


def narrow(code: str) -> str:
    """The code in lines that fit into the column of a page."""
    command = [find_ruff_bin(), "format", "--isolated", f"--line-length={COLUMNS}", "-"]
    done = subprocess.run(command, input=code, capture_output=True, text=True, check=True)
    return done.stdout.strip("\n")


def overview(tasks: dict[str, list[Script]], cells_of: dict[str, list[Ran]]) -> str:
    """A card with a picture for every example, under headings that say what it is for."""
    parts = [
        "# Gallery",
        "Every picture was made by the script beside it, when this site was built.",
    ]
    for task, found in tasks.items():
        cards = "\n\n".join(card(script, cells_of[script.name]) for script in found)
        parts += [f"## {task}", f'<div class="grid cards" markdown>\n\n{cards}\n\n</div>']
    return "\n\n".join(parts) + "\n"


def card(script: Script, cells: list[Ran]) -> str:
    """One example: its first picture, its title, the first paragraph of its introduction."""
    pictures = [name for cell in cells for name in cell.pictures]
    if not pictures:
        raise ValueError(f"examples/{script.name}.py draws nothing; the gallery shows pictures.")
    first = script.introduction.split("\n\n")[0].replace("\n", " ")
    return (
        f"-   ![{script.title}]({pictures[0]})\n\n"
        f"    **[{script.title}]({script.name}.md)**\n\n    {first}"
    )

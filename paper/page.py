"""docs/paper.md from the stored results alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from paper.experiment import Figure, Result, Row

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
PICTURES = "../paper/results"
HEAD = (
    "| quantity | paper | ours, its settings | ours, best settings | ours ÷ paper | |\n| --- "
    "| ---: | ---: | ---: | ---: | --- |"
)
INTRODUCTION = """# The paper's experiments

Written by `make paper DATA=...` from `paper/results/*.json`. Every table and figure of section 6
of E. Cruz Cortés and C. Scott, *Sparse Approximation of a Kernel Mean* (2015): the paper's
figure, ours with the paper's settings (k-centre, one-step stop, projection or conjugate
gradients where it used them), ours with this library's best settings, and the ratio ours ÷ paper
(with the paper's settings where both are there). The paper's times are those of MATLAB in 2015;
compare ratios of times, not seconds. “Full” is always this library's own exact code on all
cores; its long runs are timed by CPU seconds ÷ cores where that is less than the wall clock, so
that other work on the machine cannot flatter the sparse side.
"""


def compose(results: Sequence[Result]) -> str:
    """The page."""
    machines = sorted({machine for result in results for machine in result.machines})
    parts = [INTRODUCTION, "Measured on: " + " / ".join(machines) + "\n", goals(results)]
    return "\n".join(
        [*parts, *(section(number, result) for number, result in enumerate(results, start=1))]
    )


def goals(results: Sequence[Result]) -> str:
    """What the experiments are held to, met or not."""
    held = [(result, row) for result in results for row in result.rows if row.goal is not None]
    lines = [
        "## What was to be reached\n",
        "| experiment | figure | goal | found | |",
        "| --- | --- | --- | ---: | --- |",
    ]
    for result, row in held:
        goal, table = row.goal, row.table.split(":")[-1].strip()
        found = shown(row.ours if row.best is None or goal.of == "ours" else row.best, row.unit)
        mark = "met" if goal.met else "**missed**"
        lines.append(
            f"| {result.title} | {row.quantity} ({table}) | {goal.words} | {found} | {mark} |"
        )
    return "\n".join(lines) + "\n" if held else ""


def section(number: int, result: Result) -> str:
    """One experiment: what was done, its tables, its pictures, what is missing."""
    parts = [f"## {number}. {result.title}\n", result.about.strip() + "\n"]
    for name, rows in groupby(result.rows, key=lambda row: row.table):
        parts += [f"### {name}\n", table(list(rows))]
    parts += [
        f"![{picture.caption}]({PICTURES}/{picture.file})\n\n*{picture.caption}*\n"
        for picture in result.pictures
    ]
    if result.absent:
        parts.append("Not here: " + " ".join(result.absent) + "\n")
    return "\n".join(parts)


def table(rows: Sequence[Row]) -> str:
    """A Markdown table; sentences that differ from row to row in the last column."""
    lines = [HEAD]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        figures = (shown(figure, row.unit) for figure in (row.paper, row.ours, row.best))
        lines.append(f"| {row.quantity} | {' | '.join(figures)} | {ratio} | {row.sentence} |")
    return "\n".join(lines) + "\n"


def shown(figure: Figure, unit: str) -> str:
    """A figure with its unit; times as one would say them."""
    if figure is None:
        return "–"
    if isinstance(figure, str):
        return figure
    return (
        duration(figure)
        if unit == "s"
        else f"{figure:.3g}{unit}"
        if abs(figure) < 1000
        else f"{figure:.0f}{unit}"
    )


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for size, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= 1.5 * size or (name == "s" and seconds >= 1.0):
            return f"{seconds / size:.3g} {name}"
    return f"{1e3 * seconds:.3g} ms" if seconds else "0"

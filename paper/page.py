"""docs/paper.md and the pages of its experiments, from the stored results alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from paper.experiment import Figure, Result, Row

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
PICTURES = "../paper/results"
ROWS_ON_A_PAGE = 40
HEAD = (
    "| quantity | paper | ours, its settings | ours, best settings | ours ÷ paper | |\n| --- "
    "| ---: | ---: | ---: | ---: | --- |"
)
LEGEND = (
    "What the columns are, and what was measured on which machine: "
    "[The paper's experiments](paper.md).\n"
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


def pages(results: Sequence[Result]) -> dict[str, str]:
    """Every page by the name of its file: a summary, and one for each experiment."""
    found = {PAGE.name: summary(results)}
    for number, result in enumerate(results, start=1):
        for part, rows in enumerate(shares(result.rows)):
            found[place(result, part)] = section(number, result, part, rows)
    return found


def shares(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of an experiment, page by page: whole tables, at most as many as a page holds."""
    found: list[list[Row]] = [[]]
    for _, table_rows in groupby(rows, key=lambda row: row.table):
        more = list(table_rows)
        if found[-1] and len(found[-1]) + len(more) > ROWS_ON_A_PAGE:
            found.append([])
        found[-1] += more
    return found


def place(result: Result, part: int = 0) -> str:
    """A page of an experiment."""
    more = f"-{part + 1}" if part else ""
    return f"{PAGE.stem}-{result.name.replace('_', '-')}{more}.md"


def write(results: Sequence[Result], folder: Path = PAGE.parent) -> None:
    """All pages, in place of those that are there."""
    for path in folder.glob(f"{PAGE.stem}-*.md"):
        path.unlink()
    for name, text in pages(results).items():
        (folder / name).write_text(text)


def summary(results: Sequence[Result]) -> str:
    """What was done, what was reached, and where to read more."""
    machines = sorted({machine for result in results for machine in result.machines})
    held = [(row, result) for result in results for row in result.rows if row.goal is not None]
    lines = [
        f"Of {len(held)} goals {sum(row.goal is not None and row.goal.met for row, _ in held)} are "
        "met. Each experiment has a page of its own.\n",
        "| experiment | goals met |",
        "| --- | ---: |",
    ]
    for number, result in enumerate(results, start=1):
        verdicts = [row.goal.met for row in result.rows if row.goal is not None]
        link = f"[{number}. {result.title}]({place(result)})"
        lines.append(f"| {link} | {sum(verdicts)} of {len(verdicts)} |")
    words = "Measured on: " + " / ".join(machines) + "\n"
    return "\n".join([INTRODUCTION, "\n".join(lines) + "\n", goals(results), words])


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


def section(number: int, result: Result, part: int, rows: Sequence[Row]) -> str:
    """A page of an experiment: what was done, its pictures, its tables, what is missing."""
    title = f"# {number}. {result.title}" + (f", part {part + 1}" if part else "")
    parts = [f"{title}\n"]
    if not part:
        parts += [result.about.strip() + "\n"]
    parts += [LEGEND]
    if not part:
        parts += [
            f"![{picture.caption}]({PICTURES}/{picture.file})\n\n*{picture.caption}*\n"
            for picture in result.pictures
        ]
    for name, mine in groupby(rows, key=lambda row: row.table):
        parts += [f"## {name}\n", table(list(mine))]
    if result.absent and not part:
        parts.append("Not here: " + " ".join(result.absent) + "\n")
    last = part + 1 == len(shares(result.rows))
    if not last:
        parts.append(f"More tables: [the next page]({place(result, part + 1)}).\n")
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

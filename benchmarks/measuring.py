"""Clocks, memory and tables."""

from __future__ import annotations

import argparse
import gc
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

DATA = Path(os.environ.get("KERNELMEAN_DATA", Path(__file__).parents[2] / "shared" / "data"))


class Row(NamedTuple):
    """One line of a table: what was measured, the figure (a ratio, if it is a number), the goal,
    and what it is made of.
    """

    case: str
    ratio: float | str | None
    goal: str
    detail: str


def seconds(action: Callable[[], object], repeats: int = 5) -> float:
    """Best of several runs, after one that compiles and warms."""
    action()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def peak_growth(action: Callable[[], object]) -> int:
    """Bytes by which the resident set grew at its highest while the action ran."""
    gc.collect()
    start, peak, done = resident(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    action()
    done.set()
    watcher.join()
    return max(peak[0], resident()) - start


def fresh_growth(code: str) -> int:
    """:func:`peak_growth` as ``code`` prints it in a process of its own: memory kept from earlier
    fits would hide it.
    """
    where = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=where
    )
    return int(done.stdout)


def resident() -> int:
    """Resident set of this process, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def table(title: str, rows: list[Row]) -> str:
    """A Markdown table."""
    lines = [f"### {title}", "", "| case | figure | goal | detail |", "| --- | ---: | --- | --- |"]
    lines += [f"| {r.case} | {_figure(r.ratio)} | {r.goal} | {r.detail} |" for r in rows]
    return "\n".join(lines) + "\n"


def _figure(value: float | str | None) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else f"{value:.2f}"


def run(title: str, introduction: str, tables: dict[str, Callable[[], list[Row]]]) -> None:
    """``[names] [--output FILE]``: measure some tables, or all; print them, and write them to a
    Markdown file.
    """
    parser = argparse.ArgumentParser(description=f"{title}. Tables: {', '.join(tables)}.")
    parser.add_argument("names", nargs="*", help="some of the tables; all if none is given")
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(tables):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(map(repr, tables))}")
    parts = [f"# {title}\n\n{introduction}\n\nMeasured on: {machine()}\n"]
    print(parts[0], flush=True)
    for name, measure in tables.items():
        if not arguments.names or name in arguments.names:
            parts.append(table(name, measure()))
            print(parts[-1], flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(parts))


def machine() -> str:
    """What the figures were measured on."""
    import numba
    import numpy
    import scipy

    cpu = next(
        (line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")),
        platform.processor(),
    )
    cores = len(_cores())
    versions = (
        f"Python {platform.python_version()}, NumPy {numpy.__version__}, SciPy "
        f"{scipy.__version__}, Numba {numba.__version__}"
    )
    return f"{cpu}, {cores} cores; {versions}."


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _cores() -> set[int]:
    return os.sched_getaffinity(0) if sys.platform == "linux" else set(range(os.cpu_count() or 1))

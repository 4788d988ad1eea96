"""The drift monitor: the page of its run lengths, delays, speed and memory.

``python -m benchmarks.monitor [names] [--quick] [--output FILE]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import kernelmean as km
from benchmarks import drift_delays, drift_lengths
from benchmarks.difference import measured, sections
from benchmarks.drift_delays import Sizes
from benchmarks.measuring import Row, machine, resident
from kernelmean.compiled import threads

DIMENSIONS = (2, 10, 50, 128)
REFERENCE = 10_000  # rows, of the tables of time and memory
BATCHES = {1: 1000, 7: 3500, 256: 10_240, 8192: 16_384}  # rows that are timed, by size of batch
LEAST_RATES = {(256, 10): 100_000, (256, 128): 64_000}  # rows per second
REPEATS = 15
RUN_LENGTHS = (1_000, 10_000, 100_000)
RUN_LENGTH = 10_000  # where nothing else is said
WARM, MANY = 100_000, 10_000_000  # rows of a stream
LARGEST_BATCH = 8192
INTRODUCTION = """# Drift in a stream

Written by `python -m benchmarks.monitor`.

**Run lengths**: mean rows to an alarm in streams without a change, over the run length that was \
asked for, with the standard error of that mean over references. A stream begins anew after each \
alarm. Resampled rows are those of the reference, drawn with replacement; fresh rows are new ones \
of its law, and for real tables rows that are not in the reference, drawn with replacement. \
References have ten times as many rows as the longest window. The monitor was tuned on normals in \
2, 10 and 50 dimensions, Student's t with 3 degrees of freedom in 5, a mixture of three normals in \
3, rounded normals in 4 and lognormals in 5; none of these is here.

**Delay**: our mean rows from a change to the alarm over that of the best peer, with its standard \
error. Peers are online RFF-MMD and MMDEW, in implementations of ours after their papers, with the \
options that favour them (`benchmarks/drift_peers.py`). All have the same reference of {history} \
rows, which peers read as the beginning of the stream, and the same streams. Thresholds of all, \
ours too, are those at which streams of fresh rows without a change have the run length. The \
change comes after {before} rows; streams with an alarm before it are left out. Rows are watched \
for {after} rows after it: a stream without an alarm counts as so many, and where these are more \
than {unseen:.0f} % the mean is a lower bound (≥). The window of ours is {window} rows. Laws are \
round normals, normals with random axes and principal variances from 1 to 1/20 (tilted), and six \
round normal clusters of different size, all with columns of variance 1. The mean moves by so many \
standard deviations in a random direction; all standard deviations grow by such a share; columns \
become correlated by so much, or, where they depend on each other before, in such a share of rows \
no longer do (each column is then from another row); such a share of rows comes from a cluster, \
half as wide, two units off the middle. Sizes were set by the delay of ours on other seeds. Round \
normals were looked at when the monitor was designed, the other two laws were not.

**Row of the change**: how far from the true row the estimate is, in the median; streams of the \
same kinds, alarms at the monitor's own threshold for a run length of 1000.

**Throughput, construction and memory**: normal rows, a reference of {reference} rows, the default \
window of 1000 rows and, where nothing else is said, the default run length of 10 000; \
{threads} threads. Every row is tested, and the alarms that come are part of the time.
"""


def normal(rows: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, d]).normal(size=(rows, d))


def throughput(
    dimensions: Sequence[int] = DIMENSIONS, repeats: int = REPEATS, share: float = 1.0
) -> Iterator[Row]:
    """Rows per second, best of several."""
    for d in dimensions:
        monitor = km.DriftMonitor(normal(REFERENCE, d), run_length=RUN_LENGTH, random_state=0)
        for batch, rows in BATCHES.items():
            stream = normal(max(batch, int(share * rows)), d, 1)
            taken = min(_updating(monitor, stream, batch) for _ in range(repeats))
            rate = len(stream) / taken
            least = LEAST_RATES.get((batch, d))
            detail = f"rows per second; {1e6 / rate:.1f} µs a row, best of {repeats}"
            goal = "–" if least is None else f"≥ {_thousands(least)}"
            yield Row(f"batches of {batch}, d = {d}", _thousands(rate), goal, detail)


def _updating(monitor: km.DriftMonitor, stream: np.ndarray, batch: int) -> float:
    start = time.perf_counter()
    for _ in monitor.watch(stream[i : i + batch] for i in range(0, len(stream), batch)):
        pass
    return time.perf_counter() - start


def _thousands(value: float) -> str:
    """To three digits, in groups of three."""
    digits = len(str(round(value))) - 3
    return f"{round(value, -max(digits, 0)):,.0f}".replace(",", " ")


def construction(
    dimensions: Sequence[int] = DIMENSIONS, run_lengths: Sequence[int] = RUN_LENGTHS
) -> Iterator[Row]:
    """Seconds to make a monitor, and how large it is as a file."""
    km.DriftMonitor(normal(500, 2), run_length=100, random_state=0)  # compiles
    for d in dimensions:
        X = normal(REFERENCE, d)
        for run_length in run_lengths:
            start = time.perf_counter()
            monitor = km.DriftMonitor(X, run_length=run_length, random_state=0)
            taken = time.perf_counter() - start
            detail = f"seconds; {saved_bytes(monitor) / 2**20:.2f} MiB as a file"
            yield Row(f"d = {d}, run length {_thousands(run_length)}", f"{taken:.1f}", "–", detail)


def saved_bytes(monitor: km.DriftMonitor) -> int:
    """The size of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "monitor.km"
        monitor.save(path)
        return path.stat().st_size


def memory(warm: int = WARM, rows: int = MANY, run_length: int = RUN_LENGTH) -> Iterator[Row]:
    """The resident set and the file after some rows and after many, in a process of its own."""
    code = f"from benchmarks import monitor; monitor.print_memory({warm}, {rows}, {run_length})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    before, after = json.loads(done.stdout)
    for name in ("resident set", "file"):
        growth = (after[name] - before[name]) / 2**20
        detail = (
            f"MiB; {before[name] / 2**20:.2f} after {_thousands(warm)} rows, "
            f"{after[name] / 2**20:.2f} after {_thousands(rows)}; d = 2, batches of "
            f"{LARGEST_BATCH}, {after['alarms']} alarms"
        )
        yield Row(f"growth of the {name}", f"{growth:+.2f}", "0", detail)


def print_memory(warm: int, many: int, run_length: int) -> None:
    """Two readings of one stream, as JSON."""
    monitor = km.DriftMonitor(normal(REFERENCE, 2), run_length=run_length, random_state=0)
    rng = np.random.default_rng(1)
    readings = []
    alarms = 0
    for stop in (warm, many):
        full, rest = divmod(stop - monitor.n_seen, LARGEST_BATCH)
        sizes = [LARGEST_BATCH] * full + [rest]
        alarms += sum(1 for _ in monitor.watch(rng.normal(size=(rows, 2)) for rows in sizes))
        size = saved_bytes(monitor)
        readings.append({"resident set": resident(), "file": size, "alarms": alarms})
    print(json.dumps(readings))


def tables(quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    """What is on the page, by title; quickly, it is only seen that all of it can be measured."""
    if quick:
        few = {"bases": ("tilted",), "dimensions": (2,), "sizes": Sizes(2, 4, 4)}
        return {
            "Run lengths": lambda: drift_lengths.tables(drift_lengths.SMALL[:1], 2, 5),
            "Delay at run length 1000": lambda: drift_delays.contests(1000, **few),
            "Delay at run length 10 000": lambda: drift_delays.contests(5000, **few),
            "Row of the change": lambda: drift_delays.change_rows(**few),
            "Throughput": lambda: throughput((2,), 1, 0.05),
            "Memory": lambda: memory(10_000, 50_000),
            "Construction": lambda: construction((2,), (1000,)),
        }
    return {
        "Run lengths": drift_lengths.tables,
        "Delay at run length 1000": lambda: drift_delays.contests(1000),
        "Delay at run length 10 000": lambda: drift_delays.contests(10_000),
        "Row of the change": drift_delays.change_rows,
        "Throughput": throughput,
        "Memory": memory,
        "Construction": construction,
    }


def introduction() -> str:
    """What is measured, and how."""
    return INTRODUCTION.format(
        history=drift_delays.HISTORY,
        before=drift_delays.BEFORE,
        after=drift_delays.AFTER,
        unseen=100 * drift_delays.UNSEEN,
        window=drift_delays.WINDOW,
        reference=_thousands(REFERENCE),
        threads=threads.default_count(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.monitor", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", nargs="*", help="some of the tables; all if none is given")
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    options = parser.parse_args()
    shown = tables(options.quick)
    if unknown := set(options.names) - set(shown):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(shown)}")
    parts: dict[str, str] = {}
    for name, rows in shown.items():
        if not options.names or name in options.names:
            parts[name] = measured(name, rows())
            page = _page(sections(options.output) | parts, list(shown))
            if options.output:
                options.output.write_text(page)
    print(page)


def _page(parts: dict[str, str], titles: Sequence[str]) -> str:
    found = [parts[title] for title in titles if title in parts]
    return "\n".join([f"{introduction()}\nMeasured on: {machine()}\n", *found])


if __name__ == "__main__":
    main()

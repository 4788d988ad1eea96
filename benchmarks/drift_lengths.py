"""Run lengths of the drift monitor: rows to a false alarm, over those that were asked for.

The tables are on the page of `benchmarks.monitor`; laws are in `benchmarks.drift_sets`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import kernelmean as km
from benchmarks.drift_sets import LAWS
from benchmarks.measuring import Row
from benchmarks.tables import AbsentError
from kernelmean.compiled import threads
from kernelmean.monitoring.windows import Windows

CHUNK = 4096  # rows whose features are in memory at once
STREAMS = 1000  # of a case, at least
REFERENCES = {2000: 20, 10_000: 12}  # by their rows
MORE = 4  # times as many of rows of the reference and short lengths, which take little time
WINDOWS_PER_REFERENCE = 10


class Table(NamedTuple):
    """One of the two tables: which rows, and how near the run length must be."""

    kind: str
    within: float


RESAMPLED = Table("resampled", 0.1)
FRESH = Table("fresh", 0.25)


class Case(NamedTuple):
    """A law, the rows of its references, and the run length that is asked for."""

    law: str
    rows: int
    run_length: int

    @property
    def references(self) -> int:
        """How many, each with streams of its own."""
        return REFERENCES[self.rows]

    def streams(self, table: Table) -> int:
        """Of each reference."""
        some = math.ceil(STREAMS / self.references)
        return MORE * some if table is RESAMPLED and self.run_length <= 1000 else some

    @property
    def name(self) -> str:
        return f"{LAWS[self.law].name}, {self.rows} rows, {self.run_length} asked for"


SMALL = [Case(law, 2000, 1000) for law in LAWS]
LARGE = [Case(law, 10_000, 1000) for law in ("exponential", "moons", "cover")]
LONG = [
    Case("codes", 10_000, 10_000),
    Case("moons", 2000, 10_000),
    Case("cover", 10_000, 10_000),
]
CASES = [*SMALL, *LARGE, *LONG]


def run_lengths(monitor: km.DriftMonitor, features: Callable[[int], np.ndarray], streams: int):
    """Rows to the first alarm of so many streams; ``features(n)`` are those of their next n rows.

    After an alarm all starts anew, so that one stream after another is as good as many side by
    side. This is what :meth:`DriftMonitor.watch` does, without saying what each alarm is about.
    """
    baseline = monitor.state.baseline
    found: list[int] = []
    windows = Windows.empty(baseline.judge)
    while len(found) < streams:
        Z = features(CHUNK)
        while len(Z) and len(found) < streams:
            scanned = windows.add(Z, baseline.judge, baseline.threshold, compiled=True)
            Z = Z[scanned.used :]
            if scanned.alarmed:
                found.append(windows.seen)
                windows = Windows.empty(baseline.judge)
    return np.array(found)


class Means(NamedTuple):
    """Mean run lengths of each reference, by where rows come from."""

    resampled: np.ndarray
    fresh: np.ndarray


def measured(case: Case, references: int, streams: int | None = None) -> Means:
    """All references of a case; two at a time, as there are cores."""
    resampled, fresh = np.zeros(references), np.zeros(references)
    law = LAWS[case.law]
    law.split(case.rows, np.random.default_rng(0))  # says at once where data are absent

    def one(i: int) -> None:
        rng = np.random.default_rng([case.rows, case.run_length, i])
        X, draw = law.split(case.rows, rng)
        window = case.rows // WINDOWS_PER_REFERENCE
        monitor = km.DriftMonitor(X, run_length=case.run_length, window=window, random_state=i)
        of = monitor.state.baseline.features
        known = of(X)
        again = lambda n: known[rng.integers(len(known), size=n)]  # noqa: E731
        resampled[i] = run_lengths(monitor, again, streams or case.streams(RESAMPLED)).mean()
        new = lambda n: of(draw(n, rng))  # noqa: E731
        fresh[i] = run_lengths(monitor, new, streams or case.streams(FRESH)).mean()

    threads.run(one, [(i,) for i in range(references)], threads.default_count())
    return Means(resampled, fresh)


def tables(
    cases: Sequence[Case] = tuple(CASES),
    references: int | None = None,
    streams: int | None = None,
) -> Iterator[Row]:
    """Mean run length over the one asked for, of rows of the reference and of new rows."""
    farthest = {RESAMPLED: 0.0, FRESH: 0.0}
    for case in cases:
        try:
            found = measured(case, references or case.references, streams)
        except AbsentError as reason:
            yield Row(case.name, None, "–", f"skipped: {reason}")
            continue
        for table in (RESAMPLED, FRESH):
            ratios = getattr(found, table.kind) / case.run_length
            farthest[table] = max(farthest[table], abs(ratios.mean() - 1.0))
            yield _row(case, table, ratios, streams or case.streams(table))
    for table, most in farthest.items():
        goal = f"≤ {table.within:g}"
        yield Row(f"farthest from 1, {table.kind} rows", f"{most:.3f}", goal, "of those above")


def _row(case: Case, table: Table, ratios: np.ndarray, streams: int) -> Row:
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    low, high = np.quantile(ratios, [0.1, 0.9])
    detail = (
        f"{len(ratios)} references with {streams} streams each; single references, 80 % of them: "
        f"{low:.2f} to {high:.2f}"
    )
    goal = f"{1.0 - table.within:.2f} … {1.0 + table.within:.2f}"
    figure = f"{ratios.mean():.2f} ± {error:.2f}"
    return Row(f"{case.name}, {table.kind} rows", figure, goal, detail)

"""How large the evidence becomes by chance: run lengths by simulation from the reference.

Streams without a change are rows of the reference, drawn with replacement. First every component
gets its centre and scale at every window length, then its share of the false alarms; and then the
evidence of whole streams says how many rows pass, on average, until it first reaches a level b: the
run length ARL(b). Its logarithm is nearly a straight line in b, since b itself is the logarithm of
a rate; the line is fitted to levels that are reached hundreds of times and goes on beyond them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Vector
from kernelmean._work import compiling_pays
from kernelmean.compiled import threads
from kernelmean.compiled.window_evidence import BLOCK, Judge
from kernelmean.monitoring import plain_scan, windows
from kernelmean.monitoring.features import COMPONENTS, Features

DRAWS = 4000  # windows of each length whose quantiles are taken
NORMAL_ROWS = 64  # windows of more rows are as good as normal
UPPER = 0.995
UPPER_SCORE = 2.5758293035489004  # Φ⁻¹(UPPER)
LEAST_SCALE = 1e-3
ASKED = 2.0  # evidence that a component reaches more often than it is asked about
RARE = 2e-3  # how often evidence is reached at which components are compared
LEAST_TAIL = 0.8  # −log₁₀ Φ̄(1)
ROUNDING = 1e-6  # of a feature, whose standard deviation is about 1
# Of the false alarms, by component: a change of the mean is the one most often meant.
SHARES = {"linear": 0.45, "products": 0.2, "columns": 0.1, "wide": 0.15, "narrow": 0.1}
ALLOWANCE = 0.5  # of the standard error of the reference's means, in simulated streams
OFFSETS = 256  # draws of it
OFFSET_ROWS = 2000
SHARE_ROWS = 400_000  # of the streams that say how often each component alarms
FIRST_LEVEL = 1.0  # where the search for a level begins
PILOTS = 10  # steps of it, at most
PILOT_PASSAGES = 40  # of the level of each step
PILOT_ROWS = 40_000  # at least
LOWEST_LEVEL = 0.5  # as evidence below zero is not told apart
PILOT_REACH = 0.3  # in log₁₀ of a run length: from so near, the level is told by a straight line
LEAST_ROWS = 400_000
MOST_ROWS = 4_000_000  # of all simulated streams
PASSAGES = 300  # of the level that is sought
LEAST_PASSAGES = 20  # of a level that counts
TASKS = 16
STEP = 0.05  # between levels
LEVELS_BELOW = 12  # of them lie below the level that is sought, and
LEVELS_ABOVE = 3
LEAST_SLOPE = 0.25
# Of NumPy, for a feature of a simulated row: in the sum of a window, and in the evidence of all.
STEPS_OF_SUM = 2.0
STEPS_OF_EVIDENCE = 10.0
# Pieces of work that would pay for one loop: a monitor compiles five, and NumPy sums few features
# as fast as they do.
LOOPS = 30
TOGETHER = 4  # streams that NumPy watches at a time, on a thread of their own


@dataclass(frozen=True)
class RunLengths:
    """log₁₀ ARL(b) near the levels that were simulated, and by a straight line beyond them."""

    levels: Vector  # ascending
    log_lengths: Vector  # log₁₀ of the run length of each
    slope: float  # beyond the last

    def log_length(self, evidence: float) -> float:
        """log₁₀ of the expected number of rows to a false alarm at this level of evidence."""
        inside = float(np.interp(evidence, self.levels, self.log_lengths))
        above = max(evidence - self.levels[-1], 0.0)
        below = min(evidence - self.levels[0], 0.0)
        return max(inside + self.slope * float(above + below), 0.0)

    def level(self, log_length: float) -> float:
        """The evidence whose run length is this."""
        if log_length >= self.log_lengths[-1]:
            return float(self.levels[-1] + (log_length - self.log_lengths[-1]) / self.slope)
        if log_length <= self.log_lengths[0]:
            return float(self.levels[0] + (log_length - self.log_lengths[0]) / self.slope)
        return float(np.interp(log_length, self.log_lengths, self.levels))


def judge_of(
    table: Matrix, features: Features, longest: int, run_length: float, streams: Streams
) -> Judge:
    """How windows of up to ``longest`` rows are judged, by the (n, R) features of a reference.

    The run length decides nothing but whether streams are simulated by compiled loops.
    """
    lengths = windows.lengths(longest)
    centers = np.zeros((len(lengths), len(COMPONENTS)))
    scales = np.ones((len(lengths), len(COMPONENTS)))
    none = np.zeros(len(COMPONENTS))
    groups = windows.judged_by(features.starts, features.components, centers, scales, none)
    simulated = lengths[lengths <= 2 * NORMAL_ROWS].sum() * DRAWS * table.shape[1]
    compiled = compiling_pays(STEPS_OF_SUM * simulated / LOOPS)
    for i, rows in enumerate(lengths):
        if i and lengths[i - 1] >= NORMAL_ROWS:
            centers[i] = centers[i - 1]
            scales[i] = scales[i - 1]
            continue
        drawn = streams.of("monitor windows", i).integers(len(table), size=(DRAWS, rows))
        low, high = np.quantile(_roots(table, drawn, groups, compiled), [0.5, UPPER], axis=0)
        centers[i] = low
        scales[i] = np.maximum((high - low) / UPPER_SCORE, LEAST_SCALE)
    # The reference is a sample too: a window of new rows is off by 1/w + 1/n, not by 1/w, so that
    # cube roots are larger by (1 + w/n)^⅓. More than that is taken, so that the longest windows,
    # where it counts most, have few of the false alarms.
    wider = (1.0 + lengths / len(table))[:, None]
    found = (features.starts, features.components, centers * wider, scales * wider)
    plain = windows.judged_by(*found, none)
    return windows.judged_by(*found, _bonus(table, plain, run_length, streams))


def _roots(
    table: Matrix, drawn: NDArray[np.int64], groups: Judge, compiled: bool
) -> NDArray[np.float64]:
    """(windows, components): q_c^⅓ of windows of table rows."""
    if not compiled:
        return plain_scan.component_roots(table, drawn, groups)
    from kernelmean.compiled import window_scan

    roots = np.zeros((len(drawn), len(COMPONENTS)))
    tasks = [(table, drawn[part], groups, roots[part]) for part in threads.pieces(len(drawn))]
    threads.run(window_scan.component_roots, tasks, threads.default_count())
    return roots


def _bonus(table: Matrix, judge: Judge, run_length: float, streams: Streams) -> Vector:
    """What is added to the evidence of each component, so that it has its share of alarms.

    Tails are not quite normal, and windows overlap: without it the component of the heaviest tails
    would have nearly all of them. Evidence is then reached at a rate of about 10^{−evidence}.
    """
    evidence = _component_evidence(table, judge, streams, _compiled(table, run_length))
    reached = [
        np.quantile(evidence[c], 1.0 - RARE * SHARES[name]) for c, name in enumerate(COMPONENTS)
    ]
    bonus = -math.log10(RARE) - np.array(reached)
    # What never varies has the same evidence all the time, which is none.
    none = -math.log10(windows.longest(judge)) - LEAST_TAIL
    return np.where(_varies(table, judge), bonus, none)


def _component_evidence(
    table: Matrix, judge: Judge, streams: Streams, compiled: bool
) -> NDArray[np.float64]:
    """(components, blocks): evidence along streams of rows of the table, one after another."""
    each = SHARE_ROWS // TASKS
    chances = [streams.of("monitor shares", task) for task in range(TASKS)]
    drawn = _drawn(chances, len(table), each)
    judge = windows.above(judge, ASKED)
    if not compiled:
        found = np.zeros((len(COMPONENTS), TASKS, each // BLOCK))

        def watch(some: slice) -> None:
            found[:, some] = plain_scan.component_evidence(
                table, drawn[some], judge, windows.levels(judge)
            )

        threads.run(watch, _together(), threads.default_count())
        return found.reshape(len(COMPONENTS), -1)
    courses = np.zeros((TASKS, each // BLOCK, len(COMPONENTS)))
    never = np.array([np.inf])
    none = np.zeros((1, table.shape[1]))

    def simulate(task: int) -> None:
        _passages(table, judge, never, drawn[task], none, courses[task])

    threads.run(simulate, [(task,) for task in range(TASKS)], threads.default_count())
    return courses.reshape(-1, len(COMPONENTS)).T


def _rows(run_length: float) -> tuple[float, float]:
    """log₁₀ of the run length that streams are simulated for, and how many rows they have."""
    sought = min(math.log10(run_length), math.log10(MOST_ROWS / PASSAGES))
    return sought, max(LEAST_ROWS, PASSAGES * min(run_length, 10.0**sought))


def _compiled(table: Matrix, run_length: float) -> bool:
    """Whether streams of rows of the table are simulated by compiled loops."""
    return compiling_pays(STEPS_OF_EVIDENCE * _rows(run_length)[1] * table.shape[1] / LOOPS)


def _together() -> list[tuple[slice]]:
    """Streams by the task, whatever the number of threads."""
    return [(slice(start, start + TOGETHER),) for start in range(0, TASKS, TOGETHER)]


def _drawn(chances: list[np.random.Generator], n: int, each: int) -> IntVector:
    """(tasks, each): rows of a table of n, drawn with replacement."""
    return np.stack([rng.integers(n, size=each) for rng in chances])


def _varies(table: Matrix, judge: Judge) -> NDArray[np.bool_]:
    """(components,): whether any feature of a component is more than rounding."""
    largest = np.abs(table).max(axis=0)
    by_group = np.maximum.reduceat(largest, judge.starts[:-1])
    return np.array(
        [by_group[judge.component == c].max() > ROUNDING for c in range(len(COMPONENTS))]
    )


def threshold_of(lengths: RunLengths, run_length: float) -> float:
    """The evidence of an alarm: positive, even where evidence never is."""
    return max(lengths.level(math.log10(run_length)), LOWEST_LEVEL)


def run_lengths(table: Matrix, judge: Judge, run_length: float, streams: Streams) -> RunLengths:
    """The run lengths around the one that is asked for, by streams of rows of the table.

    Half of what the means of the reference are off by is allowed for, stream by stream. New rows
    meet all of it and rows of the reference none: so the run length holds, nearly, for both.
    """
    offsets = _offsets(table, streams.of("monitor offsets"))
    sought, most = _rows(run_length)
    compiled = _compiled(table, run_length)

    def simulated(top: float, rows: float, chance: Streams) -> RunLengths:
        levels = _around(top)
        higher = windows.above(judge, levels[0])
        return _smoothed(_watched(table, higher, levels, int(rows), offsets, chance, compiled))

    top = FIRST_LEVEL
    length = 0.0
    for step in range(PILOTS):
        # Runs end with the highest level, so that they climb from one that is reached soon.
        rows = max(PILOT_ROWS, PILOT_PASSAGES * 10.0 ** min(length + 1.0, sought))
        found = simulated(top, rows, streams.within("monitor pilot", step))
        length = found.log_length(top)
        top = min(max(found.level(sought), LOWEST_LEVEL), top + 1.0)
        if length > sought - PILOT_REACH:
            break
    return simulated(top, most, streams.within("monitor streams"))


def _around(top: float) -> Vector:
    """Levels that are simulated to know the run length of one."""
    return top + STEP * np.arange(-LEVELS_BELOW, LEVELS_ABOVE, dtype=np.float64)


def _offsets(table: Matrix, rng: np.random.Generator) -> Matrix:
    """Draws of ALLOWANCE times the error of the means of the reference, (OFFSETS, R)."""
    some = table[:OFFSET_ROWS]
    deviations = rng.normal(size=(OFFSETS, len(some))) @ (some - some.mean(axis=0))
    return np.asarray(ALLOWANCE * deviations / math.sqrt(len(some) * len(table)))


class _Passages(NamedTuple):
    levels: Vector  # ascending
    watched: Vector  # (levels,) rows until each level, over all runs
    reached: Vector  # (levels,) runs that reached it

    @property
    def log_lengths(self) -> Vector:
        """log₁₀ of the rows watched before a level over the times that it was reached."""
        return np.log10(self.watched / np.maximum(self.reached, 1.0))

    def known(self) -> _Passages:
        """Levels that were reached often enough to tell; the three lowest at least."""
        least = min(LEAST_PASSAGES, float(np.sort(self.reached)[-3]))
        return _Passages(*(own[self.reached >= least] for own in self))


def _watched(
    table: Matrix,
    judge: Judge,
    levels: Vector,
    rows: int,
    offsets: Matrix,
    streams: Streams,
    compiled: bool,
) -> _Passages:
    """Runs one after another, over so many rows in all."""
    each = max(1, rows // TASKS)
    shifted = [np.roll(offsets, -task * (OFFSETS // TASKS), axis=0) for task in range(TASKS)]
    chances = [streams.of("monitor rows", task) for task in range(TASKS)]
    if compiled:
        found: list[_Passages | None] = [None] * TASKS

        def simulate(task: int) -> None:
            drawn = chances[task].integers(len(table), size=each)
            found[task] = _passages(table, judge, levels, drawn, shifted[task])

        threads.run(simulate, [(task,) for task in range(TASKS)], threads.default_count())
        several = [own for own in found if own is not None]
    else:
        drawn = _drawn(chances, len(table), each)
        runs: list[tuple[IntVector, int]] = [(drawn[0], 0)] * TASKS

        def watch(some: slice) -> None:
            runs[some] = plain_scan.first_passages(
                table, drawn[some], np.stack(shifted[some]), levels, judge, windows.levels(judge)
            )

        threads.run(watch, _together(), threads.default_count())
        several = [_counted(levels, *own) for own in runs]
    watched = np.sum([own.watched for own in several], axis=0)
    reached = np.sum([own.reached for own in several], axis=0)
    return _Passages(levels, watched, reached).known()


def _passages(
    table: Matrix,
    judge: Judge,
    levels: Vector,
    rows: IntVector,
    offsets: Matrix,
    courses: Matrix | None = None,
) -> _Passages:
    """Runs over some rows by a compiled loop.

    ``courses`` (blocks, components) gets the evidence of each component.
    """
    from kernelmean.compiled import window_scan

    courses = np.zeros((0, len(COMPONENTS))) if courses is None else courses
    times = np.zeros((len(rows) // BLOCK + 1, len(levels)), dtype=np.int64)
    run, left = window_scan.first_passages(
        table, rows, offsets, levels, judge, windows.empty_blocks(judge), times, courses
    )
    return _counted(levels, times[: run + 1], left)


def _counted(levels: Vector, times: NDArray[np.int64], left: int) -> _Passages:
    """What (runs, levels) say."""
    # The last run ended without the highest level: its rows were watched all the same.
    watched = times[:-1].sum(axis=0) + np.where(times[-1] > 0, times[-1], left)
    return _Passages(levels, watched.astype(np.float64), (times > 0).sum(axis=0).astype(np.float64))


def _smoothed(found: _Passages) -> RunLengths:
    """Neighbouring levels share their chance: a parabola through them has less of it."""
    levels = found.levels
    middle = levels.mean()
    degree = 2 if len(levels) > 5 else 1
    fitted = np.polynomial.Polynomial.fit(levels - middle, found.log_lengths, degree)
    smooth = np.maximum.accumulate(fitted(levels - middle))
    slope = max(float(fitted.deriv()(levels[-1] - middle)), LEAST_SLOPE)
    return RunLengths(levels, smooth, slope)

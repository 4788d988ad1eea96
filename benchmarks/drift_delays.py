"""How many rows the drift monitor and its peers need to see a change, at equal run lengths.

The tables are on the page of `benchmarks.monitor`; changes are in `benchmarks.drift_sets`, peers in
`benchmarks.drift_peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import kernelmean as km
from benchmarks.drift_peers import MMDEW, OnlineRFFMMD, calibrated, delays
from benchmarks.drift_sets import BASES, Change, changes
from benchmarks.measuring import Row
from kernelmean.compiled import threads
from kernelmean.monitoring.windows import Windows

HISTORY = 2000  # rows of the reference
WINDOW = 200
RUN_LENGTHS = (1000, 10_000)
DIMENSIONS = (2, 10, 50)
BEFORE, AFTER = 256, 1024  # watched rows of a stream with a change
NULL_ROWS = 5000  # of one without
SEED = 2026
UNSEEN = 0.02  # a share of streams without an alarm from which a delay is only a lower bound
OURS = "ours"


class Sizes(NamedTuple):
    """How much is simulated for a law."""

    references: int = 10
    nulls: int = 30  # streams of each reference
    streams: int = 27  # of each reference and change, of which about a fifth have a false alarm


MANY = Sizes()
FEWER = Sizes(references=5, streams=40)
BATCH = 32  # rows


class Ours:
    """The monitor as its peers are: a statistic after each row of a stream."""

    def __init__(self, history: np.ndarray, *, seed: int = 0, run_length: int = RUN_LENGTHS[0]):
        self.monitor = km.DriftMonitor(
            history, run_length=run_length, window=WINDOW, random_state=seed
        )

    def statistics(self, stream: np.ndarray) -> np.ndarray:
        """The evidence after each row; −∞ after rows that complete no block."""
        baseline = self.monitor.state.baseline
        windows = Windows.empty(baseline.judge)
        Z = baseline.features(stream)
        return windows.add(Z, baseline.judge, np.inf, compiled=True).evidence

    def change_row(self, stream: np.ndarray) -> float:
        """With which row the change begins, by the first alarm; NaN if that is false or none."""
        self.monitor.reset()
        start = self.monitor.n_seen
        for first in range(0, len(stream), BATCH):
            alarm = self.monitor.update(stream[first : first + BATCH])
            if alarm is not None:
                return alarm.change - start if alarm.row - start >= BEFORE else np.nan
        return np.nan


DETECTORS: dict[str, Callable] = {OURS: Ours, "online RFF-MMD": OnlineRFFMMD, "MMDEW": MMDEW}


class Simulated(NamedTuple):
    """Statistics of all detectors."""

    nulls: dict[str, np.ndarray]  # (streams, NULL_ROWS)
    changed: list[dict[str, np.ndarray]]  # of each change, (streams, BEFORE + AFTER)


@cache
def simulated(base: str, d: int, sizes: Sizes) -> Simulated:
    """All references of one law, two at a time, as there are cores."""
    kinds = changes(base, d)
    found: list[tuple] = [()] * sizes.references

    def one(reference: int) -> None:
        found[reference] = _of_reference(base, d, kinds, reference, sizes)

    with threadpool_limits(1):
        threads.run(one, [(i,) for i in range(sizes.references)], threads.default_count())
    nulls, changed = zip(*found, strict=True)
    joined = [_joined([own[c] for own in changed]) for c in range(len(kinds))]
    return Simulated(_joined(nulls), joined)


def _joined(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in DETECTORS}


def _of_reference(base: str, d: int, kinds: list[Change], reference: int, sizes: Sizes) -> tuple:
    """The same streams for all detectors, which have the same history."""
    law = BASES[base](d)
    rng = np.random.default_rng([SEED, d, reference])
    history = law(HISTORY, rng)
    detectors = {name: make(history, seed=reference) for name, make in DETECTORS.items()}
    null_streams = [law(NULL_ROWS, rng) for _ in range(sizes.nulls)]
    changed = []
    for change in kinds:
        streams = [_changed(law, d, change, rng) for _ in range(sizes.streams)]
        changed.append(_statistics(detectors, streams))
    return _statistics(detectors, null_streams), changed


def _changed(law: Callable, d: int, change: Change, rng: np.random.Generator) -> np.ndarray:
    way = rng.normal(size=d)
    way /= np.linalg.norm(way)
    return np.concatenate([law(BEFORE, rng), change.rows(law, AFTER, rng, way)])


def _statistics(detectors: dict, streams: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {
        name: np.array([own.statistics(stream) for stream in streams])
        for name, own in detectors.items()
    }


class Delay(NamedTuple):
    """Of one detector: mean rows to the alarm, its standard error, and what that is of."""

    mean: float
    error: float
    streams: int
    unseen: float  # share of streams without an alarm

    def __str__(self) -> str:
        least = "≥ " if self.unseen > UNSEEN else ""
        return f"{least}{self.mean:.1f} ± {self.error:.1f}"


def mean_delay(statistics: np.ndarray, threshold: float) -> Delay:
    """Over the streams without an earlier alarm."""
    found = delays(statistics, threshold, BEFORE)
    unseen = (statistics[:, BEFORE:] <= threshold).all(axis=1).sum() / max(len(found), 1)
    error = found.std() / np.sqrt(max(len(found) - 1, 1))
    return Delay(float(found.mean()), float(error), len(found), float(unseen))


def contests(
    run_length: int,
    bases: Sequence[str] = tuple(BASES),
    dimensions: Sequence[int] = DIMENSIONS,
    sizes: Sizes = MANY,
) -> Iterator[Row]:
    """Our mean delay over that of the best peer, for each change."""
    ratios = []
    for base in bases:
        for d in dimensions:
            found = simulated(base, d, sizes)
            thresholds = {name: calibrated(own, run_length) for name, own in found.nulls.items()}
            for change, own in zip(changes(base, d), found.changed, strict=True):
                mean = {name: mean_delay(own[name], thresholds[name]) for name in DETECTORS}
                best = min((n for n in mean if n != OURS), key=lambda n: mean[n].mean)
                ratio, error = _ratio(mean[OURS], mean[best])
                ratios.append((ratio, error))
                words = ", ".join(f"{name} {mean[name]}" for name in DETECTORS)
                yield Row(
                    f"{change.kind} {change.size:g}, {base}, d = {d}",
                    f"{ratio:.2f} ± {error:.2f}",
                    "≤ 1",
                    f"{words}; {mean[OURS].streams} streams",
                )
    yield _summary(np.array(ratios))


def _ratio(ours: Delay, peer: Delay) -> tuple[float, float]:
    ratio = ours.mean / peer.mean
    return ratio, ratio * float(np.hypot(ours.error / ours.mean, peer.error / peer.mean))


def _summary(ratios: np.ndarray) -> Row:
    above = int((ratios[:, 0] > 1.0).sum())
    clearly = int((ratios[:, 0] - 2.0 * ratios[:, 1] > 1.0).sum())
    mean = np.exp(np.log(ratios[:, 0]).mean())
    detail = (
        f"{above} of {len(ratios)} above 1, {clearly} of them by more than two standard errors; "
        f"largest {ratios[:, 0].max():.2f}"
    )
    return Row("geometric mean", f"{mean:.2f}", "≤ 1", detail)


def change_rows(
    bases: Sequence[str] = tuple(BASES),
    dimensions: Sequence[int] = DIMENSIONS,
    sizes: Sizes = FEWER,
) -> Iterator[Row]:
    """How far the estimated row of a change is from the true one, at our own threshold."""
    for base in bases:
        for d in dimensions:
            kinds = changes(base, d)
            found = np.full((len(kinds), sizes.references, sizes.streams), np.nan)
            tasks = [(base, d, i, found[:, i]) for i in range(sizes.references)]
            threads.run(_ask_change_rows, tasks, threads.default_count())
            for change, rows in zip(kinds, found, strict=True):
                case = f"{change.kind} {change.size:g}, {base}, d = {d}"
                yield _change_row(case, rows[~np.isnan(rows)] - BEFORE)


def _ask_change_rows(base: str, d: int, reference: int, out: np.ndarray) -> None:
    """``out`` (changes, streams) gets the estimated rows, of one reference."""
    law = BASES[base](d)
    rng = np.random.default_rng([SEED, d, reference, 1])
    ours = Ours(law(HISTORY, rng), seed=reference)
    for change, own in zip(changes(base, d), out, strict=True):
        own[:] = [ours.change_row(_changed(law, d, change, rng)) for _ in own]


def _change_row(case: str, errors: np.ndarray) -> Row:
    if not len(errors):
        return Row(case, None, "–", "no alarm after the change")
    low, middle, high = np.quantile(errors, [0.1, 0.5, 0.9])
    detail = (
        f"{middle:+.0f} rows in the middle, 80 % between {low:+.0f} and {high:+.0f}; "
        f"{len(errors)} alarms"
    )
    return Row(case, f"{np.median(np.abs(errors)):.0f}", "–", detail)

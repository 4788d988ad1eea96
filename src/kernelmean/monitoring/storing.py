"""A monitor in one file, and back: the format is that of :mod:`kernelmean.mean.storage`.

Arrays hold what is known of the reference, sums and rows of the stream, and the latest alarm; words
and short numbers are in the header. A monitor that is read goes on exactly.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kernelmean._random import Streams
from kernelmean.files import transforms
from kernelmean.mean import storage
from kernelmean.monitoring.alarm import Alarm
from kernelmean.monitoring.calibration import RunLengths
from kernelmean.monitoring.features import COMPONENTS, Features, KernelFeatures
from kernelmean.monitoring.latest import BUCKETS, History, LatestRows
from kernelmean.monitoring.monitor import DriftMonitor
from kernelmean.monitoring.reference import Baseline
from kernelmean.monitoring.scores import NormalScores
from kernelmean.monitoring.state import State
from kernelmean.monitoring.windows import Windows, judged_by

KIND = "drift monitor"
PLAIN = ("center", "directions", "pairs", "shift", "factor", "atoms")  # of Features
ALARM_NUMBERS = ("statistic", "threshold", "p_value")
NUMBERS = ("run_length", "threshold", "slope", "statistic")
Arrays = storage.Arrays


def save(monitor: DriftMonitor, path: str | os.PathLike[str]) -> None:
    """Write it beside the target and rename."""
    state = monitor.state
    baseline = state.baseline
    header: dict[str, Any] = {
        "kind": KIND,
        "window": monitor.window,
        "columns": None if monitor.columns is None else list(monitor.columns),
        "transform": monitor.transform,
        "chance": [str(state.streams.entropy), list(state.streams.key)],
        "rebases": state.rebases,
        "reference": baseline.n_points,
        "tested": state.windows.seen,
        "seen": state.latest.seen,
        "course": state.history.width,
        "collecting": state.collecting_since,
        "alarm": None if state.alarm is None else _alarm_words(state.alarm),
    }
    slope = baseline.run_lengths.slope
    numbers = [monitor.run_length, baseline.threshold, slope, state.statistic]
    arrays = {"numbers": np.array(numbers), **_baseline_arrays(baseline), **_stream_arrays(state)}
    storage.write(path, header, arrays)


def _baseline_arrays(baseline: Baseline) -> Arrays:
    features = baseline.features
    arrays = {name: getattr(features, name) for name in PLAIN}
    arrays |= {f"scores/{name}": a for name, a in features.scores._asdict().items()}
    for i, own in enumerate(features.kernels):
        arrays |= {f"kernel {i}/weights": own.weights, f"kernel {i}/mean": own.mean}
    arrays["bandwidths"] = np.array([own.bandwidth for own in features.kernels])
    judge = baseline.judge
    arrays |= {"centers": judge.centers, "scales": judge.scales, "bonus": judge.bonus}
    lengths = baseline.run_lengths
    arrays |= {"levels": lengths.levels, "log_lengths": lengths.log_lengths}
    return arrays | {"reference": baseline.rows}


def _stream_arrays(state: State) -> Arrays:
    arrays: Arrays = {
        "current": state.windows.current,
        "blocks": state.windows.blocks,
        "latest": state.latest.ring,
        "history": state.history.largest,
    }
    if state.alarm is not None:
        alarm = state.alarm
        arrays["alarm/numbers"] = np.array([getattr(alarm, name) for name in ALARM_NUMBERS])
        arrays |= {"alarm/window": alarm.window, "alarm/reference": alarm.reference}
    return arrays


def _alarm_words(alarm: Alarm) -> dict[str, Any]:
    return {
        "row": alarm.row,
        "change": alarm.change,
        "component": alarm.component,
        "key": list(alarm.streams.key),
    }


def unpacked(header: dict[str, Any], arrays: Arrays) -> DriftMonitor:
    """What a header and arrays hold; any error says that they hold nothing."""
    names = header["columns"]
    columns = None if names is None else tuple(str(name) for name in names)
    numbers = dict(zip(NUMBERS, arrays["numbers"].tolist(), strict=True))
    baseline = _baseline(header, arrays, numbers)
    window = int(header["window"])
    d = baseline.features.dimension
    if columns is not None and len(columns) != d:
        raise ValueError("there is not one name per column")
    transforms.parse(header["transform"])
    entropy, key = header["chance"]
    streams = Streams(int(entropy), tuple(int(part) for part in key))
    since = header["collecting"]
    state = State(
        streams,
        baseline,
        _windows(header, arrays, baseline),
        LatestRows(_shaped(arrays, "latest", (window, d)).copy(), int(header["seen"])),
        _history(header, arrays),
        int(header["rebases"]),
        None if since is None else int(since),
        float(numbers["statistic"]),
        _alarm(header["alarm"], arrays, columns, streams.entropy),
    )
    return DriftMonitor._restored(
        float(numbers["run_length"]), window, columns, header["transform"], state
    )


def _shaped(arrays: Arrays, name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if arrays[name].shape != shape:
        raise ValueError(f"{name} has shape {arrays[name].shape}, not {shape}")
    return arrays[name]


def _baseline(header: dict[str, Any], arrays: Arrays, numbers: dict[str, float]) -> Baseline:
    features = _features(arrays)
    windows = len(arrays["centers"])
    shape = (windows, len(COMPONENTS))
    judge = judged_by(
        features.starts,
        features.components,
        _shaped(arrays, "centers", shape),
        _shaped(arrays, "scales", shape),
        _shaped(arrays, "bonus", shape[1:]),
    )
    lengths = RunLengths(
        arrays["levels"],
        _shaped(arrays, "log_lengths", arrays["levels"].shape),
        float(numbers["slope"]),
    )
    rows = _shaped(arrays, "reference", (len(arrays["reference"]), features.dimension))
    return Baseline(
        features, judge, lengths, float(numbers["threshold"]), rows, int(header["reference"])
    )


def _features(arrays: Arrays) -> Features:
    scores = NormalScores(*(arrays[f"scores/{name}"] for name in NormalScores._fields))
    d = len(arrays["center"])
    _shaped(arrays, "scores/knots", (d, scores.knots.shape[1]))
    _shaped(arrays, "scores/scores", scores.knots.shape)
    k = len(arrays["atoms"])
    p = arrays["pairs"].shape[1]
    _shaped(arrays, "atoms", (k, d))
    _shaped(arrays, "directions", (d, arrays["directions"].shape[1]))
    if arrays["pairs"].min() < 0 or arrays["pairs"].max() >= arrays["directions"].shape[1]:
        raise ValueError("a product is made of what is not there")
    for name in ("shift", "factor"):
        _shaped(arrays, name, (3 * d + p,))
    kernels = tuple(
        KernelFeatures(
            float(sigma),
            _shaped(arrays, f"kernel {i}/weights", (k, len(arrays[f"kernel {i}/mean"]))),
            arrays[f"kernel {i}/mean"],
        )
        for i, sigma in enumerate(arrays["bandwidths"])
    )
    plain = {name: arrays[name] for name in PLAIN}
    return Features(scores=scores, kernels=kernels, **plain)


def _windows(header: dict[str, Any], arrays: Arrays, baseline: Baseline) -> Windows:
    empty = Windows.empty(baseline.judge)
    return Windows(
        int(header["tested"]),
        _shaped(arrays, "current", empty.current.shape).copy(),
        _shaped(arrays, "blocks", empty.blocks.shape).copy(),
    )


def _history(header: dict[str, Any], arrays: Arrays) -> History:
    largest = _shaped(arrays, "history", (BUCKETS,)).copy()
    return History(int(header["course"]), largest, int(header["seen"]))


def _alarm(
    words: dict[str, Any] | None, arrays: Arrays, columns: tuple[str, ...] | None, entropy: int
) -> Alarm | None:
    if words is None:
        return None
    if words["component"] not in COMPONENTS:
        raise ValueError(f"unknown component {words['component']!r}")
    statistic, threshold, p_value = (float(number) for number in arrays["alarm/numbers"])
    return Alarm(
        row=int(words["row"]),
        change=int(words["change"]),
        statistic=statistic,
        threshold=threshold,
        p_value=p_value,
        component=words["component"],
        window=arrays["alarm/window"],
        reference=arrays["alarm/reference"],
        columns=columns,
        streams=Streams(entropy, tuple(int(part) for part in words["key"])),
    )

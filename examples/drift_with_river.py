"""The drift monitor as a detector of river, beside river's own.

river (``pip install river``) learns from one row at a time, and its drift detectors take one number
at a time: ``update(x)``, then ``drift_detected``. ``kernelmean.integrations.river`` makes
``km.DriftMonitor`` one of them. It takes a number, as river's detectors do, so that it can stand in
``drift.DriftRetrainingClassifier``; or a whole row as a dict of features, so that it also sees
changes of several features together, which no detector of single numbers can see.

    python examples/drift_with_river.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

ROWS = 2000  # before the change, and as many after it
CHANGES = 3  # of the stream
COLUMNS = ("load", "speed", "temperature")


def rows(rng: np.random.Generator, coupling: float) -> list[dict[str, float]]:
    """Readings of a machine whose speed follows its load; each column alone never changes."""
    load, noise, temperature = rng.normal(size=(3, ROWS))
    speed = coupling * load + np.sqrt(1.0 - coupling**2) * noise
    table = np.column_stack([load, speed, temperature])
    return [dict(zip(COLUMNS, row, strict=True)) for row in table.tolist()]


def features(drift) -> None:
    """Features whose correlation changes: river's detectors, one for each feature, and ours."""
    from kernelmean.integrations.river import KernelMeanDrift

    rng = np.random.default_rng(0)
    stream = [row for part in range(CHANGES + 1) for row in rows(rng, 0.7 * (-1) ** part)]
    ours = KernelMeanDrift()
    theirs = {name: {c: make() for c in COLUMNS} for name, make in drift.items()}
    found: dict[str, list[int]] = {"kernelmean": [], **{name: [] for name in drift}}
    since = []
    for i, row in enumerate(stream):
        ours.update(row)
        if ours.drift_detected:
            found["kernelmean"].append(i)
            since.append((ours.change, ours.alarm.component))
        for name, detectors in theirs.items():
            for column, detector in detectors.items():
                detector.update(row[column])
            if any(detector.drift_detected for detector in detectors.values()):
                found[name].append(i)
    true = [ROWS * (part + 1) for part in range(CHANGES)]
    print(f"{len(stream)} rows, whose correlation changes at rows {true}; no feature alone does")
    for name, alarms in found.items():
        print(f"    {name:12} {len(alarms)} alarms, at rows {alarms[:4]}{' …' * (len(alarms) > 4)}")
    print(f"    kernelmean says since when, and in what: {since}")


def labelled(rng: np.random.Generator) -> Iterator[tuple[dict[str, float], bool]]:
    """Rows with labels; how the label depends on them changes in the middle, they do not."""
    for i in range(4 * ROWS):
        a, b, noise = rng.normal(size=3).tolist()
        sign = 1.0 if i < 2 * ROWS else -1.0
        yield {"a": a, "b": b}, a + sign * b + 0.5 * noise > 0.0


def retraining() -> None:
    """A classifier that starts afresh where its errors change: detectors are given 0 and 1."""
    from river import drift, evaluate, linear_model, metrics

    from kernelmean.integrations.river import KernelMeanDrift

    detectors = {
        "none": drift.NoDrift(),
        "kernelmean": KernelMeanDrift(),
        "river ADWIN": drift.ADWIN(),
        "river KSWIN": drift.KSWIN(seed=0),
    }
    print(f"accuracy over {4 * ROWS} rows of a classifier that starts afresh at every alarm")
    for name, detector in detectors.items():
        model = drift.DriftRetrainingClassifier(
            linear_model.LogisticRegression(), detector, train_in_background=False
        )
        stream = labelled(np.random.default_rng(0))
        accuracy = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
        print(f"    {name:12} {accuracy.get():.3f}")


def main() -> int:
    try:
        from river import drift
    except ModuleNotFoundError:
        print(
            "This example makes a detector of river, which is not installed: pip install river",
            file=sys.stderr,
        )
        return 1
    features({"river ADWIN": drift.ADWIN, "river KSWIN": lambda: drift.KSWIN(seed=0)})
    retraining()
    return 0


if __name__ == "__main__":
    sys.exit(main())

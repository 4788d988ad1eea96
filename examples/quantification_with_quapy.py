"""Class proportions in QuaPy's evaluation protocol, beside QuaPy's own methods.

QuaPy (``pip install quapy``) draws test samples over a grid of proportions (the artificial
prevalence protocol, APP) and measures each method's error. ``km.ClassProportions`` takes part
through ``fit`` and ``predict``, without an adapter.

    python examples/quantification_with_quapy.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import kernelmean as km

CLASSES = 5
SAMPLE_SIZE = 100
GRID = 6  # proportions 0, .2, …, 1 of each class, in all combinations that sum to one


def classifier() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def methods(aggregative) -> dict[str, object]:
    """Ours on pixels and on posteriors, and QuaPy's from the simplest to its best."""
    return {
        "kernelmean, pixels": km.ClassProportions(random_state=0),
        "kernelmean, pixels, full means": km.ClassProportions(sparse=False, random_state=0),
        "kernelmean, posteriors": km.ClassProportions(representation=classifier(), random_state=0),
        "kernelmean, posteriors, moments": km.ClassProportions(
            representation=classifier(), solver="moments", random_state=0
        ),
        "QuaPy CC (classify and count)": aggregative.CC(classifier()),
        "QuaPy PACC": aggregative.PACC(classifier()),
        "QuaPy EMQ": aggregative.EMQ(classifier()),
        "QuaPy KDEyML": aggregative.KDEyML(classifier()),
    }


def main() -> int:
    try:
        import quapy
        from quapy.method import aggregative
    except ModuleNotFoundError:
        print(
            "This example compares with QuaPy, which is not installed: pip install quapy",
            file=sys.stderr,
        )
        return 1
    X, y = load_digits(return_X_y=True)
    X, y = X[y < CLASSES] / 16.0, y[y < CLASSES]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    quapy.environ["SAMPLE_SIZE"] = SAMPLE_SIZE
    pool = quapy.data.LabelledCollection(X_test, y_test, classes=np.arange(CLASSES))
    protocol = quapy.protocol.APP(
        pool, sample_size=SAMPLE_SIZE, n_prevalences=GRID, repeats=1, random_state=0
    )
    print(
        f"digits 0–{CLASSES - 1}: {len(y)} training images, {protocol.total()} samples of "
        f"{SAMPLE_SIZE}"
    )
    print(f"{'method':34} {'ℓ1 error':>9} {'fit':>8} {'evaluate':>9}")
    for name, model in methods(aggregative).items():
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        absolute = quapy.evaluation.evaluate(
            model, protocol, error_metric="mae"
        )  # mean over classes of |π − π̂|
        done = time.perf_counter()
        print(
            f"{name:34} {absolute * CLASSES:9.4f} {fitted - start:7.2f}s {done - fitted:8.2f}s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

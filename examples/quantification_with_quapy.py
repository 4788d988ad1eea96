"""Class proportions in QuaPy's evaluation protocols, beside QuaPy's own methods.

QuaPy (``pip install quapy``) draws test samples: over a grid of prevalences (APP), uniformly from
all prevalences (UPP), or as the pool has them (NPP). Its error measures then compare estimates
with the truth. ``km.ClassProportions`` has the ``fit`` and ``predict`` that protocols call;
``kernelmean.integrations.quapy`` makes it one of QuaPy's quantifiers as well, so that
``GridSearchQ`` and whatever else asks for a ``BaseQuantifier`` takes it.

    python examples/quantification_with_quapy.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

CLASSES = 5
SAMPLE_SIZE = 100
GRID = 4  # APP: prevalences 0, ⅓, ⅔, 1 of each class, in all combinations that sum to one
REPEATS = 30  # samples of UPP and NPP
MEASURES = ("mae", "mrae")  # mean absolute and mean relative absolute error


def classifier() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def methods(aggregative) -> dict[str, object]:
    """Ours by default, with a classifier and on pixels, and QuaPy's from the simplest to its
    best.
    """
    from kernelmean.integrations.quapy import KernelMeanQuantifier as Ours

    return {
        "kernelmean": Ours(random_state=0),
        "kernelmean, logistic regression": Ours(representation=classifier(), random_state=0),
        "kernelmean, pixels": Ours(representation="raw", random_state=0),
        "QuaPy CC (classify and count)": aggregative.CC(classifier()),
        "QuaPy PACC": aggregative.PACC(classifier()),
        "QuaPy EMQ": aggregative.EMQ(classifier()),
        "QuaPy KDEyML": aggregative.KDEyML(classifier()),
    }


def protocols(quapy, X, y) -> dict[str, object]:
    """QuaPy's three ways of drawing samples from a pool with labels."""
    pool = quapy.data.LabelledCollection(X, y, classes=np.arange(CLASSES))
    how = {"sample_size": SAMPLE_SIZE, "random_state": 0}
    return {
        "APP": quapy.protocol.APP(pool, n_prevalences=GRID, repeats=1, **how),
        "UPP": quapy.protocol.UPP(pool, repeats=REPEATS, **how),
        "NPP": quapy.protocol.NPP(pool, repeats=REPEATS, **how),
    }


def errors(quapy, model, protocol) -> list[float]:
    """Each of the measures; the relative one is smoothed as QuaPy advises."""
    truth, estimate = quapy.evaluation.prediction(model, protocol)
    return [float(quapy.error.from_name(name)(truth, estimate)) for name in MEASURES]


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
    quapy.environ["SAMPLE_SIZE"] = SAMPLE_SIZE  # what smooths relative errors
    X, y = load_digits(return_X_y=True)
    X, y = X[y < CLASSES] / 16.0, y[y < CLASSES]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    drawn = protocols(quapy, X_test, y_test)
    counts = ", ".join(f"{protocol.total()} by {name}" for name, protocol in drawn.items())
    print(f"digits 0–{CLASSES - 1}: {len(y)} training images; samples of {SAMPLE_SIZE}: {counts}")
    columns = [f"{name} {measure}" for name in drawn for measure in MEASURES]
    print(f"{'method':32}", *(f"{column:>9}" for column in columns), f"{'seconds':>8}")
    for name, model in methods(aggregative).items():
        start = time.perf_counter()
        model.fit(X, y)
        found = [error for protocol in drawn.values() for error in errors(quapy, model, protocol)]
        spent = time.perf_counter() - start
        print(f"{name:32}", *(f"{error:9.4f}" for error in found), f"{spent:8.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

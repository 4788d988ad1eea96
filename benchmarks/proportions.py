"""Class proportions: beside QuaPy's methods by default (`benchmarks.quantification`); then kernel
means of the points themselves, as in the paper: ℓ1 errors on handwritten digits, and what the
bandwidth search costs with sparse and full means.

``python -m benchmarks.proportions [names]`` prints the tables; MNIST is read from KERNELMEAN_DATA
where that is set.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import kernelmean as km
from benchmarks import quantification
from benchmarks.measuring import DATA, Row, run, seconds
from kernelmean._random import Streams
from kernelmean.proportions import means, searching

CLASSES = 5
CONCENTRATIONS = (0.1, 1.0, 3.1)
# Kernel means of the points, and the nearest mixture of them, unless a method says otherwise.
POINTS: dict[str, Any] = {"representation": None, "solver": "qp"}
POSTERIORS = POINTS | {"representation": LogisticRegression(max_iter=2000, tol=1e-3)}
METHODS: dict[str, dict[str, Any]] = {
    "full means": POINTS | {"sparse": False},
    "sparse means": POINTS,
    "sparse means, paper's solver": POINTS | {"solver": "paper", "sparse_test": True},
    "sparse means, random centres": POINTS | {"selection": "random"},
    "sparse means, moments": POINTS | {"solver": "moments"},
    "posteriors, sparse means": POSTERIORS,
    "posteriors, sparse means, moments": POSTERIORS | {"solver": "moments"},
}


class Split(NamedTuple):
    """Training points with labels, and a pool from which test samples are drawn."""

    X: np.ndarray
    y: np.ndarray
    pool: np.ndarray
    pool_labels: np.ndarray


def digits(seed: int) -> Split:
    """scikit-learn's digits 0–4: 450 to learn from, the rest to draw from."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < CLASSES] / 16.0, y[y < CLASSES]
    order = np.random.default_rng(seed).permutation(len(y))
    first, rest = order[:450], order[450:]
    return Split(X[first], y[first], X[rest], y[rest])


def mnist(seed: int, size: int | None = None) -> Split | None:
    """MNIST 0–4: training images (some or all) and test images; None where the files are absent."""
    folder = Path(DATA) / "mnist"
    if not folder.is_dir():
        return None
    parts = []
    for kind in ("train", "t10k"):
        X = np.frombuffer(
            gzip.decompress((folder / f"{kind}-images-idx3-ubyte.gz").read_bytes()),
            np.uint8,
            offset=16,
        )
        y = np.frombuffer(
            gzip.decompress((folder / f"{kind}-labels-idx1-ubyte.gz").read_bytes()),
            np.uint8,
            offset=8,
        )
        parts.append((X.reshape(-1, 784)[y < CLASSES] / 255.0, y[y < CLASSES].astype(int)))
    (X, y), (pool, labels) = parts
    chosen = np.random.default_rng(seed).permutation(len(y))[:size]
    return Split(X[chosen], y[chosen], pool, labels)


def samples(
    split: Split, size: int, count: int, omega: float, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Samples of the pool with Dirichlet(ω) proportions, and their true proportions."""
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(split.pool_labels == c) for c in range(CLASSES)]
    drawn = []
    for _ in range(count):
        counts = rng.multinomial(size, rng.dirichlet(np.full(CLASSES, omega)))
        rows = np.concatenate([rng.choice(m, n) for m, n in zip(members, counts, strict=True)])
        drawn.append((split.pool[rows], counts / size))
    return drawn


def l1(
    estimate: Callable[[np.ndarray], np.ndarray], drawn: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[float]:
    return [float(np.abs(estimate(sample) - truth).sum()) for sample, truth in drawn]


def blind(seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """The paper's yardstick: proportions drawn uniformly, without a look at the sample."""
    rng = np.random.default_rng(seed)
    return lambda sample: rng.dirichlet(np.ones(CLASSES))


def errors(
    splits: Sequence[Split], size: int, count: int, methods: dict[str, dict[str, Any]]
) -> list[Row]:
    """ℓ1 errors over splits, concentrations and samples; the ratio says how much smaller they are
    than those of blind guesses.
    """
    cases = [
        (
            split,
            [
                s
                for i, omega in enumerate(CONCENTRATIONS)
                for s in samples(split, size, count, omega, 10 * r + i)
            ],
        )
        for r, split in enumerate(splits)
    ]
    guessed = np.concatenate([l1(blind(r), drawn) for r, (_, drawn) in enumerate(cases)])
    base = float(np.median(guessed))
    rows = [Row("blind", 1.0, "–", f"ℓ1 median {base:.4f}, mean {guessed.mean():.4f}")]
    for name, options in methods.items():
        start, found = time.perf_counter(), []
        for r, (split, drawn) in enumerate(cases):
            model = km.ClassProportions(random_state=r, **options).fit(split.X, split.y)
            found += l1(model.predict, drawn)
        clock = (time.perf_counter() - start) / len(cases)
        detail = (
            f"ℓ1 median {np.median(found):.4f}, mean {np.mean(found):.4f}; {clock:.1f} s to "
            f"fit and predict {len(cases[0][1])} samples"
        )
        rows.append(Row(name, base / float(np.median(found)), "≫ 1", detail))
    return rows


def digit_errors() -> list[Row]:
    """Digits 0–4, samples of 200."""
    return errors([digits(seed) for seed in range(4)], 200, 10, METHODS)


def mnist_errors() -> list[Row]:
    """MNIST 0–4, 3000 training images, samples of 1000."""
    split = mnist(0, 3000)
    if split is None:
        return [Row("MNIST 0–4", None, "–", "data not at hand")]
    return errors(
        [split], 1000, 10, {name: METHODS[name] for name in METHODS if "random" not in name}
    )


def search_time() -> list[Row]:
    """One bandwidth of the search with full means against one with sparse means, on the same
    training data.

    A search tries the same number of bandwidths either way, and distances are kept for both where
    they fit.
    """
    cases = {
        "digits 0–4, 450 points": digits(0),
        "MNIST 0–4, 3000 points": mnist(0, 3000),
        "MNIST 0–4, all": mnist(0),
    }
    rows = []
    for name, split in cases.items():
        if split is None:
            rows.append(Row(name, None, "≥ 10", "data not at hand"))
            continue
        start = time.perf_counter()
        model = km.ClassProportions(random_state=0, **POINTS).fit(split.X, split.y)
        whole = time.perf_counter() - start
        groups = [split.X[split.y == c] for c in range(CLASSES)]
        clock, plan, sigma = {}, model._fitted.plan, model.search_.best
        for kind, centers in (
            ("sparse", [mean.centers for mean in means.select(groups, plan)]),
            ("full", None),
        ):
            trial = searching.Trial(groups, centers, plan, "qp", Streams(0))
            with threadpool_limits(1, user_api="blas"):
                clock[kind] = seconds(
                    lambda trial=trial, sigma=sigma: trial.error(sigma), 3 if centers else 1
                )
        detail = (
            f"{clock['sparse']:.3f} s against {clock['full']:.3f} s; sparse fit with "
            f"{len(model.search_.errors)} bandwidths: {whole:.1f} s"
        )
        goal = (
            "≥ 10" if len(split.y) > 10_000 else "–"
        )  # the paper's size; with few points there is nothing to save
        rows.append(Row(name, clock["full"] / clock["sparse"], goal, detail))
    return rows


TABLES = quantification.TABLES | {
    "Proportions of digits": digit_errors,
    "Proportions of MNIST": mnist_errors,
    "Bandwidth search": search_time,
}


if __name__ == "__main__":
    run(
        "Class proportions",
        f"Written by `make bench`, each table in a run of its own. {quantification.NOTE} "
        "Proportions of digits and of MNIST are those of the paper, 0 to 4, by kernel means of "
        'the points (`representation=None, solver="qp"`) or of posteriors; ratios there: ℓ1 '
        "error of blind guesses to that of the method, and time of a bandwidth with full means "
        "to that with sparse ones.",
        TABLES,
    )

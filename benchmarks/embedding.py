"""``python -m benchmarks.embedding``: 36 cytometry samples, or normal ones of the same size where
those are absent.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

import kernelmean as km
from benchmarks.measuring import DATA, Row, run, seconds
from kernelmean import engines
from kernelmean.compiled.threads import default_count
from kernelmean.fitting.recipe import Recipe, common
from kernelmean.samples import ArraySample

SAMPLES = 36
SELECTIONS = ("auto", "kcenter", "kmeans++", "kmeans")


def lakes(points: int | None = None) -> tuple[list[np.ndarray], str]:
    """The samples (some points of each) by arcsinh, and what they are."""
    rng = np.random.default_rng(0)
    path = DATA / "flow_lakes36" / "flow_lakes36.npz"
    if not path.exists():
        centers = rng.normal(size=(SAMPLES, 4))
        return [center + rng.normal(size=(points or 27_000, 4)) for center in centers], "normal"
    with np.load(path, allow_pickle=False) as file:
        X, offsets = file["X"], file["offsets"]
    rows = [
        np.arange(a, b) if points is None else rng.choice(np.arange(a, b), points, replace=False)
        for a, b in pairwise(offsets)
    ]
    return [np.arcsinh(X[r].astype(np.float64)) for r in rows], "flow_lakes36"


def distance_matrices() -> list[Row]:
    """All pairs of 36 means in one pass, against pair by pair."""
    rows, rng = [], np.random.default_rng(0)
    for k in (50, 200, 500):
        kernel = km.Gaussian(1.0)
        means = [
            km.KernelMean(rng.normal(size=(k, 4)), rng.normal(size=k) / k, kernel, "rkhs", None, k)
            for _ in range(SAMPLES)
        ]
        batched = seconds(lambda means=means: km.distance_matrix(means))
        pairs = (
            seconds(lambda means=means: [a.distance(b) for a, b in pairwise(means)], 3)
            * SAMPLES
            / 2
        )
        detail = (
            f"{1e3 * batched:.1f} ms; pair by pair {1e3 * pairs:.0f} ms (from {SAMPLES - 1} pairs)"
        )
        rows.append(
            Row(f"{SAMPLES} means of {k} centres, d = 4", pairs / batched, "milliseconds", detail)
        )
    return rows


def fits() -> list[Row]:
    """All samples, one after another on all cores, against one sample per core."""
    arrays, name = lakes()
    samples = [ArraySample(X) for X in arrays]
    kernel, _ = common(samples, "gaussian", "iqr", None, "cpu")
    cores = default_count()
    recipe = Recipe(kernel, None, engine=engines.open("cpu", threads=cores))
    ways = {
        "within": lambda: [mean for X in samples for mean in recipe.means([X])],
        "across": lambda: recipe.means(samples),
        "as BLAS likes": lambda: [recipe.mean(X) for X in samples],
    }
    times, found = {way: [] for way in ways}, {}
    for _ in range(3):  # in turn, so that all meet the same load
        for way, fit in ways.items():
            times[way].append(seconds_once(lambda: found.update({way: fit()})))
    best = {way: min(values) for way, values in times.items()}
    same = all(
        np.array_equal(a.weights, b.weights)
        for a, b in zip(found["within"], found["across"], strict=True)
    )
    sizes = [mean.k for mean in found["across"]]
    detail = (
        f"{best['within']:.2f} s within, {best['across']:.2f} s across {cores} cores; k "
        f"{min(sizes)} to {max(sizes)}; equal bits: {same}"
    )
    case = f"{len(samples)} fits of {name}, n {min(map(len, samples))} to {max(map(len, samples))}"
    rows = [
        Row(f"{case}: within against across", best["within"] / best["across"], "≥ 1", detail),
        Row(
            "BLAS on all cores against across",
            best["as BLAS likes"] / best["across"],
            "≥ 1",
            f"{best['as BLAS likes']:.2f} s",
        ),
    ]
    taken = seconds(lambda: km.distance_matrix(found["across"]), 3)
    share = taken / best["across"]
    return [
        *rows,
        Row(
            "their distance matrix, share of the fits' time",
            share,
            "small",
            f"{1e3 * taken:.0f} ms",
        ),
    ]


def seconds_once(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def errors() -> list[Row]:
    """‖D − D₀‖_F/‖D‖_F against full means on subsamples, by selection, and the share of the error
    bars that is used.
    """
    samples, name = lakes(2000)
    full = km.DistributionEmbedding(sparse=False, embedding=None).fit(samples)
    rows = []
    for selection in SELECTIONS:
        sparse = km.DistributionEmbedding(
            selection=selection, embedding=None, error_bars=True, random_state=0
        ).fit(samples)
        gap = np.abs(full.distances_ - sparse.distances_)
        relative = np.linalg.norm(gap) / np.linalg.norm(full.distances_)
        upper = np.triu_indices(len(gap), 1)
        used = (gap[upper] / sparse.distance_errors_[upper]).max()
        detail = (
            f"k {min(m.k for m in sparse.means_)} to {max(m.k for m in sparse.means_)}; at "
            f"most {used:.2f} of the error bars"
        )
        rows.append(Row(f"{name}, 2000 points each, {selection}", relative, "bars ≤ 1", detail))
    return rows


TABLES = {
    "Distance matrix": distance_matrices,
    "Fits": fits,
    "Relative error of the distances": errors,
}


if __name__ == "__main__":
    run(
        "Embedding of distributions",
        "Written by `make bench`. Ratios of times, except where a row says otherwise.",
        TABLES,
    )

"""``python -m benchmarks.meanshift``: mean shift of an image on a sparse density, against the full
density and LSH; then whether clusters and segments are those that are there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

import kernelmean as km
from benchmarks import clusters, lsh, segmentations
from benchmarks.measuring import DATA, Row, fresh_growth, run
from kernelmean._random import Streams
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.climbing import Ascent, DensityToClimb, climb
from kernelmean.mean.expansion import AnyMean
from kernelmean.mean.joint_climbing import ascended, climb_together
from kernelmean.mean.linkage import link
from kernelmean.meanshift.clustering import Rules, cluster
from kernelmean.meanshift.colors import as_unit_values, compared
from kernelmean.meanshift.images import features, smoothed
from kernelmean.meanshift.plans import DensityPlan
from kernelmean.samples import ArraySample, WeightedSample

IMAGE = DATA / "images" / "mondrian_composition_a_487x500.npz"
# Not looked at while climbing together was tuned.
PHOTOGRAPHS = [DATA / "images" / f"bsds500_train_{name}.npz" for name in (253036, 239096)]
STARTS = 1000  # of the full density, and of LSH
TOL, CAP = 1e-3, 10_000
PLAIN_STEPS = 500


def pixels() -> np.ndarray:
    """Colour and position of each pixel, as segment_image sees them."""
    return features(compared(as_unit_values(np.load(IMAGE)["rgb"]), "lab"), 1.0)


def timed(action: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = action()
    return time.perf_counter() - start, found


def fitted(X: np.ndarray, *, sparse: bool, **options: Any) -> AnyMean:
    """The density that mean shift climbs."""
    settings = FitSettings.density(kernel="gaussian", bandwidth="mode", **options)
    plan = DensityPlan.of(WeightedSample.of(ArraySample(X)), settings, sparse=sparse)
    return plan.density(Streams(0))


def against_the_full_density() -> list[Row]:
    """All pixels on the sparse density, a subset on the full one by the same code, and on LSH; in
    one run.
    """
    if not IMAGE.exists():
        return [Row("Mondrian", None, "≥ 200", "no image; set KERNELMEAN_DATA")]
    X = pixels()
    chosen = np.sort(np.random.default_rng(0).choice(len(X), STARTS, replace=False))
    full = DensityToClimb.of(fitted(X, sparse=False).expansion)
    full.at(X[:1])  # compiles and loads
    slow, exact = timed(lambda: climb(full, X[chosen], TOL, CAP))
    whole = slow * len(X) / STARTS
    rows = []
    for name, options in (("k about √n", {"k_max": 493, "tol": 1e-8}), ("automatic k", {})):
        rows += sparse_rows(name, X, chosen, exact, whole, options)
    rows += lsh_rows(X, chosen, exact, whole, full.length)
    rows.append(ridges(full, X[chosen], exact))
    rows.append(
        Row(
            "peak memory of MeanShift.fit, k_max = 493, against the data",
            memory() / X.nbytes,
            "≤ 3",
            f"{X.nbytes / 1e6:.1f} MB",
        )
    )
    return rows


def sparse_rows(
    name: str, X: np.ndarray, chosen: np.ndarray, exact: Ascent, whole: float, options: dict
) -> list[Row]:
    fit, mean = timed(lambda: fitted(X, sparse=True, **options))
    hill = DensityToClimb.of(mean.expansion)
    times = [timed(lambda: climb_together(hill, X, TOL, CAP, hill.length)) for _ in range(3)]
    fast, ascent = min(times, key=lambda pair: pair[0])
    ends = ascent.ends[chosen]
    clusters = len(cluster(mean, ArraySample(X), Rules()).centers)
    size = f"k = {mean.k}, {len(hill.weights)} of them with weight"
    steps = f"at most {ascent.n_iter} steps and {exact.n_iter}; {ascent.left} points left"
    return [
        Row(
            f"{name}: all points climb, against full",
            whole / fast,
            "≥ 200" if name.startswith("k about") else "–",
            f"{fast:.1f} s against {whole:.0f} s ({size}; {steps})",
        ),
        Row(
            f"{name}: with the fit of the density",
            whole / (fast + fit),
            "–",
            f"{fit:.1f} s + {fast:.1f} s",
        ),
        *quality(name, ends, exact.ends, hill.length, "≤ 0.05"),
        Row(f"{name}: clusters of all pixels", None, "–", f"{clusters}"),
    ]


def quality(name: str, ends: np.ndarray, exact: np.ndarray, length: float, goal: str) -> list[Row]:
    """d_i at three bandwidths; d_H of the two sets of ends linked at one bandwidth."""
    mine, theirs = (link(Y, length) for Y in (ends, exact))
    labels, expected = (found.groups[found.cells] for found in (mine, theirs))
    counts = f"{mine.groups.max() + 1} and {theirs.groups.max() + 1} clusters of {len(ends)} starts"
    return [
        Row(
            f"{name}: discrepancy index d_i",
            km.discrepancy_index(ends, exact, 3 * length),
            goal,
            f"{len(ends)} starts",
        ),
        Row(
            f"{name}: Hausdorff distance d_H",
            km.clustering_hausdorff(labels, expected),
            goal,
            counts,
        ),
    ]


def together() -> list[Row]:
    """Labels of pixels that climb together against those that climb alone, and seconds in all."""
    pictures = {"Mondrian": IMAGE}
    pictures |= {path.stem.rpartition("_")[2]: path for path in PHOTOGRAPHS if path.exists()}
    rows = []
    for name, path in pictures.items():
        if not path.exists():
            return [Row(name, None, "≥ 0.999", "no image; set KERNELMEAN_DATA")]
        rgb = np.load(path)["rgb"]
        rows += [_agreement(name, rgb, kind) for kind in (None, "full")]
        rows.append(_as_one(name, rgb))
        seconds = min(timed(lambda: km.segment_image(rgb))[0] for _ in range(4))
        detail = f"{rgb.shape[0] * rgb.shape[1]} pixels, best of four"
        rows.append(Row(f"{name}: seconds of segment_image", seconds, "≤ 2", detail))
    return rows


def _agreement(name: str, rgb: np.ndarray, kind: str | None) -> Row:
    """The density of all pixels, fitted as points or as atoms."""
    X = features(compared(as_unit_values(rgb), "lab"), 1.0)
    options = {"spread": kind} if kind is None else {"spread": kind, "k": 300}
    hill = DensityToClimb.of(fitted(X, sparse=True, **options).expansion)
    alone, ascent = timed(lambda: climb(hill, X, TOL, CAP))
    expected = ascended(hill, ascent, hill.length).modes
    fast, found = min(
        (timed(lambda: climb_together(hill, X, TOL, CAP, hill.length)) for _ in range(3)),
        key=lambda pair: pair[0],
    )
    share = _matched(found.modes, expected)
    kinds = "points" if kind is None else "covariances"
    detail = f"{len(hill.weights)} centres; {alone / fast:.0f} times as fast, {fast:.2f} s"
    return Row(f"{name}, {kinds}: same labels", f"{share:.5f}", "≥ 0.999", detail)


def _as_one(name: str, rgb: np.ndarray) -> Row:
    """What segment_image does by default: the pixels of a cell have one label."""
    found = km.segment_image(rgb).clustering
    X = features(smoothed(compared(as_unit_values(rgb), "lab")), 1.0)
    each = cluster(found.mean, ArraySample(X), Rules()).of_points
    detail = f"{found.mean.expansion.k} cells, before regions merge"
    case = f"{name}: pixels of a cell as one, same peak as each"
    return Row(case, f"{_matched(found.of_points, each):.3f}", "–", detail)


def _matched(found: np.ndarray, expected: np.ndarray) -> float:
    """The share of the points whose clusters are the same, with the best matching of clusters."""
    table = contingency_matrix(expected, found)
    return table[linear_sum_assignment(-table)].sum() / len(found)


def lsh_rows(
    X: np.ndarray, chosen: np.ndarray, exact: Ascent, whole: float, length: float
) -> list[Row]:
    prepare, tables = timed(lambda: lsh.Tables(X, lsh.WIDTH * length, np.random.default_rng(0)))
    climbing, (ends, steps) = timed(lambda: lsh.mean_shift(tables, X[chosen], length, TOL))
    scaled = climbing * len(X) / len(chosen)
    detail = (
        f"{scaled:.0f} s (NumPy, one start after another) after {prepare:.1f} s; at most "
        f"{steps} steps"
    )
    return [
        Row("E2LSH, 5 neighbours: against full", whole / scaled, "–", detail),
        *quality("E2LSH", ends, exact.ends, length, "–"),
    ]


def ridges(full: DensityToClimb, starts: np.ndarray, exact: Ascent) -> Row:
    """Plain mean shift without leaps, for as long as the paper's kind of code runs."""
    x, steps = starts, 0
    while len(x) and steps < PLAIN_STEPS:
        place, steps = full.at(x), steps + 1
        moving = np.linalg.norm(place.step, axis=1) > TOL * full.length
        x = x[moving] + place.step[moving]
    detail = f"{len(x)} of {len(starts)} starts; with leaps all arrive in {exact.n_iter} steps"
    return Row(
        f"plain steps on the full density: still moving after {steps}",
        len(x) / len(starts),
        "–",
        detail,
    )


def memory() -> int:
    """Growth of a fresh process during a fit whose loops are compiled."""
    return fresh_growth(
        "import numpy as np, kernelmean as km\n"
        "from benchmarks.measuring import peak_growth\n"
        "from benchmarks.meanshift import pixels\n"
        "X = pixels()\n"
        "fit = lambda X: km.MeanShift(k_max=493, random_state=0).fit(X)\n"
        "fit(np.ascontiguousarray(X[::20]))\n"
        "print(peak_growth(lambda: fit(X)))"
    )


TABLES = {
    "Climbing together": together,
    "The Mondrian image, 487 × 500 pixels, colour and position": against_the_full_density,
    "One cluster": clusters.nulls,
    "Labelled sets": clusters.labelled,
    "A million rows": clusters.large,
    "Photographs": segmentations.people,
}

if __name__ == "__main__":
    run(
        "Mean shift on sparse densities",
        "Written by `make bench`.\n\n"
        "**Climbing together**: points whose neighbours on a map of places with a known peak agree "
        "stop there; alone, each climbs to its end.\n\n"
        "**The Mondrian image**: the full density climbs from some of the pixels; its time is "
        "scaled.\n\n"
        f"**One cluster, Labelled sets, A million rows**: {clusters.NOTE}\n\n"
        f"**Photographs**: {segmentations.NOTE}",
        TABLES,
    )

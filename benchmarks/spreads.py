"""Centres with a width of their own beside points: ``python -m benchmarks.spreads [tables]``.

Points (`spread=None`) are what "auto" was before centres had spreads. The first two tables are the
Gaussian cells of the table beside the peers (`benchmarks/peers.py`), 4096 rows of each set, in
which the relative error of points lies between 0.005 and 0.5: ratios of errors, by the exact error
of `benchmarks/exact.py`; figures are geometric means. Large samples have weights on the simplex, in
L2 at Scott's bandwidth, and spectral certificates; log-densities are sparse − full, in nats.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np

import kernelmean as km
from benchmarks import contenders, datasets, peers
from benchmarks.contenders import CONSTRAINTS, Case
from benchmarks.exact import Exact
from benchmarks.measuring import Row, run, seconds
from kernelmean.cli.demo import clustered_points
from kernelmean.fitting.fit import sparse_density

IN_RANGE = (0.005, 0.5)  # relative errors of points at which cells are compared
ROUNDING = 1e-8  # relative errors below this are rounding
TUNED_ON = ("lakes", "mixture", "cover", "heavy mixture", "waveform")  # the others only report
MOST_REFINED = 130  # centres, with refinement on both sides
LARGE = ("skin", "flights", "lakes", "mixture", "heavy mixture")
LARGE_POINTS = 200_000
LARGE_SIZES = (64, 256, 1024)
SIGMAS = (0.25, 0.35, 0.5, 0.7, 1.0)  # of Scott's bandwidth: the likeliest at held-out rows
BATCH, BATCHES, STREAM_ATOMS = 10_000, 100, 500


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell with its exact errors."""

    data: str
    case: Case
    width: str
    weights: str
    exact: Exact
    points: float


def numbers(mean: km.SparseKernelMean) -> int:
    """Stored for the atoms and their weights."""
    d = mean.dimension
    each = {None: d + 1, "scalar": d + 2, "full": (d + 1) * (d + 2) // 2}
    return mean.k * each[mean.expansion.atoms.kind]


def fitted(cell: Cell, spread: str | None, refine: int = 0, k: int | None = None):
    """The mean of a cell."""
    case = cell.case
    return km.sparse_kernel_mean(
        case.X,
        kernel=case.ours,
        space=case.space,
        k=case.k if k is None else k,
        constraint=CONSTRAINTS[cell.weights],
        spread=spread,
        refine=refine,
        random_state=contenders.SEED,
    )


@cache
def cells() -> list[Cell]:
    """Every Gaussian cell in range."""
    found = []
    for name, case, width, exact in _cases():
        for weights in CONSTRAINTS:
            cell = Cell(name, case, width, weights, exact, math.nan)
            error = exact.error_of(fitted(cell, None))
            if IN_RANGE[0] <= error <= IN_RANGE[1]:
                found.append(replace(cell, points=error))
    return found


def _cases() -> Iterator[tuple[str, Case, str, Exact]]:
    halvings = {
        space: sorted({m for stage in peers.STAGES for m in stage.get(space, ())})
        for space in ("rkhs", "l2")
    }
    for name in datasets.present():
        X = datasets.load(name, peers.POINTS)
        for (width, sigma), space in product(datasets.bandwidths(X).items(), halvings):
            exact = Exact(X, "gaussian", sigma, space)
            most = peers.WIDE_MOST + 1 if width == "wide" else len(X)
            for k in sorted({len(X) >> m for m in halvings[space]} & set(range(peers.LEAST, most))):
                yield name, Case(X, "gaussian", sigma, space, k), width, exact


def geometric(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(float(np.mean(np.log(ratios)))) if ratios else math.nan


def _row(case: str, ratios: dict[Cell, float], goal: str) -> Row:
    if not ratios:
        return Row(case, None, goal, "no cells")
    worst = max(ratios, key=lambda cell: ratios[cell])
    where = f"{worst.data}, {worst.width}, {worst.case.space}, {worst.weights}, k = {worst.case.k}"
    detail = f"{len(ratios)} cells, {min(ratios.values()):.2f} to {ratios[worst]:.2f} ({where})"
    return Row(case, geometric(list(ratios.values())), goal, detail)


def beside_points() -> list[Row]:
    """Error at equal k ÷ that of points; and at equal numbers stored."""
    ratios: dict[str, dict[Cell, float]] = {
        name: {} for name in ("scalar", "full", "auto", "equal")
    }
    kinds: dict[str, int] = {}
    for cell in cells():
        for spread in ("scalar", "full", "auto"):
            mean = fitted(cell, spread)
            ratios[spread][cell] = cell.exact.error_of(mean) / cell.points
        kind = str(mean.expansion.atoms.kind).replace("None", "points")
        kinds[kind] = kinds.get(kind, 0) + 1
        equal = min(len(cell.case.X), numbers(mean) // (mean.dimension + 1))
        theirs = cell.exact.error_of(fitted(cell, None, k=equal)) if equal > mean.k else cell.points
        theirs = max(theirs, ROUNDING)
        ratios["equal"][cell] = ratios["auto"][cell] * cell.points / theirs
    auto = ratios["auto"]
    narrow = {
        c: ratio
        for c, ratio in auto.items()
        if c.weights == "simplex" and c.width == "narrow" and c.case.X.shape[1] <= 5
    }
    chosen = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    rows = [
        _row("auto, simplex weights, narrow, d ≤ 5", narrow, "≤ 0.35"),
        _row("auto, all", auto, "≤ 0.45, none above 0.9"),
        _row("scalar alone", ratios["scalar"], "–"),
        _row("full alone", ratios["full"], "–"),
        _row("auto ÷ points at equal numbers", ratios["equal"], "none above 1.05"),
        Row("kinds that auto chose", None, "–", chosen),
    ]
    for title, some in (("tuned on", True), ("not tuned on", False)):
        part = {c: ratio for c, ratio in auto.items() if (c.data in TUNED_ON) == some}
        rows.append(_row(f"auto, sets {title}", part, "–"))
    names = sorted({c.data for c in auto})
    by_set = {name: {c: r for c, r in auto.items() if c.data == name} for name in names}
    return rows + [_row(f"auto, {name}", part, "–") for name, part in by_set.items()]


def with_refinement() -> list[Row]:
    """The same with refinement on both sides."""
    ratios = {}
    for cell in cells():
        if cell.case.k <= MOST_REFINED:
            steps = contenders.steps(cell.case.k)
            errors = [cell.exact.error_of(fitted(cell, spread, steps)) for spread in ("auto", None)]
            ratios[cell] = errors[0] / max(errors[1], ROUNDING)
    return [_row(f"auto, refined ÷ points, refined (k ≤ {MOST_REFINED})", ratios, "≤ 0.5")]


def large_samples() -> list[Row]:
    """Simplex weights in L2 at Scott's bandwidth, on all rows there are up to a limit."""
    rows, everything = [], []
    for name in (name for name in LARGE if name in datasets.present()):
        X = _whole(name)
        kernel = km.Gaussian(km.bandwidth.scott(X))
        for k in LARGE_SIZES:
            options = {"kernel": kernel, "space": "l2", "constraint": "simplex", "k": k}
            errors, times = [], []
            for spread in ("auto", None):
                start = time.perf_counter()
                mean = km.sparse_kernel_mean(X, spread=spread, random_state=0, **options)
                times.append(time.perf_counter() - start)
                found = mean.certificate(X, method="spectral", random_state=1)
                errors.append(found.relative_error)
            everything.append(errors[0] / errors[1])
            detail = f"{errors[0]:.4f} ÷ {errors[1]:.4f}, {times[0]:.1f} s and {times[1]:.1f} s"
            rows.append(
                Row(f"{name}, n = {len(X)}, d = {X.shape[1]}, k = {k}", everything[-1], "–", detail)
            )
    return [Row("all", geometric(everything), "≤ 0.35", f"{len(everything)} cases"), *rows]


def _whole(name: str) -> np.ndarray:
    """As many rows as there are, up to a limit, standardised."""
    if name in datasets.MIXTURES:
        return datasets.load(name, LARGE_POINTS)
    with np.load(datasets.DATA / datasets.PLACES[name], allow_pickle=False) as file:
        X = file["X"].astype(float)
    X = np.arcsinh(X) if name == "lakes" else X
    rng = np.random.default_rng(0)
    X = X[rng.permutation(len(X))[:LARGE_POINTS]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def likelihoods() -> list[Row]:
    """Held-out mean log-density at the likeliest bandwidth, sparse − full, nats."""
    rows = []
    goals = {"flights": -0.01, "lakes": -0.01, "mixture": -0.01, "itn": -0.05}
    for name, goal in goals.items():
        if name not in datasets.present():
            continue
        X = _for_likelihood(name)
        order = np.random.default_rng(1).permutation(len(X))
        fitting, new = X[order[:50_000]], X[order[50_000:55_000]]
        scott = len(fitting) ** (-1 / (X.shape[1] + 4))
        full = max(
            (km.kernel_mean(fitting, kernel=km.Gaussian(f * scott), space="l2") for f in SIGMAS),
            key=lambda mean: mean.log(new[:1000]).mean(),
        )
        level = full.log(new).mean()
        found = {
            spread: sparse_density(
                fitting, kernel=full.kernel, k=1024, spread=spread, random_state=0
            )
            for spread in ("auto", None, "scalar", "full")
        }
        gains = {spread: mean.log(new).mean() - level for spread, mean in found.items()}
        detail = ", ".join(
            f"{'points' if spread is None else spread} {gain:+.3f}"
            for spread, gain in gains.items()
        )
        case = f"{name}, d = {X.shape[1]}, σ = {full.kernel.length:.3f}, auto chose "
        case += str(found["auto"].expansion.atoms.kind)
        rows.append(Row(case, f"{gains['auto']:+.3f}", f"≥ {goal}", detail))
    return rows


def _for_likelihood(name: str) -> np.ndarray:
    """Standardised, ties broken by noise below the digits of the data."""
    rng = np.random.default_rng(0)
    if name == "mixture":
        X = 2 * rng.normal(size=(12, 5))[rng.integers(0, 12, 200_000)]
        X = X + 0.7 * rng.normal(size=X.shape)
    else:
        with np.load(datasets.DATA / datasets.PLACES[name], allow_pickle=False) as file:
            X = file["X"].reshape(-1, file["X"].shape[-1]).astype(float)
        if name == "lakes":
            X = np.arcsinh(X)
        elif name == "flights":
            X = X + rng.random(X.shape) - 0.5
        else:
            X = np.column_stack([X[:, :2], np.log10(np.maximum(X[:, 2:], 1))])
            X = X + 1e-3 * rng.normal(size=X.shape)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def streams() -> list[Row]:
    """Error of a stream of batches ÷ that of a fit of all rows, scalar spreads, L2."""
    rows = []
    for d, factor in ((3, 0.5), (5, 1.0)):
        rng = np.random.default_rng(0)
        centers, n = 2.0 * rng.normal(size=(6, d)), BATCH * BATCHES
        X = centers[rng.integers(6, size=n)] + 0.6 * rng.normal(size=(n, d))
        kernel = km.Gaussian(factor * km.bandwidth.scott(X))
        options = {"kernel": kernel, "space": "l2", "k": STREAM_ATOMS, "spread": "scalar"}
        options |= {"selection": "kmeans", "random_state": 0}
        stream = km.MeanStream(k=STREAM_ATOMS)
        for start in range(0, n, BATCH):
            stream = stream.add(km.sparse_kernel_mean(X[start : start + BATCH], **options))
        whole = km.sparse_kernel_mean(X, **options)
        errors = [
            mean.certificate(X, method="spectral", size=2000, random_state=1).relative_error
            for mean in (stream.mean, whole)
        ]
        case = f"{n} rows in {d}-D, batches of {BATCH}, k = {STREAM_ATOMS}, {factor} × Scott"
        rows.append(Row(case, errors[0] / errors[1], "≤ 1.5", f"{errors[0]:.4f} ÷ {errors[1]:.4f}"))
    return rows


def costs() -> list[Row]:
    """Time of a fit with scalar spreads ÷ with points, and the sample of the demo."""
    rng = np.random.default_rng(0)
    X = 2.0 * rng.normal(size=(8, 5))[rng.integers(8, size=10**6)] + rng.normal(size=(10**6, 5))
    options = {"selection": "kmeans", "k": 1000, "random_state": 0}
    times = [
        seconds(lambda s=spread: km.sparse_kernel_mean(X, spread=s, **options), 2)
        for spread in ("scalar", None)
    ]
    rows = [
        Row(
            "fit, scalar ÷ points by k-means, n = 10⁶, d = 5, k = 1000",
            times[0] / times[1],
            "≤ 1.3",
            f"{times[0]:.1f} s ÷ {times[1]:.1f} s",
        )
    ]
    X = clustered_points(10**6, 0)
    for label, given in (("k = 2999", {"k": 2999}), ("k open", {})):
        start = time.perf_counter()
        mean = sparse_density(X, random_state=0, **given)
        spent = time.perf_counter() - start
        found = mean.certificate(X, random_state=0)
        goal = "≤ 0.5 %" if given else "–"
        case = f"demo, 10⁶ × 3, {label}: certified relative error, %"
        rows.append(Row(case, 100 * found.relative_error, goal, f"{mean.k} atoms, {spent:.1f} s"))
    return rows


TABLES = {
    "Beside points, at equal k": beside_points,
    "Beside points, both refined": with_refinement,
    "Large samples": large_samples,
    "Held-out log-density": likelihoods,
    "Streams": streams,
    "Cost": costs,
}
INTRODUCTION = f"""Written by `make bench`. [What a spread is](theory/spreads.md).

{__doc__.split(chr(10), 2)[2].strip()}

The starts and the descent were found on {", ".join(TUNED_ON)}, the trimming
of cells also on image. The number of steps, the dimension from which full spreads are tried and the
share of the sample up to which they are were read off the first table itself: no set of it is
wholly unseen."""

if __name__ == "__main__":
    run("Centres with a width, beside points", INTRODUCTION, TABLES)

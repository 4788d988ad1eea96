"""What the two embedding experiments share: data, settings, ISOMAP, Procrustes, sweep, pictures."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean._random import Streams
from kernelmean.compiled.threads import default_count
from kernelmean.embedding.coordinates import classical_mds, geodesics
from kernelmean.fitting.recipe import Recipe, common
from kernelmean.fitting.settings import default_limit
from kernelmean.samples import ArraySample
from paper.experiment import Parts, Picture, Row, Values

SETS = {"lakes36": "flow_lakes36", "itn15": "flow_itn15"}
PAPER = {
    "selection": "kcenter",
    "patience": 1,
}  # and tol = 1e-10, the largest integer below 3√n centres at most
BEST = {"selection": "auto", "patience": 10}  # this library's defaults
FEW = {**BEST, "k_max": 150}  # they need fewer centres than 3√n
TOLERANCES = tuple(10.0**-e for e in range(2, 13))
TOL = 1e-10
RUNS, BEST_RUNS = 10, 3  # of the sweep
PIECES = 2  # of the sweep, each some minutes
NEIGHBORS = 5  # of ISOMAP's graph; the paper gives none

Fit = Callable[
    [Recipe], tuple[float, float, list[Any], np.ndarray]
]  # selection and D in seconds, means, D


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    start = time.perf_counter()
    found = action()
    return time.perf_counter() - start, found


def timed_on_all_cores(action: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of all threads ÷ cores, for long work that keeps every core busy.

    That is what an idle machine would take at least. Other work on the machine lengthens the wall
    clock of such a run, and would flatter whatever is compared with it.
    """
    cpu, wall = time.process_time(), time.perf_counter()
    found = action()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    return min(spent[0] / default_count(), spent[1]), found


def checked(samples: Sequence[np.ndarray]) -> list[ArraySample]:
    """Arrays as samples that a recipe takes."""
    return [ArraySample(np.asarray(X, dtype=np.float64)) for X in samples]


def recipe(samples: Sequence[np.ndarray], **options: Any) -> Recipe:
    """One σ for all: the mean over samples of (mean interquartile range)/1.35."""
    kernel, _ = common(checked(samples), "gaussian", "iqr", None, "cpu")
    return Recipe(kernel, None, options={"tol": TOL, **options})


def embedded(D: np.ndarray) -> np.ndarray:
    """ISOMAP in the plane; a graph in parts gets more neighbours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return classical_mds(geodesics(D, NEIGHBORS).matrix, 2).coordinates


def relative_error(D: np.ndarray, D0: np.ndarray) -> float:
    """‖D − D₀‖_F/‖D‖_F."""
    return float(np.linalg.norm(D - D0) / np.linalg.norm(D))


def replicates(D: np.ndarray, groups: Sequence[str]) -> float:
    """Share of the samples whose nearest other sample is of the same group."""
    others = D + np.diag(np.full(len(D), np.inf))
    return float(np.mean(np.array(groups)[others.argmin(axis=1)] == np.array(groups)))


def judged(D: np.ndarray, D0: np.ndarray, groups: Sequence[str]) -> Values:
    """How near sparse distances and their embedding come to the full ones.

    Embeddings are compared after translation, rotation and scale.
    """
    reference = embedded(D)
    laid = km.procrustes(reference, embedded(D0))
    return {
        "relative_error": relative_error(D, D0),
        "unexplained": laid.residual**2,  # 1 − R²
        "same_group": replicates(D0, groups),
        "coordinates": np.round(laid.aligned, 5).tolist(),
    }


def repeated(fit: Fit, made: Recipe, D: np.ndarray, groups: Sequence[str], runs: int = 3) -> Values:
    """A few runs with different first centres.

    The times are those of the fastest, the quality is that of the first, with its range.
    """
    found = [fit(seeded(made, seed)) for seed in range(runs)]
    means = found[0][2]
    errors = [judged(D, each[3], groups) for each in found]
    fastest = min(found, key=lambda each: each[0] + each[1])
    return {
        "selection_s": fastest[0],
        "distances_s": fastest[1],
        "k": [mean.k for mean in means],
        "with_weight": [int(np.count_nonzero(mean.weights)) for mean in means],
        "range": {
            name: [min(e[name] for e in errors), max(e[name] for e in errors)]
            for name in ("relative_error", "unexplained")
        },
        **errors[0],
    }


def seeded(made: Recipe, seed: int, **options: Any) -> Recipe:
    """The same recipe with another seed, and other options."""
    return replace(made, streams=Streams(seed), options={**made.options, **options})


def swept(name: str, parts: Parts, tail: str = "") -> list[Values]:
    """The sweep of a data set from its pieces, as far as they are there."""
    rows = [
        row
        for piece in range(PIECES)
        for row in parts.get(f"{name}_sweep{tail}_{piece}", {"rows": []})["rows"]
    ]
    return sorted(rows, key=lambda row: -row["tol"])


def sweep(
    fit: Fit, made: Recipe, D: np.ndarray, sizes: Iterable[int], piece: int, runs: int
) -> list[Values]:
    """For every ε several runs: relative error of D₀, k₀/k_max, seconds."""
    limits = np.array([default_limit(n) for n in sizes])
    rows = []
    for tol in TOLERANCES[piece::PIECES]:
        found = [fit(seeded(made, seed, tol=tol)) for seed in range(runs)]
        errors = [relative_error(D, D0) for *_, D0 in found]
        rows.append(
            {
                "tol": tol,
                "errors": errors,
                "share": float(
                    np.mean([[mean.k for mean in means] / limits for _, _, means, _ in found])
                ),
                "selection_s": float(np.mean([each[0] for each in found])),
                "distances_s": float(np.mean([each[1] for each in found])),
            }
        )
    return rows


def rows_of_both(
    parts: Parts,
    table_rows: Callable[[str, str, Parts], list[Row]],
    titles: tuple[str, str],
    ranges: dict[str, tuple[float, float] | None],
) -> list[Row]:
    """A table and the numbers of its figure over ε, for each data set that has been run."""
    found: list[Row] = []
    for name, words in SETS.items():
        if f"{name}_sparse" in parts:
            found += table_rows(f"{titles[0]}: {words}", name, parts)
        if curve := swept(name, parts):
            found += sweep_rows(f"{titles[1]}: {words}", curve, ranges, swept(name, parts, "_best"))
    return found


def sweep_rows(
    table: str,
    found: list[Values],
    paper: dict[str, tuple[float, float] | None],
    best: list[Values] | None,
) -> list[Row]:
    """The paper's ranges over ε beside ours."""
    words = {
        "share": "average k₀/k_max",
        "selection_s": "average selection time",
        "distances_s": "average D₀ time",
    }
    rows = []
    for key, name in words.items():
        low, high = (min(row[key] for row in found), max(row[key] for row in found))
        theirs = paper[key]
        mine = None if not best else [min(row[key] for row in best), max(row[key] for row in best)]
        unit = "s" if key.endswith("_s") else ""
        for which, side in (("least", 0), ("most", 1)):
            limits = (low, high)
            rows.append(
                Row(
                    table,
                    f"{name}, {which}",
                    theirs and theirs[side],
                    limits[side],
                    mine and mine[side],
                    unit,
                )
            )
    others = {f"{row['tol']:.0e}": row for row in best or []}
    for one in found:
        other = others.get(f"{one['tol']:.0e}")
        worst = f"the worst {max(one['errors']):.2g}"
        sentence = worst + (
            f"; best settings, mean of {len(other['errors'])}, the worst {max(other['errors']):.2g}"
            if other
            else ""
        )
        mine, theirs = float(np.mean(one["errors"])), other and float(np.mean(other["errors"]))
        rows.append(
            Row(
                table,
                f"‖D − D₀‖/‖D‖ at ε = {one['tol']:.0e}, mean of {len(one['errors'])} runs",
                None,
                mine,
                theirs,
                sentence=sentence,
            )
        )
    return rows


def draw_all(
    parts: Parts, folder: Path, words: tuple[str, str, str], figures: tuple[str, str]
) -> list[Picture]:
    """Both figures of an experiment, as far as its parts are there.

    ``words`` are the file, the title of the first figure and that of the second.
    """
    pictures, (file, title, other) = [], words
    settings = {"paper": "the paper's settings", "best": "best settings"}
    panels = {
        f"{SETS[name]}, {how}": (
            part["full"]["coordinates"],
            part[key]["coordinates"],
            part["groups"],
        )
        for name in SETS
        if (part := parts.get(f"{name}_sparse"))
        for key, how in settings.items()
    }
    if panels:
        draw_embeddings(panels, folder / f"{file}.png", title)
        caption = (
            "a point is a sample, its colour the water or the group of patients; full and "
            "sparse are joined."
        )
        pictures.append(Picture(f"{file}.png", f"{figures[0]}: {caption}"))
    tails = {"": settings["paper"], "_best": settings["best"]}
    curves = {
        f"{SETS[name]}, {how}": found
        for name in SETS
        for tail, how in tails.items()
        if (found := swept(name, parts, tail))
    }
    if curves:
        draw_sweeps(curves, folder / f"{file}_eps.png", other)
        pictures.append(
            Picture(
                f"{file}_eps.png",
                f"{figures[1]}: relative error of D₀ and share of k_max that is used, against ε.",
            )
        )
    return pictures


def draw_embeddings(panels: dict[str, Any], path: Path, title: str) -> None:
    """Full and sparse points in one plane per setting: hollow circles and dots, joined."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        (len(panels) + 1) // 2, 2, figsize=(10, 4.2 * ((len(panels) + 1) // 2)), squeeze=False
    )
    for ax, (name, (*points, groups)) in zip(axes.flat, panels.items(), strict=True):
        full, sparse = map(np.array, points)
        kinds = {
            group: plt.get_cmap("tab20")(2 * number % 19)
            for number, group in enumerate(dict.fromkeys(groups))
        }
        colors = [kinds[group] for group in groups]
        for a, b in zip(full, sparse, strict=True):
            ax.plot(*zip(a, b, strict=True), color="0.6", lw=0.7, zorder=1)
        ax.scatter(
            *full.T, s=46, facecolors="none", edgecolors=colors, linewidths=1.1, label="full"
        )
        ax.scatter(*sparse.T, s=12, c=colors, label="sparse")
        ax.set_title(name, fontsize=9)
        ax.set_aspect("equal", "datalim")
        ax.tick_params(labelsize=7)
    axes[0, 0].legend(fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_sweeps(curves: dict[str, list[Values]], path: Path, title: str) -> None:
    """Relative error of D₀ against ε: the mean of the runs, and their range."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    for number, (name, rows) in enumerate(curves.items()):
        tol = [row["tol"] for row in rows]
        left.fill_between(
            tol,
            [min(r["errors"]) for r in rows],
            [max(r["errors"]) for r in rows],
            color=f"C{number}",
            alpha=0.15,
            lw=0,
        )
        left.loglog(
            tol, [np.mean(r["errors"]) for r in rows], "o-", color=f"C{number}", ms=3.5, label=name
        )
        right.semilogx(tol, [r["share"] for r in rows], "o-", color=f"C{number}", ms=3.5)
    for ax, words in (
        (left, "‖D − D₀‖/‖D‖: mean and range of the runs"),
        (right, "average k₀/k_max"),
    ):
        ax.set_xlabel("ε", fontsize=9)
        ax.set_title(words, fontsize=9)
        ax.invert_xaxis()
        ax.grid(lw=0.3, alpha=0.6)
        ax.tick_params(which="both", labelsize=8)
    figure.legend(
        *left.get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=8, frameon=False
    )
    figure.suptitle(title, fontsize=10)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, dpi=100)
    plt.close(figure)

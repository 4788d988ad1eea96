"""Whether clusters that are found are there: ``python -m benchmarks.clusters [tables] [--tuning]
[--only NAME …] [--seeds N] [--most N] [--cache FILE] [--output FILE]``.

``MeanShift()`` as it is by default, on samples of one cluster, on sets whose classes are known,
and on a million rows, beside peers by their defaults.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import MeanShift
from sklearn.metrics import adjusted_rand_score

import kernelmean as km
from benchmarks import cluster_peers, cluster_sets
from benchmarks.cluster_peers import ALL_SEEDS, CACHE, CELL, PEERS, PEERS_SEEDS, judged
from benchmarks.cluster_sets import DIMENSIONS, NULLS, REPORT, SEEDS, SIZES, TUNING
from benchmarks.measuring import Row, machine, table
from benchmarks.tables import AbsentError

ONE_CLUSTER = 0.95
ROWS, COLUMNS, PARTS = 1_000_000, 5, 10
APART = 33  # a seed whose nearest centres are 3.8 standard deviations apart: ten modes
WARM_ROWS = 100_000
SCIKIT_ROWS = (1000, 2000, 5000)
SECONDS = 15


def ours(X: np.ndarray) -> np.ndarray:
    """Labels by default; chance is fixed."""
    return km.MeanShift(random_state=0).fit(X).labels_


def nulls(seeds: int = SEEDS, most: int = SIZES[-1], cache: Path = CACHE) -> list[Row]:
    """Share of samples of one cluster where one is found: of each kind, then in all."""
    sizes = [n for n in SIZES if n <= most]
    rows, totals = [], []
    for family in NULLS:
        counts = {
            (d, n): [len(np.unique(ours(X))) for X in _drawn(family, n, d, seeds)]
            for d in DIMENSIONS
            for n in sizes
        }
        for (d, n), found in counts.items():
            detail = f"{min(found)} to {max(found)} clusters in {seeds} samples"
            if n == sizes[0]:
                detail += f"; {_peers_alone(family, n, d, seeds, cache)}"
            rows.append(Row(f"{family}, d = {d}, n = {n}", _share(found), "–", detail))
        totals.append((family, [count for found in counts.values() for count in found]))
    totals.append(("all", [count for _, found in totals for count in found]))
    goal = f"≥ {ONE_CLUSTER:.0%}"
    return [Row(f"{who}: in all", _share(c), goal, f"{len(c)} samples") for who, c in totals] + rows


def _drawn(family: str, n: int, d: int, seeds: int) -> Iterable[np.ndarray]:
    return (cluster_sets.null(family, n, d, seed) for seed in range(seeds))


def _share(counts: list[int]) -> str:
    return f"{np.mean(np.array(counts) == 1):.0%}"


def _peers_alone(family: str, n: int, d: int, seeds: int, cache: Path) -> str:
    counts = cluster_peers.alone(family, n, d, min(seeds, PEERS_SEEDS), cache)
    return ", ".join(f"{who} {_share(found)}" for who, found in counts.items())


def labelled(names: Iterable[str] = tuple(REPORT), cache: Path = CACHE) -> list[Row]:
    """The adjusted Rand index of labels and classes on each set, then on average."""
    rows, figures = [], []
    for name in names:
        try:
            X, y = cluster_sets.load(name)
        except AbsentError as reason:
            rows.append(Row(name, None, "–", f"skipped: {reason}"))
            continue
        start = time.perf_counter()
        mine = judged(ours(X), y) | {"seconds": time.perf_counter() - start}
        peers = cluster_peers.of(name, X, y, cache)
        figures.append({"kernelmean": mine["ari"]} | {who: peers[who]["ari"] for who in PEERS})
        case = f"{name}, {len(X)} × {X.shape[1]}, {y.max() + 1} classes"
        words = [_words(mine), *(f"{who} {peers[who]['ari']:.3f}" for who in PEERS)]
        rows.append(Row(case, f"{mine['ari']:.3f}", "–", ", ".join(words)))
    return [*rows, _mean(figures)] if figures else rows


def _words(mine: dict[str, Any]) -> str:
    clusters = "1 cluster" if mine["clusters"] == 1 else f"{mine['clusters']} clusters"
    return f"{clusters} in {mine['seconds']:.1f} s"


def _mean(figures: list[dict[str, float]]) -> Row:
    means = {who: float(np.mean([found[who] for found in figures])) for who in figures[0]}
    mine = means.pop("kernelmean")
    words = ", ".join(f"{who} {mean:.3f}" for who, mean in means.items())
    goal = f"> {max(means.values()):.3f}"
    return Row(f"mean of these {len(figures)} sets", f"{mine:.3f}", goal, words)


def large() -> list[Row]:
    """A million rows of ten normal clusters, and scikit-learn's mean shift on as many as it can
    do in a minute or so.
    """
    centers = cluster_sets.scattered(PARTS, COLUMNS, 10.0, APART)
    X, y = cluster_sets.gaussians(ROWS, centers, APART)
    ours(X[:WARM_ROWS])
    spent, labels = _timed(lambda: ours(X))
    ari, clusters = adjusted_rand_score(y, labels), len(np.unique(labels))
    detail = f"{clusters} clusters of {PARTS}, adjusted Rand index {ari:.4f}"
    rows = [Row(f"kernelmean, n = {ROWS}", f"{spent:.1f} s", f"≤ {SECONDS} s", detail)]
    for n in SCIKIT_ROWS:
        spent, theirs = _timed(lambda: MeanShift().fit(X[:n]).labels_)
        here = adjusted_rand_score(y[:n], theirs)
        both = adjusted_rand_score(labels[:n], theirs)
        detail = (
            f"{len(np.unique(theirs))} clusters, adjusted Rand index {here:.4f}; with "
            f"kernelmean's labels of these rows {both:.4f}"
        )
        rows.append(Row(f"scikit-learn, n = {n}", f"{spent:.1f} s", "–", detail))
    return rows


def _timed(action: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    found = action()
    return time.perf_counter() - start, found


# What the tables on the page need said; `benchmarks.meanshift` writes it.
NOTE = (
    "Everybody has default parameters and the same columns, of unit variance in the labelled "
    f"sets. scikit-learn's `MeanShift` has `bin_seeding=True` on more than {ALL_SEEDS} rows. "
    "GridShift and MeanShift++ have no default bandwidth: they get scikit-learn's "
    f"`estimate_bandwidth` times {CELL:.2f}, the factor that does best for them on the sets for "
    "tuning. Rows that a method leaves out as noise count as one cluster, so that a sample which "
    "HDBSCAN takes for noise alone counts as one cluster. Peers have "
    f"{PEERS_SEEDS} samples of one cluster. Rules of ours were "
    f"chosen on other sets: {', '.join(TUNING)}."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help='"nulls", "labelled", "large"; all if none')
    parser.add_argument("--tuning", action="store_true", help="the sets for tuning instead")
    parser.add_argument("--only", nargs="+", help="some sets by name")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="samples of each kind")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="rows of a sample")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where peers are kept")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    chosen = options.only or (TUNING if options.tuning else REPORT)
    parts = {
        "nulls": lambda: nulls(options.seeds, options.most, options.cache),
        "labelled": lambda: labelled(chosen, options.cache),
        "large": large,
    }
    if unknown := set(options.names) - set(parts):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(parts)}")
    pieces = [f"Measured on: {machine()}\n"]
    for name, measure in parts.items():
        if not options.names or name in options.names:
            pieces.append(table(name, measure()))
            print(pieces[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(pieces))


if __name__ == "__main__":
    main()

"""What clusterings are compared with, each by its defaults: none of it is our own code.

They are kept in a file, since they do not change when the library does: ``python -m
benchmarks.cluster_peers [--tuning | --nulls] [--cache FILE]`` computes what is not kept yet, and
``--factors`` prints by what part of scikit-learn's bandwidth the methods on grids do best.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.cluster import HDBSCAN, MeanShift, estimate_bandwidth
from sklearn.metrics import adjusted_rand_score

from benchmarks import cluster_sets
from benchmarks.grid_shift import grid_shift, mean_shift_pp
from benchmarks.tables import AbsentError

VERSION = 1  # of what is kept: raise it when a peer changes
CACHE = Path.home() / ".cache" / "kernelmean" / "cluster_peers.json"
# Rows up to which scikit-learn's mean shift starts from every point, its default; beyond, that
# takes minutes to hours, and it starts from the cells of a grid (bin_seeding=True).
ALL_SEEDS = 2000
# The papers of the methods on grids choose a bandwidth for each set. Here it is one part of
# scikit-learn's for all sets, that which does best on the sets for tuning.
FACTORS = (1.0, 2 / 3, 0.5, 0.4, 1 / 3, 0.25, 0.2, 1 / 6, 0.125)
CELL = 1 / 6
PEERS_SEEDS = 3  # samples of one cluster of each kind: from every point they take minutes

Labels = Callable[[np.ndarray, float], np.ndarray]


def _mean_shift(X: np.ndarray, bandwidth: float) -> np.ndarray:
    """The bandwidth given is that which it would find for itself."""
    return MeanShift(bandwidth=bandwidth, bin_seeding=len(X) > ALL_SEEDS).fit(X).labels_


def _hdbscan(X: np.ndarray, bandwidth: float) -> np.ndarray:
    return HDBSCAN(copy=True).fit(X).labels_


PEERS: dict[str, Labels] = {
    "scikit-learn's MeanShift": _mean_shift,
    "HDBSCAN": _hdbscan,
    "GridShift": lambda X, bandwidth: grid_shift(X, CELL * bandwidth),
    "MeanShift++": lambda X, bandwidth: mean_shift_pp(X, CELL * bandwidth),
}


def judged(labels: np.ndarray, y: np.ndarray | None) -> dict[str, Any]:
    """The number of clusters and agreement with classes; what is left out as noise, −1, is one
    cluster more.
    """
    found: dict[str, Any] = {"clusters": len(np.unique(labels))}
    return found if y is None else found | {"ari": float(adjusted_rand_score(y, labels))}


def compute(X: np.ndarray, y: np.ndarray | None = None) -> dict[str, dict[str, Any]]:
    """Every peer on one set: clusters, agreement where classes are known, seconds."""
    start = time.perf_counter()
    bandwidth = float(estimate_bandwidth(X))
    estimating = time.perf_counter() - start
    found = {}
    for name, labels in PEERS.items():
        start = time.perf_counter()
        found[name] = judged(labels(X, bandwidth), y)
        spent = time.perf_counter() - start + (0.0 if name == "HDBSCAN" else estimating)
        found[name]["seconds"] = round(spent, 3)
    return found


def of(
    name: str, X: np.ndarray, y: np.ndarray | None = None, cache: Path = CACHE
) -> dict[str, dict[str, Any]]:
    """The peers on a set: kept ones where the rows are the same, else computed and kept."""
    return kept(name, X, lambda: compute(X, y), cache)


def alone(
    family: str, n: int, d: int, seeds: int = PEERS_SEEDS, cache: Path = CACHE
) -> dict[str, list[int]]:
    """How many clusters each peer finds in samples of one."""
    found: dict[str, list[int]] = {who: [] for who in PEERS}
    for seed in range(seeds):
        name, X = f"{family}, n = {n}, d = {d}, seed {seed}", cluster_sets.null(family, n, d, seed)
        for who, figures in of(name, X, cache=cache).items():
            found[who].append(figures["clusters"])
    return found


def kept(name: str, X: np.ndarray, measure: Callable[[], Any], cache: Path = CACHE) -> Any:
    """What was measured on these rows under this name, now or in an earlier run."""
    key = f"{name}, version {VERSION}, scikit-learn {sklearn.__version__}"
    rows = hashlib.sha256(np.round(X, 6).tobytes()).hexdigest()[:16]
    found = _read(cache).get(key, {})
    if found.get("rows") != rows:
        found = {"rows": rows, "found": measure()}
        cache.parent.mkdir(parents=True, exist_ok=True)
        written = cache.with_suffix(f".{os.getpid()}")
        everything = _read(cache) | {key: found}  # others may have added some meanwhile
        written.write_text(json.dumps(everything, indent=0))
        written.replace(cache)
    return found["found"]


def _read(cache: Path) -> dict[str, Any]:
    return json.loads(cache.read_text()) if cache.exists() else {}


def factors(names: Iterable[str]) -> dict[float, dict[str, float]]:
    """Mean agreement of the two methods on grids for each part of scikit-learn's bandwidth."""
    methods = {"GridShift": grid_shift, "MeanShift++": mean_shift_pp}
    scores: dict[float, dict[str, list[float]]] = {
        factor: {method: [] for method in methods} for factor in FACTORS
    }
    for name in names:
        X, y = cluster_sets.load(name)
        bandwidth = float(estimate_bandwidth(X))
        for factor in FACTORS:
            for method, labels in methods.items():
                score = adjusted_rand_score(y, labels(X, factor * bandwidth))
                scores[factor][method].append(float(score))
    return {
        factor: {method: float(np.mean(each)) for method, each in found.items()}
        for factor, found in scores.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", action="store_true", help="the sets for tuning instead")
    parser.add_argument("--nulls", action="store_true", help="samples of one cluster instead")
    parser.add_argument("--factors", action="store_true", help="print those, and end")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where peers are kept")
    options = parser.parse_args()
    if options.factors:
        for factor, scores in factors(cluster_sets.TUNING).items():
            print(f"{factor:.3f}", ", ".join(f"{who} {mean:.3f}" for who, mean in scores.items()))
    elif options.nulls:
        n = cluster_sets.SIZES[0]
        for family, d in product(cluster_sets.NULLS, cluster_sets.DIMENSIONS):
            print(family, n, d, alone(family, n, d, cache=options.cache), flush=True)
    else:
        _print_sets(cluster_sets.TUNING if options.tuning else cluster_sets.REPORT, options.cache)


def _print_sets(names: Iterable[str], cache: Path) -> None:
    for name in names:
        try:
            found = of(name, *cluster_sets.load(name), cache)
        except AbsentError as reason:
            print(name, f"skipped: {reason}", flush=True)
            continue
        print(name, {who: list(figures.values()) for who, figures in found.items()}, flush=True)


if __name__ == "__main__":
    main()

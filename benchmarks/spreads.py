"""Centres with a width of their own beside points: ``python -m benchmarks.spreads [--quick]``.

For the Gaussian cells of the table beside the peers (``benchmarks.peers``), the relative error of
points (``spread=None``: what "auto" was before centres had spreads), of scalar and full spreads,
and of the choice that "auto" makes, at equal k; the same with refinement on both sides; and that of
"auto" beside points that store as many numbers.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

import kernelmean as km
from benchmarks import contenders, datasets, peers
from benchmarks.contenders import CONSTRAINTS, Case
from benchmarks.exact import Exact

IN_RANGE = (0.005, 0.5)  # relative errors of points at which cells are compared
KINDS = {"points": None, "scalar": "scalar", "full": "full", "auto": "auto"}


def cells(sets: list[str], most: int) -> Iterator[tuple[dict, Case, Exact]]:
    """Every Gaussian cell of the table beside the peers."""
    halvings = {
        space: sorted({m for stage in peers.STAGES for m in stage.get(space, ())})
        for space in ("rkhs", "l2")
    }
    for name in sets:
        X = datasets.load(name, peers.POINTS)
        for (width, sigma), space in product(datasets.bandwidths(X).items(), halvings):
            exact = Exact(X, "gaussian", sigma, space)
            limit = peers.WIDE_MOST + 1 if width == "wide" else len(X)
            for k in sorted(
                {len(X) >> m for m in halvings[space]} & set(range(peers.LEAST, limit))
            ):
                if k <= most:
                    facts = {"data": name, "d": X.shape[1], "width": width, "space": space, "k": k}
                    yield facts, Case(X, "gaussian", sigma, space, k), exact


def fitted(case: Case, constraint: str, spread: str | None, refine: int, k: int) -> tuple:
    """The mean and its time."""
    start = time.perf_counter()
    mean = km.sparse_kernel_mean(
        case.X,
        kernel=case.ours,
        space=case.space,
        k=k,
        constraint=CONSTRAINTS[constraint],
        spread=spread,
        refine=refine,
        random_state=contenders.SEED,
    )
    return mean, time.perf_counter() - start


def numbers(mean: km.SparseKernelMean) -> int:
    """Stored for the atoms and their weights."""
    d = mean.dimension
    each = {None: d + 1, "scalar": d + 2, "full": (d + 1) * (d + 2) // 2}
    return mean.k * each[mean.expansion.atoms.kind]


def measured(case: Case, exact: Exact, constraint: str, refine: bool) -> dict | None:
    """Errors of all kinds in one cell; None where points are out of range."""
    points, seconds = fitted(case, constraint, None, 0, case.k)
    found = {"points": exact.error_of(points)}
    if not IN_RANGE[0] <= found["points"] <= IN_RANGE[1]:
        return None
    times = {"points": seconds}
    for name, spread in KINDS.items():
        if name != "points":
            mean, times[name] = fitted(case, constraint, spread, 0, case.k)
            found[name] = exact.error_of(mean)
    equal = min(len(case.X), numbers(mean) // (mean.dimension + 1))
    found["points, equal numbers"] = exact.error_of(
        fitted(case, constraint, None, 0, equal)[0] if equal > case.k else points
    )
    if refine:
        steps = contenders.steps(case.k)
        for name in ("points", "auto"):
            moved, times[f"{name}, refined"] = fitted(case, constraint, KINDS[name], steps, case.k)
            found[f"{name}, refined"] = exact.error_of(moved)
    return {"errors": found, "seconds": times, "chose": str(mean.expansion.atoms.kind)}


def geometric(ratios: list[float]) -> float:
    return math.exp(float(np.mean(np.log(ratios)))) if ratios else math.nan


def summary(rows: list[dict]) -> list[str]:
    """Ratios of errors to those of points."""

    def ratios(name: str, base: str, some: list[dict]) -> list[float]:
        return [row["errors"][name] / row["errors"][base] for row in some if name in row["errors"]]

    narrow = [
        r for r in rows if r["weights"] == "simplex" and r["width"] == "narrow" and r["d"] <= 5
    ]
    lines = [
        f"simplex, narrow, d <= 5: auto {geometric(ratios('auto', 'points', narrow)):.3f} over "
        f"{len(narrow)} cells"
    ]
    for name in ("scalar", "full", "auto"):
        found = ratios(name, "points", rows)
        lines.append(f"{name}: {geometric(found):.3f}, worst {max(found):.3f}, {len(found)} cells")
    found = ratios("auto", "points, equal numbers", rows)
    lines.append(f"auto at equal numbers: {geometric(found):.3f}, worst {max(found):.3f}")
    found = ratios("auto, refined", "points, refined", rows)
    if found:
        lines.append(f"refined: {geometric(found):.3f}, worst {max(found):.3f}")
    slower = [row["seconds"]["auto"] / row["seconds"]["points"] for row in rows]
    lines.append(f"time: {geometric(slower):.2f}, worst {max(slower):.2f}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=datasets.present())
    parser.add_argument("--most", type=int, default=10**9, help="centres")
    parser.add_argument("--refine", action="store_true")
    parser.add_argument("--output", type=Path, help="where each cell goes, one line of JSON each")
    arguments = parser.parse_args()
    rows = []
    for facts, case, exact in cells(arguments.sets, arguments.most):
        for constraint in CONSTRAINTS:
            found = measured(case, exact, constraint, arguments.refine)
            if found is not None:
                rows.append(facts | {"weights": constraint} | found)
                if arguments.output:
                    arguments.output.write_text("\n".join(map(json.dumps, rows)))
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()

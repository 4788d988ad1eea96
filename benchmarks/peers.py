"""kernelmean beside what a user would pick instead: ``python -m benchmarks.peers [--quick] [--sets ...] [--draw]``.

Writes ``docs/benchmarks.md``, ``docs/benchmarks.png`` and the figures behind both, ``docs/benchmarks.json``. The peers live in
an environment of their own: ``make bench-peers`` makes it. A peer that is not installed is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks import contenders, datasets, page, parts
from benchmarks.contenders import CONSTRAINTS, HERDING, STEPS, Case
from benchmarks.exact import Exact
from benchmarks.measuring import machine

POINTS = 4096  # a power of four, which goodpoints thins to; all pairs are still cheap
HALVINGS = (7, 6, 5, 4, 3, 2)  # k = ⌊n/2^m⌋: 32 … 1024
L2_HALVINGS = (6, 4)
LEAST = 30  # centres
OWN_WEIGHTS = (64, 256)  # k at which coreax's own optimisers are tried
VERSIONS = ("kernelmean", "coreax", "jax", "goodpoints", "scikit-learn", "fpsample", "skmatter", "torch", "torch-cluster")
VERSIONS += ("pykeops", "geomloss", "numpy", "scipy")
FOLDER = Path(__file__).parents[1] / "docs"


def cells_of(name: str, halvings: tuple[int, ...], l2_halvings: tuple[int, ...], extra: dict[str, float]) -> list[dict]:
    """Every kernel, bandwidth, space, k and constraint on one sample; ``extra`` gathers the time of compilation."""
    X = datasets.load(name, POINTS)
    found = []
    for kernel in ("gaussian", "laplacian"):
        for width, sigma in datasets.bandwidths(X).items():
            for space, sizes in (("rkhs", halvings), ("l2", l2_halvings)):
                exact = None
                for k in sorted({len(X) >> m for m in sizes if len(X) >> m >= LEAST}):
                    case = Case(X, kernel, sigma, space, k)
                    exact = exact or Exact(X, kernel, case.length, space)
                    facts = {"data": name, "n": len(X), "d": X.shape[1], "kernel": kernel, "width": width, "space": space, "k": k}
                    own_weights = k in OWN_WEIGHTS and (kernel, width, space) == ("gaussian", "narrow", "rkhs")
                    found += [facts | cell for cell in compared(case, exact, extra, own_weights)]
    return found


def compared(case: Case, exact: Exact, extra: dict[str, float], own_weights: bool) -> list[dict]:
    """One cell for each constraint: relative errors and warm times of everybody."""
    cells = {constraint: {"weights": constraint, "error": {}, "time": {}, "selecting": {}} for constraint in CONSTRAINTS}
    for constraint, cell in cells.items():
        for label, steps in (("auto", 0), ("refine", STEPS)):
            if steps == 0 or case.kernel == "gaussian":
                fit = contenders.own(case, constraint, steps)
                cell["error"][label] = exact.errors(fit.result.centers, [fit.result.weights])[0]
                cell["time"][label] = fit.seconds
                cell.setdefault("chose", fit.result.selection)
                extra["kernelmean"] += fit.extra
    for name, chosen in contenders.peers(case):
        extra[name] += chosen.extra
        C = chosen.result
        best = {constraint: contenders.clock(lambda c=constraint: case.optimal(C, c)) for constraint in cells}
        errors = exact.errors(C, [found.result for found in best.values()])
        for (constraint, found), error in zip(best.items(), errors, strict=True):
            cell = cells[constraint]
            cell["error"][name], cell["selecting"][name] = error, chosen.seconds
            cell["time"][name] = chosen.seconds + found.seconds
            if own_weights and name == HERDING:
                theirs = contenders.clock(lambda c=constraint: contenders.coreax_weights(case, C, c), compiles=True)
                extra["coreax weights"] += theirs.extra
                cell["own"] = [exact.errors(C, [theirs.result])[0], chosen.seconds + theirs.seconds]
    return list(cells.values())


def rounded(value):
    """Four digits, to keep the file small."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def versions() -> dict[str, str]:
    """Of the packages compared, where installed."""
    installed = {d.metadata["Name"].lower().replace("_", "-"): d.version for d in importlib.metadata.distributions()}
    return {name: installed.get(name, "not installed") for name in VERSIONS}


def write(results: dict, folder: Path) -> None:
    """The figures behind the page, one cell per line; the page; the picture."""
    lines = ",\n".join(json.dumps(rounded(cell), ensure_ascii=False, separators=(",", ":")) for cell in results["cells"])
    head = json.dumps(rounded({key: value for key, value in results.items() if key != "cells"}), ensure_ascii=False, indent=1)
    (folder / "benchmarks.json").write_text(f'{head[:-2]},\n"cells": [\n{lines}\n]}}\n')
    (folder / "benchmarks.md").write_text(page.render(results))
    page.draw(results["cells"], folder / "benchmarks.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sets, k = 32 and 128, small samples in the other parts")
    parser.add_argument("--sets", nargs="*", help=f"some of {', '.join(datasets.SETS)}")
    parser.add_argument("--draw", action="store_true", help="only write the page and the picture again, from the JSON file")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    arguments = parser.parse_args()
    if arguments.draw:
        write(json.loads((arguments.folder / "benchmarks.json").read_text()), arguments.folder)
        return
    contenders.prepare()
    start, extra = time.perf_counter(), defaultdict(float)
    results = {"machine": machine(), "versions": versions(), "quick": arguments.quick, "tables": {}, "cells": []}
    results["absent"] = [name for name in datasets.SETS if name not in datasets.present()]
    for title, measure in parts.TABLES.items():
        results["tables"][title] = [list(row) for row in measure(arguments.quick)]
        print(f"{time.perf_counter() - start:6.0f} s  {title}", flush=True)
    sizes = ((7, 5), (6,)) if arguments.quick else (HALVINGS, L2_HALVINGS)
    for name in arguments.sets or (("banana", "mixture") if arguments.quick else datasets.present()):
        if name in datasets.present():
            results["cells"] += cells_of(name, *sizes, extra)
        results |= {"seconds": time.perf_counter() - start, "first_runs": dict(extra)}
        write(results, arguments.folder)
        print(f"{results['seconds']:6.0f} s  {name}", flush=True)
    print(np.array2string(np.array(page.summary(results["cells"]), dtype=object)))


if __name__ == "__main__":
    main()

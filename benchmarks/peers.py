"""kernelmean beside what a user would pick instead: ``python -m benchmarks.peers [--quick]
[--resume] [--draw]``.

Writes ``docs/benchmarks.md`` and the pages beside it, ``docs/benchmarks.png`` and the figures
behind them,
``docs/benchmarks.json``. The peers live in an environment of their own: ``make bench-peers`` makes
it. A peer that is not installed is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

from benchmarks import contenders, datasets, page, parts
from benchmarks.contenders import CONSTRAINTS, HERDING, Case
from benchmarks.exact import Exact
from benchmarks.measuring import machine
from benchmarks.page import BEFORE

POINTS = 4096  # a power of four, which goodpoints thins to; all pairs are still cheap
# k = ⌊n/2^m⌋: 32 … 1024 in the RKHS, 64 and 256 in L2; all sets at some k before any set at the
# others
STAGES = ({"rkhs": (7, 6, 4), "l2": (6, 4)}, {"rkhs": (2,)}, {"rkhs": (5, 3)})
QUICK_STAGES = ({"rkhs": (7, 5), "l2": (6,)},)
WIDE_MOST = 512  # centres for a wide kernel, which needs fewer
LEAST = 30  # centres
OWN_WEIGHTS = (64, 256)  # k at which coreax's own optimisers are tried
VERSIONS = (
    "kernelmean",
    "coreax",
    "jax",
    "goodpoints",
    "scikit-learn",
    "fpsample",
    "skmatter",
    "torch",
    "torch-cluster",
)
VERSIONS += ("pykeops", "geomloss", "numpy", "scipy")
FOLDER = Path(__file__).parents[1] / "docs"


class Sample:
    """One set with its evaluators, and the cells measured on it."""

    def __init__(self, name: str) -> None:
        self.name, self.X = name, datasets.load(name, POINTS)
        self.bandwidths = datasets.bandwidths(self.X)
        self._exact: dict[tuple[str, str, str], Exact] = {}

    def cells(self, stage: dict[str, tuple[int, ...]], extra: dict[str, float]) -> Iterator[dict]:
        """Every kernel, bandwidth, space, k and constraint; ``extra`` gathers the time of
        compilation.
        """
        X, n = self.X, len(self.X)
        for kernel, width, space in product(("gaussian", "laplacian"), self.bandwidths, stage):
            sizes = sorted(
                {n >> m for m in stage[space]}
                & set(range(LEAST, WIDE_MOST + 1 if width == "wide" else n))
            )
            for k in sizes:
                case = Case(X, kernel, self.bandwidths[width], space, k)
                if (kernel, width, space) not in self._exact:
                    self._exact[kernel, width, space] = Exact(X, kernel, case.length, space)
                facts = {
                    "data": self.name,
                    "n": n,
                    "d": X.shape[1],
                    "kernel": kernel,
                    "width": width,
                    "space": space,
                    "k": k,
                }
                own_weights = k in OWN_WEIGHTS and (kernel, width, space) == (
                    "gaussian",
                    "narrow",
                    "rkhs",
                )
                for cell in compared(case, self._exact[kernel, width, space], extra, own_weights):
                    yield facts | cell


def compared(case: Case, exact: Exact, extra: dict[str, float], own_weights: bool) -> list[dict]:
    """One cell for each constraint: relative errors and warm times of everybody."""
    cells = {
        constraint: {"weights": constraint, "error": {}, "time": {}, "selecting": {}}
        for constraint in CONSTRAINTS
    }
    for constraint, cell in cells.items():
        for label, steps in (("auto", 0), ("refine", contenders.steps(case.k))):
            if steps == 0 or case.kernel == "gaussian":
                fit = contenders.own(case, constraint, steps)
                cell["error"][label] = exact.error_of(fit.result)
                cell["time"][label] = fit.seconds
                kind = fit.result.expansion.atoms.kind or "points"
                cell.setdefault("chose", f"{fit.result.selection}, {kind}")
                extra["kernelmean"] += fit.extra
        if case.kernel == "gaussian":
            fit = contenders.own(case, constraint, 0, spread=None)
            cell["error"][BEFORE] = exact.error_of(fit.result)
            cell["time"][BEFORE] = fit.seconds
    for name, chosen in contenders.peers(case):
        if isinstance(chosen, Exception):
            for cell in cells.values():
                cell.setdefault("failed", {})[name] = _words(chosen)
            continue
        extra[name] += chosen.extra
        C = chosen.result
        best = {
            constraint: contenders.clock(lambda c=constraint: case.optimal(C, c), warm=True)
            for constraint in cells
        }
        errors = exact.errors(C, [found.result for found in best.values()])
        for (constraint, found), error in zip(best.items(), errors, strict=True):
            cell = cells[constraint]
            cell["error"][name], cell["selecting"][name] = error, chosen.seconds
            cell["time"][name] = chosen.seconds + found.seconds
            if own_weights and name == HERDING:
                theirs = contenders.clock(
                    lambda c=constraint: contenders.coreax_weights(case, C, c), compiles=True
                )
                extra["coreax weights"] += theirs.extra
                cell["own"] = [exact.errors(C, [theirs.result])[0], chosen.seconds + theirs.seconds]
    return list(cells.values())


def _words(error: Exception) -> str:
    """The first line of what went wrong."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def rounded(value):
    """Four digits, to keep the file small."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def versions() -> dict[str, str]:
    """Of the packages compared, where installed."""
    installed = {
        d.metadata["Name"].lower().replace("_", "-"): d.version
        for d in importlib.metadata.distributions()
    }
    return {name: installed.get(name, "not installed") for name in VERSIONS}


def save(results: dict, folder: Path) -> None:
    """The figures behind the page, one cell per line."""
    lines = ",\n".join(
        json.dumps(rounded(cell), ensure_ascii=False, separators=(",", ":"))
        for cell in results["cells"]
    )
    head = json.dumps(
        rounded({key: value for key, value in results.items() if key != "cells"}),
        ensure_ascii=False,
        indent=1,
    )
    (folder / "benchmarks.json").write_text(f'{head[:-2]},\n"cells": [\n{lines}\n]}}\n')


def show(folder: Path) -> None:
    """The page and the picture, from the figures saved."""
    results = json.loads((folder / "benchmarks.json").read_text())
    for path in folder.glob("benchmarks-*.md"):
        path.unlink()
    for name, text in page.render(results).items():
        (folder / name).write_text(text)
    page.draw(results["cells"], folder / "benchmarks.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="two sets, k = 32 and 128, small samples in the other parts",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=1e9,
        help="begin nothing new after so many; the page says what is missing",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on after the last step saved by a run that was interrupted",
    )
    parser.add_argument(
        "--draw",
        action="store_true",
        help="only write the page and the picture again, from the JSON file",
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write")
    arguments = parser.parse_args()
    if not arguments.draw:
        measure(arguments.quick, 60.0 * arguments.minutes, arguments.folder, arguments.resume)
    show(arguments.folder)


def measure(quick: bool, limit: float, folder: Path, resume: bool = False) -> None:
    """All parts, saved after every step.

    What would begin after ``limit`` seconds is left out, and what fails is noted; the page says
    both.
    """
    contenders.prepare()
    results = _saved(folder, quick) if resume else None
    results = _beginning(quick) if results is None else results
    start, extra = (
        time.perf_counter() - results["seconds"],
        defaultdict(float, results["first_runs"]),
    )
    for title, step in _steps(quick, results, extra):
        if title in results["done"]:
            continue
        if time.perf_counter() - start > limit:
            results["left_out"].append(title)
        else:
            try:
                step()
                results["done"].append(title)
            except (
                Exception
            ) as error:  # one part must not cost the others; the page says what failed
                results["failed"].append(f"{title}: {_words(error)}")
        results |= {"seconds": time.perf_counter() - start, "first_runs": dict(extra)}
        save(results, folder)
        print(f"{results['seconds']:6.0f} s  {title}", flush=True)


def _beginning(quick: bool) -> dict:
    absent = [name for name in datasets.SETS if name not in datasets.present()]
    known = {
        "machine": machine(),
        "versions": versions(),
        "quick": quick,
        "absent": absent,
        "seconds": 0.0,
        "first_runs": {},
    }
    return known | {"tables": {}, "cells": [], "left_out": [], "done": [], "failed": []}


def _saved(folder: Path, quick: bool) -> dict | None:
    """What an earlier run of the same kind, machine and versions has saved."""
    path = folder / "benchmarks.json"
    if not path.exists():
        return None
    found, fresh = json.loads(path.read_text()), _beginning(quick)
    if any(found.get(key) != fresh[key] for key in ("machine", "versions", "quick", "absent")):
        raise SystemExit(
            f"{path} was measured elsewhere, with other versions or other data; run without "
            "--resume."
        )
    return fresh | found | {"left_out": [], "failed": []}


def _steps(
    quick: bool, results: dict, extra: dict[str, float]
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The first stage on every set, the other parts, then the costlier stages: what matters most
    comes first.
    """
    samples = [Sample(name) for name in (("banana", "mixture") if quick else datasets.present())]
    first, *others = [(stage, samples) for stage in (QUICK_STAGES if quick else STAGES)]
    yield from _stage(*first, results["cells"], extra)
    for title, part in parts.TABLES.items():
        yield (
            title,
            lambda t=title, p=part: results["tables"].update({t: [list(row) for row in p(quick)]}),
        )
    for stage in others:
        yield from _stage(*stage, results["cells"], extra)


def _stage(
    stage: dict[str, tuple[int, ...]],
    samples: list[Sample],
    cells: list[dict],
    extra: dict[str, float],
) -> Iterator[tuple[str, Callable[[], None]]]:
    for sample in samples:
        sizes = [len(sample.X) >> m for m in stage["rkhs"]]
        title = f"{sample.name} at k = {', '.join(str(k) for k in sizes if k >= LEAST)}"
        yield (
            title,
            lambda s=sample: cells.extend(list(s.cells(stage, extra))),
        )  # whole, or not at all


if __name__ == "__main__":
    main()

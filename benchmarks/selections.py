"""When each selection wins, and what the choice costs: ``python -m benchmarks.selections [tables]
[--output docs/selection.md]``.

Relative errors ‖z̄ − z‖/‖z̄‖ by ``benchmarks.exact``: all pairs in NumPy, so samples are small.
Cost in units of one n × k kernel sum over the same points, both warm, in one run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import kernelmean as km
from benchmarks.contenders import Case
from benchmarks.datasets import bandwidths, load, present
from benchmarks.datasets import round_mixture as mixture
from benchmarks.exact import Exact
from benchmarks.measuring import Row, machine, seconds, table
from kernelmean import engines

POINTS = 2500
SIZES = (32, 256)
SETS = (
    "banana",
    "heavy mixture",
    "skin",
    "mixture",
    "cover",
    "waveform",
)  # of dimension 2, 2, 3, 5, 10, 21
NAMED = ("kcenter", "greedy", "kmeans", "kmeans++", "random")
STEPS = 50  # of refinement
LARGE = 1_000_000  # points
COSTS = (  # d, k, bandwidth in units of Scott's
    (2, 300, 1.0),
    (2, 1000, 1.0),
    (2, 3000, 1.0),
    (3, 1000, 4.0),
    (5, 500, 1.0),
    (5, 1000, 4.0),
    (10, 300, 1.0),
)
MOST = 8.0  # kernel sums that the choice may cost

WORDS = f"""`selection="auto"`, the default, tries several selections, compares what they achieve
at equal k (‖z̄‖² is common to all, so E_k is comparable; with constrained weights the objective
they reach), and keeps the best. Each can be asked for by name.

- **`"kcenter"`**: farthest-first, the paper's. It covers the support evenly, knows no bandwidth,
  and its first m centres are right for every m. In two dimensions it comes second to greedy rows
  once k covers the support many times over (wide kernels, k = 256); with few centres, and from
  five dimensions on at any k below, it picks outliers first and uniform random rows beat it. It
  alone carries the bound of Theorem 1.
- **`"greedy"`**: each next row is the one that lowers the error most, from a pool of candidates.
  Its centres are rows of X, and it is the best of the five in most cells below, with signed and
  with valid weights, for both kernels.
- **`"kmeans"`**: Lloyd's centroids, off the data (`indices` is None). Ahead of greedy rows with
  few centres and a wide kernel (k = 32); behind with more, and far behind for narrow kernels in
  high dimension. Not nested.
- **`"kmeans++"`**, **`"random"`**: draws. Fast, and what others are measured by.
- **`"auto"`** with k given: centroids, and the greedy selection with centroids among its
  candidates (up to three dimensions only for k ≤ 1024, where its algebra costs less than the
  sums); where the last centres gain next to nothing also rows alone, greedy and, at the border of
  rounding, farthest-first (up to three dimensions). Centres off the data then take a few steps of
  `refine`, where points and centres are few. With k open: the greedy selection and, up to three
  dimensions, farthest-first grow side by side, and the worse is dropped after 128 centres. For
  densities: farthest-first, which also says how many where k is open, and as many centroids. The
  list, with what the errors would be without each of its lines, is `CONTENDERS` in
  `kernelmean.selection.auto`.
- **`refine=N`** moves the centres down the error itself. For a smooth kernel nothing on the data
  comes near it; a Laplacian gains little.
- **Densities** (`SparseKDE`, KL, mean shift) are compared by the mean log-density of rows,
  because the error hardly sees the tails: a selection that leaves them empty may win by L2 error
  and lose whole units of likelihood. Where two are as likely, to 0.02 nats, the smaller L2 error
  decides. So `SparseKDE(selection="auto")` need not take what `sparse_kernel_mean(space="l2",
  constraint="simplex")` takes.

Below, relative errors ‖z̄ − z‖/‖z̄‖ of up to {POINTS} standardised rows, RKHS; narrow: Scott's
bandwidth, wide: half the median distance. Bold: the least of the five selections. `auto` ÷ best
is `auto` over that least one. The last table is the cost of `auto` in units of one n × k kernel
sum over the same points, which the engine sums faster the narrower the kernel and the lower the
dimension."""


def errors(kernel: str, constraint: str | None) -> list[str]:
    """One line for each set, bandwidth and k."""
    columns = (
        "data",
        "d",
        "bandwidth",
        "k",
        *NAMED,
        "auto",
        f"auto, refine={STEPS}",
        "auto ÷ best",
        "auto chose",
    )
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * 3 + " ---: |" * (len(columns) - 4) + " --- |",
    ]
    for name in (name for name in SETS if name in present()):
        X = load(name, POINTS)
        for width, sigma in bandwidths(X).items():
            exact = None
            for k in SIZES:
                case = Case(X, kernel, sigma, "rkhs", k)
                exact = exact or Exact(X, kernel, case.length, "rkhs")
                lines.append(
                    f"| {name} | {X.shape[1]} | {width} | {k} | "
                    + " | ".join(_errors(case, exact, constraint))
                    + " |"
                )
    return lines


def _errors(case: Case, exact: Exact, constraint: str | None) -> Iterator[str]:
    options = {"kernel": case.ours, "k": case.k, "constraint": constraint, "random_state": 0}
    options["spread"] = None  # this page is about points; docs/spreads.md about atoms
    ways = {name: (name, 0) for name in NAMED} | {"auto": ("auto", 0), "refine": ("auto", STEPS)}
    means = {
        way: km.sparse_kernel_mean(case.X, selection=s, refine=steps, **options)
        for way, (s, steps) in ways.items()
    }
    found = {way: exact.error_of(mean) for way, mean in means.items()}
    least = min(found[name] for name in NAMED)
    yield from (
        f"**{e:.1e}**" if way in NAMED and e == least else f"{e:.1e}" for way, e in found.items()
    )
    yield f"{found['auto'] / least:.2f}"
    yield means["auto"].selection


def costs() -> list[Row]:
    """Time of ``auto`` over that of one n × k kernel sum."""
    rows = []
    for d, k, factor in COSTS:
        X = mixture(LARGE, d, 0)
        kernel = km.Gaussian(factor * km.bandwidth.scott(X))
        cloud, centers = (
            engines.open("cpu").load(X),
            X[np.random.default_rng(0).choice(LARGE, k, replace=False)],
        )
        radial = kernel.radial(d, "rkhs")
        unit = seconds(lambda cloud=cloud, radial=radial, C=centers: cloud.kernel_sum(radial, C), 3)
        times, chosen = {}, {}
        for selection in ("auto", "kcenter"):

            def fit(X=X, kernel=kernel, k=k, selection=selection, chosen=chosen) -> None:
                chosen[selection] = km.sparse_kernel_mean(
                    X, kernel=kernel, k=k, selection=selection, random_state=0
                ).selection

            times[selection] = seconds(fit, 1)
        case = f"n = 10⁶, d = {d}, k = {k}, {factor:g} × Scott's bandwidth"
        words = (
            f"{times['auto']:.2f} s against {unit:.2f} s, chose {chosen['auto']}; kcenter "
            f"alone {times['kcenter'] / unit:.1f}"
        )
        rows.append(Row(case, times["auto"] / unit, f"≤ {MOST:g}", words))
    return rows


def _titled(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


TABLES: dict[str, Callable[[], str]] = {
    "gaussian": lambda: _titled("Gaussian, signed weights", errors("gaussian", None)),
    "simplex": lambda: _titled("Gaussian, weights on the simplex", errors("gaussian", "simplex")),
    "laplacian": lambda: _titled("Laplacian, signed weights", errors("laplacian", None)),
    "cost": lambda: table("Cost", costs()).replace("### ", "## "),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"some of the tables {', '.join(TABLES)}; all if none is given"
    )
    parser.add_argument("--output", type=Path, help="also write the page to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(TABLES):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(TABLES)}")
    parts = [
        f"# Which selection\n\nWritten by `make bench`.\n\n{WORDS}\n\nMeasured on: {machine()}\n"
    ]
    for name, measure in TABLES.items():
        if not arguments.names or name in arguments.names:
            parts.append(measure())
            print(parts[-1], flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()

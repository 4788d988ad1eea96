"""What each contender of ``selection="auto"`` is worth: ``python -m benchmarks.contenders_of_auto
[grids] [--without names] [--cells]``.

Everything is fitted with all contenders, and again without each of them in turn. Printed are ratios
of errors (without ÷ with): their geometric mean over all cells, the worst cell, and the time. A
contender whose removal costs less than 2 % in the geometric mean and no cell more than 10 % does
not earn its place. Removing a contender changes nothing in cells that it does not win, so that
only those are fitted again; what has no name of its own is fitted again wherever it takes part.

Grids: ``means``, the 632 cells of the table beside the peers (``benchmarks.peers``), by which the
list was made; ``fresh``, four sets that played no part in that, with another seed; ``open``, sets
of low dimension with k open; ``densities``, held-out mean log-density, a ratio being exp of the
loss in nats; ``tails``, the same for data with rare far points. Where k is open for a density,
farthest-first finds it, and all are compared at that k.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

import kernelmean as km
from benchmarks import datasets, peers
from benchmarks.contenders import CONSTRAINTS, Case
from benchmarks.datasets import round_mixture as mixture
from benchmarks.exact import Exact
from benchmarks.measuring import DATA
from kernelmean.fitting import fit
from kernelmean.fitting.fit import sparse_density
from kernelmean.selection import auto, centroids, contest, criterion

FRESH = ("diabetes", "thyroid", "ringnorm", "twonorm")  # of dimension 8, 5, 20, 20
LOW_DIMENSION = ("banana", "heavy mixture", "skin", "line")
DENSITY_POINTS = 8192  # of a set, half of them held out
DRAWN_POINTS = 100_000  # of a mixture
TAIL_POINTS = 200_000  # where centroids are those of a draft
DENSITY_SIZES = (32, 64, 256, 1024, "auto")
DRAWN_SIZES = (100, 300, 900, 1500, "auto")
ROUNDING = 1e-6  # relative errors below this are rounding in the table beside the peers
MOST_MEAN, MOST_CELL = 1.02, 1.10  # what a removal may cost


SECOND_START = "kmeans, second start"


class Fitted(NamedTuple):
    """One cell: the error, or exp of the negative mean log-density, who won, and the time."""

    error: float
    selection: str
    k: int
    seconds: float
    density: bool = False


Cells = Iterator[tuple[str, Callable[[], Fitted]]]


def means(sets: tuple[str, ...] = datasets.SETS, seed: int = 0) -> Cells:
    """Every kernel, bandwidth, space, k and constraint of the table beside the peers."""
    halvings = {
        space: sorted({m for stage in peers.STAGES for m in stage.get(space, ())})
        for space in ("rkhs", "l2")
    }
    for name in (name for name in sets if name in FRESH or name in datasets.present()):
        X = load(name)
        widths = datasets.bandwidths(X)
        for kernel, width, space in product(("gaussian", "laplacian"), widths, halvings):
            most = peers.WIDE_MOST + 1 if width == "wide" else len(X)
            judge: Exact | None = None
            for k in sorted({len(X) >> m for m in halvings[space]} & set(range(peers.LEAST, most))):
                case = Case(X, kernel, widths[width], space, k)
                judge = judge or Exact(X, kernel, case.length, space)
                for weights, constraint in CONSTRAINTS.items():
                    cell = f"{name}, {kernel}, {width}, {space}, {weights}, k = {k}"
                    yield cell, lambda c=case, j=judge, w=constraint: _mean(c, j, w, c.k, seed)


def fresh() -> Cells:
    """Sets and a seed by which nothing was decided."""
    return means(FRESH, seed=1)


def with_k_open() -> Cells:
    """As many centres as the stopping rule takes; the error at that number."""
    for name in LOW_DIMENSION:
        X = load(name)
        for kernel, (width, sigma) in product(
            ("gaussian", "laplacian"), datasets.bandwidths(X).items()
        ):
            case = Case(X, kernel, sigma, "rkhs", 0)
            judge = Exact(X, kernel, case.length, "rkhs")
            for weights, constraint in CONSTRAINTS.items():
                cell = f"{name}, {kernel}, {width}, {weights}, k open"
                yield cell, lambda c=case, j=judge, w=constraint: _mean(c, j, w, "auto", 0)


def _mean(case: Case, judge: Exact, constraint: str | None, k: int | str, seed: int) -> Fitted:
    start = time.perf_counter()
    mean = km.sparse_kernel_mean(
        case.X,
        kernel=case.ours,
        space=case.space,
        k=k,
        constraint=constraint,
        spread=None,  # the list is one of points
        random_state=seed,
    )
    spent = time.perf_counter() - start
    return Fitted(judge.error_of(mean), mean.selection, mean.k, spent)


def densities() -> Cells:
    """Real sets, one half of each held out, and mixtures."""
    for name in datasets.present():
        X = datasets.load(name, DENSITY_POINTS)
        half = len(X) // 2
        for k in DENSITY_SIZES:
            if k == "auto" or k <= half // 2:
                yield (
                    f"{name}, k = {k}",
                    lambda A=X[:half], Q=X[half:], k=k: _density(A, Q, k, "scott"),
                )
    for d, k in product((1, 2, 3, 5, 10), DRAWN_SIZES):
        yield f"mixture, d = {d}, k = {k}", lambda d=d, k=k: _drawn_density(d, k)


def _drawn_density(d: int, k: int | str) -> Fitted:
    return _density(mixture(DRAWN_POINTS, d, 0), mixture(8000, d, 1), k, "scott")


def tails() -> Cells:
    """Student's t, and normal data of which one row in 200 lies thirty times as far out."""
    for d, kind, k in product((1, 2, 3), ("t(3)", "t(2)", "outliers"), (300, "auto")):
        yield f"{kind}, d = {d}, k = {k}", lambda d=d, kind=kind, k=k: _tail_density(d, kind, k)


def _tail_density(d: int, kind: str, k: int | str) -> Fitted:
    """Judged by the rows themselves: held-out rows far out are no one's fault."""
    rng = np.random.default_rng(0)
    if kind == "outliers":
        X = rng.normal(size=(TAIL_POINTS, d))
        X[: TAIL_POINTS // 200] *= 30.0
    else:
        X = rng.standard_t(float(kind[2:-1]), (TAIL_POINTS, d))
    spread = 1.5 * float(np.median(np.abs(X)))
    return _density(X, X, k, spread * TAIL_POINTS ** (-1.0 / (d + 4)))


def _density(X: np.ndarray, Q: np.ndarray, k: int | str, bandwidth: float | str) -> Fitted:
    options = {"bandwidth": bandwidth, "random_state": 0, "spread": None}
    known = sparse_density(X, selection="kcenter", **options).k if k == "auto" else k
    start = time.perf_counter()
    mean = sparse_density(X, k=known, **options)
    spent = time.perf_counter() - start
    loss = -float(mean.log(Q).mean())
    return Fitted(math.exp(min(loss, 700.0)), mean.selection, mean.k, spent, True)


def load(name: str) -> np.ndarray:
    """A set of the table beside the peers, or one of the fresh ones, in the same way."""
    if name == "line":
        return mixture(peers.POINTS, 1, 0)
    if name not in FRESH:
        return datasets.load(name, peers.POINTS)
    with np.load(DATA / "benchmark11" / f"{name}.npz", allow_pickle=False) as file:
        X = np.unique(file["X"].astype(float), axis=0)
    X = X[np.random.default_rng(0).permutation(len(X))[: peers.POINTS]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


class Removal(NamedTuple):
    """How a contender is left out, and the cells where that may matter."""

    without: Callable[[], object]  # a context
    matters: Callable[[Fitted], bool]


@contextmanager
def _without_contender(place: int) -> Iterator[None]:
    left = (*auto.CONTENDERS[:place], *auto.CONTENDERS[place + 1 :])
    with patch.object(auto, "CONTENDERS", left):
        yield


def removals() -> dict[str, Removal]:
    """Every contender, by its place and name, and what has no line of its own in that list."""
    found = {
        f"{place + 1} {contender.name}": Removal(
            lambda place=place: _without_contender(place),
            lambda cell, name=contender.name: _takes_part(name, cell),
        )
        for place, contender in enumerate(auto.CONTENDERS)
    }
    return found | {
        "likelihood margin": Removal(
            lambda: patch.object(criterion, "LIKELIHOOD_MARGIN", 0.0), lambda cell: cell.density
        ),
        "fringe": Removal(
            lambda: patch.object(centroids, "MIN_K_FRINGE", 10**9),
            lambda cell: cell.density and cell.k >= centroids.MIN_K_FRINGE,
        ),
        "polish": Removal(
            lambda: patch.object(fit, "worth_polishing", lambda *_: False),
            lambda cell: cell.selection.endswith("+refined"),
        ),
    }


def _takes_part(name: str, cell: Fitted) -> bool:
    """A second start gives candidates to others; the rest matters only where it wins."""
    if name == SECOND_START:
        return cell.k <= contest.MAX_K_SECOND_START and not cell.density
    return cell.selection.removesuffix("+refined") in (name, f"{name}+kcenter")


def compared(cells: Cells, chosen: dict[str, Removal], show: bool) -> list[str]:
    """One line of a table for each removal."""
    ratios: dict[str, dict[str, float]] = {name: {} for name in chosen}
    changed = {name: [0, 0.0, 0.0] for name in chosen}
    for label, fitted in cells:
        whole = fitted()
        for name, removal in chosen.items():
            if not removal.matters(whole):
                ratios[name][label] = 1.0
                continue
            with removal.without():
                left = fitted()
            ratios[name][label] = left.error / whole.error
            changed[name][0] += left.error != whole.error
            changed[name][1] += whole.seconds
            changed[name][2] += left.seconds
            if show and left.error != whole.error:
                words = f"{whole.error:.3g} ({whole.selection}) → {left.error:.3g}"
                print(f"{ratios[name][label]:8.3f}  without {name}: {label}; {words}", flush=True)
    return [_line(name, ratios[name], *changed[name]) for name in chosen]


def _line(name: str, ratios: dict[str, float], count: int, before: float, after: float) -> str:
    values = np.array(list(ratios.values()))
    mean = float(np.exp(np.log(values).mean()))
    label = max(ratios, key=lambda cell: ratios[cell])
    verdict = "drop" if mean < MOST_MEAN and ratios[label] < MOST_CELL else "keep"
    above = int((values > MOST_CELL).sum())
    spent = f"{before:.1f} s → {after:.1f} s"
    return (
        f"| {name} | {mean:.4f} | {ratios[label]:.2f} | {label} | {count} of {len(values)}, "
        f"{above} by more than 10 % | {spent} | {verdict} |"
    )


GRIDS: dict[str, Callable[[], Cells]] = {
    "means": means,
    "fresh": fresh,
    "open": with_k_open,
    "densities": densities,
    "tails": tails,
}
HEAD = (
    "| without | geometric mean | worst cell | which | cells changed | their time | verdict |\n"
    "| --- | ---: | ---: | --- | ---: | --- | --- |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "grids", nargs="*", help=f"some of {', '.join(GRIDS)}; all if none is given"
    )
    parser.add_argument("--without", nargs="*", help="some removals only, by the start of a name")
    parser.add_argument("--cells", action="store_true", help="print every cell that changes")
    arguments = parser.parse_args()
    for name in arguments.grids or GRIDS:
        chosen = {
            removal: how
            for removal, how in removals().items()
            if arguments.without is None or removal.startswith(tuple(arguments.without))
        }
        lines = compared(GRIDS[name](), chosen, arguments.cells)
        print(f"\n## {name}\n\n{HEAD}\n" + "\n".join(lines), flush=True)


if __name__ == "__main__":
    main()

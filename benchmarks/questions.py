"""Questions to a density: the page of what its answers cost and how exact they are.

``python -m benchmarks.questions [names] [--quick] [--output FILE]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import gaussian_kde

import kernelmean as km
from benchmarks import closed_forms, conditionals, self_evaluation
from benchmarks.datasets import PLACES, round_mixture
from benchmarks.difference import measured, sections
from benchmarks.measuring import DATA, Row, machine, seconds
from kernelmean.compiled import threads

FITTED = 10_000  # rows
QUANTILES = 1_000_000
TIMED = 20  # quantiles by which SciPy is timed
DENSITIES: dict[str, dict[str, object]] = {
    "default": {},
    "narrow kernel, k = 400": {"bandwidth": 0.02, "k": 400, "scale": "std"},
    "every row an atom": {"bandwidth": "scott", "scale": "std", "sparse": False},
}
INTRODUCTION = """# Questions to a density

Written by `python -m benchmarks.questions`.

**Quantiles**: a million quantiles of one column at random levels, by a density of {fitted} \
rows. The other side inverts `integrate_box_1d` of SciPy's `gaussian_kde` of the same rows by \
`brentq`, to its default tolerance, as one does where there is no quantile; it is timed on \
{timed} of the levels, and scaled. The mixture has six clusters; the real column is the minute \
of the day of flights. The default density has few Gaussians, so there are also one of over 300 \
terms with a narrow kernel and the exact estimate with every row as a term.

**Points at themselves**: `km.gaussian_kde` of {points} points in two dimensions, evaluated at \
these points, in one call that finds a sparse density, certifies it and evaluates it; warm, best \
of three, {threads} threads. SciPy's class is timed at {at} of the points and scaled. Flights are \
the minute of the day and the delay. The error is one in L2, so it is small where the density is \
high: the quantiles of |f̃ − f|/f over {compared} of the points tell of the tails.

**Conditional likelihood**: the mean of log f(y | x) over held-out rows, y one column and x all \
the others, which is the log-density of the row less that of its marginal. Ours is the default \
density, of which nothing was set for the question. The other side is \
`KDEMultivariateConditional` of statsmodels with its default bandwidths, and with bandwidths by \
its cross-validated likelihood, which takes time O(n²) per trial and is therefore found on \
{blocks} blocks of {block} rows, by the median, and scaled to all rows by its own rule. Sets are \
flights (delay given minute, distance and day), lakes (flow cytometry, all samples on the \
arcsinh scale, the last channel given the other three) and skin (red given blue and green): \
distinct rows, {held_out} held out, columns of unit variance. Both sides have the same rows; the \
peer is asked about {asked} held-out rows, the gain is on these, and the standard error is that \
of the paired difference. Speed is rows per second in one call, ours on {many} rows with \
{threads} threads; the peer has no threads. It sums over all rows that were fitted, so it is \
slower the more there are. Not every goal is met: of 5000 rows, two of the three sets stay below \
1000×, and on flights the gain over cross-validated bandwidths is a little below 0, within two \
standard errors.

**Closed forms**: the largest error against SciPy's adaptive cubature of the values of the \
density, with a relative tolerance of 1e-12, over {places} places each, of four densities in two \
dimensions: the default, and copies of a kernel density estimate with round atoms, with round \
atoms that `scale="cov"` turns, and with full atoms. **Boxes by lattices**: boxes that have no \
closed form, the error in units of the standard error that is told with the answer. If that is \
right, the root mean square is near 1.
"""


def quantiles(count: int = QUANTILES, densities: Sequence[str] = tuple(DENSITIES)) -> Iterator[Row]:
    """Seconds of SciPy over ours, for as many quantiles."""
    p = np.random.default_rng(1).random(count)
    for name, x in _columns().items():
        theirs, places = _by_scipy(x, p[:TIMED])
        for setting in densities:
            density = km.SparseKDE(random_state=0, **DENSITIES[setting]).fit(x)
            ours = seconds(lambda s=density: s.quantile(p), 3)
            found = density.quantile(p)
            missed = np.abs(density.cdf(found[:1000]) - p[:1000]).max()
            apart = np.abs(found[:TIMED] - places).max() / x.std()
            detail = (
                f"{ours:.2f} s against {theirs * count:.0f} s; {_terms(density)} terms, cdf at the "
                f"quantiles within {missed:.0e} of the levels; from SciPy's at most {apart:.2f} "
                "standard deviations away"
            )
            case = f"{name}, {setting}"
            yield Row(case, f"{theirs * count / ours:.0f}×", "≥ 100×", detail)


def _columns() -> dict[str, np.ndarray]:
    """One column each, standardised where it is real."""
    found = {"mixture": round_mixture(FITTED, 1, 0)}
    path = DATA / PLACES["flights"]
    if path.exists():
        with np.load(path, allow_pickle=False) as file:
            minutes = file["X"][:, :1].astype(float)
        rows = np.random.default_rng(0).permutation(len(minutes))[:FITTED]
        found["flights"] = minutes[rows]
    return found


def _by_scipy(x: np.ndarray, p: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds for each quantile, and the quantiles."""
    kde = gaussian_kde(x.T)
    reach = 10.0 * x.std()
    low, high = float(x.min() - reach), float(x.max() + reach)
    start = time.perf_counter()
    found = [brentq(lambda q, a=a: kde.integrate_box_1d(-np.inf, q) - a, low, high) for a in p]
    return (time.perf_counter() - start) / len(p), np.array(found)


def _terms(density: km.SparseKDE) -> int:
    """Components with a positive weight."""
    return int(np.count_nonzero(density.mean_.weights))


def tables(quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    """What is on the page, by title; quickly, it is only seen that all of it can be measured."""
    if quick:
        return {
            "Quantiles": lambda: quantiles(10_000, ("default",)),
            "Points at themselves": lambda: self_evaluation.at_themselves(20_000, 50),
            "Conditional likelihood": lambda: conditionals.against_statsmodels(("skin",), (2000,)),
            "Closed forms": closed_forms.against_quadrature,
            "Boxes by lattices": closed_forms.lattice,
        }
    return {
        "Quantiles": quantiles,
        "Points at themselves": self_evaluation.at_themselves,
        "Conditional likelihood": conditionals.against_statsmodels,
        "Closed forms": closed_forms.against_quadrature,
        "Boxes by lattices": closed_forms.lattice,
    }


def introduction() -> str:
    """What is measured, and how."""
    return INTRODUCTION.format(
        fitted=FITTED,
        timed=TIMED,
        points=self_evaluation.POINTS,
        at=self_evaluation.TIMED,
        compared=self_evaluation.COMPARED,
        blocks=conditionals.BLOCKS,
        block=conditionals.BLOCK,
        held_out=conditionals.HELD_OUT,
        asked=conditionals.ASKED,
        many=conditionals.MANY,
        places=closed_forms.PLACES,
        threads=threads.default_count(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.questions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", nargs="*", help="some of the tables; all if none is given")
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    options = parser.parse_args()
    shown = tables(options.quick)
    if unknown := set(options.names) - set(shown):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(shown)}")
    parts = sections(options.output)
    for name, rows in shown.items():
        if not options.names or name in options.names:
            parts[name] = measured(name, rows())
    page = "\n".join(
        [
            f"{introduction()}\nMeasured on: {machine()}\n",
            *(parts[title] for title in shown if title in parts),
        ]
    )
    print(page)
    if options.output:
        options.output.write_text(page)


if __name__ == "__main__":
    main()

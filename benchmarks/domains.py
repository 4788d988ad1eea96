"""Densities on a domain: the page of how near they are to the truth, and what they cost.

``python -m benchmarks.domains [names] [--quick] [--output FILE]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import kernelmean as km
from benchmarks import bounded, domain_sums, domain_tables, spheres
from benchmarks.difference import measured, sections
from benchmarks.measuring import Row, machine
from kernelmean.compiled import threads

MANY = 1_000_000
REPEATS = 5
SPEEDS = {
    "default": {},
    "copy, k = 300": {"bandwidth": "scott", "scale": "std", "k": 300},
}
INTRODUCTION = """# Densities on a domain

Written by `python -m benchmarks.domains`. What a domain is: \
[Bounds, hours, places, categories](guides/domains.md).

**Bounded densities**: the integrated squared error over where the law can lie, by a midpoint \
rule of {cells} cells, in the mean over {samples}. Ours is `SparseKDE(domain={{0: bounds}})`, the \
default, and with `target="kde"`, the copy; `no domain` is the default without bounds. Peers are \
scikit-learn's `KernelDensity` of the rows (plain) and of the rows with those that each bound \
reflects (reflected), with a bandwidth of σ n^(−1/5), σ the deviation of the rows (Scott), \
or of the largest likelihood in {folds}-fold cross-validation among {factors} bandwidths from \
1/{least:.0f} to {most:.1g} times Scott's (validated). Their sums are those of \
`km.KernelDensity`, equal to rounding. The figure is the error of our default over that of the \
best of the four peers, which nobody knows beforehand. In the geometric mean the default is below \
each of them, but not in every case: reflected estimates are ahead of it on even rows, and plain \
ones where a density falls to zero at its bounds, as beta(2, 5) and gamma(2) do. Five of the eight \
laws, those that are exponential, even or cut off a normal one, are of the family of a single \
component that ends at bounds; the others are not. A copy is near to the reflected estimate with a \
validated bandwidth, as it is meant to be.

**Sums that are written out**: the density with every row as a centre (`sparse=False`) against \
NumPy's sum of the Gaussian over {images} images on each side of a period, or as many reflections; \
and what integrals over the domain lack of one, by Gauss and Legendre. **statsmodels**: the same \
against `KDEMultivariate` of columns with numbers and unordered categories, at its bandwidths.

**Held-out likelihood**: the mean of the difference of log-densities at held-out rows, with its \
standard error, in the units of the data. With a domain: minute of the day of flights with a \
period, distance from 0, day between half a day before the first and after the last; cover with \
the aspect as an angle, slopes from 0 to 90 degrees, distances from 0, brightness from −½ to 255½ \
since it is rounded, and the cover type as a category; abalone with the sex as a category, sizes \
and weights from 0 and rings from ½; stroke with eight columns of categories and three numbers \
from 0. Without: `SparseKDE` of the same rows where there are no categories; where there is one \
column of them, a density for each category times its frequency, none of which knows bounds or \
periods; where there are eight, a density of the numbers times the frequency of each category, as \
if they were independent. Copies are compared with copies. statsmodels is asked \
about {asked} held-out rows; its cross-validation, of time O(n²) for a trial, is run up to {few} \
columns, on {blocks} blocks of {block} rows.

**The globe**: 4π times the density of evenly spread places, which should be 1, and held-out \
likelihood beside a density of longitude and latitude as plain numbers, both per steradian. \
Clusters lie along an arc across the date line and about the north pole; earthquakes are the table \
quake of KEEL. A goal is missed by place alone: earthquakes lie along arcs, components on the \
sphere are round, and those of the map have any shape.

**Speed**: seconds to fit {many} rows of two columns and to score them, with a bound and a period \
and without, in turn, each the best of {repeats}; {threads} threads. Few rows are near the bound \
or midnight, so that both densities have much the same components. The figure is the time without \
a domain over that with one.

But for what follows, nothing of the domains was tuned on this page. That kernel density \
estimates of few columns join the mixtures of the default was decided after earlier runs on the \
bounded laws, and on six others: gamma(3), beta(3, 1.5), a Weibull law, a triangle, a trapezoid, \
and a half normal law, which is that cut at its mean. That they are cut off at some bounds, at \
which bandwidths, and how their shares are found, was decided by sixteen laws that are not on the \
page, five of these six among them, after a look at where the errors of beta(2, 5) and gamma(2) \
lay; that estimates which are cut off have to be likelier than the mixtures alone, after a look at \
20,000 even rows. In the geometric mean the error over that of the best peer fell from 1.00 to \
0.87 on the sixteen, at worst from 3.3 to 1.8. How many images a component may have was \
decided by lognormal, folded normal and copula laws, after a look at what \
it changes on cover and abalone: +0.08 and −0.006 nats from 256 to 16. The density without \
domains, whose search is much the same, was tuned with flights, cover and abalone among its \
tables ([Densities](density.md)).
"""


def many_rows(n: int) -> np.ndarray:
    """Waiting times and hours of which few are near the bound, or near midnight.

    So the densities are alike with a domain and without, and what is timed is its price.
    """
    rng = np.random.default_rng(0)
    hours = rng.normal(np.where(rng.random(n) < 0.6, 8.0, 17.0), 2.5)
    return np.column_stack([rng.gamma(3.0, 1.0 + (hours > 12.0)), hours % 24.0])


def speed(n: int = MANY, repeats: int = REPEATS) -> Iterator[Row]:
    """Fits and scores with and without a domain, by turns: other work slows both."""
    rows = many_rows(n)
    domains = {"with": {0: (0.0, None), 1: km.Periodic(24.0)}, "without": None}
    for name, settings in SPEEDS.items():
        best = {(who, what): float("inf") for who in domains for what in ("fit", "score")}
        atoms = {}
        for _ in range(repeats):
            for who, domain in domains.items():
                density = km.SparseKDE(domain=domain, random_state=0, **settings)
                spent = {"fit": _seconds(lambda d=density: d.fit(rows))}
                spent["score"] = _seconds(lambda d=density: d.score_samples(rows))
                atoms[who] = density.mean_.k
                for what, time_spent in spent.items():
                    best[who, what] = min(best[who, what], time_spent)
        total = {who: best[who, "fit"] + best[who, "score"] for who in domains}
        detail = "; ".join(
            f"{who}: fit {best[who, 'fit']:.1f} s, score {best[who, 'score']:.2f} s, "
            f"{atoms[who]} atoms"
            for who in domains
        )
        yield Row(f"{name}, {n} rows", total["without"] / total["with"], "≥ 0.7", detail)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def tables(quick: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    """What is on the page, by title; quickly, it is only seen that all of it can be measured."""
    if quick:
        return {
            "Bounded densities": lambda: bounded.bounded(("exponential",), {200: 2}),
            "Sums that are written out": lambda: domain_sums.sums(("half-line", "period")),
            "The globe by its formula": domain_sums.sphere,
            "statsmodels": lambda: domain_sums.against_statsmodels(rules=("normal_reference",)),
            "Held-out likelihood": lambda: domain_tables.likelihood(("abalone",)),
            "The globe": spheres.globe,
            "Speed": lambda: speed(20_000, 1),
        }
    return {
        "Bounded densities": bounded.bounded,
        "Sums that are written out": domain_sums.sums,
        "The globe by its formula": domain_sums.sphere,
        "statsmodels": domain_sums.against_statsmodels,
        "Held-out likelihood": domain_tables.likelihood,
        "The globe": spheres.globe,
        "Speed": speed,
    }


def introduction() -> str:
    """What is measured, and how."""
    samples = ", ".join(f"{count} samples of {n}" for n, count in bounded.SEEDS.items())
    return INTRODUCTION.format(
        cells=bounded.CELLS,
        samples=samples,
        folds=bounded.FOLDS,
        factors=len(bounded.FACTORS),
        least=1.0 / bounded.FACTORS[0],
        most=bounded.FACTORS[-1],
        images=domain_sums.STEPS[-1],
        asked=domain_tables.ASKED,
        few=domain_tables.FEW_COLUMNS,
        blocks=domain_tables.BLOCKS,
        block=domain_tables.BLOCK,
        many=MANY,
        repeats=REPEATS,
        threads=threads.default_count(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.domains", description=__doc__.splitlines()[0]
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

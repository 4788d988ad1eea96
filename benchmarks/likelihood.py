"""Held-out likelihood on real tables: ``python -m benchmarks.likelihood [tables] [--tuning]
[--only NAME …] [--cache FILE] [--output FILE]``.

``SparseKDE()`` as it is by default against the best of the exact density with a cross-validated
bandwidth, the same by Scott's rule, and a mixture of Gaussians by BIC; the time of a fit against
that of a mixture; and what a foreign unit or a few gross rows cost.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.mixture import GaussianMixture

import kernelmean as km
from benchmarks import baselines, tables
from benchmarks.datasets import round_mixture
from benchmarks.measuring import DATA, Row, machine, table
from benchmarks.tables import REPORT, TUNING, AbsentError, Split

GOAL = "≥ −0.1, or two standard errors"
FOREIGN_UNIT = 1e9
GROSS, GROSS_ROWS, OF_ROWS = 1e6, 5, 1000
SEEDS = 3
FEW_ATOMS = 64  # in the time of a fit: a mixture of hundreds would take an hour


class Compared(NamedTuple):
    """Held-out log-likelihood per row of ours less the best of the others on one table."""

    name: str
    shape: tuple[int, int]
    gain: float
    error: float  # one standard error of the gain, over held-out rows
    detail: str
    diverges: str

    def row(self, goal: str) -> Row:
        n, d = self.shape
        met = self.gain >= -0.1 or self.gain >= -2 * self.error
        shown = f"{self.gain:+.3f}" + ("" if met or goal == "–" else " ✗")
        return Row(f"{self.name}, {n} × {d}", shown, goal, self.detail)


def compare(name: str, split: Split, cache: Path = baselines.CACHE) -> Compared:
    """Ours, fitted anew, and the others, kept from an earlier run where there was one."""
    others = baselines.of(name, split, cache)
    best, theirs = baselines.best(others, baselines.CONTESTANTS)
    start = time.perf_counter()
    fitted = km.SparseKDE(random_state=0).fit(split.train)
    spent = time.perf_counter() - start
    ours = fitted.score_samples(split.test)
    gain = ours - theirs
    error = float(gain.std() / len(gain) ** 0.5)
    detail = (
        f"± {error:.3f} to {best}; ours {ours.mean():.2f}, {_scores(others)}; "
        f"k = {fitted.mean_.k}, fit {spent:.1f} s, mixture {others['mixture']['fit seconds']:.1f} s"
    )
    sound = [each for each in baselines.CONTESTANTS if each not in others["degenerate"]]
    if others["diverges"] and sound:
        rival, lower = baselines.best(others, sound)
        detail = f"{np.mean(ours - lower):+.3f} to {rival}, the best that is not; {detail}"
    if others["diverges"]:
        detail = f"{others['diverges']}; {detail}"
    return Compared(name, split.train.shape, float(gain.mean()), error, detail, others["diverges"])


def _scores(others: dict[str, Any]) -> str:
    means = {each: np.mean(others[each]["scores"]) for each in baselines.CONTESTANTS}
    chosen = {
        "exact": f" (σ = {others['exact']['sigma']:.2f}, {others['exact']['scale']})",
        "mixture": f" (k = {others['mixture']['k']})",
    }
    return ", ".join(f"{each} {mean:.2f}{chosen.get(each, '')}" for each, mean in means.items())


def held_out(names: Iterable[str] = REPORT, cache: Path = baselines.CACHE) -> list[Row]:
    """A row for each table, then those where a likelihood diverges, and the median of the first."""
    found, absent = [], []
    for name in names:
        try:
            found.append(compare(name, tables.load(name).split(), cache))
        except AbsentError as reason:
            absent.append(Row(name, None, "–", f"skipped: {reason}"))
    fair = [each for each in found if not each.diverges]
    apart = [each.row("–") for each in found if each.diverges]
    if fair:
        gains = np.array([each.gain for each in fair])
        missed = sum("✗" in str(each.row(GOAL).ratio) for each in fair)
        least = fair[int(np.argmin(gains))]
        detail = (
            f"worst {least.gain:+.3f} ± {least.error:.3f} ({least.name}); {missed} missed; "
            f"{len(apart)} more tables where a likelihood diverges stand below"
        )
        summary = Row(f"median of {len(fair)} tables", f"{np.median(gains):+.3f}", "≥ 0", detail)
        return [summary, *(each.row(GOAL) for each in fair), *apart, *absent]
    return [*apart, *absent]


def fit_time(n: int = 100_000, d: int = 10) -> list[Row]:
    """The likeliest density against a mixture of as many components, on the same rows."""
    cases = {f"round mixture, n = {n}, d = {d}": (round_mixture(n, d, 0), round_mixture(n, d, 1))}
    if DATA is not None:
        X = np.load(DATA / "large" / "cover.npz")["X"].astype(np.float64)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        order = np.random.default_rng(0).permutation(len(X))
        cases[f"cover, n = {n}, d = 10, k_max = {FEW_ATOMS}"] = (X[order[:n]], X[order[n:]])
    km.SparseKDE(random_state=0).fit(round_mixture(2000, d, 0))  # compiles
    return [_timed(name, *rows) for name, rows in cases.items()]


def _timed(name: str, X: np.ndarray, Q: np.ndarray) -> Row:
    options = {"k_max": FEW_ATOMS} if "k_max" in name else {}
    start = time.perf_counter()
    ours = km.SparseKDE(random_state=0, **options).fit(X)
    own = time.perf_counter() - start
    start = time.perf_counter()
    theirs = GaussianMixture(ours.mean_.k, random_state=0).fit(X)
    other = time.perf_counter() - start
    detail = (
        f"{own:.1f} s against {other:.1f} s ({theirs.n_iter_} iterations) with k = {ours.mean_.k}; "
        f"held out {ours.score_samples(Q).mean():.3f} against {theirs.score_samples(Q).mean():.3f}"
    )
    return Row(name, own / other, "≤ 0.1", detail)


def _score(X: np.ndarray, Q: np.ndarray) -> float:
    """The mean over seeds: fits of a few hundred rows differ by tenths of a nat between them."""
    fits = [km.SparseKDE(random_state=seed).fit(X) for seed in range(SEEDS)]
    return float(np.mean([fitted.score_samples(Q) for fitted in fits]))


def unit_loss(split: Split) -> float:
    """Nats per row that the last column in another unit costs, Jacobian counted."""
    unit = np.ones(split.train.shape[1])
    unit[-1] = FOREIGN_UNIT
    foreign = _score(split.train * unit, split.test * unit) + np.log(FOREIGN_UNIT)
    return _score(split.train, split.test) - foreign


def gross_loss(split: Split) -> float:
    """Nats per clean row that five rows in a thousand at ±10⁶ cost, against a fit without them."""
    clean = split.train[:OF_ROWS]
    count = max(1, round(GROSS_ROWS * len(clean) / OF_ROWS))
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(count, clean.shape[1]))
    return _score(clean[count:], split.test) - _score(
        np.vstack([clean[count:], GROSS * signs]), split.test
    )


def robustness(names: Iterable[str] = REPORT, cache: Path = baselines.CACHE) -> list[Row]:
    """What a foreign unit and gross rows cost, on tables where no likelihood diverges."""
    rows = []
    for name in names:
        try:
            split = tables.load(name).split(OF_ROWS)
            if baselines.of(name, tables.load(name).split(), cache)["diverges"]:
                continue
        except AbsentError as reason:
            rows.append(Row(name, None, "–", f"skipped: {reason}"))
            continue
        n, d = split.train.shape
        losses = {"a column × 10⁹": unit_loss(split), "5 rows of 1000 at 10⁶": gross_loss(split)}
        rows += [
            Row(f"{name}, {what}", f"{loss:+.3f}", "< 0.1", f"nats lost per clean row, {n} × {d}")
            for what, loss in losses.items()
        ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help='"likelihood", "time", "robustness"; all if none')
    parser.add_argument("--tuning", action="store_true", help="the tables for tuning instead")
    parser.add_argument("--only", nargs="+", help="some tables by name")
    parser.add_argument("--cache", type=Path, default=baselines.CACHE, help="kept contestants")
    parser.add_argument("--output", type=Path, help="also write what is printed to this file")
    options = parser.parse_args()
    chosen = options.only or (TUNING if options.tuning else REPORT)
    parts = {
        "likelihood": ("Likelihood on real tables", lambda: held_out(chosen, options.cache)),
        "time": ("Fit time", fit_time),
        "robustness": (
            "Foreign units and outliers",
            lambda: robustness(chosen, options.cache),
        ),
    }
    if unknown := set(options.names) - set(parts):
        parser.error(f"no table {sorted(unknown)[0]!r}; choose from {', '.join(parts)}")
    pieces = [f"Measured on: {machine()}\n"]
    for name, (title, measure) in parts.items():
        if not options.names or name in options.names:
            pieces.append(table(title, measure()))
            print(pieces[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(pieces))


if __name__ == "__main__":
    main()

"""Integrated squared errors of densities that have bounds, beside plain and reflected estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

import kernelmean as km
from benchmarks.measuring import Row

SEEDS = {200: 5, 2000: 3, 20_000: 1}  # rows to fit, and how many samples of them
CELLS = 8192  # of the midpoint rule
FOLDS, JUDGED = 5, 1000  # of the cross-validation, and rows to judge by in each at most
FACTORS = 2.0 ** np.arange(-5.0, 1.5, 0.5)  # of Scott's bandwidth, to be validated
Values = Callable[[np.ndarray], np.ndarray]
Bounds = tuple[float | None, float | None]


class Law(NamedTuple):
    """A distribution on a line, a half-line or an interval."""

    distribution: stats.rv_continuous
    bounds: Bounds


LAWS = {
    "beta(2, 5)": Law(stats.beta(2, 5), (0.0, 1.0)),
    "beta(1, 3)": Law(stats.beta(1, 3), (0.0, 1.0)),
    "exponential": Law(stats.expon(), (0.0, None)),
    "uniform": Law(stats.uniform(), (0.0, 1.0)),
    "normal cut at its mean": Law(stats.truncnorm(0.0, np.inf), (0.0, None)),
    "normal cut at 2 deviations above": Law(stats.truncnorm(2.0, np.inf, -2.0), (0.0, None)),
    "normal cut on both sides": Law(stats.truncnorm(-1.0, 2.0), (-1.0, 2.0)),
    "gamma(2)": Law(stats.gamma(2), (0.0, None)),
}
OURS = {"default": {}, "copy": {"target": "kde"}}
PEERS = ("plain, Scott", "plain, validated", "reflected, Scott", "reflected, validated")


def squared_error(f: Values, law: Law) -> float:
    """∫ (f − p)² over where the law can lie, by the midpoint rule."""
    low, high = ends(law)
    width = (high - low) / CELLS
    x = low + width * (np.arange(CELLS) + 0.5)
    return float(width * ((f(x) - law.distribution.pdf(x)) ** 2).sum())


def ends(law: Law) -> tuple[float, float]:
    """Where a law lies, or all but 1e-9 of it."""
    low, high = law.distribution.ppf([0.0, 1.0 - 1e-9]).tolist()
    return low, high if law.bounds[1] is None else law.bounds[1]


def ours(x: np.ndarray, bounds: Bounds | None, **settings: object) -> Values:
    """A density by this library, with or without bounds."""
    domain = None if bounds is None else {0: bounds}
    density = km.SparseKDE(domain=domain, random_state=0, **settings).fit(x[:, None])
    return lambda q: np.exp(density.score_samples(q[:, None]))


def reflected(x: np.ndarray, bounds: Bounds) -> np.ndarray:
    """Rows and what each bound reflects of them."""
    return np.concatenate([x, *(2.0 * bound - x for bound in bounds if bound is not None)])


def estimate(x: np.ndarray, bandwidth: float, bounds: Bounds = (None, None)) -> Values:
    """scikit-learn's estimate of rows and their reflections, as a density of the domain.

    The sums are those of our class of this name: the same to rounding, and faster.
    """
    rows = reflected(x, bounds)
    kde = km.KernelDensity(bandwidth=bandwidth).fit(rows[:, None])
    times = len(rows) / len(x)
    return lambda q: times * np.exp(kde.score_samples(q[:, None]))


def scott(x: np.ndarray) -> float:
    """σ n^(−1/5)."""
    return float(x.std() * len(x) ** -0.2)


def validated(x: np.ndarray, bounds: Bounds = (None, None)) -> float:
    """The bandwidth of the largest likelihood of rows that were left out."""
    parts = np.array_split(np.random.default_rng(0).permutation(len(x)), FOLDS)
    totals = np.zeros(len(FACTORS))
    for part in parts:
        rest = np.delete(x, part)
        judged = x[part[:JUDGED]]
        for a, factor in enumerate(FACTORS):
            values = estimate(rest, factor * scott(x), bounds)(judged)
            totals[a] += np.log(np.maximum(values, 1e-300)).mean()
    return float(FACTORS[np.argmax(totals)] * scott(x))


def errors(law: Law, n: int, seed: int) -> dict[str, float]:
    """The integrated squared error of everybody on one sample."""
    x = law.distribution.rvs(n, random_state=seed)
    found = {name: ours(x, law.bounds, **settings) for name, settings in OURS.items()}
    found["no domain"] = ours(x, None)
    found |= {
        "plain, Scott": estimate(x, scott(x)),
        "plain, validated": estimate(x, validated(x)),
        "reflected, Scott": estimate(x, scott(x), law.bounds),
        "reflected, validated": estimate(x, validated(x, law.bounds), law.bounds),
    }
    return {name: squared_error(f, law) for name, f in found.items()}


def bounded(
    names: tuple[str, ...] = tuple(LAWS), seeds: dict[int, int] | None = None
) -> Iterator[Row]:
    """Our errors over those of the best peer, case by case, then over each peer's in the mean."""
    cases: list[dict[str, float]] = []
    for name in names:
        for n, count in (seeds or SEEDS).items():
            found = [errors(LAWS[name], n, seed) for seed in range(count)]
            mean = {who: float(np.mean([one[who] for one in found])) for who in found[0]}
            cases.append(mean)
            yield _case(f"{name}, n = {n}", mean)
    yield from _in_the_mean(cases)


def _case(case: str, mean: dict[str, float]) -> Row:
    best = min(PEERS, key=lambda peer: mean[peer])
    shown = "; ".join(f"{who} {float(f'{1000 * error:.2g}'):g}" for who, error in mean.items())
    return Row(case, mean["default"] / mean[best], "< 1", f"best: {best}. 10⁻³ × {shown}")


def _in_the_mean(cases: list[dict[str, float]]) -> Iterator[Row]:
    """The geometric means of ratios, and how often ours was the smaller one."""
    for who in (*OURS, "no domain"):
        for peer in PEERS:
            ratios = np.array([case[who] / case[peer] for case in cases])
            detail = (
                f"geometric mean; smaller in {(ratios < 1.0).sum()} of {len(ratios)} cases, ratios "
                f"from {ratios.min():.2g} to {ratios.max():.2g}"
            )
            goal = "–" if who == "no domain" else "< 1"
            yield Row(f"{who} ÷ {peer}", float(np.exp(np.log(ratios).mean())), goal, detail)

"""The two-sample test: its level, its power beside peers in equal time, and its bandwidths.

The tables are on the page of `benchmarks.difference`. Samples are in `benchmarks.two_sample_sets`,
peers in `benchmarks.two_sample_peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import kernelmean as km
from benchmarks import two_sample_sets as sets
from benchmarks.measuring import Row
from benchmarks.tables import AbsentError
from benchmarks.two_sample_peers import (
    ENGINE,
    LEVEL,
    Timed,
    equally_slow,
    median_distance,
    standardised,
)
from benchmarks.two_sample_sets import ALTERNATIVES, SMALL_PAIRS, Alternative

FEWER_PERMUTATIONS = 199  # for the level, which no number of them changes
FIRST = 40  # trials after which a peer that is clearly behind is not run any more
CLEARLY = 0.3  # a difference of powers: more than three standard errors of so many trials
BANDWIDTHS = ("median", "iqr", "scott", "aggregate")
REPORTED, CALIBRATED = 0, 10**6  # where seeds start


class Null(NamedTuple):
    """A law with sizes for two samples of it."""

    name: str
    draw: Callable[[int, np.random.Generator], np.ndarray]
    sizes: tuple[int, int]


def skewed(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.exponential(size=(n, 2))


def heavy(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(2, size=(n, 3))


def lattice(n: int, rng: np.random.Generator) -> np.ndarray:
    """Three columns with four values each: most rows are copies of others."""
    return rng.binomial(3, 0.3, size=(n, 3)).astype(float)


def rounded(n: int, rng: np.random.Generator) -> np.ndarray:
    """Skewed, with one digit."""
    return np.round(rng.exponential(size=(n, 2)), 1)


def lakes(n: int, rng: np.random.Generator) -> np.ndarray:
    water = sets.waters()[0]
    return water[rng.choice(len(water), n, replace=False)]


def answers(n: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of breast-cancer, ordinal codes with ties."""
    X = np.concatenate(sets.classes_of("breast-cancer"))
    return X[rng.choice(len(X), n, replace=False)]


NULLS = [
    Null("skewed, each point a bin", skewed, (40, 40)),
    Null("heavy tails, unequal", heavy, (30, 170)),
    Null("lattice, ties", lattice, (100, 100)),
    Null("lattice, ties, unequal", lattice, (50, 130)),
    Null("skewed, in bins", skewed, (300, 300)),
    Null("rows of a lake split at random", lakes, (100, 150)),
    Null("rows of breast-cancer split at random, ties", answers, (100, 177)),
    Null("skewed with ties, 60 against 3000", rounded, (60, 3000)),
]


def level(nulls: int = 2000, cases: Sequence[Null] = tuple(NULLS)) -> Iterator[Row]:
    """The rate of p ≤ .05 where both samples have one law."""
    for case in cases:
        try:
            rejected = [_rejected(case, seed) for seed in range(nulls)]
        except AbsentError as reason:
            yield Row(case.name, None, "0.05 ± 0.01", f"skipped: {reason}")
            continue
        rate = float(np.mean(rejected))
        error = np.sqrt(rate * (1 - rate) / nulls)
        detail = f"{case.sizes[0]} and {case.sizes[1]} rows; ± {error:.4f}, {nulls} pairs"
        yield Row(case.name, f"{rate:.4f}", "0.05 ± 0.01", detail)


def _rejected(case: Null, seed: int) -> bool:
    first = case.sizes[0]
    X = case.draw(sum(case.sizes), np.random.default_rng([first, seed]))
    options = {"permutations": FEWER_PERMUTATIONS, "engine": ENGINE, "random_state": seed}
    return km.mmd_test(X[:first], X[first:], **options).p_value <= LEVEL


def power(trials: int = 200, cases: Sequence[Alternative] = tuple(ALTERNATIVES)) -> Iterator[Row]:
    """Our power less that of the best peer in equal time."""
    for case in cases:
        for n in case.differences:
            try:
                yield _contest(case, n, trials)
            except AbsentError as reason:
                yield Row(f"{case.name}, n = {n}", None, "> 0", f"skipped: {reason}")


def _contest(case: Alternative, n: int, trials: int) -> Row:
    difference = case.differences[n]
    A, B = standardised(*case.draw(n, difference, np.random.default_rng([n, CALIBRATED])))
    contenders = equally_slow(A, B, median_distance(A, B))
    found = rejections(contenders, case, n, trials)
    powers = [float(np.mean(own)) for own in found]
    words = [
        f"{timed.name} {own:.2f} in {1e3 * timed.seconds:.0f} ms"
        + (f" ({len(said)} trials)" if len(said) < trials else "")
        for timed, own, said in zip(contenders, powers, found, strict=True)
    ]
    peers = in_equal_time(contenders, found)
    best = max(peers, key=lambda name: float(np.mean(peers[name])))
    both = np.array(found[0][: len(peers[best])], float) - peers[best]
    error = both.std() / np.sqrt(len(both))
    words.append(f"best peer in equal time {best} {np.mean(peers[best]):.2f}")
    detail = "; ".join([*words, f"difference {difference:g}, {trials} trials"])
    return Row(f"{case.name}, n = {n}", f"{both.mean():+.2f} ± {error:.2f}", "> 0", detail)


def in_equal_time(
    contenders: Sequence[Timed], found: Sequence[Sequence[bool]]
) -> dict[str, np.ndarray]:
    """What each peer says pair by pair, in the time that ours takes, which comes first.

    Between two settings of one peer, a faster and a slower, it is a share of either: linear in the
    logarithm of time.
    """
    said: dict[str, np.ndarray] = {}
    faster: dict[str, float] = {}
    for timed, own in zip(contenders[1:], found[1:], strict=True):
        answers = np.array(own, float)
        name = timed.peer or timed.name
        if name in said:
            whole = np.log(timed.seconds / faster[name])
            share = np.clip(np.log(contenders[0].seconds / faster[name]) / whole, 0.0, 1.0)
            both = min(len(answers), len(said[name]))
            answers = (1.0 - share) * said[name][:both] + share * answers[:both]
        said[name] = answers
        faster[name] = timed.seconds
    return said


def rejections(
    contenders: Sequence[Timed], case: Alternative, n: int, trials: int
) -> list[list[bool]]:
    """What each says of the same pairs, ours first; who is clearly behind says less."""
    found: list[list[bool]] = [[] for _ in contenders]
    running = list(range(len(contenders)))
    for seed in range(REPORTED, REPORTED + trials):
        rng = np.random.default_rng([n, seed])
        A, B = standardised(*case.draw(n, case.differences[n], rng))
        median = median_distance(A, B)
        for i in running:
            found[i].append(contenders[i].test(A, B, median, seed))
        if len(found[0]) == FIRST:
            own = np.mean(found[0])
            running = [i for i in running if i == 0 or own - np.mean(found[i]) < CLEARLY]
    return found


def single_bandwidths(
    trials: int = 200, cases: Sequence[Alternative] = tuple(SMALL_PAIRS)
) -> Iterator[Row]:
    """Power of single bandwidths beside the aggregate, on the same real rows."""
    behind: dict[str, list[float]] = {name: [] for name in BANDWIDTHS}
    for case in cases:
        for n, share in case.differences.items():
            try:
                powers = {name: _power(case, n, name, trials) for name in BANDWIDTHS}
            except AbsentError as reason:
                yield Row(f"{case.name}, n = {n}", None, "–", f"skipped: {reason}")
                continue
            words = ", ".join(f"{name} {powers[name]:.2f}" for name in BANDWIDTHS)
            best = max(powers, key=powers.__getitem__)
            mixed = "" if share == 1.0 else f"; {share:.0%} of B are of the other class"
            yield Row(f"{case.name}, n = {n}", best, "–", words + mixed)
            for name, own in powers.items():
                behind[name].append(powers[best] - own)
    for name, gaps in behind.items():
        if gaps:
            detail = (
                f"{np.mean(gaps):.2f} on average over {len(gaps)} pairs, {trials} trials of each"
            )
            goal = "the least" if name == "aggregate" else "–"
            yield Row(f"{name}: most that it is behind the best", max(gaps), goal, detail)


def _power(case: Alternative, n: int, name: str, trials: int) -> float:
    rejected = []
    for seed in range(REPORTED, REPORTED + trials):
        rng = np.random.default_rng([n, seed])
        A, B = standardised(*case.draw(n, case.differences[n], rng))
        found = km.mmd_test(A, B, bandwidth=name, engine=ENGINE, random_state=seed)
        rejected.append(found.p_value <= LEVEL)
    return float(np.mean(rejected))

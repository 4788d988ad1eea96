"""Tests of two samples, ours and its peers', and the size at which a peer takes as long as ours.

Every contender runs on one thread; time is that of the processor, best of several. Peers are given
columns of unit variance and the median distance, which they need not pay for. Those that work on
less than the whole sample have a size to choose:

- CTT and ACTT (goodpoints) a compression level g, of which each takes about twice the time of the
  one before: the last that is faster than ours and the first that is not, with equal time between
  them; the bandwidths are their authors': √2 times the median distance, for ACTT also a half, a
  quarter, an eighth and a sixteenth of it;
- MMDAgg, the energy distance and the MMD with the median distance, all with exact statistics, the
  rows of a subsample, the first number of them that takes at least as long as ours.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

import kernelmean as km
from benchmarks import mmdagg

LEVEL = 0.05
PERMUTATIONS = 199  # of peers; ours has its default
SLACK = 0.05  # of our time, by which a peer may be faster and still count as equal
SUBSAMPLE = 32  # rows: sizes of subsamples are multiples
ENGINE = km.engines.open("cpu", threads=1)

Test = Callable[[np.ndarray, np.ndarray, float, int], bool]  # (A, B, median, seed) -> rejected


class Timed(NamedTuple):
    """A contender with what it is called and the seconds it takes."""

    name: str
    test: Test
    seconds: float
    peer: str = ""  # whose setting it is, where two are tried


def ours(A: np.ndarray, B: np.ndarray, median: float, seed: int) -> bool:
    """All defaults: the bandwidths are its own."""
    return km.mmd_test(A, B, engine=ENGINE, random_state=seed).p_value <= LEVEL


def compress_then_test(g: int) -> Test:
    """CTT: exp(−r²/λ²), λ = √2·median."""
    from goodpoints.ctt import ctt

    def test(A: np.ndarray, B: np.ndarray, median: float, seed: int) -> bool:
        options = {"lam": np.sqrt(2.0) * median, "B": PERMUTATIONS, "alpha": LEVEL}
        found = ctt(A, B, g, null_seed=seed, statistic_seed=seed, **options)
        return bool(np.random.default_rng(seed).random() < found.rejects)

    return test


def aggregated_compress_then_test(g: int) -> Test:
    """ACTT: five bandwidths λ/2^i with equal weights, as in the experiments of its paper."""
    from goodpoints.ctt import actt

    def test(A: np.ndarray, B: np.ndarray, median: float, seed: int) -> bool:
        options = {
            "lam": np.sqrt(2.0) * median * 0.5 ** np.arange(4, -1, -1),
            "weights": np.full(5, 0.2),
            "alpha": LEVEL,
        }
        with contextlib.redirect_stdout(io.StringIO()):  # it tells each step of its bisection
            found = actt(A, B, g, null_seed=seed, statistic_seed=seed, **options)
        return bool(found.rejects)

    return test


def exact_mmd(m: int) -> Test:
    """The exact permutation test with the Gaussian kernel of the median distance."""
    return _permuted(m, lambda X, median: np.exp(cdist(X, X, "sqeuclidean") / (-2.0 * median**2)))


def energy_distance(m: int) -> Test:
    """The same with minus the distance as kernel."""
    return _permuted(m, lambda X, median: -cdist(X, X))


def _permuted(m: int, kernel: Callable[[np.ndarray, float], np.ndarray]) -> Test:
    """Permutations of m rows of each sample, all by one matrix product."""

    def test(A: np.ndarray, B: np.ndarray, median: float, seed: int) -> bool:
        rng = np.random.default_rng(seed)
        X = np.concatenate(subsamples(A, B, m, rng))
        K = kernel(X, median)
        signs = np.repeat([[1.0, -1.0]], m, axis=1)
        V = np.concatenate([signs, rng.permuted(np.tile(signs, (PERMUTATIONS, 1)), axis=1)])
        T = np.sum((V @ K) * V, axis=1)
        return bool(np.mean(T[0] - 1e-12 * abs(T[0]) <= T) <= LEVEL)

    return test


def aggregated_mmd(m: int) -> Test:
    """MMDAgg on m rows of each sample."""

    def test(A: np.ndarray, B: np.ndarray, median: float, seed: int) -> bool:
        rng = np.random.default_rng(seed)
        return mmdagg.rejects(*subsamples(A, B, m, rng), rng, LEVEL)

    return test


def subsamples(
    A: np.ndarray, B: np.ndarray, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    return A[rng.choice(len(A), m, replace=False)], B[rng.choice(len(B), m, replace=False)]


BY_LEVEL = {"CTT": compress_then_test, "ACTT": aggregated_compress_then_test}
BY_ROWS = {"MMDAgg": aggregated_mmd, "energy distance": energy_distance, "exact MMD": exact_mmd}


def clock(test: Test, A: np.ndarray, B: np.ndarray, median: float, repeats: int = 3) -> float:
    """Seconds of the processor, best of several."""
    times = []
    for seed in range(repeats):
        start = time.process_time()
        test(A, B, median, seed)
        times.append(time.process_time() - start)
    return min(times)


def equally_slow(A: np.ndarray, B: np.ndarray, median: float) -> list[Timed]:
    """Ours, and each peer at the size that takes as long; without goodpoints fewer."""
    ours(A, B, median, 0)  # compiles
    own = Timed("ours", ours, clock(ours, A, B, median, 7))
    least = own.seconds * (1.0 - SLACK)
    found = [own]
    if importlib.util.find_spec("goodpoints") is not None:
        for name in BY_LEVEL:
            found += by_level(name, A, B, median, least)
    return found + [by_rows(name, A, B, median, least) for name in BY_ROWS]


def by_level(name: str, A: np.ndarray, B: np.ndarray, median: float, least: float) -> list[Timed]:
    """The last compression level that is faster, where there is one, and the first that is not."""
    last = int(np.log2(len(A) // 16) / 2)  # where nothing is compressed any more
    found: list[Timed] = []
    for g in range(last + 1):
        test = BY_LEVEL[name](g)
        found.append(Timed(f"{name}, g = {g}", test, clock(test, A, B, median), name))
        if found[-1].seconds >= least:
            break
    return found[-2:]


def by_rows(name: str, A: np.ndarray, B: np.ndarray, median: float, least: float) -> Timed:
    """The first size that takes so long, in steps of 32 rows, or the whole sample.

    Time grows with the square of the rows, so that two guesses come close before the steps.
    """
    m = min(8 * SUBSAMPLE, len(A))
    for _ in range(3):
        m = _in_steps(m * np.sqrt(least / clock(BY_ROWS[name](m), A, B, median)), len(A))
    while m < len(A):
        seconds = clock(BY_ROWS[name](m), A, B, median)
        if seconds >= least:
            break
        m = min(m + SUBSAMPLE, len(A))
    test = BY_ROWS[name](m)
    return Timed(f"{name}, {m} + {m} rows", test, clock(test, A, B, median))


def _in_steps(rows: float, most: int) -> int:
    return int(min(max(rows // SUBSAMPLE, 1) * SUBSAMPLE, most))


def standardised(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of mean 0 and variance 1 over both samples."""
    X = np.concatenate([A, B])
    center, size = X.mean(axis=0), X.std(axis=0)
    size = np.where(size > 0.0, size, 1.0)
    return tuple(np.ascontiguousarray((S - center) / size) for S in (A, B))


def median_distance(A: np.ndarray, B: np.ndarray) -> float:
    """Of 500 rows of each sample."""
    X = np.concatenate([A[:500], B[:500]])
    return float(np.median(cdist(X, X)[np.triu_indices(len(X), 1)]))

"""The two-sample test against its peers: level under the null, and power at equal time.

``python -m benchmarks.two_sample [names] [--trials 200] [--nulls 4000] [--output FILE]``

Every contender runs on one thread and is given the same bandwidth, as a number; time is that of the
processor, median over the trials. Compress then test (goodpoints) takes a compression level g = 0,
1, …: it is shown at the largest g that is no slower than kernelmean (at g = 0 where even that is
slower), and at the least g that is slower, so that its time brackets ours. The exact permutation
test runs on a subsample of the size that takes as long. For the smallest n the test with full
means, every point a centre, shows what the common centres cost in power and save in time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

import kernelmean as km
from benchmarks.measuring import Row, machine, table

LEVEL = 0.05
PERMUTATIONS = 199
HEADER = "# The two-sample test\n\nWritten by `python -m benchmarks.two_sample`.\n"
ENGINE = km.engines.open("cpu", threads=1)

Samples = tuple[np.ndarray, np.ndarray]
Test = Callable[[np.ndarray, np.ndarray, float, int], bool]  # (A, B, σ, seed) -> rejected


class Setting(NamedTuple):
    """A way two samples differ, with the difference that is hard at each n."""

    name: str
    draw: Callable[[int, float, np.random.Generator], Samples]
    bandwidth: float  # in units of the median distance
    differences: dict[int, float]


def shifted(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Normal in ten dimensions; B is moved along the first coordinate."""
    A, B = rng.normal(size=(2, n, 10))
    B[:, 0] += difference
    return A, B


def stretched(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Normal in ten dimensions; B has a larger spread in every coordinate."""
    A, B = rng.normal(size=(2, n, 10))
    return A, B * (1.0 + difference)


def blobs(n: int, difference: float, rng: np.random.Generator) -> Samples:
    """Nine round normal blobs on a grid; those of B are tilted by a correlation."""
    A, B = (
        10.0 * rng.integers(3, size=(n, 2)) + rng.normal(size=(n, 2)) @ factor
        for factor in (np.eye(2), tilt(difference))
    )
    return A, B


def tilt(correlation: float) -> np.ndarray:
    return np.array([[1.0, correlation], [0.0, np.sqrt(1.0 - correlation**2)]])


SETTINGS = [
    Setting("mean shift, d = 10", shifted, 1.0, {4096: 0.08, 16384: 0.04, 65536: 0.02}),
    Setting("spread, d = 10", stretched, 1.0, {4096: 0.03, 16384: 0.015, 65536: 0.0075}),
    Setting("tilted blobs, d = 2", blobs, 0.1, {4096: 0.25, 16384: 0.12, 65536: 0.06}),
]


def ours(A: np.ndarray, B: np.ndarray, sigma: float, seed: int, *, sparse: bool = True) -> bool:
    options = {"bandwidth": sigma, "permutations": PERMUTATIONS, "engine": ENGINE}
    return km.mmd_test(A, B, sparse=sparse, random_state=seed, **options).p_value <= LEVEL


full = partial(ours, sparse=False)


def compress_then_test(g: int) -> Test:
    """exp(−r²/λ²), λ = √2σ."""
    from goodpoints.ctt import ctt

    def test(A: np.ndarray, B: np.ndarray, sigma: float, seed: int) -> bool:
        result = ctt(
            A,
            B,
            g,
            B=PERMUTATIONS,
            lam=np.sqrt(2.0) * sigma,
            null_seed=seed,
            statistic_seed=seed,
            alpha=LEVEL,
        )
        return np.random.default_rng(seed).random() < result.rejects

    return test


def subsampled(m: int) -> Test:
    """The exact permutation test on m points of each sample, permutations by one matrix product."""

    def test(A: np.ndarray, B: np.ndarray, sigma: float, seed: int) -> bool:
        rng = np.random.default_rng(seed)
        X = np.concatenate([S[rng.choice(len(S), m, replace=False)] for S in (A, B)])
        K = np.exp(cdist(X, X, "sqeuclidean") / (-2.0 * sigma**2))
        signs = np.repeat([[1.0, -1.0]], m, axis=1)
        V = np.concatenate([signs, rng.permuted(np.tile(signs, (PERMUTATIONS, 1)), axis=1)])
        T = np.sum((V @ K) * V, axis=1)
        return np.mean(T[0] * (1.0 - 1e-12) <= T) <= LEVEL

    return test


class Measured(NamedTuple):
    power: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.power:.2f} in {1e3 * self.seconds:.0f} ms"


def clock(test: Test, A: np.ndarray, B: np.ndarray, sigma: float, repeats: int = 3) -> float:
    times = []
    for seed in range(repeats):
        start = time.process_time()
        test(A, B, sigma, seed)
        times.append(time.process_time() - start)
    return float(np.min(times))


def measure(
    tests: dict[str, Test], setting: Setting, n: int, trials: int, sigma: float
) -> dict[str, Measured]:
    """Rejections and time of every test on the same pairs of samples."""
    rejected, times = {name: [] for name in tests}, {name: [] for name in tests}
    for seed in range(trials):
        A, B = setting.draw(n, setting.differences[n], np.random.default_rng([n, seed]))
        for name, test in tests.items():
            start = time.process_time()
            rejected[name].append(test(A, B, sigma, seed))
            times[name].append(time.process_time() - start)
    return {
        name: Measured(float(np.mean(rejected[name])), float(np.median(times[name])))
        for name in tests
    }


def compression_levels(
    A: np.ndarray, B: np.ndarray, sigma: float, limit: float
) -> list[int] | None:
    """The last g within the time and the first beyond it; None where goodpoints is missing."""
    try:
        import goodpoints.ctt  # noqa: F401
    except ImportError:
        return None
    g = 0
    while 4 ** (g + 2) <= len(A) // 16 and clock(compress_then_test(g), A, B, sigma) <= limit:
        g += 1
    return [g - 1, g] if g else [0, 1]


def equal_size(A: np.ndarray, B: np.ndarray, sigma: float, limit: float) -> int:
    """Points of each sample that the exact test can take in the time: about m², so one correction
    is enough.
    """
    m = 256
    for _ in range(3):
        m = int(min(max(8.0, m * np.sqrt(limit / clock(subsampled(m), A, B, sigma))), len(A)))
    return m


def level(trials: int, nulls: int) -> Iterator[Row]:
    """The rate of p ≤ .05 where both samples have one law."""
    cases = {
        "points as bins, 40 and 40": (40, 40, {}),
        "bins, 500 and 500, k = 32": (500, 500, {"k": 32, "bandwidth": 1.0}),
        "unequal, 300 and 1100, k = 32": (300, 1100, {"k": 32, "bandwidth": 1.0}),
        "very unequal, 20 and 3000, k = 32": (20, 3000, {"k": 32, "bandwidth": 1.0}),
        "all defaults, 400 and 400": (400, 400, {}),
    }
    for name, (n_a, n_b, options) in cases.items():
        rng, p = np.random.default_rng(0), []
        for seed in range(nulls):
            X = rng.exponential(size=(n_a + n_b, 2))
            p.append(
                km.mmd_test(
                    X[:n_a],
                    X[n_a:],
                    permutations=PERMUTATIONS,
                    engine=ENGINE,
                    random_state=seed,
                    **options,
                ).p_value
            )
        rate = float(np.mean(np.array(p) <= LEVEL))
        error = np.sqrt(rate * (1 - rate) / nulls)
        yield Row(
            name,
            rate,
            "0.05 ± 0.01",
            f"{rate:.4f} ± {error:.4f} (standard error), {nulls} null data sets",
        )


def power(trials: int, nulls: int) -> Iterator[Row]:
    """Our power over that of a peer in equal time."""
    for setting in SETTINGS:
        for n in setting.differences:
            A, B = setting.draw(n, setting.differences[n], np.random.default_rng(n))
            sigma = setting.bandwidth * km.bandwidth.median(np.concatenate([A, B]))
            limit = clock(ours, A, B, sigma, 5)
            tests: dict[str, Test] = {
                "ours": ours,
                "exact": subsampled(m := equal_size(A, B, sigma, limit)),
            }
            tests |= {"full means": full} if n == min(setting.differences) else {}
            levels = compression_levels(A, B, sigma, limit)
            tests |= {f"ctt, g = {g}": compress_then_test(g) for g in levels or []}
            found = measure(tests, setting, n, trials if n < 50_000 else trials // 2, sigma)
            mine = found.pop("ours")
            if levels is None:
                yield Row(f"{setting.name}, n = {n}, ctt", None, "> 1", "goodpoints not installed")
            for name, peer in found.items():
                label = f"exact test of {m} + {m} points" if name == "exact" else name
                ratio = mine.power / peer.power if peer.power > 0 else None
                goal = "about 1" if name == "full means" else "> 1"
                yield Row(
                    f"{setting.name}, n = {n}, {label}", ratio, goal, f"{mine} against {peer}"
                )


TABLES = {"Level": level, "Power": power}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.two_sample", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "names", nargs="*", help=f"some of: {', '.join(TABLES)}; all if none is given"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=200,
        help="pairs of samples per estimate of power; half of it for the largest n",
    )
    parser.add_argument(
        "--nulls", type=int, default=4000, help="null data sets per estimate of the level"
    )
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    parts = [f"{HEADER}\nMeasured on: {machine()} One thread.\n"]
    print(parts[0], flush=True)
    with threadpool_limits(1):
        for name, measured in TABLES.items():
            if not arguments.names or name in arguments.names:
                rows = []
                for row in measured(arguments.trials, arguments.nulls):
                    print(f"{row.case}: {row.detail}", file=sys.stderr, flush=True)  # minutes apart
                    rows.append(row)
                parts.append(table(name, rows))
                print(parts[-1], flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(parts))


if __name__ == "__main__":
    main()

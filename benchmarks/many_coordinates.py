"""``python -m benchmarks.many_coordinates``: sums and distances beside the bare matrix product of
their size.

What the product runs on is told beside it: OpenBLAS can be made to take slower code than the
processor allows, by OPENBLAS_CORETYPE, or take it where it does not know the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import kernelmean as km
from benchmarks.measuring import Row, run
from kernelmean import engines
from kernelmean._work import settled
from kernelmean.kernels import RadialFunction

POINTS = 20_000
QUERIES = 1024
DIMENSIONS = (10, 14, 16, 17, 20, 24, 32, 50, 100, 200, 400, 784, 1000)
GOALS = {100: "≥ 0.5", 784: "≥ 0.6"}
TURNS = 7


def normal(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def best_in_turns(actions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds that one core works on each, the best of several turns, after one that warms."""
    best = dict.fromkeys(actions, float("inf"))
    with threadpool_limits(1):
        for turn in range(1 + TURNS):
            for name, action in actions.items():
                start = time.thread_time()
                action()
                if turn:
                    best[name] = min(best[name], time.thread_time() - start)
    return best


def blas() -> str:
    """The code that the product runs on."""
    found = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return f"{found[0]['internal_api']} for {found[0].get('architecture', 'any processor')}"


def kernel_sums() -> list[Row]:
    """A Gaussian kernel sum against the product of queries and points, in turns."""
    rows = []
    for d in DIMENSIONS:
        X = normal(POINTS, d)
        Q = X[:QUERIES].copy()
        cloud, radial = engines.open("cpu", threads=1).load(X), km.Gaussian(d**0.5).formula(d)
        times = best_in_turns(
            {
                "sum": lambda cloud=cloud, g=radial, Q=Q: cloud.kernel_sum(g, Q),
                "product": lambda Q=Q, X=X: Q @ X.T,
            }
        )
        pairs = len(X) * len(Q)
        detail = (
            f"{pairs / times['sum']:.2e} values/s; product "
            f"{2e-9 * pairs * d / times['product']:.0f} Gflop/s, {blas()}"
        )
        rows.append(
            Row(
                f"d = {d}, speed of the sum ÷ speed of the product",
                times["product"] / times["sum"],
                GOALS.get(d, "–"),
                detail,
            )
        )
    return rows


def other_operations() -> list[Row]:
    """What else meets tiles of queries, in units of the product."""
    rows = []
    for d in (100, 784):
        X = normal(POINTS, d)
        Q, W = X[:QUERIES].copy(), normal(POINTS, 3, seed=1)
        w = np.full(POINTS, 1.0 / POINTS)
        cloud, kernel = engines.open("cpu", threads=1).load(X), km.Gaussian(d**0.5)
        radial, decay = kernel.formula(d), kernel.decay(d)
        operations: dict[str, Callable[[], object]] = {
            "three columns": lambda c=cloud, g=radial, Q=Q, W=W: c.kernel_sum(g, Q, W),
            "moments": lambda c=cloud, g=radial, Q=Q: c.kernel_moments(g, Q),
            "a step of mean shift": lambda c=cloud, g=decay, Q=Q, w=w: c.shift(g, Q, w),
            "nearest centres": lambda c=cloud, Q=Q: c.nearest(Q),
        }
        times = best_in_turns({**operations, "product": lambda Q=Q, X=X: Q @ X.T})
        rows += [
            Row(
                f"d = {d}, {name}",
                times["product"] / times[name],
                "–",
                f"{times[name]:.3f} s against {times['product']:.3f} s",
            )
            for name in operations
        ]
    return rows


def errors() -> list[Row]:
    """|sum − sum in extended precision| ÷ sum of the absolute terms, at most."""
    rng = np.random.default_rng(0)
    data = {
        "normal": lambda n, d: rng.normal(size=(n, d)),
        "10⁸ away from zero": lambda n, d: 1e8 + rng.normal(size=(n, d)),
        "digits in the last places": lambda n, d: 1.0 + 2.0**-50 * rng.integers(0, 9, (n, d)),
    }
    rows = []
    for d in (17, 100, 784):
        for name, make in data.items():
            X = make(500, d)
            Q = np.concatenate([X[:5], make(100, d)])
            scale = 2.0**-48 if "last" in name else 1.0
            radial = km.Gaussian(scale * d**0.5).formula(d)
            rows.append(
                Row(
                    f"d = {d}, {name}",
                    f"{largest_error(X, Q, rng.normal(size=len(X)), radial):.0e}",
                    "≤ 1e-13",
                    "signed weights; 500 points, 105 queries",
                )
            )
    return rows


def largest_error(X: np.ndarray, Q: np.ndarray, w: np.ndarray, radial: RadialFunction) -> float:
    squared = ((X[None].astype(np.longdouble) - Q[:, None]) ** 2).sum(axis=2)
    g = np.exp(-radial.rate * squared)
    with settled(True):
        found = engines.open("cpu", threads=1).load(X).kernel_sum(radial, Q, w)
    return float((np.abs(found - g @ w) / (g @ np.abs(w))).max())


TABLES = {
    "Kernel sums": kernel_sums,
    "Other operations": other_operations,
    "Error of kernel sums": errors,
}


if __name__ == "__main__":
    run(
        "Many coordinates",
        "Written by `make bench`; see [performance.md](performance.md). 20 000 points and 1024 "
        "queries on one core, in turns with the bare matrix product of the same size: a figure of "
        "0.6 says that the sum, exponentials and all, runs at 0.6 of its speed.",
        TABLES,
    )

"""Small work of every kind, for ``kernelmean compile``: what it runs is compiled, and kept on disk.

Nothing here lists compiled loops. It calls the library as a user does, with data just large enough
for the paths that large data takes.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean import _blas, _work
from kernelmean._types import Points
from kernelmean.compiled import caching
from kernelmean.engines.cpu.blocks import TREE_POINTS

POINTS = 1500
SIZES = (POINTS, TREE_POINTS)  # in the order in which they come, and in that of a tree
FULL_POINTS = 60_000  # and
MANY_QUERIES = 2000  # so many kernel values that some are left out
QUERIES = 200
CENTRES = 60
FAR = 1e3  # where a density is zero in float64, but its logarithm is not


@dataclass(frozen=True)
class Piece:
    """One kind of work, for one kernel in one dimension."""

    kind: str
    kernel: str
    dimension: int

    def run(self) -> None:
        """Do it, whatever it has to say of its results."""
        with warnings.catch_warnings(), _blas.one_thread():
            warnings.simplefilter("ignore")
            KINDS[self.kind](self.kernel, self.dimension)


def pieces(kernels: list[str], dimensions: list[int]) -> list[Piece]:
    """All work; neighbours share as little as can be, so that processes seldom wait for one
    another.
    """
    of_kinds = list(KINDS)
    cases = [(kernel, d) for d in dimensions for kernel in kernels]
    return [
        Piece(of_kinds[(i + j) % len(of_kinds)], *case)
        for j in range(len(of_kinds))
        for i, case in enumerate(cases)
    ]


def begin(turns: Path) -> None:
    """What a process does first: compile for work of any size, and never what another one is at."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _work.LEAST_WORK = 0.0
    caching.share_out(turns)


def _end_with(parent: int) -> None:
    """End this process where the one that started it has ended, however it did."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def points(n: int, d: int) -> Points:
    """Two groups."""
    X = np.random.default_rng(0).normal(size=(n, d))
    X[::3] += 4.0
    return X


def _density(kernel: str, d: int) -> None:
    """A density by likelihood, where the kernel has one, and what it is asked."""
    for n in SIZES:
        X = points(n, d)
        _ask(km.SparseKDE(kernel=kernel, random_state=0).fit(X), X)


def _copy(kernel: str, d: int) -> None:
    """A sparse copy of a density, its certificate, and its distance to another."""
    means = []
    for n in SIZES:
        X = points(n, d)
        found = km.SparseKDE(kernel=kernel, target="kde", scale=None, random_state=0).fit(X)
        _ask(found, X)
        mean: Any = found.mean_
        mean.certificate(X, random_state=0)
        means.append(mean)
    means[0].distance(means[1])


def _ask(density: km.SparseKDE, X: Points) -> None:
    """Values near and far, and gradients."""
    density.score_samples(X)
    density.score_samples(X[:QUERIES] + FAR)
    density.score_gradient(X[:QUERIES])


def _mean(kernel: str, d: int) -> None:
    """A kernel mean, refined, on centres with a spread."""
    for spread in ("auto", "scalar", "full"):
        _refined(kernel, d, spread=spread)


def _points(kernel: str, d: int) -> None:
    """The same on points, by several selections."""
    for selection in ("auto", "kcenter", "kmeans"):
        _refined(kernel, d, spread=None, selection=selection)
    _refined(kernel, d, spread=None, constraint="simplex")


def _refined(kernel: str, d: int, **options: Any) -> None:
    X = points(POINTS, d)
    for space in ("rkhs", "l2"):
        mean = km.sparse_kernel_mean(
            X, kernel=kernel, k=CENTRES, refine=2, space=space, random_state=0, **options
        )
        mean(X[:QUERIES])
        mean.gradient(X[:QUERIES])
        mean.certificate(X, random_state=0)


def _full(kernel: str, d: int) -> None:
    """Sums over many points, of which few are near."""
    X = points(FULL_POINTS, d)
    mean = km.kernel_mean(X, kernel=kernel, bandwidth="scott")
    for queries in (X[:QUERIES], X[:MANY_QUERIES]):
        mean(queries)
        mean.log(queries)
        mean.gradient(queries)


def _traversal(kernel: str, d: int) -> None:
    """Farthest-first, and the nearest of its centres."""
    for n in (POINTS, FULL_POINTS):
        km.k_center(points(n, d), QUERIES, first=0)
    km.bandwidth.likelihood(points(POINTS, d))


def _shift(kernel: str, d: int) -> None:
    """Clusters by mean shift."""
    for n in SIZES:
        km.MeanShift(kernel=kernel, random_state=0).fit(points(n, d))


def _comparison(kernel: str, d: int) -> None:
    """Where two samples differ, and a stream that changes."""
    X = points(POINTS, d)
    km.difference(X[::2], X[1::2] + 0.5, random_state=0)
    km.DriftMonitor(X[::2], run_length=1000, random_state=0).update(X[1::2] + 0.5)


KINDS: dict[str, Callable[[str, int], None]] = {
    "density": _density,
    "copy": _copy,
    "mean": _mean,
    "points": _points,
    "full": _full,
    "traversal": _traversal,
    "shift": _shift,
    "comparison": _comparison,
}

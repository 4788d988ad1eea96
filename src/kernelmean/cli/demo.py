"""The main job, end to end: a million points, a sparse density, an honest comparison, a model file
and a figure.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean import engines
from kernelmean._types import Points, Vector
from kernelmean.cli import results
from kernelmean.fitting.fit import sparse_density
from kernelmean.mean.loading import load_mean
from kernelmean.mean.value import SparseKernelMean
from kernelmean.pictures.density import counted_as

QUERIES = 20_000  # points at which the sparse density is evaluated
EXACT_QUERIES = 500  # of these, points at which the full sum is evaluated
PEER_POINTS = 20_000  # points that scikit-learn is fitted to
PEER_QUERIES = 500  # points at which scikit-learn's density is evaluated


@dataclass(frozen=True)
class Timing:
    """Seconds per evaluated point, and the values."""

    seconds: float
    values: Vector


def clustered_points(n: int, seed: int) -> Points:
    """A curved band and three blobs in 3-D, blurred."""
    rng = np.random.default_rng(seed)
    part = rng.choice(4, size=n, p=[0.45, 0.2, 0.2, 0.15])
    t = rng.uniform(0, 1.5 * np.pi, n)
    band = np.stack([2 * np.cos(t), 2 * np.sin(t), 0.5 * t - 1.2], axis=1)
    blobs = np.array([[0.0, 0.0, 0.0], [-1.5, 1.5, 0.5], [1.5, -1.8, -0.5], [0.2, 0.3, 1.5]])
    return np.where((part == 0)[:, None], band, blobs[part]) + rng.normal(scale=0.45, size=(n, 3))


def run(n: int, figure: Path, seed: int, show_progress: bool) -> None:
    """Fit, compare, save, print, draw."""
    _refuse_unknown_format(figure)
    with _step(f"making {n} points", show_progress):
        X = clustered_points(n, seed)
        Q = clustered_points(QUERIES, seed + 1)
    mean, fit_seconds = _timed(lambda: _fit(X, seed, show_progress))
    with _step("certifying", show_progress):
        certificate = mean.certificate(X, random_state=seed)
    with _step("evaluating", show_progress):
        sparse = _best_timing(mean.log, Q)
    with _step("evaluating the full sum", show_progress):
        exact = _full_sum(X, mean, Q[:EXACT_QUERIES])
    with _step("evaluating scikit-learn's KernelDensity", show_progress):
        peer = _scikit_learn(X[:PEER_POINTS], mean, Q[:PEER_QUERIES])
    facts = {
        "points": f"{n} in {X.shape[1]} dimensions",
        "kernel": str(mean.kernel),
        "centres chosen (k)": f"{mean.k} {counted_as(mean)}, by {mean.selection}, stopped by "
        f"{mean.stop_reason!r}",
        "weights": f"a valid density: sum {mean.weights.sum():.12f}, smallest "
        f"{mean.weights.min():.1e}",
        "certified error": str(certificate) + " in L2",
        "log density, sparse - exact": _difference(sparse.values[:EXACT_QUERIES], exact.values),
        "fit": f"{fit_seconds:.1f} s",
        "evaluation, sparse": f"{1e6 * sparse.seconds:.2f} microseconds a point",
        "evaluation, full sum": _compared(exact, sparse),
        f"scikit-learn on {min(PEER_POINTS, n)} points": _compared(peer, sparse),
        "model file": _saved_size(mean, X, Q),
    }
    _print_table(facts)
    _draw(mean, X, figure)


def _fit(X: Points, seed: int, show_progress: bool) -> SparseKernelMean:
    return sparse_density(X, random_state=seed, verbose=show_progress)


def _timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def _best_timing(evaluate: Callable[[Points], Vector], Q: Points) -> Timing:
    runs = [_timed(lambda: evaluate(Q)) for _ in range(3)]
    return Timing(min(seconds for _, seconds in runs) / len(Q), runs[0][0])


def _full_sum(X: Points, mean: SparseKernelMean, Q: Points) -> Timing:
    """The exact density by the same fast sums, over all points."""
    cloud = engines.open("cpu").load(X)
    formula = mean.kernel.formula(X.shape[1])
    constant = mean.kernel.log_density_constant(X.shape[1])
    cloud.log_kernel_sum(formula, Q[:1])  # compile and lay out before the clock starts
    values, seconds = _timed(lambda: cloud.log_kernel_sum(formula, Q) + constant)
    return Timing(seconds / len(Q), values)


def _scikit_learn(X: Points, mean: SparseKernelMean, Q: Points) -> Timing:
    from sklearn.neighbors import KernelDensity

    peer = KernelDensity(bandwidth=mean.kernel.length).fit(X)
    values, seconds = _timed(lambda: peer.score_samples(Q))
    return Timing(seconds / len(Q), values)


def _compared(slow: Timing, fast: Timing) -> str:
    return (
        f"{1e6 * slow.seconds:.0f} microseconds a point ({slow.seconds / fast.seconds:.0f} "
        "times as long)"
    )


def _difference(sparse: Vector, exact: Vector) -> str:
    gap = np.abs(sparse - exact)
    return (
        f"median {np.median(gap):.1e}, 95 % below {np.quantile(gap, 0.95):.1e}, on {len(gap)} "
        "new points"
    )


def _saved_size(mean: SparseKernelMean, X: Points, Q: Points) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.km"
        mean.save(path)
        size = path.stat().st_size
        same = np.array_equal(load_mean(path).log(Q[:100]), mean.log(Q[:100]))
    agreement = "read back, same values" if same else "READ BACK WITH OTHER VALUES"
    return (
        f"{size / 1e3:.0f} kB for {X.nbytes / 1e6:.0f} MB of data ({X.nbytes / size:.0f} "
        f"times smaller; {agreement})"
    )


def _print_table(facts: dict[str, str]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")


def _refuse_unknown_format(figure: Path) -> None:
    """Before the work is done; without Matplotlib there will be no figure."""
    try:
        from kernelmean.pictures.matplotlib.fit import figure_format
    except ImportError:
        return
    figure_format(figure)


def _draw(mean: SparseKernelMean, X: Points, figure: Path) -> None:
    try:
        from kernelmean.pictures.matplotlib.fit import draw_fit
    except ImportError:
        print("no figure: Matplotlib is not installed (pip install 'kernelmean[report]').")
        return
    draw_fit(mean, X, figure)
    results.say(f"figure written to {figure}")


@contextmanager
def _step(name: str, show: bool) -> Iterator[None]:
    """A line on stderr while a step of unknown length runs."""
    if not show:
        yield
        return
    from tqdm import tqdm

    with tqdm(total=1, desc=name, leave=False, bar_format="{desc} ... {elapsed}"):
        yield

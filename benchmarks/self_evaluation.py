"""A density estimate at its own points, by ``gaussian_kde`` here and in SciPy."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import scipy.stats

import kernelmean as km
from benchmarks.datasets import PLACES, round_mixture
from benchmarks.measuring import DATA, Row, seconds

POINTS = 900_000
TIMED = 200  # of the points, at which SciPy is timed
COMPARED = 20_000  # of the points, at which the values are compared with the exact sum
QUANTILES = {"median": 0.5, "99 %": 0.99, "99.9 %": 0.999}


def at_themselves(points: int = POINTS, timed: int = TIMED) -> Iterator[Row]:
    """Seconds for all points, with the fit and its certificate; errors in L2 and pointwise."""
    for name, X in samples(points).items():
        ours = seconds(lambda X=X: km.gaussian_kde(X)(X), 3)
        kde = km.gaussian_kde(X)
        values = kde(X)
        each, some = _by_scipy(X, timed)
        detail = f"SciPy {each * points:.0f} s, from {timed} of the points; {_atoms(kde)}"
        yield Row(f"{name}: seconds", f"{ours:.1f} s", "≤ 5 s", detail)
        yield Row(f"{name}: relative error", *_certified(kde))
        rows = np.random.default_rng(1).choice(points, min(COMPARED, points), replace=False)
        exact = km.gaussian_kde(X, error=None)(X[:, rows])
        np.testing.assert_allclose(exact[rows < timed], some[rows[rows < timed]], rtol=1e-9)
        yield Row(f"{name}: error at the points", *_pointwise(values[rows], exact))


def samples(points: int) -> dict[str, np.ndarray]:
    """Two coordinates each, one point per column."""
    found = {"mixture": round_mixture(points, 2, 0).T}
    path = DATA / PLACES["flights"]
    if path.exists():
        with np.load(path, allow_pickle=False) as file:
            found["flights"] = file["X"][:points, :2].astype(float).T
    return {name: np.ascontiguousarray(X) for name, X in found.items()}


def _by_scipy(X: np.ndarray, timed: int) -> tuple[float, np.ndarray]:
    """Seconds per point, and the density at the first points."""
    kde = scipy.stats.gaussian_kde(X)
    start = time.perf_counter()
    values = kde(X[:, :timed])
    return (time.perf_counter() - start) / timed, values


def _atoms(kde: km.gaussian_kde) -> str:
    return kde.method if kde.sparse_ is None else f"{kde.method} with {kde.sparse_.k} atoms"


def _certified(kde: km.gaussian_kde) -> tuple[str, str, str]:
    """‖f − f̃‖/‖f‖ as it is told."""
    found = kde.certificate_
    if found is None:
        return "0", "≤ 1e-3", "every point was summed"
    doubt = found.relative_error * found.standard_error / found.error
    return f"{found.relative_error:.1e}", "≤ 1e-3", f"in L2, ± {doubt:.0e}, at new frequencies"


def _pointwise(values: np.ndarray, exact: np.ndarray) -> tuple[str, str, str]:
    """|f̃ − f|/f at the points: small where the density is high, larger in its tails."""
    error = np.abs(values / exact - 1.0)
    found = ", ".join(f"{name} {np.quantile(error, p):.0e}" for name, p in QUANTILES.items())
    weighted = float(np.abs(values - exact).mean() / exact.mean())
    return f"{weighted:.1e}", "–", f"mean error over mean density; error over density: {found}"

"""Sparse densities against exact ones: likelihood, speed of evaluation, errors, classes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.neighbors import KernelDensity

import kernelmean as km
from benchmarks import classification, errors, likelihood, tables
from benchmarks.datasets import round_mixture as mixture
from benchmarks.measuring import Row, run, seconds


def held_out() -> list[Row]:
    """Mean log-likelihood of new points, against the exact estimate with the same bandwidth."""
    rows = []
    goals = {2: "≥ −0.01 at k = 2999", 3: "≥ −0.02 at k = 2999"}
    for d in (2, 3, 5, 10):
        X, Q, many = (
            mixture(1_000_000, d, 0),
            mixture(8000, d, 1),
            mixture(100_000, d, 2),
        )  # tails are rare: many Q
        full = km.SparseKDE(sparse=False, bandwidth="scott", scale=None).fit(X)
        start = time.perf_counter()
        exact = full.score_samples(Q)
        exact_time = (time.perf_counter() - start) / len(Q)
        for k in (100, 300, 1000, 2999):
            start = time.perf_counter()
            sparse = km.SparseKDE(k=k, bandwidth=full.bandwidth_, scale=None, random_state=0).fit(X)
            fit_time = time.perf_counter() - start
            loss = float(np.mean(sparse.score_samples(Q) - exact))
            each = seconds(lambda s=sparse: s.score_samples(many), 3) / len(many)
            error = float(np.std(sparse.score_samples(Q) - exact)) / len(Q) ** 0.5
            detail = (
                f"± {error:.4f}, {exact_time / each:.0f}× faster per point, fit "
                f"{fit_time:.1f} s, {sparse.mean_.selection}"
            )
            rows.append(Row(f"d = {d}, k = {k}", f"{loss:+.4f}", goals.get(d, "–"), detail))
    return rows


def peers(X: np.ndarray, sigma: float) -> dict[str, tuple[Callable[[np.ndarray], object], int]]:
    """Exact evaluation by each peer that is installed, and how many points it is asked for."""
    from scipy.stats import gaussian_kde

    tree = KernelDensity(bandwidth=sigma).fit(X)
    whole = gaussian_kde(X.T, bw_method=sigma / X[:, 0].std(ddof=1))
    found: dict[str, tuple[Callable[[np.ndarray], object], int]] = {
        "scikit-learn": (tree.score_samples, 50),
        "scipy": (lambda Q: whole.logpdf(Q.T), 200),
    }
    try:
        import mlpack

        found["mlpack, 1 %"] = (
            lambda Q: mlpack.kde(reference=X, query=Q, bandwidth=sigma, rel_error=0.01),
            1000,
        )
    except ImportError:
        pass
    try:
        from KDEpy import TreeKDE

        kde = TreeKDE(bw=sigma).fit(X)
        found["KDEpy's tree"] = (kde.evaluate, 200)
    except ImportError:
        pass
    return found


def evaluation() -> list[Row]:
    """Log-densities at 10⁵ points of an estimate from 10⁶; peers at fewer points, scaled."""
    rows = []
    for d in (1, 2, 3):
        X, Q = mixture(1_000_000, d, 0), mixture(100_000, d, 1)
        sparse = km.SparseKDE(bandwidth="scott", scale=None, random_state=0).fit(X)
        ours = seconds(lambda s=sparse, Q=Q: s.score_samples(Q), 3)
        times = {}
        for name, (evaluate, count) in peers(X, sparse.bandwidth_).items():
            start = time.perf_counter()
            evaluate(Q[:count])
            times[name] = (time.perf_counter() - start) * len(Q) / count
        for name, each in times.items():
            case = f"d = {d}, k = {sparse.mean_.k}, against {name}"
            rows.append(
                Row(case, f"{each / ours:.0f}×", "≥ 100×", f"{ours:.2f} s against {each:.0f} s")
            )
    return rows


def likelihood_rule() -> list[Row]:
    """The leave-one-out likelihood rule: its time for 10⁶ points, and what it finds against Scott's
    rule.
    """
    rows = []
    for d in (2, 5):
        X = mixture(1_000_000, d, 0)
        start = time.perf_counter()
        sigma = km.bandwidth.likelihood(X)
        spent = time.perf_counter() - start
        rows.append(
            Row(
                f"n = 10⁶, d = {d}",
                f"{spent:.1f} s",
                "seconds",
                f"{sigma:.4f}, Scott's rule {km.bandwidth.scott(X):.4f}",
            )
        )
    return rows


TABLES = {
    "Likelihood rule": likelihood_rule,
    "Held-out likelihood": held_out,
    "Evaluation": evaluation,
    "Likelihood on real tables": likelihood.held_out,
    "Likelihood on the tables for tuning": lambda: likelihood.held_out(tables.TUNING),
    "Fit time": likelihood.fit_time,
    "Foreign units and outliers": likelihood.robustness,
    "Asked for an error of .02": errors.asked,
    "Estimated error": errors.estimated,
    "Classification": classification.classes,
}

if __name__ == "__main__":
    run(
        "Sparse densities against exact ones",
        "Written by `make bench`. Sparse fits use the default settings, except where k is given; "
        "exact and sparse share the bandwidth, by Scott's rule where no other is named. On real "
        "tables every contestant has its own settings: [which tables, and when a likelihood "
        "diverges](development/benchmarks.md#real-tables).",
        TABLES,
    )

"""What densities are compared with on a table, each at its best: none of it is our own code.

The exact Gaussian density with a bandwidth by cross-validation, the same by Scott's rule, and
scikit-learn's mixture of Gaussians by BIC. They are kept in a file, since they do not change when
the library does.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture

from benchmarks.tables import Split

VERSION = 3  # of what is kept: raise it when a contestant or a table changes
CACHE = Path.home() / ".cache" / "kernelmean" / "baselines.json"
CONTESTANTS = ("exact", "mixture", "Scott")

FOLDS = 5
WIDEST, OCTAVES, STEPS = 4.0, 18, 4  # σ² falls by 2^(1/4) at a time, 18 times to its half
FIRST_ROWS = 400  # of which the neighbourhood of the best σ is found
BLOCK = 64  # rows whose distances to all others are held

COMPONENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PATIENCE = 2  # numbers of components in a row that BIC may find worse before the search ends
FLOOR = 1e-6  # that scikit-learn adds to variances
ITERATIONS = 300  # its default, 100, is not always enough
DEGENERATE = 0.05  # nats, or the share of a mixture
DEPENDENT = 1e-6  # an eigenvalue of the covariance of standardised columns


class Chosen(NamedTuple):
    """A bandwidth, the linear map it is for, and its mean log-likelihood over the folds."""

    score: float
    sigma: float
    scale: str


def _log_densities(centers: np.ndarray, rows: np.ndarray, widest: float, octaves: int) -> Any:
    """Log-densities of rows for σ = widest · 2^(−i/8): shape (octaves · STEPS, rows).

    exp(−s/2σ²) for half of σ² is the square of that for σ²: one exponential serves many widths.
    The distance to the nearest centre is taken out first, so that nothing vanishes.
    """
    n, d = centers.shape
    sigmas = widest * 2.0 ** (-np.arange(octaves * STEPS) / (2 * STEPS))
    sums = np.empty((len(sigmas), len(rows)))
    nearest = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        s = cdist(rows[block], centers, "sqeuclidean")
        nearest[block] = s.min(axis=1)
        s -= nearest[block, None]
        for step in range(STEPS):
            E = np.exp(s * (-0.5 / sigmas[step] ** 2))
            for octave in range(octaves):
                sums[octave * STEPS + step, block] = E.sum(axis=1)
                E[E < 1e-100] = 0.0  # squares of less are no numbers that a processor likes
                np.square(E, out=E)
    constant = np.log(n) + d * np.log(sigmas) + 0.5 * d * np.log(2 * np.pi)
    return sigmas, np.log(sums) - nearest / (2 * sigmas[:, None] ** 2) - constant[:, None]


def whitening(X: np.ndarray) -> np.ndarray | None:
    """W with X·W of unit covariance, or None where the columns are linearly dependent."""
    values, vectors = np.linalg.eigh(np.cov(X.T).reshape(X.shape[1], X.shape[1]))
    return vectors / np.sqrt(values) if values[0] > DEPENDENT else None


def _mapped(X: np.ndarray, rows: np.ndarray, scale: str, *grid: Any) -> Any:
    """σ and log-densities of rows, where the density is that of X or of X whitened."""
    W = np.eye(X.shape[1]) if scale == "std" else whitening(X)
    if W is None:
        raise np.linalg.LinAlgError("columns are linearly dependent")
    sigmas, logs = _log_densities(X @ W, rows @ W, *grid)
    return sigmas, logs + np.linalg.slogdet(W)[1]


def _cross_validated(
    X: np.ndarray, scale: str, widest: float, octaves: int, most: int | None = None
) -> Any:
    """σ and the mean log-likelihood of rows left out, over five folds; of at most so many rows.

    Each fold is whitened by the rows it is judged by: with few rows anything else flatters.
    """
    fold = np.random.default_rng(2).permutation(len(X)) % FOLDS
    total, count = 0.0, 0
    for held in range(FOLDS):
        rows = X[fold == held][: most and most // FOLDS]
        sigmas, logs = _mapped(X[fold != held], rows, scale, widest, octaves)
        total, count = total + logs.sum(axis=1), count + len(rows)
    return sigmas, total / count


def best_sigma(X: np.ndarray, scale: str) -> Chosen:
    """The best σ by cross-validation and its score: the neighbourhood from some rows, then all."""
    sigmas, scores = _cross_validated(X, scale, WIDEST, OCTAVES, FIRST_ROWS)
    around = sigmas[max(int(np.argmax(scores)) - 4, 0)]
    sigmas, scores = _cross_validated(X, scale, around, 3)
    best = int(np.argmax(scores))
    return Chosen(float(scores[best]), float(sigmas[best]), scale)


def exact(split: Split) -> dict[str, Any]:
    """The exact density, on standardised columns or whitened ones, whichever the folds prefer."""
    scales = ("std",) if whitening(split.train) is None else ("std", "cov")
    best = max(best_sigma(split.train, scale) for scale in scales)
    _, logs = _mapped(split.train, split.test, best.scale, best.sigma, 1)
    return {"scores": logs[0], "sigma": best.sigma, "scale": best.scale}


def scott(split: Split) -> dict[str, Any]:
    """The exact density on standardised columns with σ = n^(−1/(d+4))."""
    n, d = split.train.shape
    sigma = float(split.train.std(axis=0, ddof=1).mean() * n ** (-1 / (d + 4)))
    _, logs = _log_densities(split.train, split.test, sigma, 1)
    return {"scores": logs[0], "sigma": sigma}


def mixture(split: Split) -> dict[str, Any]:
    """scikit-learn's mixture of Gaussians with the number of components that BIC prefers.

    The search ends at 64 components, or when BIC has been worse than its best twice in a row.
    """
    best, lowest, worse = None, np.inf, 0
    for k in COMPONENTS:
        if len(split.train) < 2 * k or worse == PATIENCE:
            break
        start = time.perf_counter()
        fitted = GaussianMixture(k, reg_covar=FLOOR, max_iter=ITERATIONS, random_state=0)
        bic = fitted.fit(split.train).bic(split.train)
        spent, worse = time.perf_counter() - start, worse + 1
        if bic < lowest:
            best, lowest, worse, fit_seconds = fitted, bic, 0, spent
    assert best is not None
    scores = best.score_samples(split.test)
    return {
        "scores": scores,
        "k": best.n_components,
        "gain of a lower floor": float(np.mean(_lower_floor(best, split.test) - scores)),
        "narrow share": _narrow_share(best, split.train),
        "fit seconds": fit_seconds,
    }


def _lower_floor(fitted: GaussianMixture, rows: np.ndarray) -> np.ndarray:
    """Log-densities of the same mixture had a thousandth been added to variances."""
    less = (1 - 1e-3) * FLOOR * np.eye(rows.shape[1])
    parts = [
        np.log(weight) + _log_normal(rows - mean, np.linalg.cholesky(covariance - less))
        for weight, mean, covariance in zip(
            fitted.weights_, fitted.means_, fitted.covariances_, strict=True
        )
    ]
    return logsumexp(parts, axis=0)


def _log_normal(rows: np.ndarray, L: np.ndarray) -> np.ndarray:
    """log N(x; 0, L·Lᵀ) for each row x."""
    z = solve_triangular(L, rows.T, lower=True)
    constant = np.log(np.diag(L)).sum() + 0.5 * len(L) * np.log(2 * np.pi)
    return -0.5 * np.sum(z**2, axis=0) - constant


def _narrow_share(fitted: GaussianMixture, X: np.ndarray) -> float:
    """The weight of components that fit between neighbouring values of some column."""
    variances = np.einsum("kii->ki", fitted.covariances_)
    narrow = np.any(variances < (steps(X) / 2) ** 2, axis=1)
    return float(fitted.weights_[narrow].sum())


def steps(X: np.ndarray) -> np.ndarray:
    """For each column the median distance between neighbours among its distinct values."""
    return np.array([np.median(np.diff(np.unique(column))) for column in X.T])


def degenerate(split: Split, found: dict[str, Any]) -> dict[str, str]:
    """Which contestants have learnt the digits of the numbers, not their density, and how.

    A kernel that is the narrowest tried, or that fits between neighbouring values of a column,
    being narrower than half their median distance; components of which a twentieth does; a mixture
    whose held-out likelihood rises by a twentieth of a nat when the floor that keeps covariances
    regular falls to its thousandth. Other digits, or another floor, would give any likelihood.
    """
    coarsest, mixed = steps(split.train).max() / 2, found["mixture"]
    reasons = {}
    for name in ("exact", "Scott"):
        if found[name]["sigma"] < coarsest:
            reasons[name] = "the kernel fits between neighbouring values of a column"
    if found["exact"]["sigma"] <= WIDEST / 2 ** (OCTAVES / 2):
        reasons["exact"] = "the cross-validated bandwidth tends to 0"
    if mixed["gain of a lower floor"] > DEGENERATE:
        reasons["mixture"] = "components of the mixture are as flat as their floor"
    elif mixed["narrow share"] > DEGENERATE:
        reasons["mixture"] = "components of the mixture fit between neighbouring values"
    return reasons


def divergence(split: Split, found: dict[str, Any]) -> str:
    """Why a likelihood diverges on this table, or "" where it does not.

    It does where columns are linearly dependent, and where the best contestant is degenerate. One
    that is degenerate and worse than another takes nothing from the comparison.
    """
    if whitening(split.train) is None:
        return "columns are linearly dependent"
    return found["degenerate"].get(best(found, CONTESTANTS)[0], "")


def compute(split: Split) -> dict[str, Any]:
    """All contestants on one table: log-densities of the held-out rows, settings, seconds."""
    found: dict[str, Any] = {"n": len(split.train), "d": split.train.shape[1]}
    for name, contestant in zip(CONTESTANTS, (exact, mixture, scott), strict=True):
        start = time.perf_counter()
        found[name] = contestant(split)
        found[name]["seconds"] = round(time.perf_counter() - start, 3)
        found[name]["scores"] = [round(float(value), 4) for value in found[name]["scores"]]
    found["degenerate"] = degenerate(split, found)
    found["diverges"] = divergence(split, found)
    return found


def fingerprint(split: Split) -> str:
    """Tells other rows from these."""
    digest = hashlib.sha256(np.round(split.train, 6).tobytes())
    digest.update(np.round(split.test, 6).tobytes())
    return digest.hexdigest()[:16]


def of(name: str, split: Split, cache: Path = CACHE) -> dict[str, Any]:
    """The contestants on a table: kept ones where the rows are the same, else computed and kept."""
    key, rows = f"{name}, version {VERSION}", fingerprint(split)
    found = _kept(cache).get(key, {})
    if found.get("rows") != rows:
        found = compute(split) | {"rows": rows}
        cache.parent.mkdir(parents=True, exist_ok=True)
        written = cache.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(_kept(cache) | {key: found}))  # others may have added some
        written.replace(cache)
    return found


def _kept(cache: Path) -> dict[str, Any]:
    return json.loads(cache.read_text()) if cache.exists() else {}


def best(found: dict[str, Any], among: Iterable[str]) -> tuple[str, np.ndarray]:
    """Of some contestants that with the highest held-out likelihood, and its log-densities."""
    name = max(among, key=lambda each: np.mean(found[each]["scores"]))
    return name, np.array(found[name]["scores"])

"""Confidence intervals: the test sample's kernel values resampled, nothing refitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from kernelmean import _shown
from kernelmean._random import Streams
from kernelmean._types import Matrix, Vector
from kernelmean.proportions.solving import System, undetermined

CHUNK_COUNTS = 2**22  # drawn at a time


class ProportionIntervals(NamedTuple):
    """Proportions with an interval for each, in the order of the classes."""

    proportions: Vector  # (C,) the point estimate
    lower: Vector  # (C,)
    upper: Vector  # (C,)
    covariance: Matrix  # (C, C) of the estimate without the constraint π ≥ 0
    level: float

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def intervals(
    system: System, F: Matrix, estimate: Vector, level: float, n_bootstrap: int, streams: Streams
) -> ProportionIntervals:
    """Percentile intervals of the moment estimator, one per class.

    E κ = Mπ holds whatever functions z_c are, so the only errors are those of κ̂, a mean over the
    test points, and of M̂, means over training points. κ̂ is resampled by rows of F (n, C), the
    columns of M̂ by their normal limit; each replicate solves Mπ ≈ κ with Σπ = 1 but not π ≥ 0.
    Cutting the interval to [0, 1] loses no true proportion, also at the boundary, where a resampled
    constrained estimate would be inconsistent. Half a point of the class and half a point of the
    others are added for each class, so that a rare class of which the sample happens to hold none
    is not excluded. A class that cannot be told from others has the interval [0, 1].
    """
    kappa = _resampled_means(F, n_bootstrap, streams.of("bootstrap"))
    M = _perturbed(system, n_bootstrap, streams.of("bootstrap training"))
    unknown = undetermined(system.normal, system.indistinct)
    replicates = unconstrained(system, M, kappa, unknown)
    covariance: Matrix = np.cov(replicates.T)
    replicates = _with_half_points(replicates, len(F), streams.of("bootstrap shares"))
    low, high = np.clip(np.quantile(replicates, _tails(level, len(F)), axis=0), 0.0, 1.0)
    involved = np.max(np.abs(unknown), axis=1, initial=0.0) > 1e-6
    low = np.where(involved, 0.0, low)
    high = np.where(involved, 1.0, high)
    return ProportionIntervals(
        estimate, np.minimum(low, estimate), np.maximum(high, estimate), covariance, level
    )


def unconstrained(system: System, M: Matrix, kappa: Matrix, unknown: Matrix) -> Matrix:
    """argmin (Mπ − κ)ᵀG⁻¹(Mπ − κ) subject to Σπ = 1.

    It is taken for (b, C, C) matrices and (b, C) sides at once. Along unknown directions (C, m) the
    solution stays at the centre of the simplex.
    """
    C, m = unknown.shape
    H = np.linalg.qr(np.column_stack([np.ones(C), unknown]), mode="complete")[0][:, m + 1 :]
    A = M @ H
    weighted = system.metric @ A
    rest = kappa - M.mean(axis=-1)  # κ − M1/C
    u = np.linalg.solve(
        np.swapaxes(A, -1, -2) @ weighted, np.swapaxes(weighted, -1, -2) @ rest[..., None]
    )[..., 0]
    free: Matrix = 1.0 / C + u @ H.T
    return free


def _with_half_points(replicates: Matrix, n: int, rng: np.random.Generator) -> Matrix:
    """(1 − v − w)π + v with (v, w, rest) ~ Dirichlet(½, ½, n).

    This is Jeffreys' prior, to which it comes down for separate classes. A point at the mean of
    class c among n others moves π towards e_c by its share of the sample.
    """
    shares = rng.dirichlet([0.5, 0.5, n], size=replicates.shape)
    smoothed: Matrix = shares[..., 2] * replicates + shares[..., 0]
    return smoothed


def _tails(level: float, n: int) -> tuple[float, float]:
    """Φ(±t√(n/(n − 1))), t Student's quantile.

    This is what percentiles of a resampled mean lack for small n (Hesterberg 2015).
    """
    wide = float(ndtr(stdtrit(n - 1, 0.5 + 0.5 * level) * np.sqrt(n / (n - 1))))
    return 1.0 - wide, wide


def _resampled_means(F: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """(size, C) means over n rows drawn with replacement, by counts, a few replicates at a time."""
    n = len(F)
    step = max(1, CHUNK_COUNTS // n)
    parts = [
        rng.multinomial(n, np.full(n, 1.0 / n), size=min(step, size - b)) @ F / n
        for b in range(0, size, step)
    ]
    return np.concatenate(parts)


def _perturbed(system: System, size: int, rng: np.random.Generator) -> Matrix:
    """(size, C, C): M with the sampling error of its columns, independent between classes."""
    columns = [
        rng.multivariate_normal(column, covariance, size=size, method="svd", check_valid="ignore")
        for column, covariance in zip(system.moments.T, system.covariances, strict=True)
    ]
    return np.stack(columns, axis=-1)

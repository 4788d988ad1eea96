"""Whether many samples differ at all: a permutation test, before anybody reads their map.

With kernel features ψ(x) the statistic is T = Σ_i n_i‖ψ̄_i − ψ̄‖², the spread of the sample means
about the common one, which for two samples is the squared maximum mean discrepancy up to a factor.
If all samples have one distribution, T has the same law however rows are shared out among them, so
that its rank among permutations is a p-value without any approximation. Three bandwidths are looked
at; each is measured in standard deviations of its own permutations, and the largest counts, for the
permutations too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from kernelmean import _checks, _shown
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, RandomState, Vector

PERMUTATIONS = 499
MAX_ROWS = 4000  # of all samples together
FEATURES = 64  # of each bandwidth
MAX_BANDWIDTH_ROWS = 500  # whose distances say what a bandwidth is
BANDWIDTHS = (0.25, 0.5, 1.0)  # shares of the median distance
TIE = 1e-9  # relative, within which a permutation is as large as the samples


class SamplesTest(NamedTuple):
    """Whether samples can all have one distribution."""

    p_value: float  # how often chance spreads the means of like samples so far
    statistic: float  # in standard deviations of the permutations
    permutations: int
    rows: int  # that were looked at, of all samples together

    @property
    def as_large(self) -> int:
        """How many permutations spread the means as far as the samples are."""
        return round(self.p_value * (1 + self.permutations)) - 1

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def samples_test(
    samples: Sequence[ArrayLike],
    *,
    permutations: int = PERMUTATIONS,
    random_state: RandomState = None,
) -> SamplesTest:
    """Test whether samples of the same columns have one distribution.

    Of large samples some rows are looked at, as many of each as its share. Time O(permutations · n)
    for n ≤ 4000 rows and 192 features.
    """
    streams = _checks.streams(random_state)
    rng = streams.of("samples test")
    points = [_checks.points(X, "a sample") for X in samples]
    if len(points) < 2:
        raise ValueError("samples are compared: give at least two.")
    X, sizes = _thinned(points, rng)
    F = np.concatenate([_features(X, share, rng) for share in BANDWIDTHS], axis=1)
    F -= F.mean(axis=0)
    own = _spreads(F, np.arange(len(X)), sizes)
    orders = (rng.permutation(len(X)) for _ in range(permutations))
    every = np.array([own, *(_spreads(F, order, sizes) for order in orders)])
    width = np.maximum(every.std(axis=0), np.finfo(float).tiny)
    # The samples themselves are one of the permutations: all are treated alike.
    statistic, *drawn = ((every - every.mean(axis=0)) / width).max(axis=1).tolist()
    as_large = sum(value >= statistic - TIE * abs(statistic) for value in drawn)
    return SamplesTest((1 + as_large) / (1 + permutations), statistic, permutations, len(X))


def _thinned(points: Sequence[Points], rng: np.random.Generator) -> tuple[Points, IntVector]:
    """Rows of all samples, one after the other, in robust units; and how many of each."""
    total = sum(map(len, points))
    kept = [
        rows
        if total <= MAX_ROWS
        else rows[rng.permutation(len(rows))[: max(2, round(len(rows) * MAX_ROWS / total))]]
        for rows in points
    ]
    X = np.concatenate(kept)
    low, high = np.quantile(X, (0.25, 0.75), axis=0)
    spread = np.where(high > low, high - low, X.std(axis=0))
    return (X - X[0]) / np.where(spread > 0.0, spread, 1.0), np.array([len(rows) for rows in kept])


def _features(X: Points, share: float, rng: np.random.Generator) -> Matrix:
    """(n, 64) random Fourier features of a Gaussian kernel (Rahimi and Recht 2007)."""
    some = X[rng.permutation(len(X))[:MAX_BANDWIDTH_ROWS]]
    distances = pdist(some)
    apart = distances[distances > 0.0]
    bandwidth = share * (float(np.median(apart)) if len(apart) else 1.0)
    W = rng.standard_normal((X.shape[1], FEATURES // 2)) / bandwidth
    phases = X @ W
    features: Matrix = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    return features


def _spreads(F: Matrix, order: IntVector, sizes: IntVector) -> Vector:
    """(bandwidths,) Σ_i n_i‖ψ̄_i − ψ̄‖² where sample i has the next n_i rows of an order."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(F[order], starts, axis=0)
    squares = (sums**2 / sizes[:, None]).sum(axis=0)
    spreads: Vector = squares.reshape(len(BANDWIDTHS), FEATURES).sum(axis=1)
    return spreads

"""Whether a sample can be a mixture of the classes at all: the distance that remains, and chance.

Proportions are estimated under the assumption that the classes look as before and only their shares
change. It is tested on the raw coordinates, before any classifier, which may not see the change.
With features ψ(x) = Bk(L, x) of m landmarks L, class means μ_c and the sample's mean ψ̄ the distance
is min ‖ψ̄ − Σ_cπ_cμ_c‖ over the simplex. B first makes a Nyström map of the kernel,
φ = K_LL^{−½}k(L, x), and then divides by the spread that rows of one class have, (V + γ)^{−½} with
V the covariance of φ within classes: without it the few directions in which every class is wide
would hide a change in all others.

A third of the training rows makes the features, and the others the class means. Rows that do both
are closer to their own landmarks, widths and spreads than new rows are, and mixtures of the classes
were rejected far too often or never.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import pdist

from kernelmean import _shown, engines
from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, Summary
from kernelmean.kernels import Gaussian, RadialFunction
from kernelmean.mean import scaling
from kernelmean.proportions.searching import squared_distances
from kernelmean.proportions.solving import simplex_minimisers
from kernelmean.samples import ArraySample, Sample

FEWEST_ROWS = 3  # of a class, of which one goes to the features
MAX_FEATURE_ROWS = 1000  # of a class, at most
MAX_LANDMARKS = 200
KEPT_NUMBERS = 2**22  # in the covariances of all classes; many classes have fewer landmarks
MAX_CLASS_ROWS = 10_000  # training rows that make a class mean, at most
MAX_ROWS = 30_000  # of all classes together, but
FEWEST_CLASS_ROWS = 1000  # of every class that has as many
MAX_WIDTHS = 20.0  # of a column, from its least to its largest value
RANK = 1e-7  # eigenvalues of K_LL below this share of the largest are rounding
# Directions in which the sample is looked at, Σ v_j/(v_j + γ) over the eigenvalues of V: at most so
# many, and at most this share of the rows that V is known from.
DIRECTIONS = 30.0
DIRECTIONS_PER_ROW = 0.7
NARROWEST = 1e-3  # γ in units of the largest eigenvalue of V, at least
POOLED_ROWS = 5.0  # that the other classes count for in the covariance of a class
MOST_FREEDOM = 1e6  # degrees of it, from which on a covariance is as good as known
DRAWS = 1000  # from the law under the hypothesis
TIE = 1e-9  # relative, within which a drawn distance is as large as the sample's


class GoodnessOfFit(NamedTuple):
    """Whether a sample can be a mixture of the classes, as :class:`ClassProportions` tells it.

    Attributes
    ----------
    distance : float
        What remains between the mean of the sample and the nearest mixture of the class means, in
        standard deviations of a row within its class.
    expected_distance : float
        What remains on average of a sample of as many rows that is such a mixture.
    p_value : float
        How often a mixture leaves as much by chance: where it is small, do not trust proportions.
    proportions : ndarray of shape (C,)
        Those of the nearest mixture, in the order of the classes.
    """

    distance: float
    expected_distance: float
    p_value: float
    proportions: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


@dataclass(frozen=True, eq=False)
class Features:
    """ψ(x) = Bk(L, x) after the columns were divided by their widths."""

    landmarks: Points  # (m, d), in the coordinates of the kernel
    scale: Matrix  # (d, d), diagonal
    origin: Vector
    radial: RadialFunction
    map: Matrix  # (m, r): Bᵀ

    def rows(self, X: Points) -> Matrix:
        """(n, r): ψ of each row."""
        mapped = scaling.apply(self.scale, X, self.origin)
        features: Matrix = self.radial(squared_distances(mapped, self.landmarks)) @ self.map
        return features

    def mean(self, X: Sample, engine: str | Engine) -> Vector:
        """(r,): ψ̄, from the kernel sums of the sample at the landmarks.  Time O(n·m·d)."""
        work = float(len(X)) * len(self.landmarks)
        chosen = engines.precise(engines.choose(engine, work, X.on_device))
        cloud = X.map(self.scale, self.origin).load(chosen)
        mean: Vector = np.ravel(cloud.kernel_sum(self.radial, self.landmarks)) @ self.map
        return mean


@dataclass(frozen=True, eq=False)
class MixtureTest:
    """What the training data says of the features, and the test of any sample against it."""

    features: Features
    means: Matrix  # (r, C): μ_c
    covariances: NDArray[np.float64]  # (C, r, r): Σ_c of a row
    squared_errors: Vector  # (C,): of tr Σ_c, which is itself estimated
    sizes: Vector  # (C,) rows that each mean is over

    def test(self, X: Sample, engine: str | Engine, streams: Streams) -> GoodnessOfFit:
        """The hypothesis that X is drawn from a mixture of the classes.

        Under it ψ̄ − Mπ is normal with covariance (Σ_c π_cΣ_c + Cov μ)/n + Σ_c π_c²Σ_c/n_c, where
        Cov μ is that of the class means under π. The law of the distance is drawn: normal errors at
        the nearest mixture, each with a minimum over the simplex of its own, since on its boundary
        the distance is no sum of squares. Since the covariance is estimated, errors are normal
        over √(χ²_ν/ν), as Student's t is. Time O(n·m·d), and a thousand small quadratic programs.
        """
        mean = self.features.mean(X, engine)
        (proportions,), (distance,) = self.nearest(mean[None])
        drawn = self.nearest(self._errors(proportions, len(X), streams) + self.means @ proportions)
        as_large = int(np.count_nonzero(drawn[1] >= distance * (1.0 - TIE)))
        expected = math.sqrt(float(np.mean(drawn[1] ** 2)))
        return GoodnessOfFit(float(distance), expected, (1 + as_large) / (1 + DRAWS), proportions)

    def nearest(self, points: Matrix) -> tuple[Matrix, Vector]:
        """(s, C) proportions of the mixtures nearest to s points, and (s,) distances to them."""
        centre = self.means.mean(axis=1)  # on Σπ = 1 any origin will do; this one keeps the digits
        M = self.means - centre[:, None]
        nothing_known: Matrix = np.empty((M.shape[1], 0))
        found = simplex_minimisers(M.T @ M, (points - centre) @ M, nothing_known)
        return found, np.linalg.norm(points - found @ self.means.T, axis=1)

    def _errors(self, proportions: Vector, n: int, streams: Streams) -> Matrix:
        """(draws, r): ψ̄ − Mπ of samples of n rows, with as many training rows as there were."""
        rng = streams.of("mixture law")
        values, vectors = np.linalg.eigh(self.covariance(proportions, n))
        normal = rng.standard_normal((DRAWS, len(values)))
        freedom = self.freedom(proportions, n)
        scales = np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, 1)))
        drawn: Matrix = (scales * normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return drawn

    def covariance(self, proportions: Vector, n: int) -> Matrix:
        """(r, r): that of ψ̄ − Mπ for a sample of n rows."""
        weights = self._weights(proportions, n)
        within = np.tensordot(weights, self.covariances, axes=1)
        apart = self.means - (self.means @ proportions)[:, None]
        covariance: Matrix = within + (apart * proportions) @ apart.T / n
        return covariance

    def freedom(self, proportions: Vector, n: int) -> float:
        """ν = 2t²/s² for a trace t with standard error s, as of a χ²_ν (Satterthwaite)."""
        weights = self._weights(proportions, n)
        trace = float(weights @ np.trace(self.covariances, axis1=1, axis2=2))
        squared_error = float(weights**2 @ self.squared_errors)
        if not trace > 0.0:
            return MOST_FREEDOM
        return 2.0 * trace**2 / max(squared_error, 2.0 * trace**2 / MOST_FREEDOM)

    def _weights(self, proportions: Vector, n: int) -> Vector:
        """π_c/n + π_c²/n_c: what Σ_c counts for."""
        weights: Vector = proportions / n + proportions**2 / self.sizes
        return weights


def mixture_test(groups: Sequence[Sample], streams: Streams) -> MixtureTest | None:
    """Features from a third of the rows, class-wise moments from the others.

    None where no class has the three points that it takes.
    """
    if max(len(X) for X in groups) < FEWEST_ROWS:
        return None
    orders = [streams.of("mixture rows", c).permutation(len(X)) for c, X in enumerate(groups)]
    parts = [min(len(X) // FEWEST_ROWS, MAX_FEATURE_ROWS) for X in groups]
    most = min(MAX_CLASS_ROWS, max(FEWEST_CLASS_ROWS, MAX_ROWS // len(groups)))
    cuts = list(zip(groups, orders, parts, strict=True))
    features = _features([X.rows(order[:part]) for X, order, part in cuts])
    return _moments(
        features, [features.rows(X.rows(order[part : part + most])) for X, order, part in cuts]
    )


def _features(rows: Sequence[Points]) -> Features:
    """φ = K_LL^{−½}k(L, x), then (V + γ)^{−½}φ.

    The kernel is Gaussian, its bandwidth the median distance of the landmarks, which are rows of
    all classes alike.
    """
    X = np.concatenate(rows)
    scale = np.diag(1.0 / _widths(ArraySample(X).summary()))
    count = min(MAX_LANDMARKS, max(1, math.isqrt(KEPT_NUMBERS // len(rows))))
    landmarks = scaling.apply(scale, X[_alike([len(part) for part in rows])[:count]], X[0])
    distances = pdist(landmarks)
    apart = distances[distances > 0.0]
    radial = Gaussian(float(np.median(apart)) if len(apart) else 1.0).radial(X.shape[1], "rkhs")
    values, vectors = np.linalg.eigh(radial(squared_distances(landmarks, landmarks)))
    kept = values > RANK * values[-1]
    roots = vectors[:, kept] / np.sqrt(values[kept])
    nystroem = Features(landmarks, scale, X[0], radial, roots)
    return replace(nystroem, map=roots @ _spread([nystroem.rows(part) for part in rows]))


def _widths(summary: Summary) -> Vector:
    """Robust widths of the columns, but at least a twentieth of the range.

    A column that is zero but for a few rows, as a pixel at the edge, would hide all others.
    """
    return np.maximum(scaling.robust_widths(summary), summary.quantile_range(0.0, 1.0) / MAX_WIDTHS)


def _alike(sizes: Sequence[int]) -> IntVector:
    """Positions in parts of these sizes, end to end: the first of each, then the second of each."""
    turns = np.concatenate([np.arange(size) for size in sizes])
    return np.argsort(turns, kind="stable")


def _spread(phi: Sequence[Matrix]) -> Matrix:
    """(V + γ)^{−½} with V the covariance of φ within classes.

    γ is as small as the number of directions and of rows allows.
    """
    several = [part for part in phi if len(part)]
    known = max(sum(len(part) - 1 for part in several), 1)
    V = sum((_scatter(part) for part in several), np.zeros((phi[0].shape[1],) * 2)) / known
    values, vectors = np.linalg.eigh(V)
    values = np.maximum(values, 0.0)
    largest = float(values[-1]) if values[-1] > 0.0 else 1.0
    most = min(DIRECTIONS, DIRECTIONS_PER_ROW * known)

    def excess(log_share: float) -> float:
        return float(np.sum(values / (values + largest * math.exp(log_share)))) - most

    low = math.log(NARROWEST)
    high = max(low, math.log(len(values) / most))  # values/(values + γ) < values/γ, all of them
    share = math.exp(brentq(excess, low, high) if excess(low) > 0.0 else low)
    spread: Matrix = vectors / np.sqrt(values + share * largest)
    return spread


def _scatter(rows: Matrix) -> Matrix:
    """Σ(x − x̄)(x − x̄)ᵀ."""
    R = rows - rows.mean(axis=0)
    scatter: Matrix = R.T @ R
    return scatter


def _moments(features: Features, psi: Sequence[Matrix]) -> MixtureTest:
    """Class means, and covariances that are pulled to that of all classes as if by five rows."""
    sizes = np.array([len(rows) for rows in psi], dtype=np.float64)
    means = np.column_stack([rows.mean(axis=0) for rows in psi])
    covariances = _pulled(np.stack([_scatter(rows) for rows in psi]), sizes)
    squares = [np.sum((rows - rows.mean(axis=0)) ** 2, axis=1) for rows in psi]
    variances = _pulled(np.array([_scatter(some[:, None]).item() for some in squares]), sizes)
    errors = variances / (sizes - 1.0 + POOLED_ROWS)
    return MixtureTest(features, means, covariances, errors, sizes)


def _pulled(scatters: NDArray[np.float64], sizes: Vector) -> NDArray[np.float64]:
    """(scatter_c + 5·pooled)/(n_c − 1 + 5), along the first axis."""
    pooled = scatters.sum(axis=0) / max(sizes.sum() - len(sizes), 1.0)
    freedom = (sizes - 1.0 + POOLED_ROWS).reshape(-1, *[1] * (scatters.ndim - 1))
    pulled: NDArray[np.float64] = (scatters + POOLED_ROWS * pooled) / freedom
    return pulled

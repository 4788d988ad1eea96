"""Whether a sample can be a mixture of the classes at all: the distance that remains, and chance.

Proportions are estimated under the assumption that the classes look as before and only their shares
change. It is tested on the raw coordinates, before any classifier, which may not see the change.
With features ψ(x) = Bk(L, x) of m landmarks L, class means μ_c, within-class covariances Σ_c and
the sample's mean ψ̄ the distance is min ‖ψ̄ − Σ_cπ_cμ_c‖ over the simplex. B first makes a Nyström
map of the kernel, φ = K_LL^{−½}k(L, x), and then divides by the spread that rows of one class have,
(V + γ)^{−½} with V the covariance of φ within classes: without it the few directions in which every
class is wide would hide a change in all others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import pdist

from kernelmean import engines
from kernelmean._random import Streams
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine
from kernelmean.kernels import Gaussian, RadialFunction
from kernelmean.mean import scaling
from kernelmean.proportions.searching import squared_distances
from kernelmean.proportions.solving import simplex_minimisers
from kernelmean.samples import ArraySample, Sample

MAX_LANDMARKS = 200
KEPT_NUMBERS = 2**22  # in the covariances of all classes; many classes have fewer landmarks
MAX_CLASS_ROWS = 10_000  # training rows that make a class mean, at most
MAX_ROWS = 30_000  # of all classes together, but
FEWEST_CLASS_ROWS = 1000  # of every class that has as many
SCALE_ROWS = 5000  # whose quantiles are the widths of the columns, at most
RANK = 1e-7  # eigenvalues of K_LL below this share of the largest are rounding
# Directions in which the sample is looked at, Σ v_j/(v_j + γ) over the eigenvalues of V: at most so
# many, and at most this share of the rows that V is known from.
DIRECTIONS = 30.0
DIRECTIONS_PER_ROW = 0.1
NARROWEST = 1e-4  # γ in units of the largest eigenvalue of V, at least
LEAST_LEFT_OUT = 0.05  # of a row's own distance, that leaving the row out may divide by
POOLED_ROWS = 5.0  # that the other classes count for in the covariance of a class
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


@dataclass(frozen=True, eq=False)
class Features:
    """ψ(x) = Bk(L, x) after the columns were divided by their widths."""

    landmarks: Points  # (m, d), in the coordinates of the kernel
    scale: Matrix  # (d, d), diagonal
    origin: Vector
    radial: RadialFunction
    map: Matrix  # (m, r): Bᵀ

    def then(self, A: Matrix) -> Features:
        """The same with a further linear map."""
        return Features(self.landmarks, self.scale, self.origin, self.radial, self.map @ A)

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
    sizes: Vector  # (C,) rows that each mean is over

    def test(self, X: Sample, engine: str | Engine, streams: Streams) -> GoodnessOfFit:
        """The hypothesis that X is drawn from a mixture of the classes.

        Under it ψ̄ − Mπ is normal with covariance (Σ_c π_cΣ_c + Cov μ)/n + Σ_c π_c²Σ_c/n_c, where
        Cov μ is that of the class means under π. The law of the distance is drawn: normal errors at
        the nearest mixture, each with a minimum over the simplex of its own, since on its boundary
        the distance is no sum of squares. Time O(n·m·d), and a thousand small quadratic programs.
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
        S = self.covariance(proportions, n)
        values, vectors = np.linalg.eigh(S)
        normal = streams.of("mixture law").standard_normal((DRAWS, len(values)))
        drawn: Matrix = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return drawn

    def covariance(self, proportions: Vector, n: int) -> Matrix:
        """(r, r): that of ψ̄ − Mπ for a sample of n rows."""
        weights = proportions / n + proportions**2 / self.sizes
        within = np.tensordot(weights, self.covariances, axes=1)
        apart = self.means - (self.means @ proportions)[:, None]
        covariance: Matrix = within + (apart * proportions) @ apart.T / n
        return covariance


def mixture_test(groups: Sequence[Sample], streams: Streams) -> MixtureTest:
    """Landmarks, features and their class-wise moments from at most 10 000 rows of each class."""
    most = min(MAX_CLASS_ROWS, max(FEWEST_CLASS_ROWS, MAX_ROWS // len(groups)))
    rows = [_some(X, most, streams.of("mixture rows", c)) for c, X in enumerate(groups)]
    labels: IntVector = np.repeat(np.arange(len(rows)), [len(X) for X in rows])
    nystroem = _nystroem(np.concatenate(rows), labels, streams)
    features = np.concatenate([nystroem.rows(X) for X in rows])
    sizes = np.bincount(labels).astype(np.float64)
    means = np.stack([features[labels == c].mean(axis=0) for c in range(len(rows))])
    known = max(len(labels) - len(rows), 1)  # rows less means
    A, shares = _within(features - means[labels], known)
    Z = (features - means[labels]) @ A / np.sqrt(np.maximum(1.0 - shares, LEAST_LEFT_OUT))[:, None]
    pooled = Z.T @ Z / known
    covariances = [_pulled(Z[labels == c], pooled) for c in range(len(rows))]
    return MixtureTest(nystroem.then(A), (means @ A).T, np.stack(covariances), sizes)


def _some(X: Sample, most: int, rng: np.random.Generator) -> Points:
    """All rows, or so many of them, in random order: the first are a random part."""
    return X.rows(rng.permutation(len(X))[:most])


def _nystroem(X: Points, labels: IntVector, streams: Streams) -> Features:
    """φ = K_LL^{−½}k(L, x), Gaussian, the bandwidth the median distance of the landmarks.

    Landmarks are rows of all classes alike, drawn at random; widths of columns are robust.
    """
    order = streams.of("mixture landmarks").permutation(len(X))
    summary = ArraySample(X[order[:SCALE_ROWS]]).summary()
    scale = np.diag(1.0 / scaling.robust_widths(summary))
    origin = X[0]
    count = min(MAX_LANDMARKS, max(1, math.isqrt(KEPT_NUMBERS // (int(labels[-1]) + 1))))
    landmarks = scaling.apply(scale, X[_alike(order, labels)[:count]], origin)
    distances = pdist(landmarks)
    apart = distances[distances > 0.0]
    width = float(np.median(apart)) if len(apart) else 1.0
    radial = Gaussian(width).radial(X.shape[1], "rkhs")
    values, vectors = np.linalg.eigh(radial(squared_distances(landmarks, landmarks)))
    kept = values > RANK * values[-1]
    return Features(landmarks, scale, origin, radial, vectors[:, kept] / np.sqrt(values[kept]))


def _alike(order: IntVector, labels: IntVector) -> IntVector:
    """The rows in this order, but the first of each class before the second of any."""
    found = labels[order]
    by_class = np.argsort(found, kind="stable")
    starts = np.searchsorted(found[by_class], found[by_class])
    turns = np.empty(len(order), dtype=np.intp)
    turns[by_class] = np.arange(len(order)) - starts
    return order[np.argsort(turns, kind="stable")]


def _within(R: Matrix, known: int) -> tuple[Matrix, Vector]:
    """(V + γ)^{−½} for residuals R (n, r) within classes, V = RᵀR/known, and every row's share.

    h = rᵀ(V + γ)⁻¹r/known is the share of a row in its own measure: for a V without the row,
    rᵀ(V + γ)⁻¹r is 1/(1 − h) of what it is (Sherman and Morrison), and so it is for new rows. γ is
    as large as the number of directions asks for.
    """
    values, vectors = np.linalg.eigh(R.T @ R / known)
    values = np.maximum(values, 0.0)
    largest = float(values[-1]) if values[-1] > 0.0 else 1.0
    most = min(DIRECTIONS, DIRECTIONS_PER_ROW * known)

    def excess(log_gamma: float) -> float:
        return float(np.sum(values / (values + largest * math.exp(log_gamma)))) - most

    low = math.log(NARROWEST)
    high = math.log(len(values) / most) + 1.0
    gamma = largest * math.exp(brentq(excess, low, high) if excess(low) > 0.0 else low)
    A = vectors / np.sqrt(values + gamma)
    return A, np.sum((R @ A) ** 2, axis=1) / known


def _pulled(Z: Matrix, pooled: Matrix) -> Matrix:
    """The covariance of a class, pulled to that of all classes as if by five more rows."""
    own = Z.T @ Z
    covariance: Matrix = (own + POOLED_ROWS * pooled) / (len(Z) - 1 + POOLED_ROWS)
    return covariance

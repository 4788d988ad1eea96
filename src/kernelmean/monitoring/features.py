"""What is watched: a few hundred numbers of each row, centred and scaled by the reference.

A row becomes the normal scores s of its columns, and these become five components, each of which
sees another kind of change:

    linear      y = whitened scores                       the mean, all columns together
    products    y_i·y_j, or (a·y)² in random directions   spread and correlation
    columns     s_j and s_j² of each column               one column among many
    wide        kernel means at k atoms, wide bandwidth   anything large
    narrow      kernel means at k atoms, narrow bandwidth  anything local, such as a new cluster

The kernel components are the kernel mean of the latest rows less that of the reference, on the span
of k atoms, in units of its own variance as far as that is known (kernel Fisher): with K = LLᵀ of
the atoms, F = L⁻¹κ(x) has the covariance VΛVᵀ over the reference, and the features are
Vᵀ(F − mean)/√(Λ + ρΛ₁).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from kernelmean import _blas, bandwidth, engines
from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean._work import compiling_pays, settled
from kernelmean.compiled import threads
from kernelmean.kernels import Gaussian
from kernelmean.linalg.factor import Factor, product
from kernelmean.linalg.gram import gram
from kernelmean.monitoring.scores import NormalScores
from kernelmean.selection.kmeans import lloyd

COMPONENTS = ("linear", "products", "columns", "wide", "narrow")
MAX_ATOMS = 256
ROWS_PER_ATOM = 30  # of the reference, at least: an atom must not be one of its rows
ATOM_ROWS = 10_000  # on which atoms are found
LLOYD_ITERATIONS = 10
GRAM_ROWS = 20_000  # on which kernel means are taken
DIRECTIONS = 256  # and products, at most
RANK = 64  # directions that a kernel component keeps, at most
WIDE = 1.0  # bandwidths, in units of the median distance
NARROW = 0.25
RIDGE = 0.01  # ρ
LEAST_VARIANCE = 1e-9  # of the largest: what is smaller is rounding
LIMIT = 4.0  # standard deviations: no single row counts for more
MEDIAN_ROWS = 500
EXPONENTIAL = 6  # products in the time of one
PART_ROWS = 64  # of a batch, at least, for each thread
# By how many standard deviations ‖y‖² of r whitened features may be smaller for the rows that made
# the map than for new ones: E‖y‖² differs by r·r/n, and ‖y‖² varies by √(2r).
OPTIMISM = 0.03


class KernelFeatures(NamedTuple):
    """Features of one bandwidth: κ(x)W − mean at the atoms."""

    bandwidth: float
    weights: Matrix  # (k, r)
    mean: Vector  # (r,)


@dataclass(frozen=True, eq=False)
class Features:
    """The map from rows to features, (n, d) to (n, R)."""

    scores: NormalScores
    center: Vector  # (d,) of the scores
    directions: Matrix  # (d, m): whitening first, then random directions
    pairs: Matrix  # (2, p) which two of them each product is made of
    shift: Vector  # means of linear, products and columns
    factor: Vector  # and one over their standard deviations
    atoms: Points  # (k, d), as scores
    kernels: tuple[KernelFeatures, ...]

    @classmethod
    def of(cls, X: Points, rng: np.random.Generator) -> Features:
        """Of a reference, on whose first rows atoms and kernel means are found.

        The order of the rows must be a random one. Time O(n·k·(d + k)), memory O(n·k).
        """
        scores = NormalScores.of(X)
        S = scores(X)
        center = S.mean(axis=0)
        directions, pairs = _directions(_whitening(S - center), rng)
        atoms = _atoms(S)
        with _blas.one_thread():
            kernels = tuple(_kernel_features(S, atoms, sigma) for sigma in _bandwidths(S, atoms))
        plain = cls(scores, center, directions, pairs, np.zeros(0), np.ones(0), atoms, kernels)
        raw = np.empty((len(S), 3 * S.shape[1] + pairs.shape[1]))
        plain._write_plain(S, np.zeros(raw.shape[1]), np.ones(raw.shape[1]), raw)
        # The variance of one row among n is the least that n rows can tell from none.
        factor = 1.0 / np.sqrt(raw.var(axis=0) + 1.0 / len(X))
        return cls(scores, center, directions, pairs, raw.mean(axis=0), factor, atoms, kernels)

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return len(self.center)

    @property
    def starts(self) -> IntVector:
        """(groups + 1,): where each group of features begins."""
        d = self.dimension
        sizes = [d, self.pairs.shape[1], *[2] * d, *(len(own.mean) for own in self.kernels)]
        return np.cumsum([0, *sizes]).astype(np.int64)

    @property
    def components(self) -> IntVector:
        """(groups,): the number of the component that each group belongs to."""
        return np.array([0, 1, *[2] * self.dimension, 3, 4], dtype=np.int64)

    def __call__(self, X: Points) -> Matrix:
        """(n, R). Each row is the same to the last bit in whatever batch it comes."""
        out = np.empty((len(X), int(self.starts[-1])))
        count = threads.default_count()
        parts = max(1, min(count, len(X) // PART_ROWS))
        cuts = [len(X) * part // parts for part in range(parts + 1)]
        tasks = [(X[a:b], out[a:b]) for a, b in pairwise(cuts)]
        threads.run(self._write, tasks, count)
        return out

    @lazy
    def compiled(self) -> bool:
        """Whether loops are compiled for it.

        By as many rows as it was learned from, so that no row depends on its batch.
        """
        k, d = self.atoms.shape
        width = int(self.starts[-1]) + len(self.kernels) * (d + EXPONENTIAL)
        return compiling_pays(2.0 * ROWS_PER_ATOM * k * k * width)

    def _write(self, X: Points, out: Matrix) -> None:
        S = self.scores(X, self.compiled)
        self._write_plain(S, self.shift, self.factor, out)
        column = len(self.shift)
        for own in self.kernels:
            width = len(own.mean)
            values = self._kernel_values(S, own)
            np.subtract(values, own.mean, out=out[:, column : column + width])
            column += width

    def _kernel_values(self, S: Points, own: KernelFeatures) -> Matrix:
        """κ(x)W."""
        radial = Gaussian(own.bandwidth).radial(self.dimension, "rkhs")
        if not self.compiled:
            return _row_by_row(gram(radial, S, self.atoms), own.weights)
        with settled(True):
            return self._cloud.kernel_sum(radial, S, own.weights)

    def _write_plain(self, S: Points, shift: Vector, factor: Vector, out: Matrix) -> None:
        if self.compiled:
            from kernelmean.compiled.row_features import plain_features

            plain_features(S, self.center, self.directions, LIMIT, *self.pairs, shift, factor, out)
            return
        t = np.clip(_row_by_row(S - self.center, self.directions), -LIMIT, LIMIT)
        first, second = self.pairs
        squared = np.stack([S, S * S], axis=2).reshape(len(S), -1)  # s_j, s_j² column by column
        found = np.concatenate([t[:, : S.shape[1]], t[:, first] * t[:, second], squared], axis=1)
        np.multiply(found - shift, factor, out=out[:, : len(shift)])

    @lazy
    def _cloud(self) -> engines.PointCloud:
        """The atoms, as an engine holds them."""
        return engines.open("cpu").load(self.atoms)

    def __getstate__(self) -> dict[str, Any]:
        # An engine's points belong to a process.
        return {name: value for name, value in self.__dict__.items() if name != "_cloud"}


def _row_by_row(A: Matrix, B: Matrix) -> Matrix:
    """A @ B by one product for each row of A, whose bits then do not depend on the others."""
    rows: Matrix = np.matmul(A[:, None, :], B)[:, 0]
    return rows


def affordable(n: int) -> float:
    """How many whitened features n rows can pay for: r with r·r/n = OPTIMISM·√(2r)."""
    return float((math.sqrt(2.0) * OPTIMISM * n) ** (2.0 / 3.0))


def _whitening(S: Points) -> Matrix:
    """V(Λ + 1/n)^{−½} of a covariance VΛVᵀ, (d, d).

    Where n rows cannot pay for d features, of a mixture of the covariance and its diagonal.
    """
    n, d = S.shape
    share = min(1.0, (affordable(n) / d) ** 1.5)
    covariance = product(np.ascontiguousarray(S.T), S) / n
    diagonal = np.diag(np.diag(covariance))
    values, vectors = eigh(share * covariance + (1.0 - share) * diagonal)
    whitening: Matrix = vectors / np.sqrt(np.maximum(values, 0.0) + 1.0 / n)
    return whitening


def _atoms(S: Points) -> Points:
    """Centroids of k-means, (k, d), from the first rows."""
    k = min(MAX_ATOMS, max(2, len(S) // ROWS_PER_ATOM))
    cloud = engines.open("cpu").load(S[:ATOM_ROWS])
    found: Points = np.unique(lloyd(cloud, np.unique(S[:k], axis=0), LLOYD_ITERATIONS), axis=0)
    return found


def _bandwidths(S: Points, atoms: Points) -> tuple[float, float]:
    """Wide and narrow; in many dimensions the narrow one still reaches the nearest atom."""
    some = S[:MEDIAN_ROWS]
    if (some == some[0]).all():
        return 1.0, 1.0  # nothing varies, and every bandwidth is as good
    median = bandwidth.by_rule("median", engines.open("cpu").load(some))
    nearest = float(np.median(cdist(some, atoms).min(axis=1)))
    return WIDE * median, max(NARROW * median, nearest / math.sqrt(2.0))


def _directions(whitening: Matrix, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Which combinations of scores are taken, and which pairs of them are multiplied.

    All products of two coordinates where these are few, else squares in random directions.
    """
    d = len(whitening)
    if d * (d + 1) // 2 <= DIRECTIONS:
        return whitening, np.stack(np.triu_indices(d)).astype(np.int64)
    drawn = rng.normal(size=(d, DIRECTIONS))
    drawn /= np.linalg.norm(drawn, axis=0)
    which = d + np.arange(DIRECTIONS, dtype=np.int64)
    return np.concatenate([whitening, whitening @ drawn], axis=1), np.stack([which, which])


def _kernel_features(S: Points, atoms: Points, sigma: float) -> KernelFeatures:
    """κ(x)W − mean for one bandwidth."""
    radial = Gaussian(sigma).radial(S.shape[1], "rkhs")
    cholesky = Factor(radial)
    values = gram(radial, atoms, S[:GRAM_ROWS])
    mean = values.mean(axis=1)
    cholesky.append(atoms, mean)
    F = cholesky.forward_substitute(values)
    F -= F.mean(axis=1, keepdims=True)
    variances, vectors = eigh(product(F, np.ascontiguousarray(F.T)) / F.shape[1], driver="evd")
    rank = max(1, min(RANK, int(affordable(F.shape[1]))))
    order = np.argsort(-variances)[:rank]
    least = LEAST_VARIANCE * max(variances[-1], LEAST_VARIANCE)
    kept = order[: max(1, np.count_nonzero(variances[order] > least))]
    scaled = vectors[:, kept] / np.sqrt(variances[kept] + RIDGE * variances[-1] + least)
    W = cholesky.back_substitute(scaled)
    return KernelFeatures(sigma, np.ascontiguousarray(W), mean @ W)

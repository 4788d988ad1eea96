"""The bandwidth that recovers simulated mixtures best.

Centres are selected once, and coefficients found anew for each bandwidth. Every class is split in
two halves. The means of one half are asked for the proportions of mixtures drawn from the other,
whose truth is known; then the halves change places. For one bandwidth the values z_c(x) of all
points are computed once, and every mixture is an average of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from kernelmean import _blas, _progress, _shown, bandwidth, engines
from kernelmean._random import Streams
from kernelmean._types import EPS, IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import RadialFunction
from kernelmean.linalg.factor import solve_lower
from kernelmean.proportions import means, solving
from kernelmean.proportions.means import Plan
from kernelmean.proportions.solving import System
from kernelmean.samples import Sample

MAX_CLASS_ROWS = 3000  # points of a class that take part in the search
MAX_CLASS_CENTERS = 250  # first centres of a class that take part
MIXTURES = 100  # simulated for each half
LARGEST_MIXTURE_POINTS = 1000  # in a simulated mixture, at most
NARROWEST = 0.02  # bandwidth of the grid, in units of typical distances
WIDEST = 3.0  # bandwidth of the grid, in units of typical distances
GRID_FACTOR = 1.6  # between neighbouring bandwidths of the grid, at most
REFINED_BANDWIDTHS = 12  # tried between the neighbours of the best one of the grid
LEVERAGE_ROWS = 50  # points of a class at which the leverage is averaged
KEPT_COLUMNS = 100  # coordinates from which distances cost more than kernel values, and are kept
KEPT_VALUES = 2**25  # distances kept in memory, at most
BLOCK_VALUES = 2**15  # kernel values computed at a time, so that they stay in the cache


class Search(NamedTuple):
    """What was tried: Gaussian σ, and the mean ℓ1 error of each.

    Other kernels have the half-maximum radius of that Gaussian.
    """

    best: float
    bandwidths: Vector
    errors: Vector

    def __repr__(self) -> str:
        return _shown.brief(self, self._fields)


def search(
    groups: Sequence[Sample],
    centers: Sequence[Points] | None,
    plan: Plan,
    solver: str,
    streams: Streams,
) -> Search:
    """Minimise the ℓ1 error: on a log grid, then by a bounded scalar search around its best point.

    ``groups`` and ``centers`` are in the coordinates of the kernel; without centres the means are
    full. Time for one bandwidth: C kernel sums of at most 3000·C points over k centres.
    """
    trial = Trial(groups, centers, plan, solver, streams)
    # Matrices of a few hundred rows: more threads than one save nothing, and on busy cores they
    # mostly wait for each other.
    with _blas.one_thread():
        return _minimise(trial, *_range(groups[0].join(groups[1:]), plan.engine))


def _minimise(trial: Trial, low: float, high: float) -> Search:
    grid = np.linspace(
        math.log(low),
        math.log(high),
        max(3, math.ceil(math.log(high / low) / math.log(GRID_FACTOR)) + 1),
    )
    steps = _progress.track(grid, "bandwidths", len(grid))
    seen: dict[float, float] = {float(t): trial.error(math.exp(t)) for t in steps}
    best = int(np.argmin(list(seen.values())))

    def error(t: float) -> float:
        seen[float(t)] = trial.error(math.exp(t))
        return seen[float(t)]

    around = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    minimize_scalar(
        error,
        bounds=around,
        method="bounded",
        options={"maxiter": REFINED_BANDWIDTHS, "xatol": 0.01},
    )
    tried = np.array(sorted(seen))
    errors = np.array([seen[t] for t in tried])
    return Search(math.exp(tried[np.argmin(errors)]), np.exp(tried), errors)


class Trial:
    """Simulated mixtures, and the error in their proportions as a function of the bandwidth."""

    def __init__(
        self,
        groups: Sequence[Sample],
        centers: Sequence[Points] | None,
        plan: Plan,
        solver: str,
        streams: Streams,
    ) -> None:
        rows = [
            X.rows(streams.of("trial rows", c).permutation(len(X))[:MAX_CLASS_ROWS])
            for c, X in enumerate(groups)
        ]
        self._plan = plan
        self._solver = solver
        self._d = groups[0].dimension
        self._labels: IntVector = np.repeat(np.arange(len(rows)), [len(X) for X in rows])
        half = np.concatenate([np.arange(len(X)) % 2 for X in rows])
        # a single point serves on both sides.
        alone = np.concatenate([np.full(len(X), len(X) == 1) for X in rows])
        self._fitted = [(half == side) | alone for side in (0, 1)]
        self._mixtures = [
            _mixtures(self._labels, (half != side) | alone, streams.of("trial mixtures", side))
            for side in (0, 1)
        ]
        self._means = (
            _FullMeans(rows, plan.engine)
            if centers is None
            else _SparseMeans(rows, centers, plan.engine)
        )

    def error(self, sigma: float) -> float:
        """Mean ℓ1 distance of estimated and true proportions, over the mixtures of both halves."""
        radial = self._plan.kernel.matching(sigma, self._d).radial(self._d, self._plan.space)
        shares = [_normalised(fitted, self._labels) for fitted in self._fitted]
        errors = []
        for half, (F, G, leverages) in enumerate(
            self._means.fit(radial, np.column_stack(shares), self._labels)
        ):
            system = self._system(F, G, leverages, self._fitted[half])
            counts, truth = self._mixtures[half]
            found = solving.solve(system, counts @ F, self._solver)
            errors.append(float(np.mean(np.sum(np.abs(found - truth), axis=1))))
        return float(np.mean(errors))

    def _system(self, F: Matrix, G: Matrix | None, leverages: Vector, fitted: Vector) -> System:
        per_class = [F[fitted & (self._labels == c)] for c in range(F.shape[1])]
        if G is None:
            V = np.column_stack([f.mean(axis=0) for f in per_class])
            G = 0.5 * (V + V.T)
        return means.system(G, per_class, np.array([len(f) for f in per_class]), leverages)


# Values (n, C), Gram matrix (None: from the values), leverages (C,).
Fit = tuple[Matrix, Matrix | None, Vector]


class _FullMeans:
    """Full means of the halves: the weights are given, the Gram matrix follows from the values."""

    def __init__(self, rows: Sequence[Points], engine: str | Engine) -> None:
        everything = np.concatenate(rows)
        budget = KEPT_VALUES // len(rows)
        self._pairs = [Pairs(everything, X, engine, budget) for X in rows]

    def fit(self, radial: RadialFunction, shares: Matrix, labels: IntVector) -> list[Fit]:
        sums = np.stack(
            [pairs.sums(radial, shares[labels == c]) for c, pairs in enumerate(self._pairs)], axis=1
        )
        return [(sums[..., half], None, np.ones(sums.shape[1])) for half in range(shares.shape[1])]


class _SparseMeans:
    """Sparse means of the halves on one set of centres."""

    def __init__(
        self, rows: Sequence[Points], centers: Sequence[Points], engine: str | Engine
    ) -> None:
        self._centers = [C[:MAX_CLASS_CENTERS] for C in centers]
        everything = np.concatenate(rows)
        every_center = np.concatenate(self._centers)
        budget = KEPT_VALUES // len(rows)
        self._own = [Pairs(C, X, engine, budget) for C, X in zip(self._centers, rows, strict=True)]
        self._values = [Pairs(everything, C, engine, budget) for C in self._centers]
        self._between = [Pairs(every_center, C, engine, budget) for C in self._centers]
        self._squared = [cdist(C, C, "sqeuclidean") for C in self._centers]
        self._sampled = [
            cdist(C, X[:LEVERAGE_ROWS], "sqeuclidean")
            for C, X in zip(self._centers, rows, strict=True)
        ]
        self._places: IntVector = np.repeat(np.arange(len(rows)), [len(C) for C in self._centers])

    def fit(self, radial: RadialFunction, shares: Matrix, labels: IntVector) -> list[Fit]:
        """κ of both halves, α = K⁻¹κ, then values and Gram matrix."""
        kappa = [own.sums(radial, shares[labels == c]) for c, own in enumerate(self._own)]
        solved = [
            _weights(radial(centers), radial(sampled), sides)
            for centers, sampled, sides in zip(self._squared, self._sampled, kappa, strict=True)
        ]
        alpha = [weights for weights, _ in solved]
        F = np.stack(
            [pairs.sums(radial, a) for pairs, a in zip(self._values, alpha, strict=True)], axis=1
        )
        Z = np.stack(
            [pairs.sums(radial, a) for pairs, a in zip(self._between, alpha, strict=True)], axis=1
        )
        leverages = np.array([share for _, share in solved])
        halves = []
        for half in range(shares.shape[1]):
            weights = np.concatenate([a[:, half] for a in alpha])
            G = np.stack(
                [
                    weights[self._places == c] @ Z[self._places == c, :, half]
                    for c in range(len(alpha))
                ]
            )
            halves.append((F[..., half], 0.5 * (G + G.T), leverages))
        return halves


class Pairs:
    """Σ_j g(‖q_i − x_j‖²)W_j for one bandwidth after the other.

    Distances are kept where they cost more than g and fit.
    """

    def __init__(self, Q: Points, X: Points, engine: str | Engine, budget: int) -> None:
        self._Q = Q
        keep = Q.shape[1] >= KEPT_COLUMNS and len(Q) * len(X) <= budget
        self._squared = squared_distances(Q, X) if keep else None
        self._cloud: PointCloud | None = (
            None if keep else engines.precise(engines.open(engine)).load(X)
        )

    def sums(self, radial: RadialFunction, W: Matrix) -> Matrix:
        if self._cloud is not None:
            return self._cloud.kernel_sum(radial, self._Q, W)
        assert self._squared is not None
        size = max(1, BLOCK_VALUES // self._squared.shape[1])  # blocks that stay in the cache
        parts = [
            radial(self._squared[i : i + size]) @ W for i in range(0, len(self._squared), size)
        ]
        return np.concatenate(parts)


def squared_distances(Q: Points, X: Points) -> Matrix:
    """‖q − x‖² = ‖q‖² + ‖x‖² − 2q·x about the mean of X.

    As a matrix product it is precise enough to choose a bandwidth by.
    """
    centre = X.mean(axis=0)
    Q = Q - centre
    X = X - centre
    squared = Q @ X.T
    squared *= -2.0
    squared += np.einsum("ij,ij->i", Q, Q)[:, None]
    squared += np.einsum("ij,ij->i", X, X)
    return np.maximum(squared, 0.0, out=squared)


def _weights(K: Matrix, V: Matrix, kappa: Matrix) -> tuple[Matrix, float]:
    """(K⁻¹κ, mean of vᵀK⁻¹v over the columns of V): optimum and leverage.

    There is as little jitter as the factor needs.
    """
    jitter = 4 * EPS * len(K)
    while True:
        try:
            L = cholesky(K + jitter * np.eye(len(K)), lower=True, check_finite=False)
        except LinAlgError:
            jitter *= 10
            continue
        weights = np.column_stack([_solved(L, column) for column in kappa.T])
        return weights, means.mean_leverage(L, V)


def _solved(L: Matrix, side: Vector) -> Vector:
    """L⁻ᵀL⁻¹ of one side.

    One side at a time: for a few hundred unknowns, waking the threads of BLAS would cost more.
    """
    return solve_lower(L, solve_lower(L, side), transposed=True)


def _normalised(chosen: Vector, labels: IntVector) -> Vector:
    """1/n_c for the chosen points of class c, else 0."""
    counts = np.bincount(labels, chosen)
    weights: Vector = chosen / counts[labels]
    return weights


def _mixtures(labels: IntVector, pool: Vector, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Weights of the pool's points in each mixture (s, n), and true proportions (s, C).

    Proportions are Dirichlet(1).
    """
    C = int(labels[-1]) + 1
    size = min(int(np.count_nonzero(pool)), LARGEST_MIXTURE_POINTS)
    members = [np.flatnonzero(pool & (labels == c)) for c in range(C)]
    counts = rng.multinomial(size, rng.dirichlet(np.ones(C), MIXTURES))
    W = np.zeros((MIXTURES, len(labels)))
    for row, drawn in zip(W, counts, strict=True):
        for rows, m in zip(members, drawn, strict=True):
            row[rows] = rng.multinomial(m, np.full(len(rows), 1.0 / len(rows)))
    return W / size, counts / size


def _range(X: Sample, engine: str | Engine) -> tuple[float, float]:
    """From a fraction of a typical distance (median, root mean square) to a few times it."""
    cloud = X.load(engines.precise(engines.choose(engine, 0.0, X.on_device)))
    squares = math.sqrt(2.0 * float(np.sum(cloud.summary.std**2)))
    typical = bandwidth.by_rule("median", cloud), squares
    return NARROWEST * min(typical), WIDEST * max(typical)

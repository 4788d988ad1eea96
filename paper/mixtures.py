"""Digits in two halves, mixtures of them, and Gram matrices of kernel means.

The mixtures have known proportions; the matrices are for many bandwidths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

import kernelmean as km
from kernelmean._types import EPS
from kernelmean.fitting.settings import default_limit
from kernelmean.kernels import RadialFunction
from kernelmean.linalg import simplex
from kernelmean.linalg.conjugate_gradients import conjugate_gradients
from kernelmean.proportions.searching import Pairs
from kernelmean.proportions.solving import linear_system
from paper.experiment import Values

CLASSES = 5
OMEGAS = np.arange(1, 32) / 10  # concentrations of the Dirichlet distribution
TESTS = 10  # mixtures for each
EVERYTHING = 2**40  # distances kept, however many
PRECISION = 1e-4  # of the bandwidth, as MATLAB's fminbnd has it
NARROWEST, WIDEST = (
    0.1,
    2.0,
)  # the bounds of the search, in median distances; the paper does not say its own


class Half(NamedTuple):
    """Labelled points to make the means of, and a pool from which mixtures are drawn."""

    X: np.ndarray
    y: np.ndarray
    pool: np.ndarray
    labels: np.ndarray

    @property
    def groups(self) -> list[np.ndarray]:
        """The points of each class."""
        return [self.X[self.y == c] for c in range(CLASSES)]

    @property
    def largest(self) -> int:
        """Points in a mixture: so many can be drawn without repetition whatever the proportions."""
        return int(np.bincount(self.labels).min())

    def mixture(self, omega: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the pool in Dirichlet(ω) proportions, and the proportions among them."""
        counts = rng.multinomial(self.largest, rng.dirichlet(np.full(CLASSES, omega)))
        drawn = [
            rng.choice(np.flatnonzero(self.labels == c), m, replace=False)
            for c, m in enumerate(counts)
        ]
        return np.concatenate(drawn), counts / self.largest


def halves(
    X: np.ndarray, y: np.ndarray, pool: np.ndarray, labels: np.ndarray, seed: int = 0
) -> tuple[Half, Half]:
    """The first five digits in two random halves: one for the bandwidth, one to test."""
    rng = np.random.default_rng(seed)
    rows, others = (rng.permutation(np.flatnonzero(which < CLASSES)) for which in (y, labels))
    parts = [(rows[i::2], others[i::2]) for i in (0, 1)]
    first, second = (Half(X[a], y[a], pool[b], labels[b]) for a, b in parts)
    return first, second


@dataclass(frozen=True)
class Mean:
    """One kernel mean whose weights follow the bandwidth: full, or sparse on k-centres.

    These are selected once.
    """

    centers: np.ndarray
    size: int  # of the sample
    own: Pairs | None = None  # of the centres and the sample; None for the full mean
    squared: np.ndarray | None = None  # distances of the centres
    solver: str = "cholesky"

    def weights(self, radial: RadialFunction) -> np.ndarray:
        """1/n, or α = K⁻¹κ with κ_a = Σ_j g(‖c_a − x_j‖²)/n."""
        shares = np.full(self.size, 1.0 / self.size)
        if self.own is None or self.squared is None:
            return shares
        K, kappa = radial(self.squared), self.own.sums(radial, shares)
        if self.solver == "cg":
            return conjugate_gradients(K, kappa)
        return solve(K + 4 * EPS * len(K) * np.eye(len(K)), kappa, assume_a="pos")


def mean_of(X: np.ndarray, solver: str | None, seed: int) -> Mean:
    """Full without a solver, else on as many k-centres as the paper takes."""
    if solver is None:
        return Mean(X, len(X))
    centers = km.k_center(X, default_limit(len(X)), random_state=seed).points
    return Mean(
        centers,
        len(X),
        Pairs(centers, X, "cpu", EVERYTHING),
        cdist(centers, centers, "sqeuclidean"),
        solver,
    )


@dataclass
class Classes:
    """Means of the classes: distances once, then a Gram matrix for each bandwidth."""

    means: Sequence[Mean]
    _blocks: dict[tuple[int, int], Pairs] = field(init=False)
    _last: tuple[float, list[np.ndarray], np.ndarray] | None = (
        None  # the bandwidth asked for last: many mixtures share it
    )

    def __post_init__(self) -> None:
        C = len(self.means)
        self._blocks = {
            (a, b): self.pairs(self.means[a], self.means[b]) for a in range(C) for b in range(a + 1)
        }

    @staticmethod
    def pairs(a: Mean, b: Mean) -> Pairs:
        return Pairs(a.centers, b.centers, "cpu", EVERYTHING)

    def gram(self, sigma: float) -> tuple[list[np.ndarray], np.ndarray]:
        """(weights, G): G_ab = α_aᵀK_abα_b."""
        if self._last is None or self._last[0] != sigma:
            radial = km.Gaussian(sigma).radial(self.means[0].centers.shape[1], "rkhs")
            alpha, G = (
                [mean.weights(radial) for mean in self.means],
                np.zeros((len(self.means), len(self.means))),
            )
            with ThreadPoolExecutor(2) as pool:
                found = pool.map(
                    lambda place: (
                        alpha[place[0]] @ self._blocks[place].sums(radial, alpha[place[1]])
                    ),
                    self._blocks,
                )
                for (a, b), value in zip(self._blocks, found, strict=True):
                    G[a, b] = G[b, a] = value
            self._last = sigma, alpha, G
        return self._last[1], self._last[2]


class Task:
    """The proportions of one mixture as a function of the bandwidth, as in the paper."""

    def __init__(self, classes: Classes, mixture: Mean) -> None:
        self._classes, self._mixture = classes, mixture
        self._blocks = [classes.pairs(mixture, mean) for mean in classes.means]

    def proportions(self, sigma: float) -> np.ndarray:
        """Dπ = e, then the projection on the simplex."""
        alpha, G = self._classes.gram(sigma)
        radial = km.Gaussian(sigma).radial(self._mixture.centers.shape[1], "rkhs")
        beta = self._mixture.weights(radial)
        kappa = [
            beta @ block.sums(radial, weights)
            for block, weights in zip(self._blocks, alpha, strict=True)
        ]
        return simplex.project(linear_system(G, np.array([kappa]))[0])

    def best_bandwidth(
        self, truth: np.ndarray, bounds: tuple[float, float], evaluations: int
    ) -> tuple[float, int]:
        """argmin ‖π − π̂(σ)‖₁ by a bounded scalar search, and how many bandwidths it took."""
        found = minimize_scalar(
            lambda sigma: float(np.abs(self.proportions(sigma) - truth).sum()),
            bounds=bounds,
            method="bounded",
            options={"maxiter": evaluations, "xatol": PRECISION},
        )
        return float(found.x), int(found.nfev)


class Pool:
    """The proportions of many mixtures of one pool by full means.

    Each ⟨P̂_c, P̂_0⟩ is an average of values z_c(x).
    """

    def __init__(self, classes: Classes, pool: np.ndarray) -> None:
        self._classes = classes
        self._blocks = [classes.pairs(Mean(pool, len(pool)), mean) for mean in classes.means]

    def proportions(self, sigma: float, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """(mixtures, C): z_c at every point of the pool once, then the rows of each mixture."""
        alpha, G = self._classes.gram(sigma)
        radial = km.Gaussian(sigma).radial(self._classes.means[0].centers.shape[1], "rkhs")
        F = np.column_stack(
            [
                block.sums(radial, weights)
                for block, weights in zip(self._blocks, alpha, strict=True)
            ]
        )
        found = linear_system(G, np.stack([F[rows].mean(axis=0) for rows in drawn]))
        return np.stack([simplex.project(pi) for pi in found])


def bounds_for(X: np.ndarray) -> tuple[float, float]:
    """Where bandwidths are looked for."""
    typical = km.bandwidth.median(X)
    return NARROWEST * typical, WIDEST * typical


def summary(errors: Sequence[float]) -> Values:
    """Mean and its standard error."""
    return {
        "mean": float(np.mean(errors)),
        "standard_error": float(np.std(errors, ddof=1) / math.sqrt(len(errors))),
    }

"""The reference engine: NumPy, readable, right. Every other engine is judged by it.

What is too small to be worth compiling for runs on it too: its sums are taken tile by tile, so that
kernel values stay in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.spatial.distance import cdist

from kernelmean._lazy import kept, lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Picks, Shift
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.engines.distances import ArrayDistances
from kernelmean.engines.protocols import PointRows
from kernelmean.kernels import Atoms, Components, Formula, RadialFunction, Spreads
from kernelmean.kernels.atoms import variance

ROWS = 1024  # points of a tile
# Kernel values of a tile, 128 kB: larger arrays come from the system anew each time, which takes
# longer than to fill them.
TILE = 2**14


def squared_distances(Q: Points, X: PointRows) -> Matrix:
    """‖q_i − x_j‖² by direct differences, added in coordinate order: no digit lost far from the
    origin.
    """
    found: Matrix = cdist(Q, np.asarray(X), "sqeuclidean")
    return found


def pieces(n: int, size: int) -> list[slice]:
    """0..n in pieces of one size, of which the last may be shorter."""
    return [slice(start, start + size) for start in range(0, n, size)]


def log_sum(terms: Matrix) -> Vector:
    """log Σ_j exp(terms_ij) relative to the largest term of each row; −∞ of nothing."""
    level = _level(terms)
    with np.errstate(divide="ignore"):
        value: Vector = np.log(np.exp(terms - level[:, None]).sum(axis=1)) + level
    return value


def shares(terms: Matrix) -> Matrix:
    """exp(terms_ij) as parts of the sum of each row; nothing of nothing."""
    parts = np.exp(terms - _level(terms)[:, None])
    total = parts.sum(axis=1, keepdims=True)
    found: Matrix = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0.0)
    return found


def mean_offsets(parts: Matrix, X: PointRows, Q: Points) -> Points:
    """(q, d): Σ_j s_ij (x_j − q_i) for shares s, by direct differences."""
    found = np.empty(Q.shape)
    for t in range(Q.shape[1]):
        found[:, t] = np.einsum("ij,ij->i", parts, X[None, :, t] - Q[:, t, None])
    return found


def _level(terms: Matrix) -> Vector:
    """The largest term of each row; 0 where there is none above −∞."""
    top = terms.max(axis=1, initial=-np.inf)
    level: Vector = np.where(top > -np.inf, top, 0.0)
    return level


@dataclass(frozen=True)
class Engine:
    """Opens naive point clouds."""

    name: str = "naive"

    def load(self, X: Points, weights: Vector | None = None) -> PointCloud:
        """Take the points in."""
        return PointCloud(WeightedPoints(X, weights))

    def load_atoms(self, atoms: Atoms) -> AtomCloud:
        """Take the atoms in."""
        return AtomCloud(atoms)


@dataclass(frozen=True)
class PointCloud:
    """n points, and every operation written as its formula."""

    sample: WeightedPoints

    @lazy
    def summary(self) -> ArraySummary:
        """Counts, moments and quantiles."""
        return ArraySummary(self.sample)

    @lazy
    def _p(self) -> Vector:
        """The weights, contiguous: einsum adds those that are broadcast in another order."""
        return np.ascontiguousarray(self.sample.p)

    def rows(self, indices: IntVector) -> Points:
        return self.sample.rows(indices)

    def locate(self, u: Vector) -> IntVector:
        return self.sample.locate(u)

    def traverse(self, first: int) -> Traversal:
        return Traversal(self.sample, first)

    def nearest(self, centers: Points) -> Nearest:
        return Nearest(self.sample, centers)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²).  Time O(qnd), memory of a tile."""
        W = self._p if W is None else W
        f = np.zeros((len(Q), *W.shape[1:]))
        for rows in self._blocks():
            for some in self._queries(Q):
                values = radial(squared_distances(Q[some], self.sample.X[rows]))
                # Not BLAS, which has threads of its own.
                f[some] += np.einsum("ij,j...->i...", values, W[rows])
        return f

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        """(q, 1 + d): Σ_j p_j g(‖q_i − x_j‖²), and the same with (x_j − q_i), by direct
        differences.
        """
        f = np.zeros((len(Q), 1 + Q.shape[1]))
        for rows in self._blocks():
            X = self.sample.X[rows]
            for some in self._queries(Q):
                terms = radial(squared_distances(Q[some], X)) * self.sample.p[rows]
                f[some, 0] += terms.sum(axis=1)
                for t in range(Q.shape[1]):
                    f[some, 1 + t] += np.einsum("ij,ij->i", terms, X[None, :, t] - Q[some, t, None])
        return f

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        """κ_a = Σ_j p_j g_a(x_j)."""
        components = atoms.blurred(variance(radial))
        kappa = np.zeros(len(atoms))
        for rows in self._blocks():
            values = np.exp(components.log_values(self.sample.X[rows]))
            kappa += np.einsum("j,ja->a", self._p[rows], values)
        return kappa

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        """Σ_j p_j g_a(x_j)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a."""
        components = atoms.blurred(variance(radial))
        d = atoms.dimension
        full = atoms.kind == "full"
        f = np.zeros((len(atoms), 1 + d + (d * d if full else 1)))
        for rows in pieces(len(self.sample.X), max(1, TILE // atoms.centers.size)):
            X = self.sample.X[rows]
            terms = self.sample.p[rows, None] * np.exp(components.log_values(X))
            u = [X[:, t, None] - atoms.centers[:, t] for t in range(d)]
            pulled = [terms * offsets for offsets in u]
            f[:, 0] += terms.sum(axis=0)
            for t in range(d):
                f[:, 1 + t] += pulled[t].sum(axis=0)
            for s, t in product(range(d), repeat=2):
                if full and s <= t:
                    f[:, 1 + d + s * d + t] += np.einsum("ja,ja->a", pulled[s], u[t])
                elif s == t:
                    f[:, -1] += np.einsum("ja,ja->a", pulled[t], u[t])
        if full:
            squares = f[:, 1 + d :].reshape(-1, d, d)
            squares += np.swapaxes(np.triu(squares, 1), 1, 2)
        return f

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        """log Σ_j w_j g(‖q_i − x_j‖²), by log-add-exp over blocks."""
        f = np.full(len(Q), -np.inf)
        with np.errstate(divide="ignore"):
            log_w = np.log(self.sample.p if w is None else w)
        for rows in self._blocks():
            for some in self._queries(Q):
                logs = radial.log(squared_distances(Q[some], self.sample.X[rows]))
                f[some] = np.logaddexp(f[some], log_sum(logs + log_w[rows]))
        return f

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        """Σ w_j ψ_j (x_j − q) / Σ w_j ψ_j by logarithms, a few queries at a time.  Time O(qnd),
        memory O(n).
        """
        phi = decay.times(None)
        X = self.sample.X
        value, pull, held = np.full((3, len(Q)), -np.inf)
        step = np.zeros(Q.shape)
        with np.errstate(divide="ignore", over="ignore"):
            log_w = np.log(self.sample.p if w is None else w)
            for some in pieces(len(Q), max(1, TILE // max(1, len(X)))):
                r2 = squared_distances(Q[some], X)
                terms = log_w + phi.log(r2)
                pulls = log_w + decay.log(r2)
                value[some] = log_sum(terms)
                pull[some] = log_sum(pulls)
                if decay.traits.kink:
                    held[some] = log_sum(np.where(r2 == 0.0, terms, -np.inf))
                step[some] = mean_offsets(shares(pulls), X, Q[some])
        return Shift(value, pull, held, step)

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g(‖x_i − x_j‖²)."""
        parts = [
            np.sum(self.sample.p[rows] * self.kernel_sum(radial, self.sample.X[rows]))
            for rows in self._blocks()
        ]
        return float(np.sum(parts))

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        """(M, 2): Σ_j p_j cos ω·(x_j − origin) and Σ_j p_j sin ω·(x_j − origin)."""
        f = np.zeros((len(frequencies), 2))
        for rows in self._blocks():
            centred = self.sample.X[rows] - origin
            for some in self._queries(frequencies):
                phase = np.einsum("mt,jt->mj", frequencies[some], centred)
                f[some, 0] += np.einsum("mj,j->m", np.cos(phase), self._p[rows])
                f[some, 1] += np.einsum("mj,j->m", np.sin(phase), self._p[rows])
        return f

    def _blocks(self) -> list[slice]:
        return pieces(len(self.sample.X), ROWS)

    def _queries(self, Q: Points) -> list[slice]:
        """As many at a time as make a tile."""
        return pieces(len(Q), TILE // max(1, min(ROWS, len(self.sample.X))))


@dataclass(frozen=True)
class AtomCloud:
    """k atoms, and every sum over them written as its formula."""

    atoms: Atoms
    _blurred: dict[float, Components] = field(default_factory=dict)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        """Σ_a W_ac g_a(q_i)."""
        components = kept(self._blurred, variance(radial), self.atoms.blurred)
        f = np.zeros((len(Q), *W.shape[1:]))
        for some in self._queries(Q):
            f[some] = np.einsum("ia,a...->i...", np.exp(components.log_values(Q[some])), W)
        return f

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        """log Σ_a w_a g_a(q_i)."""
        components = kept(self._blurred, variance(radial), self.atoms.blurred)
        f = np.zeros(len(Q))
        with np.errstate(divide="ignore"):
            log_w = np.log(w)
        for some in self._queries(Q):
            f[some] = log_sum(components.log_values(Q[some]) + log_w)
        return f

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        """Step (Σ r_a P_a)⁻¹ Σ r_a P_a (c_a − q), a few queries at a time, r_a ∝ w_a g_a."""
        sigma2 = variance(decay.times(None))
        components = kept(self._blurred, sigma2, self.atoms.blurred)
        P = sigma2 * components.precisions()
        full = P.ndim > 1
        value, pull = np.full((2, len(Q)), -np.inf)
        step, direction = np.zeros((2, *Q.shape))
        with np.errstate(divide="ignore"):
            log_w = np.log(w)
            log_traces = np.log(np.trace(P, axis1=1, axis2=2) / Q.shape[1] if full else P)
        for some in self._queries(Q):
            logs = components.log_values(Q[some]) + log_w
            value[some] = log_sum(logs)
            pull[some] = log_sum(logs + log_traces)
            parts = shares(logs + log_traces)
            if full:
                parts /= np.exp(log_traces)
                step[some], direction[some] = self._solved(parts, P, Q[some])
            else:
                step[some] = mean_offsets(parts, self.atoms.centers, Q[some])
        held = np.full(len(Q), -np.inf)
        return Shift(value, pull, held, step, direction if full else None)

    def _solved(self, parts: Matrix, P: Spreads, Q: Points) -> tuple[Points, Points]:
        """Step and direction for shares of atoms with covariances; nothing where there are none."""
        pulled = (self.atoms.centers[:, None] - Q) @ P  # (k, queries, d); P is symmetric
        direction: Points = np.einsum("ia,ait->it", parts, pulled)
        matrices = np.einsum("ia,ast->ist", parts, P)
        matrices[~parts.any(axis=1)] = np.eye(Q.shape[1])
        return np.linalg.solve(matrices, direction[:, :, None])[:, :, 0], direction

    def _queries(self, Q: Points) -> list[slice]:
        """As many at a time as make a tile of values, or of differences."""
        each = self.atoms.centers.size if self.atoms.kind == "full" else len(self.atoms)
        return pieces(len(Q), max(1, TILE // each))


@dataclass
class Traversal:
    """Farthest-first traversal (Gonzalez 1985), one pass over the points per centre."""

    sample: WeightedPoints
    first: int
    squared: Vector | None = field(default=None, init=False)

    def take(self, m: int) -> Picks:
        """The next m of: j = argmax D² (lowest index on ties), radius √D²_j, D² ← min(D², ‖x −
        x_j‖²).
        """
        indices: list[int] = []
        radii: list[float] = []
        while len(indices) < m:
            j = self.first if self.squared is None else int(np.argmax(self.squared))
            radius = np.inf if self.squared is None else float(np.sqrt(self.squared[j]))
            if radius <= 0.0:
                break
            indices.append(j)
            radii.append(radius)
            lowered = squared_distances(self.sample.rows(np.array([j])), self.sample.X)[0]
            self.squared = lowered if self.squared is None else np.minimum(self.squared, lowered)
        return Picks(np.array(indices, dtype=np.intp), np.array(radii))

    def distances(self) -> ArrayDistances:
        assert self.squared is not None, "no centre taken yet"
        return ArrayDistances(self.squared, self.sample.p)


@dataclass
class Nearest:
    """Each point's nearest centre, the lowest on ties."""

    sample: WeightedPoints
    centers: Points
    labels: IntVector = field(init=False)
    squared: Vector = field(init=False)

    def __post_init__(self) -> None:
        centers = self.centers
        self.centers = self.centers[:0]
        self.squared = np.full(len(self.sample.X), np.inf)
        self.labels = np.zeros(len(self.sample.X), dtype=np.intp)
        self.add(centers)

    def add(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""
        for rows in pieces(
            len(self.squared) if len(centers) else 0, 1 + TILE // (1 + len(centers))
        ):
            squared = squared_distances(self.sample.X[rows], centers)
            nearest = squared.argmin(axis=1)
            lowered = np.take_along_axis(squared, nearest[:, None], axis=1)[:, 0]
            closer = lowered < self.squared[rows]
            self.squared[rows] = np.where(closer, lowered, self.squared[rows])
            self.labels[rows] = np.where(closer, len(self.centers) + nearest, self.labels[rows])
        self.centers = np.concatenate([self.centers, centers])

    def distances(self) -> ArrayDistances:
        return ArrayDistances(self.squared, self.sample.p)

    def masses(self) -> Vector:
        return self.sample.group_masses(self.labels, len(self.centers))

    def means(self) -> Points:
        return self.sample.group_means(self.labels, self.centers)

    def variances(self) -> Vector:
        return self.sample.group_variances(self.labels, self.means())

    def covariances(self) -> Spreads:
        return self.sample.group_covariances(self.labels, self.means())

"""The reference engine: NumPy, readable, slow, right. Every other engine is judged by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Picks, Shift
from kernelmean.engines.arrays import ArraySummary, WeightedPoints
from kernelmean.engines.distances import ArrayDistances
from kernelmean.engines.protocols import PointRows
from kernelmean.kernels import Atoms, Formula, RadialFunction, Spreads
from kernelmean.kernels.atoms import variance

BLOCK = 4096


def squared_distances(Q: Points, X: PointRows) -> Matrix:
    """‖q_i − x_j‖² by direct differences, added in coordinate order: no digit lost far from the
    origin.
    """
    total = np.zeros((len(Q), len(X)))
    for t in range(Q.shape[1]):
        total += (Q[:, t, None] - X[None, :, t]) ** 2
    return total


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

    def rows(self, indices: IntVector) -> Points:
        return self.sample.rows(indices)

    def locate(self, u: Vector) -> IntVector:
        return self.sample.locate(u)

    def traverse(self, first: int) -> Traversal:
        return Traversal(self.sample, first)

    def nearest(self, centers: Points) -> Nearest:
        return Nearest(self.sample, centers)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²).  Time O(qnd), memory O(q · block)."""
        W = self.sample.p if W is None else W
        f = np.zeros((len(Q), *W.shape[1:]))
        for rows in self._blocks():
            f += radial(squared_distances(Q, self.sample.X[rows])) @ W[rows]
        return f

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        """(q, 1 + d): Σ_j p_j g(‖q_i − x_j‖²), and the same with (x_j − q_i), by direct
        differences.
        """
        f = np.zeros((len(Q), 1 + Q.shape[1]))
        for rows in self._blocks():
            X = self.sample.X[rows]
            terms = radial(squared_distances(Q, self.sample.X[rows])) * self.sample.p[rows]
            f[:, 0] += terms.sum(axis=1)
            for t in range(Q.shape[1]):
                f[:, 1 + t] += (terms * (X[None, :, t] - Q[:, t, None])).sum(axis=1)
        return f

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        """κ_a = Σ_j p_j g_a(x_j)."""
        components = atoms.blurred(variance(radial))
        kappa = np.zeros(len(atoms))
        for rows in self._blocks():
            kappa += self.sample.p[rows] @ np.exp(components.log_values(self.sample.X[rows]))
        return kappa

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        """Σ_j p_j g_a(x_j)(1, u, ‖u‖² or uuᵀ), u = x_j − c_a, atom by atom."""
        components = atoms.blurred(variance(radial))
        full = atoms.kind == "full"
        d = atoms.dimension
        f = np.zeros((len(atoms), 1 + d + (d * d if full else 1)))
        for rows in self._blocks():
            X = self.sample.X[rows]
            terms = self.sample.p[rows, None] * np.exp(components.log_values(X))
            for a, center in enumerate(atoms.centers):
                u = X - center
                products = np.einsum("ji,jl->jil", u, u).reshape(len(u), d * d)
                squares = products if full else (u**2).sum(axis=1)[:, None]
                f[a] += terms[:, a] @ np.column_stack([np.ones(len(u)), u, squares])
        return f

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        """log Σ_j w_j g(‖q_i − x_j‖²), by log-add-exp over blocks."""
        f = np.full(len(Q), -np.inf)
        with np.errstate(divide="ignore"):
            log_w = np.log(self.sample.p if w is None else w)
        for rows in self._blocks():
            terms = radial.log(squared_distances(Q, self.sample.X[rows])) + log_w[rows]
            f = np.logaddexp(f, np.logaddexp.reduce(terms, axis=1))
        return f

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        """Σ w_j ψ_j (x_j − q) / Σ w_j ψ_j by logarithms, query by query.  Time O(qnd), memory
        O(nd).
        """
        phi = decay.times(None)
        X = self.sample.X
        value, pull, held = np.full((3, len(Q)), -np.inf)
        step = np.zeros(Q.shape)
        with np.errstate(divide="ignore", over="ignore"):
            log_w = np.log(self.sample.p if w is None else w)
            for i, q in enumerate(Q):
                r2 = squared_distances(q[None], X)[0]
                terms = log_w + phi.log(r2)
                pulls = log_w + decay.log(r2)
                kink = (r2 == 0.0) & decay.traits.kink
                value[i] = np.logaddexp.reduce(terms)
                pull[i] = np.logaddexp.reduce(pulls)
                held[i] = np.logaddexp.reduce(terms[kink], initial=-np.inf)
                if pull[i] > -np.inf:
                    share = np.exp(pulls - pulls.max())
                    step[i] = share @ (X - q) / share.sum()
        return Shift(value, pull, held, step)

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g(‖x_i − x_j‖²)."""
        parts = [
            self.sample.p[rows] @ self.kernel_sum(radial, self.sample.X[rows])
            for rows in self._blocks()
        ]
        return float(np.sum(parts))

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        """(M, 2): Σ_j p_j cos ω·(x_j − origin) and Σ_j p_j sin ω·(x_j − origin)."""
        f = np.zeros((len(frequencies), 2))
        for rows in self._blocks():
            phase = frequencies @ (self.sample.X[rows] - origin).T
            f += np.stack(
                [np.cos(phase) @ self.sample.p[rows], np.sin(phase) @ self.sample.p[rows]], axis=1
            )
        return f

    def _blocks(self) -> Iterator[slice]:
        return (slice(start, start + BLOCK) for start in range(0, len(self.sample.X), BLOCK))


@dataclass(frozen=True)
class AtomCloud:
    """k atoms, and every sum over them written as its formula."""

    atoms: Atoms

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        """Σ_a W_ac g_a(q_i)."""
        values: Matrix = np.exp(self.atoms.blurred(variance(radial)).log_values(Q)) @ W
        return values

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        """log Σ_a w_a g_a(q_i)."""
        with np.errstate(divide="ignore"):
            terms = self.atoms.blurred(variance(radial)).log_values(Q) + np.log(w)
        value: Vector = np.logaddexp.reduce(terms, axis=1)
        return value

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        """Step (Σ r_a P_a)⁻¹ Σ r_a P_a (c_a − q), query by query, r_a ∝ w_a g_a."""
        sigma2 = variance(decay.times(None))
        components = self.atoms.blurred(sigma2)
        d = self.atoms.dimension
        P = sigma2 * components.precisions()
        P = P[:, None, None] * np.eye(d) if P.ndim == 1 else P
        with np.errstate(divide="ignore"):
            logs = components.log_values(Q) + np.log(w)
        value: Vector = np.logaddexp.reduce(logs, axis=1)
        with np.errstate(divide="ignore"):
            traces = np.log(np.trace(P, axis1=1, axis2=2) / d)
        pull: Vector = np.logaddexp.reduce(logs + traces, axis=1)
        step = np.zeros(Q.shape)
        direction = np.zeros(Q.shape)
        for i, q in enumerate(Q):
            if value[i] > -np.inf:
                shares = np.exp(logs[i] - pull[i])
                direction[i] = np.einsum("a,ast,at->s", shares, P, self.atoms.centers - q)
                step[i] = np.linalg.solve(np.einsum("a,ast->st", shares, P), direction[i])
        held = np.full(len(Q), -np.inf)
        return Shift(value, pull, held, step, None if self.atoms.kind == "scalar" else direction)


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
            lowered = squared_distances(self.sample.X[[j]], self.sample.X)[0]
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
        for a, center in enumerate(centers, start=len(self.centers)):
            lowered = squared_distances(center[None], self.sample.X)[0]
            closer = lowered < self.squared
            self.squared = np.where(closer, lowered, self.squared)
            self.labels = np.where(closer, a, self.labels)
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

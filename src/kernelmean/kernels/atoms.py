"""Atoms: centres with a width of their own, and what a Gaussian kernel makes of them.

A point centre c stands for the points near it. An atom N(c, S) stands for them with their
covariance S. The mean of a Gaussian kernel of variance τ² over an atom is a Gaussian again,

    G(x) = √(τ^{2d}/|τ²I + S|) · exp(−½ (x − c)ᵀ(τ²I + S)⁻¹(x − c)),

in units in which the kernel itself is 1 at its peak, and G is that kernel where S = 0. Two atoms
have the inner product G with S_a + S_b in the place of S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.kernels.radials import RadialFunction

SpreadKind: TypeAlias = Literal["scalar", "full"]
TOGETHER = 2**14  # numbers that are held at a time: 128 kB come from memory that is at hand
Spreads: TypeAlias = NDArray[np.float64]  # (k,) variances s² of S = s²I, or (k, d, d) covariances S


@dataclass(frozen=True, eq=False)
class Atoms:
    """k Gaussians N(c_a, S_a); points where there are no spreads.

    Parameters
    ----------
    centers : ndarray of shape (k, d)
        The means c_a.
    spreads : ndarray of shape (k,) or (k, d, d), or None
        The variances s_a² of S_a = s_a²I, or the covariances S_a; None for points, S_a = 0.
    """

    centers: Points
    spreads: Spreads | None = None

    def __len__(self) -> int:
        return len(self.centers)

    def __getitem__(self, rows: Any) -> Atoms:
        """Some of the atoms, by slice or list."""
        return Atoms(self.centers[rows], None if self.spreads is None else self.spreads[rows])

    def equal(self, other: Atoms) -> bool:
        """Whether the others are the same, number by number."""
        if self.spreads is None or other.spreads is None:
            alike = self.spreads is other.spreads
        else:
            alike = np.array_equal(self.spreads, other.spreads)
        return alike and np.array_equal(self.centers, other.centers)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.centers.shape[1])

    @property
    def kind(self) -> SpreadKind | None:
        """What S is: a number for each atom, a matrix, or nothing."""
        if self.spreads is None:
            return None
        return "scalar" if self.spreads.ndim == 1 else "full"

    def as_kind(self, kind: SpreadKind | None) -> Atoms:
        """The same atoms with spreads written as another kind that can hold them.

        Points become scalars of 0, and scalars become multiples of the unit matrix.
        """
        if kind == self.kind:
            return self
        k = len(self)
        d = self.dimension
        scalars = np.zeros(k) if self.spreads is None else self.spreads
        if kind == "scalar":
            return Atoms(self.centers, scalars)
        return Atoms(self.centers, scalars[:, None, None] * np.eye(d))

    def blurred(self, variance: float) -> Components:
        """What a Gaussian kernel of that variance makes of each atom.

        The eigenvalues of S, not a Cholesky factor of τ²I + S, so that a cell of collinear points
        or of one point is as good as any.
        """
        centers = self.centers
        d = self.dimension
        if self.spreads is None or self.spreads.ndim == 1:
            s2 = np.zeros(len(centers)) if self.spreads is None else self.spreads
            return Components(centers, 0.5 / (variance + s2), -0.5 * d * np.log1p(s2 / variance))
        values, vectors = np.linalg.eigh(self.spreads)
        values = np.maximum(values, 0.0)
        rows = np.swapaxes(vectors / np.sqrt(2.0 * (variance + values))[:, None, :], 1, 2)
        upper: NDArray[np.float64] = np.asarray(np.linalg.qr(rows, mode="r"))
        return Components(centers, upper, -0.5 * np.log1p(values / variance).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Components:
    """k Gaussian functions h_a exp(−‖F_a(x − c_a)‖²): the components of a mixture.

    Parameters
    ----------
    centers : ndarray of shape (k, d)
        The means c_a.
    factors : ndarray of shape (k,) or (k, d, d)
        The numbers F_a² where F_a is a multiple of the unit matrix (the rate of each component),
        or upper triangular matrices F_a.
    log_heights : ndarray of shape (k,)
        log h_a.
    """

    centers: Points
    factors: NDArray[np.float64]
    log_heights: Vector

    def log_values(self, X: Points) -> Matrix:
        """(n, k): log h_a − ‖F_a(x_j − c_a)‖², by direct differences."""
        if self.factors.ndim == 1:
            from scipy.spatial.distance import cdist  # slow to import

            squared: Matrix = cdist(X, self.centers, "sqeuclidean")
            with np.errstate(over="ignore"):
                squared *= self.factors
            return np.subtract(self.log_heights, squared, out=squared)
        found = np.empty((len(X), len(self.centers)))
        rows = np.swapaxes(self.factors, 1, 2)
        together = max(1, TOGETHER // self.centers.size)
        for some in (slice(start, start + together) for start in range(0, len(X), together)):
            scaled = (X[some] - self.centers[:, None]) @ rows  # (k, rows, d)
            found[some] = self.log_heights - np.einsum("ajt,ajt->ja", scaled, scaled)
        return found

    def precisions(self) -> NDArray[np.float64]:
        """(k,) or (k, d, d): 2FᵀF, the inverse covariance of each component."""
        if self.factors.ndim == 1:
            return 2.0 * self.factors
        return 2.0 * np.swapaxes(self.factors, 1, 2) @ self.factors


def variance(radial: RadialFunction) -> float:
    """τ² of a Gaussian radial function exp(−rate·r²)."""
    if not radial.exponential:
        raise ValueError("only a Gaussian kernel has centres with a width; others have points.")
    return 0.5 / radial.rate


def joined(parts: Sequence[Atoms]) -> Atoms:
    """Atoms end to end, with spreads of the kind that can hold all of them."""
    kinds = {part.kind for part in parts}
    kind: SpreadKind | None = "full" if "full" in kinds else "scalar" if "scalar" in kinds else None
    alike = [part.as_kind(kind) for part in parts]
    centers = np.concatenate([part.centers for part in alike])
    spreads = [part.spreads for part in alike if part.spreads is not None]
    return Atoms(centers, np.concatenate(spreads) if spreads else None)


def merged(groups: Sequence[tuple[Vector, Atoms]]) -> tuple[Vector, Atoms]:
    """One atom for each group of weighted atoms of one sign, with its mass, mean and covariance.

    α = Σα_i, c = Σα_i c_i/α, S = Σα_i(S_i + (c_i − c)(c_i − c)ᵀ)/α; of scalar spreads the trace
    is kept.
    """
    masses = np.array([float(w.sum()) for w, _ in groups])
    found = [
        _one(np.abs(w) / abs(mass), atoms) for (w, atoms), mass in zip(groups, masses, strict=True)
    ]
    return masses, joined([Atoms(c[None], np.asarray(S)[None]) for c, S in found])


def _one(shares: Vector, atoms: Atoms) -> tuple[Vector, Any]:
    origin = atoms.centers[0]
    offsets = atoms.centers - origin
    mean = shares @ offsets
    offsets = offsets - mean
    if atoms.kind == "full":
        assert atoms.spreads is not None
        S = np.einsum("i,ijk->jk", shares, atoms.spreads)
        S += np.einsum("i,ij,ik->jk", shares, offsets, offsets)
        return origin + mean, 0.5 * (S + S.T)  # symmetric to the last bit
    own = 0.0 if atoms.spreads is None else float(shares @ atoms.spreads)
    between = float(shares @ (offsets**2).sum(axis=1)) / atoms.dimension
    return origin + mean, own + between

"""A mixture Σ_a w_a N(x; c_a, V_a), written so that one matrix product evaluates it.

The logarithm of each component is linear in the features ψ(x) = (x_s x_t for s ≤ t, x, 1):

    log w_a N(x; c_a, V_a) = −½ xᵀPx + (Pc)ᵀx − ½ cᵀPc − ½ log|2πV| + log w,   P = V⁻¹.

So the log-densities of all components at all rows are ΘΨ, and the weighted moments of the rows,
by which components are fitted, are RΨᵀ with R the responsibilities. Round components, V = v·I,
need only (‖x‖², x, 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from kernelmean._types import Matrix, Points, Vector
from kernelmean.kernels import SpreadKind

BLOCK_FEATURES = 2**17  # numbers of Ψ in memory at a time: 1 MiB, which stays in the cache
LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class Gaussians:
    """k weighted normal distributions.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        The weights w_a, positive, of sum one.
    means : ndarray of shape (k, d)
        The means c_a.
    covariances : ndarray of shape (k, d, d) or (k,)
        The covariances V_a, or the variances v_a of V_a = v_a·I.
    """

    weights: Vector
    means: Points
    covariances: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def kind(self) -> SpreadKind:
        """Whether covariances are matrices or numbers."""
        return "scalar" if self.covariances.ndim == 1 else "full"

    def coefficients(self) -> Matrix:
        """(k, F) Θ: log w_a N(x; c_a, V_a) = Θ_a·ψ(x)."""
        d = self.means.shape[1]
        if self.kind == "scalar":
            precision = 1.0 / self.covariances
            squares = -0.5 * precision[:, None]
            log_det = d * np.log(self.covariances)
            linear = precision[:, None] * self.means
        else:
            P, log_det = _inverses(self.covariances)
            s, t = np.triu_indices(d)
            squares = -0.5 * np.where(s == t, 1.0, 2.0) * P[:, s, t]
            linear = np.einsum("ast,at->as", P, self.means)
        constant = np.log(self.weights) - 0.5 * (
            d * LOG_2PI + log_det + (linear * self.means).sum(axis=1)
        )
        return np.concatenate([squares, linear, constant[:, None]], axis=1)

    def log_density(self, X: Points) -> Vector:
        """log Σ_a w_a N(x; c_a, V_a) at each row."""
        return log_sums(self.coefficients(), X, lambda some: features(some, self.kind))


class Moments(NamedTuple):
    """What rows that are shared out among k components tell of each of them."""

    masses: Vector  # (k,) Σ_j m_j r_ja
    means: Points  # (k, d)
    # (k, d, d) Σ_j m_j r_ja (x_j − c_a)(x_j − c_a)ᵀ, or (k,) its trace over d
    scatters: NDArray[np.float64]


def features(X: Points, kind: SpreadKind) -> Matrix:
    """(F, n) Ψ: products of coordinates, or their sum of squares; coordinates; one."""
    n, d = X.shape
    psi = np.empty((feature_count(d, kind), n))
    coordinates = psi[-d - 1 : -1]
    coordinates[:] = X.T
    if kind == "scalar":
        np.einsum("tj,tj->j", coordinates, coordinates, out=psi[0])
    else:
        first = 0
        for s in range(d):  # in the order of np.triu_indices
            np.multiply(coordinates[s], coordinates[s:], out=psi[first : first + d - s])
            first += d - s
    psi[-1] = 1.0
    return psi


def log_sums(theta: Matrix, X: Points, features: Callable[[Points], Matrix]) -> Vector:
    """(n,) log Σ_a exp Θ_a·ψ(x) at each row."""
    found = np.empty(len(X))
    for some in blocks(len(X), sum(theta.shape)):
        found[some] = logsumexp(theta @ features(X[some]), axis=0)
    return found


def feature_count(d: int, kind: SpreadKind) -> int:
    """F, the number of features of d coordinates."""
    return d + 2 if kind == "scalar" else d * (d + 1) // 2 + d + 1


def moments(sums: Matrix, d: int, kind: SpreadKind) -> Moments:
    """The moments that (k, F) sums Σ_j m_j r_ja ψ(x_j) hold, about the means.

    Rows lie about the origin, so that Σxxᵀ − N·ccᵀ keeps its digits.
    """
    masses = sums[:, -1]
    means = sums[:, -d - 1 : -1] / masses[:, None]
    squares = sums[:, : -d - 1]
    if kind == "scalar":
        scatter = (squares[:, 0] - masses * (means**2).sum(axis=1)) / d
        return Moments(masses, means, np.maximum(scatter, 0.0))
    full = np.empty((len(sums), d, d))
    s, t = np.triu_indices(d)
    full[:, s, t] = squares
    full[:, t, s] = squares
    full -= masses[:, None, None] * means[:, :, None] * means[:, None, :]
    return Moments(masses, means, full)


def joined(parts: Sequence[Gaussians], shares: Vector) -> Gaussians:
    """A mixture of mixtures, which is one: each has its share of the weight."""
    weights = [share * part.weights for share, part in zip(shares, parts, strict=True)]
    total = np.concatenate(weights)
    return Gaussians(
        total / total.sum(),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.covariances for part in parts]),
    )


def blocks(n: int, width: int) -> list[slice]:
    """Rows whose features fit the cache, in order."""
    rows = max(1, BLOCK_FEATURES // width)
    return [slice(i, min(i + rows, n)) for i in range(0, n, rows)]


def _inverses(covariances: NDArray[np.float64]) -> tuple[NDArray[np.float64], Vector]:
    """V⁻¹ = L⁻ᵀL⁻¹ and log|V| of each, by V = LLᵀ."""
    L = np.linalg.cholesky(covariances)
    roots = np.linalg.inv(L)
    log_det = 2.0 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    return np.swapaxes(roots, 1, 2) @ roots, log_det

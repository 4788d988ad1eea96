"""EM: rows are shared out among components, and components fitted to their shares, by turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures.gaussians import Gaussians, blocks, features, moments
from kernelmean.mixtures.protocols import Family, Mixture
from kernelmean.mixtures.rows import Rows

M = TypeVar("M", bound=Mixture)

LEAST_MASS = 0.5  # points; a component that stands for fewer is dropped
LEAST_GAIN = 1e-4  # nats per point and step: with less, the climb is over


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of covariances before a row is seen.

    Parameters
    ----------
    floor : ndarray of shape (d,)
        Variances that are added to each covariance: no component is narrower.
    strength : float
        For how many points the common covariance W of all components counts in each of them.
    """

    floor: Vector
    strength: float

    def covariances(
        self, masses: Vector, scatters: NDArray[np.float64], size: float
    ) -> NDArray[np.float64]:
        """V_a = (Σ_j r_ja u uᵀ + ν·W)/(N_a + ν) + floor, u = x_j − c_a.

        W is the pooled scatter within components over n, drawn towards its diagonal.
        """
        nu = self.strength
        pooled = scatters.sum(axis=0) / size
        if scatters.ndim == 1:
            v: NDArray[np.float64] = (scatters + nu * pooled) / (masses + nu)
            return v + float(self.floor.mean())
        W = drawn_to_diagonal(pooled, size)
        V = (scatters + nu * W) / (masses + nu)[:, None, None] + np.diag(self.floor)
        return _positive(V, float(self.floor.min(initial=np.inf)))


def drawn_to_diagonal(covariance: Matrix, size: float) -> Matrix:
    """(nΣ + (d + 1)·diag Σ)/(n + d + 1): the diagonal counts as d + 1 points more.

    A sample of fewer points than coordinates has no other covariance that could be inverted.
    """
    d = len(covariance)
    drawn: Matrix = (size * covariance + (d + 1) * np.diag(np.diag(covariance))) / (size + d + 1)
    return drawn


def common_covariance(rows: Rows) -> Matrix:
    """The covariance of the rows, drawn towards its diagonal."""
    w = rows.masses / rows.size
    centred = rows.points - w @ rows.points
    return drawn_to_diagonal((centred.T * w) @ centred, len(rows))


def climb(family: Family[M], rows: Rows, start: Matrix, strength: float, steps: int) -> M:
    """The mixture after so many steps of EM from (k, F) sums of features."""
    sums = start
    before = -np.inf
    for _ in range(steps):
        found = family.fitted(sums, strength)
        sums, value = family.shared_out(rows, found)
        if value - before < LEAST_GAIN:
            break
        before = value
    return family.fitted(sums, strength)


def fitted(sums: Matrix, d: int, prior: Prior, kind: SpreadKind) -> Gaussians:
    """M step: each component has the mass, the mean and the covariance of its share."""
    masses, means, scatters = moments(worth_keeping(sums), d, kind)
    covariances = prior.covariances(masses, scatters, float(masses.sum()))
    return Gaussians(masses / masses.sum(), means, covariances)


def worth_keeping(sums: Matrix) -> Matrix:
    """The sums of the components that stand for points enough; of one at least."""
    masses = sums[:, -1]
    return sums[masses > min(LEAST_MASS, 0.5 * float(masses.max()))]


def shared_out(rows: Rows, mixture: Gaussians) -> tuple[Matrix, float]:
    """E step: (k, F) Σ_j m_j r_ja ψ(x_j), and the mean log-density of the rows.

    r_ja = w_a N_a(x_j)/Σ_b w_b N_b(x_j) is the share of component a in row j.
    """
    return shared_among(rows, mixture.coefficients(), lambda some: features(some, mixture.kind))


def shared_among(
    rows: Rows, theta: Matrix, features: Callable[[Points], Matrix]
) -> tuple[Matrix, float]:
    """The E step of components that are exp Θ_a·ψ(x)."""
    sums = np.zeros(theta.shape)
    value = 0.0
    for some in blocks(len(rows), sum(theta.shape)):
        psi = features(rows.points[some])
        masses = rows.masses[some]
        shares = theta @ psi
        top = shares.max(axis=0)
        shares -= top
        np.exp(shares, out=shares)
        total = shares.sum(axis=0)
        shares *= masses / total
        sums += shares @ psi.T
        value += float(masses @ (top + np.log(total)))
    return sums, value / rows.size


def _positive(covariances: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """The same where all are positive definite; else with eigenvalues of at least ``least``.

    Rows far from the origin leave a small scatter of rounding, of either sign.
    """
    try:
        np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariances)
        floor = np.maximum(least, 1e-12 * values[:, -1:])
        raised = vectors * np.maximum(values, floor)[:, None, :]
        return np.asarray(raised @ np.swapaxes(vectors, 1, 2))
    return covariances

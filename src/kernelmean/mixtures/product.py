"""A mixture of products: Gaussians of numbers, folded, times directions and levels.

    Σ_a w_a · [Σ_g N(g x; c_a, V_a)]/p_a · Π_s vMF(u_s; μ_as, κ_as) · Π_j p_aj(level)

The sum over reflections and shifts g is one over the images of component a, which are components
as it is, so that one matrix product evaluates all of them. In coordinates in which a component ends
at the bounds it has no images; p_a is the mass that it has between them there, else 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import Matrix, Points, Vector
from kernelmean.domains import Cuts, Images
from kernelmean.domains.images import NEGLIGIBLE, REACH
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures import directions, gaussians
from kernelmean.mixtures.gaussians import Gaussians, log_sums
from kernelmean.mixtures.layout import Layout


@dataclass(frozen=True, eq=False)
class ProductMixture:
    """k weighted products of distributions.

    Parameters
    ----------
    layout : Layout
        What the columns of rows are.
    lines : Gaussians
        The weights, and the Gaussians of the m coordinates that are numbers, before folding.
    directions : ndarray of shape (k, s, 3)
        κμ for each sphere.
    log_shares : ndarray of shape (k, ΣL)
        log p of each level, the levels of all columns of categories end to end.
    cut : ndarray of bool of shape (k, m)
        In which coordinates components end at the bounds; they are independent of all others there.
    """

    layout: Layout
    lines: Gaussians
    directions: NDArray[np.float64]
    log_shares: Matrix
    cut: Cuts

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def kind(self) -> SpreadKind:
        """Whether covariances are matrices or numbers."""
        return self.lines.kind

    @property
    def weights(self) -> Vector:
        """(k,) w."""
        return self.lines.weights

    @property
    def means(self) -> Points:
        """(k, m) c."""
        return self.lines.means

    @property
    def covariances(self) -> NDArray[np.float64]:
        """(k, m, m) or (k,) V."""
        return self.lines.covariances

    @property
    def deviations(self) -> Points:
        """(k, m) the standard deviations of the numbers before folding."""
        return deviations(self.covariances, self.layout.lines)

    def images(self, reach: float = REACH, least: float = NEGLIGIBLE) -> Images:
        """The images that reach into the domain."""
        return self.layout.group.images(self.means, self.deviations, reach, least, cut=self.cut)

    def coefficients(self, images: Images | None = None) -> Matrix:
        """(K, F) Θ: the logarithms of the K images of components are Θψ(x)."""
        g = self.images() if images is None else images
        V = g.covariances(self.covariances)
        numbers = Gaussians(self.weights[g.owner], g.places(self.means), V).coefficients()
        numbers[:, -1] += g.log_factors
        kappa = np.linalg.norm(self.directions, axis=2)
        numbers[:, -1] += directions.log_constant(kappa).sum(axis=1)[g.owner]
        others = [self.directions.reshape(len(self), -1), self.log_shares]
        return np.concatenate([*(part[g.owner] for part in others), numbers], axis=1)

    def log_density(self, X: Points, images: Images | None = None) -> Vector:
        """The logarithm of the density at rows that lie in the domain."""
        return log_sums(self.coefficients(images), X, self.layout.features)


def deviations(covariances: NDArray[np.float64], m: int) -> Points:
    """(k, m) standard deviations of covariances (k, m, m), or of variances (k,)."""
    if covariances.ndim == 1:
        return np.repeat(np.sqrt(covariances)[:, None], m, axis=1)
    found: Points = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    return found


def joined(parts: Sequence[ProductMixture], shares: Vector) -> ProductMixture:
    """A mixture of mixtures, which is one: each has its share of the weight."""
    return ProductMixture(
        parts[0].layout,
        gaussians.joined([part.lines for part in parts], shares),
        np.concatenate([part.directions for part in parts]),
        np.concatenate([part.log_shares for part in parts]),
        np.concatenate([part.cut for part in parts]),
    )

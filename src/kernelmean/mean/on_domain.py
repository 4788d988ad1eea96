"""A kernel mean on a domain: bounds, periods, spheres and categories beside plain numbers.

Each component is a product. Its numbers have a Gaussian, of which what lies beyond a bound is
reflected and what lies beyond a period comes round, so that nothing is lost:

    f(x) = Σ_a α_a Σ_g N(g(x); c_a, V_a) · Π_s h_as(u_s) · Π_j p_aj(l_j).

A place on a sphere is a unit vector u, and h_a is what a Gaussian about c_a leaves on the sphere,
normalised there: the von Mises and Fisher distribution with concentration |c_a|/v. Categories
have probabilities p_a. For given categories f is a sum over the centres and their images as any
other, which engines evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Domain, Images, tables
from kernelmean.kernels import Kernel
from kernelmean.mean import sphere
from kernelmean.mean.covariances import seen_from_kernel
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.questions.mixture import Mixture
from kernelmean.mean.sums import density_sum
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import Sample


@dataclass(frozen=True, eq=False)
class DomainMean:
    """A mean of which some columns are bounded, periodic, on a sphere or categories.

    Attributes
    ----------
    inner : SparseKernelMean or KernelMean
        The sum over centres in the coordinates that engines see: the numbers, and three for each
        sphere. Bounds and periods are not heeded by it.
    domain : Domain
        What the columns can hold.
    log_shares : ndarray of shape (k, levels) or None
        The logarithms of the probabilities of the categories in each component, the levels of all
        columns end to end; None where there are no categories.
    columns : tuple of str or None
        The names of the columns, where the data had them.
    """

    inner: SparseKernelMean | KernelMean
    domain: Domain
    log_shares: Matrix | None = None
    columns: tuple[str, ...] | None = None

    @property
    def k(self) -> int:
        """Number of centres."""
        return self.inner.k

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return self.domain.dimension

    @property
    def weights(self) -> Vector:
        """(k,): the coefficients α_a."""
        return self.inner.weights

    @property
    def kernel(self) -> Kernel:
        """The kernel of the numbers and of the chord distance on spheres."""
        return self.inner.kernel

    @property
    def is_density(self) -> bool:
        """Whether no weight is negative, in L2."""
        return self.inner.is_density

    def log(self, Q: Any) -> Vector:
        """The logarithm of f at the query rows; −∞ outside of the domain."""
        return self.log_coded(self.coded(Q))

    def __call__(self, Q: Any) -> Vector:
        """The value of f at the query rows; 0 outside of the domain."""
        return self.values_coded(self.coded(Q))

    def coded(self, Q: Any) -> Points:
        """Rows as users have them, checked, as numbers; a sample is coded already."""
        if isinstance(Q, Sample):
            return Q.array()
        return tables.code(Q, tuple(self.domain.categories.tolist()), self.domain.levels, "Q").rows

    def log_coded(self, rows: Points) -> Vector:
        """The logarithm of f at coded rows."""
        found = np.full(len(rows), -np.inf)
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            sums = mean.cloud_for(mapped).log_kernel_sum(formula, mapped, weights)
            found[some] = sums + mean.log_constant + log_factor
        return found

    def values_coded(self, rows: Points) -> Vector:
        """The value of f at coded rows."""
        found = np.zeros(len(rows))
        mean = self.unfolded
        formula = mean.kernel.formula(mean.dimension)
        for some, mapped, weights, log_factor in self._by_codes(rows):
            constant = mean.log_constant + log_factor
            found[some] = density_sum(mean.cloud_for(mapped), formula, mapped, weights, constant)
        return found

    def _by_codes(self, rows: Points) -> Iterator[tuple[IntVector, Points, Vector, float]]:
        """Rows that have the same categories and lie inside, in the coordinates of the kernel.

        With them come the weights of the centres there, and the logarithm of a factor for the sum.
        """
        embedded = self.domain.embed(rows)
        for codes, some in embedded.by_codes():
            weights, log_factor = self.weights_at(codes)
            yield some, self.unfolded.map(embedded.coordinates[some]), weights, log_factor

    def weights_at(self, codes: IntVector) -> tuple[Vector, float]:
        """The weights of ``unfolded`` at the given categories, and the logarithm of a factor."""
        weights = self.unfolded.weights
        if self.log_shares is None:
            return weights, 0.0
        first = np.cumsum((0, *self.domain.sizes[:-1]))
        logs = self.log_shares[:, first + codes].sum(axis=1)
        top = float(logs.max())
        return weights * np.exp(logs - top)[self.images.owner], top

    @lazy
    def images(self) -> Images:
        """The images of the centres that reach into the domain."""
        base = self.inner.expansion
        m = len(self.domain.lines)
        spreads = np.zeros(base.k) if base.spreads is None else base.spreads
        T = seen_from_kernel(base, np.eye(base.dimension))
        mixture = Mixture(base.weights, base.centers, spreads, T, base.kernel.length**2)
        deviations = mixture.deviations(np.arange(m))
        return self.domain.group.images(base.centers[:, :m], deviations)

    @lazy
    def unfolded(self) -> KernelMean:
        """The centres and their images as one sum, each divided by its mass on the spheres.

        Inside the domain it is what f is but for categories; outside it means nothing.
        """
        base = self.inner.expansion
        images = self.images
        m = len(self.domain.lines)
        owner = images.owner
        centers = np.array(base.centers[owner])
        centers[:, :m] = images.places(base.centers[:, :m])
        spreads = base.spreads
        if spreads is not None:
            signs = np.ones((len(owner), base.dimension))
            signs[:, :m] = images.signs  # the scale is diagonal where signs change
            spreads = images._replace(signs=signs).covariances(spreads)
        weights = base.weights * np.exp(-sphere.log_masses(base, self.domain))
        return replace(base, centers=centers, spreads=spreads, weights=weights[owner])

"""Integrals of a Gaussian density estimate: with a Gaussian, with another one, over a box."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelmean._types import ArrayLike, Vector
from kernelmean.density.gaussian_values import GaussianValues
from kernelmean.density.sparse_copy import blurred
from kernelmean.domains.truncated import between

# Points up to which SciPy integrates each Gaussian over a box in a second: with a closed form, or,
# in three dimensions and more, by a lattice.
BOX_POINTS = 150_000
BOX_POINTS_BY_LATTICE = 1000


class GaussianIntegrals(GaussianValues):
    """A Gaussian density estimate that is integrated; see :class:`gaussian_kde`."""

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Any:
        """The integral of the density times a Gaussian.

        Parameters
        ----------
        mean : array-like of shape (d,)
            The mean of the Gaussian.
        cov : array-like of shape (d, d)
            Its covariance.

        Returns
        -------
        float
            ∫f·N(·; mean, cov), always exact. Time O(n·d).

        Raises
        ------
        ValueError
            If the Gaussian has another dimension.
        LinAlgError
            If the sum of ``cov`` and the covariance of a kernel is not positive definite.

        See Also
        --------
        integrate_kde : The integral with another density.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> round(float(km.gaussian_kde(np.arange(5)).integrate_gaussian(2.0, 1.0)), 4)
        0.1812
        """
        center = np.atleast_1d(np.squeeze(np.asarray(mean)))
        added = np.atleast_2d(np.asarray(cov))
        if center.shape != (self.d,):
            raise ValueError(f"mean does not have dimension {self.d}")
        if added.shape != (self.d, self.d):
            raise ValueError(f"covariance does not have dimension {self.d}")
        wider = blurred(self._current.full, self.covariance + added)
        self._note("exact")
        return wider(center[None].astype(np.float64))[0]

    def integrate_kde(self, other: Any) -> Any:
        """The integral of the product of two densities.

        Parameters
        ----------
        other : gaussian_kde
            The other density, of this class or of SciPy's.

        Returns
        -------
        float
            ∫f·g. Exact while n·n′·d ≤ 8·10⁹; else the larger of the two is replaced by its sparse
            density, which is off by at most ``error``·‖f‖·‖g‖. Time O(n·n′·d), or O(k·n′·d²).

        Raises
        ------
        ValueError
            If the two have different dimensions.

        See Also
        --------
        integrate_gaussian : The integral with a Gaussian.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> kde = km.gaussian_kde(np.arange(5))
        >>> round(float(kde.integrate_kde(kde)), 4)
        0.15
        """
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        if isinstance(other, GaussianIntegrals) and other.n > self.n:
            found = other.integrate_kde(self)
            self._note(other.method, other.relative_error)
            return found
        density = self._for_calls_of(other.n)
        wider = blurred(density, self.covariance + other.covariance)
        values = wider(np.ascontiguousarray(other.dataset.T, dtype=np.float64))
        return np.dot(values, other.weights)

    def integrate_box_1d(self, low: float, high: float) -> Any:
        """The probability of an interval, in one dimension.

        Parameters
        ----------
        low : float
            The lower end.
        high : float
            The upper end.

        Returns
        -------
        float
            ∫f from ``low`` to ``high``, always exact. Time O(n).

        Raises
        ------
        ValueError
            If there is more than one dimension.

        See Also
        --------
        integrate_box : The same in any dimension.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> round(float(km.gaussian_kde(np.arange(5)).integrate_box_1d(-np.inf, 2.0)), 4)
        0.5
        """
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        self._note("exact")
        width = np.sqrt(self.covariance[0, 0])
        # Σ_j w_j [Φ((high − x_j)/s) − Φ((low − x_j)/s)], and ∫ from a to b is −∫ from b to a
        sign = -1.0 if low > high else 1.0
        ends = ((end - self.dataset[0]) / width for end in sorted((low, high)))
        return sign * np.dot(self.weights, between(*ends))

    def integrate_box(
        self,
        low_bounds: ArrayLike,
        high_bounds: ArrayLike,
        maxpts: int | None = None,
        *,
        rng: Any = None,
    ) -> Any:
        """The probability of a box.

        Parameters
        ----------
        low_bounds : array-like of shape (d,)
            The lower bounds.
        high_bounds : array-like of shape (d,)
            The upper bounds.
        maxpts : int or None, default=None
            The most points of SciPy's integration of one Gaussian, which few data points go
            through.
        rng : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the integration, in three dimensions and more.

        Returns
        -------
        float
            ∫f over the box. In one dimension always exact. Otherwise by SciPy's integration of
            every Gaussian up to 150 000 points, or 1000 in three dimensions and more; beyond, by
            :meth:`SparseKernelMean.probability` of the sparse density.

        See Also
        --------
        integrate_box_1d : The same in one dimension.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(2, 500))
        >>> round(float(km.gaussian_kde(X).integrate_box([-9.0, -9.0], [9.0, 9.0])), 4)
        1.0
        """
        low, high = (
            np.broadcast_to(np.asarray(bounds, dtype=np.float64), (self.d,))
            for bounds in (low_bounds, high_bounds)
        )
        if self.d == 1:
            return self.integrate_box_1d(low[0], high[0])
        if self.n <= (BOX_POINTS if self.d == 2 else BOX_POINTS_BY_LATTICE):
            return self._box_by_scipy(low, high, maxpts, rng)
        density = self._sparse_or_full(large=self._allowed_error > 0.0)
        # ∫ from a to b is −∫ from b to a, in every coordinate.
        sign = (-1.0) ** np.count_nonzero(low > high)
        ends = np.minimum(low, high), np.maximum(low, high)
        return sign * np.float64(density.probability(*ends, random_state=rng))

    def _box_by_scipy(self, low: Vector, high: Vector, maxpts: int | None, rng: Any) -> Any:
        from scipy.stats import multivariate_normal  # slow to import, and seldom needed

        self._note("exact")
        ends = low - self.dataset.T, high - self.dataset.T
        inside = multivariate_normal.cdf(
            ends[1], lower_limit=ends[0], cov=self.covariance, maxpts=maxpts, rng=rng
        )
        return np.dot(inside, self.weights)

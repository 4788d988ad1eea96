"""What ``scipy.stats.gaussian_kde`` knows of its data: weights, covariance, bandwidth factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from kernelmean._types import ArrayLike, Matrix, Vector

FEW_POINTS = (
    "Number of dimensions is greater than number of samples. This results in a singular data "
    "covariance matrix. Note that each *column* of `dataset` is a point; consider transposing it."
)
FLAT = (
    "The data appears to lie in a lower-dimensional subspace of the space in which it is "
    "expressed. This has resulted in a singular data covariance matrix. Consider principal "
    "component analysis, and the density of the transformed data."
)
BandwidthMethod = str | float | Callable[[Any], Any] | None


class BandwidthFactor:
    """A data set of d × n numbers, and the covariance h²Σ of the kernels at its points.

    The names and the messages are SciPy's, so that what subclasses it works here too.
    """

    dataset: NDArray[Any]  # (d, n), as it was given
    d: int
    n: int
    factor: Any  # h
    covariance: Matrix  # h²Σ
    cho_cov: Matrix  # hL, with Σ = LLᵀ
    log_det: float  # log |2πh²Σ|

    def _set_data(self, dataset: ArrayLike, weights: ArrayLike | None) -> None:
        # A copy: the points are read again when they are summed, and when the bandwidth changes.
        self.dataset = np.atleast_2d(np.array(dataset))
        if not self.dataset.size > 1:
            raise ValueError("`dataset` input should have multiple elements.")
        if self.dataset.ndim > 2:
            raise ValueError(f"`dataset` should have two dimensions, not {self.dataset.ndim}.")
        if np.iscomplexobj(self.dataset):
            raise ValueError("`dataset` should hold real numbers, not complex ones.")
        self.d, self.n = self.dataset.shape
        if weights is not None:
            self._set_weights(weights)
        if self.d > self.n:
            raise ValueError(FEW_POINTS)

    def _set_weights(self, weights: ArrayLike) -> None:
        given = np.atleast_1d(np.asarray(weights)).astype(float)
        if given.ndim != 1:
            raise ValueError("`weights` input should be one-dimensional.")
        if len(given) != self.n:
            raise ValueError("`weights` input should be of length n")
        total = given.sum()
        if not (np.isfinite(given).all() and (given >= 0.0).all() and 0.0 < total < np.inf):
            raise ValueError("`weights` should be nonnegative and finite, and not all zero.")
        self._weights: Vector = given / total

    @property
    def weights(self) -> Vector:
        """The weights of the points, of sum one.

        Returns
        -------
        ndarray of shape (n,)
            w_j ≥ 0, 1/n each where none were given.
        """
        if not hasattr(self, "_weights"):
            self._weights = np.full(self.n, 1.0 / self.n)
        return self._weights

    @property
    def neff(self) -> Any:
        """The effective number of points.

        Returns
        -------
        float
            1/Σw², which is n where the weights are equal.
        """
        return 1.0 / np.dot(self.weights, self.weights)

    def scotts_factor(self) -> Any:
        """Scott's factor, neff^(−1/(d + 4)).

        Returns
        -------
        float
            The factor.

        See Also
        --------
        silverman_factor : A slightly narrower one from two dimensions on.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> float(km.gaussian_kde(np.arange(32.0)).scotts_factor())
        0.5
        """
        return np.power(self.neff, -1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        """Silverman's factor, (neff·(d + 2)/4)^(−1/(d + 4)).

        Returns
        -------
        float
            The factor.

        See Also
        --------
        scotts_factor : The default.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> round(float(km.gaussian_kde(np.arange(32.0)).silverman_factor()), 4)
        0.5296
        """
        return np.power(self.neff * (self.d + 2.0) / 4.0, -1.0 / (self.d + 4))

    def covariance_factor(self) -> Any:
        """The bandwidth factor h; a subclass may have another, and :meth:`set_bandwidth` sets one.

        Returns
        -------
        float
            By default Scott's factor.

        See Also
        --------
        set_bandwidth : Takes the name of a factor, a number or a function.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> float(km.gaussian_kde(np.arange(5.0), 0.3).covariance_factor())
        0.3
        """
        return self.scotts_factor()

    def set_bandwidth(self, bw_method: BandwidthMethod = None) -> None:
        """Compute the bandwidth factor anew; a sparse density of the old one is discarded.

        Parameters
        ----------
        bw_method : {'scott', 'silverman'}, float, callable or None, default=None
            The rule, the factor itself, or a function of this object that gives it. None keeps
            what there is.

        Raises
        ------
        ValueError
            If it is none of these, or the factor is not a positive number.

        See Also
        --------
        covariance_factor : The factor.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> kde = km.gaussian_kde(np.arange(32.0))
        >>> kde.set_bandwidth(kde.factor / 2)
        >>> float(kde.factor)
        0.25
        """
        if bw_method is not None:
            self.covariance_factor = self._factor_by(bw_method)  # type: ignore[method-assign]
        self._compute_covariance()

    def _factor_by(self, bw_method: BandwidthMethod) -> Callable[[], Any]:
        if isinstance(bw_method, str):
            named = {"scott": self.scotts_factor, "silverman": self.silverman_factor}
            if bw_method in named:
                return named[bw_method]
        elif np.isscalar(bw_method):
            return partial(_same, bw_method)
        elif callable(bw_method):
            return partial(bw_method, self)
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")

    def _compute_covariance(self) -> None:
        """h by :meth:`covariance_factor`, and h²Σ; Σ is computed once."""
        self.factor = self.covariance_factor()
        if not 0.0 < float(self.factor) < np.inf:
            raise ValueError(f"the bandwidth factor should be positive, got {self.factor!r}.")
        if not hasattr(self, "_data_cho_cov"):
            self._data_covariance = self._covariance_of_data()
            self._data_cho_cov = _cholesky(self._data_covariance)
        self.covariance = self._data_covariance * self.factor**2
        self.cho_cov = (self._data_cho_cov * self.factor).astype(np.float64)
        self.log_det = 2.0 * np.log(np.diag(self.cho_cov * np.sqrt(2.0 * np.pi))).sum()

    def _covariance_of_data(self) -> NDArray[Any]:
        return np.atleast_2d(np.cov(self.dataset, rowvar=True, aweights=self.weights))

    def _whitening(self) -> Matrix:
        """A with AΣAᵀ = I, by the eigenvectors of the correlation DΣD = UΛUᵀ: A = Λ^{−½}UᵀD.

        It keeps a digit more than L⁻¹, which serves where rounding leaves an eigenvalue at zero.
        """
        covariance = np.asarray(self._data_covariance, dtype=np.float64)
        D = 1.0 / np.sqrt(np.diag(covariance))
        values, U = np.linalg.eigh(D[:, None] * covariance * D)
        if values[0] > 0.0:
            return np.asarray((U / np.sqrt(values)).T * D)
        return np.asarray(linalg.solve_triangular(self._data_cho_cov, np.eye(self.d), lower=True))

    @property
    def inv_cov(self) -> Matrix:
        """The inverse of the covariance of a kernel, from the data as they are now.

        Returns
        -------
        ndarray of shape (d, d)
            (h²Σ)⁻¹.
        """
        self.factor = self.covariance_factor()
        self._data_covariance = self._covariance_of_data()
        inverse: Matrix = linalg.inv(self._data_covariance) / self.factor**2
        return inverse


def _same(value: Any) -> Any:
    return value


def _cholesky(covariance: NDArray[Any]) -> Matrix:
    """Its lower factor; where there is none, an error that says why."""
    try:
        factor: Matrix = linalg.cholesky(covariance, lower=True)
    except linalg.LinAlgError as error:
        raise linalg.LinAlgError(FLAT) from error
    return factor

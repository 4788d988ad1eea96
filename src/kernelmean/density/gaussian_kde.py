"""``gaussian_kde``: the class of SciPy, summed by the engines of this package."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernelmean import _checks, engines
from kernelmean._types import ArrayLike, RandomState
from kernelmean.density.bandwidth_factor import BandwidthMethod
from kernelmean.density.gaussian_integrals import GaussianIntegrals
from kernelmean.engines import Engine


class gaussian_kde(GaussianIntegrals):  # noqa: N801 - SciPy's name
    """Kernel density estimate with the interface of ``scipy.stats.gaussian_kde``.

    It takes that class's place by a change of the import. Small problems are summed exactly; where
    that would take more than about a second, the density is replaced by a sparse one that is within
    ``error``, and says so.

    Parameters
    ----------
    dataset : array-like of shape (d, n) or (n,)
        The points, one per **column**, as SciPy has them.
    bw_method : {'scott', 'silverman'}, float, callable or None, default=None
        The bandwidth factor h, by which the covariance of the data is scaled: a rule, the number
        itself, or a function of this object. None is "scott".
    weights : array-like of shape (n,) or None, default=None
        Nonnegative weights of the points.
    error : float, 'auto' or None, default='auto'
        The relative error ‖f − f̃‖/‖f‖ in L2 that a sparse density f̃ may have. None or 0: f itself
        is always summed. "auto" is 1e-3 for values and integrals of f, and sums f itself for its
        logarithm, which may be far off where f is small.
    engine : {'cpu', 'gpu', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=0
        Seeds the choice of the atoms of a sparse density, and its certificate. With a number, two
        equal objects have equal values, as SciPy's have.

    Attributes
    ----------
    dataset : ndarray of shape (d, n)
        The points, as a copy: changing the array that was given changes nothing here.
    d : int
        The number of dimensions.
    n : int
        The number of points.
    factor : float
        The bandwidth factor h.
    covariance : ndarray of shape (d, d)
        The covariance of a kernel, h² times that of the data.
    cho_cov : ndarray of shape (d, d)
        Its lower Cholesky factor.
    log_det : float
        log |2π·covariance|.

    See Also
    --------
    KernelDensity : Takes the place of scikit-learn's class.
    SparseKDE : A density with bandwidths that follow the data, in files and on a cluster.
    sparse_kernel_mean : What finds the sparse density.

    Notes
    -----
    A call at q points is exact while n·q·d ≤ 8·10⁹, whatever came before, so that the sizes alone
    decide. The first call beyond fits a mixture of at most 4096 round Gaussians, in the coordinates
    in which the data have unit covariance; it is kept until the bandwidth changes. Time O(n·k·d +
    k³) for k atoms, then O(k·d) per point, against O(n·d). In three dimensions or more so few atoms
    often do not reach the error; the exact sum is then taken, in SciPy's time at most, and a
    :class:`FitWarning` says so. :attr:`method`, :attr:`relative_error` and :attr:`certificate_`
    tell what was done.

    The error is one in L2: it is small where the density is high. Far out in the tails a sparse
    density may be off by any factor: use ``error=None`` for those. :meth:`logpdf` sums every point
    unless ``error`` is given as a number; then so may be its values.

    Unlike SciPy's, a factor that is not positive and complex data are refused at once.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(2, 500))
    >>> kde = km.gaussian_kde(X)
    >>> kde([[0.0, 1.0], [0.0, 1.0]]).round(3)
    array([0.163, 0.042])
    >>> kde.method, kde.relative_error
    ('exact', 0.0)
    """

    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: BandwidthMethod = None,
        weights: ArrayLike | None = None,
        *,
        error: float | Literal["auto"] | None = "auto",
        engine: str | Engine = "cpu",
        random_state: RandomState = 0,
    ) -> None:
        given = error is not None and error != "auto"
        if given and _checks.number(error, "error", least=0.0) >= 1.0:
            raise ValueError(f"error is relative and so below 1, got {error!r}.")
        engines.open(engine)
        self.error = error
        self.engine = engine
        self._streams = _checks.streams(random_state)
        self._set_data(dataset, weights)
        self.set_bandwidth(bw_method)

    def resample(self, size: int | None = None, seed: Any = None) -> NDArray[Any]:
        """Points drawn from the density; those that SciPy draws with the same seed.

        Parameters
        ----------
        size : int or None, default=None
            How many; the effective number of points by default.
        seed : int, RandomState instance, numpy.random.Generator or None, default=None
            Where chance comes from; NumPy's global state by default, as in SciPy.

        Returns
        -------
        ndarray of shape (d, size)
            The points, one per column. Time O(n + size·d²).

        See Also
        --------
        evaluate : The density that they are drawn from.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.gaussian_kde(np.arange(5)).resample(3, seed=0).shape
        (1, 3)
        """
        rng = seed if isinstance(seed, np.random.Generator) else check_random_state(seed)
        count = int(self.neff) if size is None else size
        noise = rng.multivariate_normal(np.zeros(self.d), self.covariance, size=count).T
        rows = rng.choice(self.n, size=count, p=self.weights)
        drawn: NDArray[Any] = self.dataset[:, rows] + noise
        return drawn

    def marginal(self, dimensions: ArrayLike) -> gaussian_kde:
        """The density of some of the coordinates, whatever the others are.

        Parameters
        ----------
        dimensions : int or array-like of int
            Which coordinates are kept.

        Returns
        -------
        gaussian_kde
            Their density, with the same bandwidth factor. Time O(n·d).

        Raises
        ------
        ValueError
            If a coordinate is named twice, or there is none of that number.

        See Also
        --------
        integrate_box : Probabilities under the density.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(3, 100))
        >>> km.gaussian_kde(X).marginal([0, -1]).d
        2
        """
        return gaussian_kde(
            self.dataset[self._checked_dimensions(dimensions)],
            bw_method=self.covariance_factor(),
            weights=self.weights,
            error=self.error,
            engine=self.engine,
            random_state=self._streams.entropy,
        )

    def _checked_dimensions(self, dimensions: ArrayLike) -> NDArray[Any]:
        given = np.atleast_1d(np.asarray(dimensions))
        if not np.issubdtype(given.dtype, np.integer):
            raise ValueError(
                "Elements of `dimensions` must be integers - the indices of the marginal variables "
                "being retained."
            )
        rows = np.where(given < 0, given + self.d, given)
        if len(np.unique(rows)) != len(rows):
            raise ValueError("All elements of `dimensions` must be unique.")
        wrong = (rows < 0) | (rows >= self.d)
        if wrong.any():
            raise ValueError(
                f"Dimensions {given[wrong]} are invalid for a distribution in {self.d} dimensions."
            )
        return rows

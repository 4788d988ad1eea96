"""KernelDensity: scikit-learn's class with its parameters, summed by the engines of this one."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, Points, RandomState, Vector
from kernelmean.density import sklearn_parameters
from kernelmean.density.fitting import Density, fit_density
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FitSettings
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import Sample, estimators


class KernelDensity(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel density estimate with the parameters of ``sklearn.neighbors.KernelDensity``.

    It takes that class's place by a change of the import. The estimate is exact, every row being a
    centre, unless ``error`` asks for a sparse copy.

    Parameters
    ----------
    bandwidth : float or {'scott', 'silverman'}, default=1.0
        The kernel's own length, in the units of the data. The rules are scikit-learn's, n^(−1/(d +
        4)) and (n(d + 2)/4)^(−1/(d + 4)) for n rows in d dimensions: they are blind to the scale
        of the data, and right only for columns of deviation one. :class:`SparseKDE` has rules that
        follow the data.
    algorithm : {'kd_tree', 'ball_tree', 'auto'}, default='auto'
        Not used, since there is no tree; there for scikit-learn's signature.
    kernel : {'gaussian', 'exponential', 'laplacian', 'cauchy'}, default='gaussian'
        The kernel. "exponential" is scikit-learn's name of the Laplacian. The kernels of compact
        support, "tophat", "epanechnikov", "linear" and "cosine", do not exist here.
    metric : {'euclidean', 'l2', 'minkowski', 'p'}, default='euclidean'
        Names of the Euclidean distance, the only one there is; the last two with p = 2.
    atol : float, default=0
        Not used: sums are exact to rounding, which is within any tolerance.
    rtol : float, default=0
        Not used, as ``atol``.
    breadth_first : bool, default=True
        Not used, as ``algorithm``.
    leaf_size : int, default=40
        Not used, as ``algorithm``.
    metric_params : dict or None, default=None
        ``{"p": 2}`` for "minkowski", or nothing.
    error : float or None, default=None
        A relative error in L2 that a sparse copy is to reach on as few centres as do, as in
        ``SparseKDE(target="kde", scale=None, error=...)``. None or 0
        keeps every row.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes; threads are the engine's.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of centres where ``error`` is given; the exact estimate has no chance in
        it.
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.
    mean_ : KernelMean or SparseKernelMean
        The fitted density; the latter where ``error`` is given. There is no ``tree_``.
    estimated_error_ : float
        The relative error in L2 as the fit estimates it; 0.0 for the exact estimate.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    SparseKDE : Bandwidths that follow the data, densities by likelihood, batches and files.
    kernel_mean : The exact estimate without scikit-learn's interface.
    sklearn.neighbors.KernelDensity : The same by trees, with more kernels and metrics.

    Notes
    -----
    The exact estimate costs time and memory O(n·d) to fit and O(n·d) per scored point. A sparse
    copy on k centres costs O(n·k·d + k³) to fit and O(k·d) per scored point. Log-densities are
    right to rounding everywhere; those of scikit-learn's trees lose their digits in the tails, far
    from all rows in units of the bandwidth, unless ``leaf_size`` is at least n.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.RandomState(42).random_sample((100, 3))
    >>> density = km.KernelDensity(kernel="gaussian", bandwidth=0.5).fit(X)
    >>> density.score_samples(X[:3])
    array([-1.52955942, -1.51462041, -1.60244657])
    """

    _parameter_constraints: ClassVar[Any] = dict(sklearn_parameters.CONSTRAINTS)

    def __init__(
        self,
        *,
        bandwidth: float | str = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: dict[str, Any] | None = None,
        error: float | None = None,
        engine: Any = "cpu",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.error = error
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike | Sample,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the density to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training points, one per row.
        y : array-like or None, default=None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows, but for the rules
            of ``bandwidth``, which count the rows of X as scikit-learn does.

        Returns
        -------
        KernelDensity
            The fitted estimator itself. Time and memory O(n·d), more where ``error`` is given.

        Raises
        ------
        ValueError
            If a parameter has a value that scikit-learn refuses, or names a kernel or a metric that
            does not exist here.

        See Also
        --------
        score_samples : The fitted log-density.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(5000, 2))
        >>> km.KernelDensity(bandwidth=0.5).fit(X).mean_.k
        5000
        >>> sparse = km.KernelDensity(bandwidth=0.5, error=0.01, random_state=0).fit(X)
        >>> sparse.mean_.k < 200, sparse.estimated_error_ <= 0.01
        (True, True)
        """
        with _progress.asked(self.verbose):
            self._validate_params()
            sklearn_parameters.check_values(self)
            sample = estimators.weighted_sample(self, X, sample_weight)
            width = sklearn_parameters.length(self.bandwidth, sample.total, self.n_features_in_)
            settings = FitSettings.density(
                kernel=self.kernel, bandwidth=width, error=self.error or None, engine=self.engine
            )
            if not self.error:
                fitted: Density = full_mean(sample, settings)
            else:
                # Called from here, so that its warnings point to the line that called fit.
                fitted = fit_density(sample, settings, _checks.streams(self.random_state))
            self.mean_ = fitted
            self.bandwidth_ = width
            self.estimated_error_ = _estimated_error(fitted)
            return self

    def score_samples(self, X: ArrayLike) -> Vector:
        """The log-density at each row of X, normalised in any dimension.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            log f at each point. Time O(q·k·d), with k = n for the exact estimate.

        See Also
        --------
        score : Their sum.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> density = km.KernelDensity().fit([[0.0], [2.0]])
        >>> density.score_samples([[1.0]]).round(4)
        array([-1.4189])
        """
        check_is_fitted(self)
        return self.mean_.log(estimators.queries(self, X))

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """The total log-likelihood of the rows of X.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.
        y : array-like or None, default=None
            Not used; there for scikit-learn's pipelines.

        Returns
        -------
        float
            Σ log f over the points. Time O(q·k·d).

        See Also
        --------
        score_samples : The single terms.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> round(km.KernelDensity().fit([[0.0], [2.0]]).score([[1.0], [1.0]]), 4)
        -2.8379
        """
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Points:
        """Draw random points from the fitted density, whatever its kernel.

        Parameters
        ----------
        n_samples : int, default=1
            How many points to draw.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Seeds the draw. The points are not those that scikit-learn draws for the same seed.

        Returns
        -------
        ndarray of shape (n_samples, d)
            The points, one per row. Time O(k + n_samples·d).

        See Also
        --------
        score_samples : The log-density of points.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> km.KernelDensity().fit([[0.0], [2.0]]).sample(3, random_state=0).shape
        (3, 1)
        """
        check_is_fitted(self)
        return self.mean_.sample(n_samples, random_state)


def _estimated_error(fitted: Density) -> float:
    """0 for the exact estimate."""
    if not isinstance(fitted, SparseKernelMean):
        return 0.0
    assert fitted.estimated_error is not None, "only fits by likelihood have none"
    return fitted.estimated_error

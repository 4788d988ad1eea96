"""SparseKDEOutlierDetector: points where the density is low."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, RandomState, Vector
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.density.estimator import SparseKDE
from kernelmean.density.quantiles import threshold
from kernelmean.samples import estimators

LOW_DIMENSION = 4


class SparseKDEOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outliers are the points whose log-density lies below a quantile of the training points'.

    Parameters
    ----------
    contamination : float, default=0.1
        The share of the training points taken for outliers, in (0, 0.5].
    bandwidth : float or str, default='auto'
        A number or a rule, as in :class:`SparseKDE`, or "auto": Scott's rule up to four dimensions;
        beyond, "iqr", the scale of the data. In high dimension Scott's bandwidth leaves most points
        nothing but their own kernel, in an exact density too, and says little about which of them
        lie apart.
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian" (or "exponential"), "cauchy", or a kernel such as ``km.Student(3,
        1.0)``.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first; log-densities carry its Jacobian.
    k : int or 'auto', default='auto'
        The number of centres.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take. By default it is below 3√n, but at least 600.
    tol : float, default=1e-10
        When "auto" stops adding centres, as in :func:`sparse_kernel_mean`.
    patience : int, default=10
        For how many steps in a row, as in :func:`sparse_kernel_mean`.
    selection : str or array-like of int, default='auto'
        How centres are found, as in :func:`sparse_kernel_mean`.
    refine : int, default=0
        How many steps move the centres off the data, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    sparse : bool, default=True
        False keeps every point as a centre: the exact kernel density estimate, by the same fast
        sums.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes; threads are the engine's. Mapped files, :func:`read` and Dask collections are
        fitted where they are, with any engine.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of the first centre, and whatever else the selection draws.
    memory : str, joblib.Memory or None, default=None
        A folder or a joblib memory that keeps selections, as in scikit-learn's ``Pipeline``: a
        search over bandwidths with a whole number as ``random_state`` then selects once per fold,
        where centres are points (``spread=None``); spreads are fitted for each bandwidth.
        Without it nothing is remembered from one fit to the next.

    Attributes
    ----------
    density_ : SparseKDE
        The fitted density.
    offset_ : float
        The log-density below which a point is an outlier.
    log_quantiles_ : ndarray of shape (1001,)
        The quantiles of the log-density of the training points, for other thresholds.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    SparseKDE : The density itself.

    Notes
    -----
    Fitting costs time O(n·k·d + k³), scoring O(k·d) per point. Memory is O(n·d + k²).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        contamination: float = 0.1,
        bandwidth: float | str = "auto",
        kernel: Any = "gaussian",
        scale: Any = None,
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        patience: int = 10,
        selection: Any = "auto",
        refine: int = 0,
        spread: str | None = "auto",
        sparse: bool = True,
        engine: Any = "cpu",
        random_state: RandomState = None,
        memory: Any = None,
    ) -> None:
        self.contamination = contamination
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.scale = scale
        self.k = k
        self.k_max = k_max
        self.tol = tol
        self.patience = patience
        self.selection = selection
        self.refine = refine
        self.spread = spread
        self.sparse = sparse
        self.engine = engine
        self.random_state = random_state
        self.memory = memory

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the density, and read the threshold off the log-densities of the training points.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training points, one per row.
        y : array-like or None, default=None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows.

        Returns
        -------
        SparseKDEOutlierDetector
            The fitted estimator itself. Time O(n·k·d + k³), memory O(n·d + k²).

        Raises
        ------
        ValueError
            If ``contamination`` is not in (0, 0.5].

        See Also
        --------
        predict : Tells outliers from inliers.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
        >>> int((detector.predict(X) == -1).sum())
        5
        """
        share = _checks.number(self.contamination, "contamination", above=0.0)
        if share > 0.5:
            raise ValueError(f"contamination must be at most 0.5, got {self.contamination!r}.")
        least = estimators.fewest(self.bandwidth)
        sample = estimators.sample(self, X, least=least)
        weights = estimators.weights(sample_weight, len(sample))
        own = self.get_params(deep=False)
        del own["contamination"]
        own["target"] = "kde"
        if isinstance(self.bandwidth, str) and self.bandwidth == "auto":
            low = sample.dimension <= LOW_DIMENSION or not isinstance(self.kernel, str)
            own["bandwidth"] = DEFAULT_RULE if low else "iqr"
        self.density_ = SparseKDE(**own).fit(sample, sample_weight=weights)
        self.log_quantiles_ = self.density_.log_quantiles_
        assert self.log_quantiles_ is not None
        self.offset_ = threshold(self.log_quantiles_, share)
        return self

    def score_samples(self, X: ArrayLike) -> Vector:
        """The log-density at each row of X: the lower, the more abnormal.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            log f at each point. Time O(q·k·d).

        See Also
        --------
        decision_function : The same, less the threshold.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
        >>> near, far = detector.score_samples([[0.0, 0.0], [9.0, 9.0]])
        >>> bool(near > far)
        True
        """
        check_is_fitted(self)
        scores: Vector = self.density_.mean_.log(estimators.queries(self, X))
        return scores

    def decision_function(self, X: ArrayLike) -> Vector:
        """The log-density of each row above the threshold; negative for outliers.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            log f − ``offset_`` at each point. Time O(q·k·d).

        See Also
        --------
        predict : Its sign.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
        >>> np.sign(detector.decision_function([[0.0, 0.0], [9.0, 9.0]]))
        array([ 1., -1.])
        """
        scores: Vector = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: ArrayLike) -> IntVector:
        """Tell outliers from inliers.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            1 for inliers, −1 for outliers. Time O(q·k·d).

        See Also
        --------
        decision_function : How far from the threshold they lie.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
        >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
        array([ 1, -1])
        """
        labels: IntVector = np.where(self.decision_function(X) < 0.0, -1, 1)
        return labels

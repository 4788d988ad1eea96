"""SparseKDEOutlierDetector: points where the density is low.

The bandwidth that ranks outliers is wider than the one that fits: a third of the median distance
between rows, in columns of equal robust width.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, IntVector, RandomState, Vector
from kernelmean.bandwidth import RANKING_RULE
from kernelmean.bandwidth.resolve import DEFAULT_RULE
from kernelmean.density.estimator import SparseKDE
from kernelmean.density.training import LEAST_LOG, TrainingScores
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples import Sample, WeightedSample, coded, estimators


class SparseKDEOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outliers are the points whose log-density lies below that of most inliers.

    A row that was fitted is scored without itself (``training_scores_``); ``predict`` and
    ``score_samples`` treat every row as new. So ``fit_predict(X)`` is not ``fit(X).predict(X)``: to
    the latter the rows of X are close to others, namely to themselves.

    Parameters
    ----------
    contamination : float, default=0.1
        The share of new rows that are flagged if they are like those fitted, and of the fitted
        rows, in (0, 0.5].
    bandwidth : float or str, default='auto'
        A number or a rule, as in :class:`SparseKDE`, or "auto": a third of the median distance
        between rows. On most real tables the bandwidth that ranks outliers is wider than the one
        that fits best. Where inliers have a shape that many rows resolve, such as curves in the
        plane, "likelihood" ranks better.
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian" (or "exponential"), "cauchy", or a kernel such as ``km.Student(3,
        1.0)``.
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first; log-densities carry its Jacobian. "auto"
        gives all columns the same robust width, by quantiles; a bandwidth that is a number, and a
        kernel that carries its own, are lengths in the data itself, where "auto" maps nothing.
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
    domain : mapping or None, default=None
        What columns can hold, as in :class:`SparseKDE`: bounds, periods, categories, spheres.
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
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    density_ : SparseKDE
        The fitted density.
    training_scores_ : ndarray of shape (n,) or None
        The log-density at each row of ``fit``, without that row: a centre at the row is left out,
        and so is the row's share in the atom that stands for it and its neighbours. A row of weight
        zero took no part, and is scored as new. None for a sample in files or on a cluster that is
        too large to be scored as a whole (2·10⁸ kernel values); the threshold then comes from rows
        that are spread evenly over it.
    offset_ : float
        The log-density below which a point is an outlier: that of the rank (n + 1)·contamination
        among the training scores, which makes ``contamination`` true of new inliers, on average. By
        chance alone the share has a standard deviation of √(c(1 − c)/n): with 2000 rows 22 % of
        itself at c = 0.01, and 7 % at 0.1.
    log_quantiles_ : ndarray of shape (1001,)
        The quantiles of the training scores at levels 0, 0.001, …, 1, for other thresholds.
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

    Two of scikit-learn's estimator checks, ``check_outliers_train`` and
    ``check_outliers_fit_predict``, ask that ``predict`` flags exactly the share ``contamination``
    of the rows it was fitted to, and that ``fit_predict(X)`` is ``fit(X).predict(X)``. Neither can
    hold where ``predict`` treats rows as new; they are expected to fail.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    >>> int((detector.fit_predict(X) == -1).sum())
    5
    """

    def __init__(
        self,
        *,
        contamination: float = 0.1,
        bandwidth: float | str = "auto",
        kernel: Any = "gaussian",
        scale: Any = "auto",
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        patience: int = 10,
        selection: Any = "auto",
        refine: int = 0,
        spread: str | None = "auto",
        sparse: bool = True,
        domain: Any = None,
        engine: Any = "cpu",
        random_state: RandomState = None,
        memory: Any = None,
        verbose: bool = False,
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
        self.domain = domain
        self.engine = engine
        self.random_state = random_state
        self.memory = memory
        self.verbose = verbose

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the density, and read the threshold off the scores of its rows, each left out.

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
        predict : Tells outliers from inliers among new rows.
        fit_predict : Tells them among these rows.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X)
        >>> int((detector.training_scores_ < detector.offset_).sum())
        5
        """
        with _progress.asked(self.verbose):
            share = _checks.number(self.contamination, "contamination", above=0.0)
            if share > 0.5:
                raise ValueError(f"contamination must be at most 0.5, got {self.contamination!r}.")
            least = estimators.fewest(self.bandwidth)
            density = SparseKDE(**self._density_parameters())
            sample: Sample
            if self.domain is not None:
                rows = coded.weighted_sample(self, X, sample_weight, least)
                self.density_ = density._fit_coded(rows)
                sample, present = rows.given, rows.sample
            else:
                sample = estimators.sample(self, X, least=least)
                weights = estimators.weights(sample_weight, len(sample))
                self.density_ = density.fit(sample, sample_weight=weights)
                present = WeightedSample.of(sample, weights)
            scores = TrainingScores.of(self.density_.mean_, present)
            self.training_scores_ = scores.of_given_rows(self.density_.mean_, sample, present)
            self.log_quantiles_ = scores.log_quantiles()
            self.offset_ = scores.threshold(share)
            return self

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> IntVector:
        """Fit the density, and tell outliers from inliers among its rows, each left out.

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
        ndarray of shape (n,)
            1 for inliers, −1 for outliers, by ``training_scores_``. Time O(n·k·d + k³).

        Raises
        ------
        ValueError
            If the sample is in files or on a cluster and too large to be scored as a whole.

        See Also
        --------
        predict : The same for new rows.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.append(np.random.default_rng(0).normal(size=(99, 2)), [[9.0, 9.0]], axis=0)
        >>> km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit_predict(X)[-3:]
        array([ 1,  1, -1])
        """
        self.fit(X, y, sample_weight)
        if self.training_scores_ is None:
            raise ValueError(
                "the rows of a sample in files or on a cluster are not all scored in fit; use "
                "fit(X).predict(X), which treats them as new."
            )
        return self._labels(self.training_scores_)

    def _density_parameters(self) -> dict[str, Any]:
        """The parameters of the density, with what "auto" means here."""
        own: dict[str, Any] = self.get_params(deep=False)
        del own["contamination"]
        own["target"] = "kde"
        if isinstance(self.bandwidth, str) and self.bandwidth == "auto":
            own["bandwidth"] = RANKING_RULE if isinstance(self.kernel, str) else DEFAULT_RULE
        return own

    def _labels(self, scores: Vector) -> IntVector:
        labels: IntVector = np.where(np.maximum(scores, LEAST_LOG) < self.offset_, -1, 1)
        return labels

    def score_samples(self, X: ArrayLike) -> Vector:
        """The log-density at each row of X: the lower, the more abnormal.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row, which are treated as new; those of ``fit`` have their scores in
            ``training_scores_``.

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
        mean = self.density_.mean_
        if isinstance(mean, DomainMean):
            return mean.log(coded.queries(self, X, mean.domain))
        return mean.log(estimators.queries(self, X))

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
        """Tell outliers from inliers among new rows.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row. A row that was fitted is treated as new, and is near itself;
            :meth:`fit_predict` leaves it out.

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
        return self._labels(self.score_samples(X))

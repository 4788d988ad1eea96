"""SparseKDEClassifier: Bayes' rule with one sparse density per class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, IntVector, Matrix, RandomState, Vector
from kernelmean.density.bayes import fit_classes, log_joint, log_posteriors
from kernelmean.density.fitting import density_settings, fit_settings, memory_of
from kernelmean.density.on_domain import fit_classes_on_domain
from kernelmean.mean.on_domain import DomainMean
from kernelmean.samples import Queries, WeightedSample, coded, estimators


class SparseKDEClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by the largest π_c f_c(x), with one sparse density f_c per class.

    π_c is the prior of class c.

    Parameters
    ----------
    priors : array-like of shape (classes,) or None, default=None
        The class priors in the order of ``classes_``; by default the (weighted) share of each
        class.
    bandwidth : float or str, default='auto'
        A number for all classes, a rule that is applied to each class, or "jaakkola", which finds
        one bandwidth from the labels. "auto" leaves it to the likelihood of rows that are left out,
        as in :class:`SparseKDE`.
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian" (or "exponential"), "cauchy", or a kernel such as ``km.Student(3,
        1.0)``.
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first, common to all classes. "auto" divides each
        coordinate by its width, measured by quantiles, unless a bandwidth or a kernel is given.
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
    target : {'auto', 'kde', 'likelihood'}, default='auto'
        Whether the densities are sparse copies of kernel density estimates or fitted by likelihood,
        as in :class:`SparseKDE`.
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
    classes_ : ndarray of shape (classes,)
        The labels, sorted.
    means_ : list of SparseKernelMean or KernelMean
        The densities of the classes.
    class_prior_ : ndarray of shape (classes,)
        The priors in use.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    SparseKDE : The density of one sample.
    ClassProportions : How much of each class a sample holds.

    Notes
    -----
    Fitting costs time O(n·k·d + k³) in all classes together, and predicting O(Σk·d) per point.
    Memory is O(n·d + k²).

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 200)
    >>> X = rng.normal(size=(400, 2)) + 3.0 * y[:, None]
    >>> km.SparseKDEClassifier(k=40, random_state=0).fit(X, y).predict([[0.0, 0.0], [3.0, 3.0]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
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
        target: str = "auto",
        sparse: bool = True,
        domain: Any = None,
        engine: Any = "cpu",
        random_state: RandomState = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        self.priors = priors
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
        self.target = target
        self.sparse = sparse
        self.domain = domain
        self.engine = engine
        self.random_state = random_state
        self.memory = memory
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one density to the rows of each label.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training points, one per row.
        y : array-like of shape (n,)
            The labels of the rows.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows.

        Returns
        -------
        SparseKDEClassifier
            The fitted estimator itself. Time O(n·k·d + k³), memory O(n·d + k²).

        See Also
        --------
        predict : Classifies points.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
        >>> model = km.SparseKDEClassifier(bandwidth=1.0).fit(X, y)
        >>> model.classes_.tolist()
        ['a', 'b']
        """
        with _progress.asked(self.verbose):
            least = estimators.fewest(self.bandwidth)
            if self.domain is not None:
                return self._fit_on_domain(X, y, sample_weight, least)
            points, labels = estimators.sample_and_labels(self, X, y, least)
            sample = WeightedSample.of(points, estimators.weights(sample_weight, len(points)))
            numbers = self._class_numbers(sample, labels)
            settings = fit_settings(self, sample, labels)
            chance = _checks.streams(self.random_state)
            self.means_ = fit_classes(
                sample, numbers, settings, chance, sparse=self.sparse, memory=memory_of(self)
            )
            return self

    def _fit_on_domain(self, X: Any, y: Any, sample_weight: Any, least: int) -> Self:
        """The same where columns are bounded, periodic, categories or on a sphere."""
        rows = coded.weighted_sample(self, X, sample_weight, least)
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        numbers = self._class_numbers(rows.sample, labels)
        self.means_ = fit_classes_on_domain(
            rows,
            numbers,
            density_settings(self),
            _checks.streams(self.random_state),
            sparse=self.sparse,
            memory=memory_of(self),
        )
        return self

    def _class_numbers(self, sample: WeightedSample, labels: Any) -> IntVector:
        """The class of each row that counts; the classes and their priors are recorded."""
        check_classification_targets(labels)
        present = labels if sample.present is None else labels[sample.present]
        self.classes_, numbers = np.unique(present, return_inverse=True)
        self.class_prior_ = self._class_priors(numbers, sample.weights)
        return np.asarray(numbers, dtype=np.intp)

    def predict_log_proba(self, X: ArrayLike) -> Matrix:
        """The logarithms of the probabilities of the classes at each row of X.

        They are computed in the log domain: no row is 0/0, however far out it lies.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q, classes)
            log P(class | x), in the order of ``classes_``. Time O(q·Σk·d).

        See Also
        --------
        predict_proba : The probabilities.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
        >>> model = km.SparseKDEClassifier(bandwidth=1.0).fit(X, y)
        >>> model.predict_log_proba([[3.0]]).round(2)
        array([[-0.69, -0.69]])
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):  # a prior of zero
            log_priors = np.log(self.class_prior_)
        joint = log_joint(self.means_, log_priors, self._queries(X))
        return log_posteriors(joint)

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """The probabilities of the classes at each row of X.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q, classes)
            P(class | x), in the order of ``classes_``; rows sum to one. Time O(q·Σk·d).

        See Also
        --------
        predict_log_proba : Their logarithms, without underflow.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
        >>> model = km.SparseKDEClassifier(bandwidth=1.0).fit(X, y)
        >>> model.predict_proba([[3.0]]).round(2)
        array([[0.5, 0.5]])
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """The most probable class of each row of X.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            A label for each point. Time O(q·Σk·d).

        See Also
        --------
        predict_proba : The probabilities of all classes.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
        >>> model = km.SparseKDEClassifier(bandwidth=1.0).fit(X, y)
        >>> model.predict([[0.5], [5.5]]).tolist()
        ['a', 'b']
        """
        most_probable = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[most_probable]

    def _queries(self, X: Any) -> Queries:
        """Rows to evaluate at, as the densities of the classes take them."""
        first = self.means_[0]
        if isinstance(first, DomainMean):
            return coded.queries(self, X, first.domain)
        return estimators.queries(self, X)

    def _class_priors(self, numbers: Any, weights: Vector | None) -> Vector:
        classes = len(self.classes_)
        if self.priors is None:
            shares: Vector = np.bincount(numbers, weights, minlength=classes).astype(np.float64)
            return shares / float(shares.sum())
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != (classes,) or (given < 0).any() or not np.isclose(given.sum(), 1.0):
            raise ValueError(
                f"priors must be {classes} nonnegative numbers that sum to one, got "
                f"{self.priors!r}."
            )
        return given

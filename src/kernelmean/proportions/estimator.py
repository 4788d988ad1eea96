"""Class proportions as a scikit-learn style estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress, samples
from kernelmean._random import Streams
from kernelmean._types import ArrayLike, IntVector, Matrix, RandomState, Space, Vector
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel
from kernelmean.proportions.counting import Counter
from kernelmean.proportions.explaining import GoodnessOfFit, mixture_test
from kernelmean.proportions.fitting import ClassMeans, Settings, fit_class_means
from kernelmean.proportions.intervals import ProportionIntervals
from kernelmean.proportions.learning import learn, way, with_features
from kernelmean.proportions.representing import Representation, represent
from kernelmean.samples import ArraySample, Sample, estimators


def is_several(X: Any) -> bool:
    """Whether these are several samples: tables in a list, or an array of three dimensions."""
    if isinstance(X, list | tuple):
        return len(X) == 0 or np.ndim(X[0]) == 2
    return isinstance(X, np.ndarray) and X.ndim == 3


class ClassProportions(BaseEstimator):  # type: ignore[misc]
    """How much of each class an unlabelled sample holds, by posteriors or by kernel means.

    The training data are samples of classes P_1, …, P_C; a new sample is one of P_0 = Σ_c π_c P_c
    with unknown π. Only π is estimated; no point gets a label.

    Parameters
    ----------
    solver : {'auto', 'likelihood', 'qp', 'paper', 'moments'}, default='auto'
        "likelihood" takes how well each class explains each row, from posteriors, and the mean of
        the proportions that follow under a flat prior. The others compare kernel means: "qp"
        minimises ‖P_0 − Σπ_c P_c‖² over π ≥ 0, Σπ = 1, exactly. "paper" solves the linear
        system without π ≥ 0 and projects, as [1]_ does. "moments" corrects "qp" for the bias of
        finite and of sparse class means (Mπ = κ, M measured on the training points without each
        point's own share); it is better where classes have few points or the bandwidth is narrow.
        "auto" is, on posteriors, the likelihood, unless another recovers simulated mixtures clearly
        better, and "qp" on features.
    space : {'rkhs', 'l2'}, default='rkhs'
        Whether kernel mean embeddings or densities are compared.
    sparse : bool, default=True
        False uses the full class means.
    kernel : str or Kernel, default='gaussian'
        A kernel, or a name ("gaussian", "laplacian", "cauchy").
    bandwidth : float, str or None, default=None
        None or "search" looks for the best one (see Notes). Otherwise a number, or a rule on all
        training points: "scott", "silverman", "iqr", "median", "mode", "likelihood" or "jaakkola".
        With a kernel instance, None means its own length, and "search" looks for another of its
        family.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first.
    k : int or 'auto', default='auto'
        The number of centres of each class.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take, as in :func:`sparse_kernel_mean`.
    tol : float, default=1e-10
        When "auto" stops adding centres, as in :func:`sparse_kernel_mean`.
    selection : str, default='auto'
        How centres are found, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    representation : {'auto', 'raw'}, scikit-learn classifier or None, default='auto'
        What the classes are told apart by. "auto" trains a calibrated classifier by itself: lines,
        kernels, neighbours and trees are pooled as far as rows that they have not seen trust them.
        Where kernel means are asked for, by a solver that compares them, ``sparse_test`` or any of
        the options from ``space`` to ``spread``, or where they recover simulated mixtures better,
        they are those of the features. "raw" or None: always so. A classifier is calibrated in the
        same way; with an option of kernel means they are over its scores (``predict_proba``, or
        ``decision_function`` where there is none), out-of-fold for the
        training points. It sees an array, without the names of columns.
    sparse_test : bool, default=False
        Whether to replace the new sample, too, by its sparse mean, as [1]_ did. It is slower,
        unless a sample is used often.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the first centres, the folds and the simulated mixtures.
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
        The labels, sorted.
    classifier_ : CalibratedPool or None
        The calibrated classifier with ``predict_proba``; None where there is none.
    solver_ : str
        The solver that was chosen.
    choice_ : Choice or None
        The mean absolute error of each solver on simulated mixtures of the training rows; None
        without a choice.
    means_ : list of SparseKernelMean or KernelMean
        The C kernel means, over X or over what ``representation`` makes of it; of posteriors, over
        their square roots.
    kernel_ : Kernel
        The kernel of all of them.
    search_ : Search or None
        The bandwidths that were tried and their errors; None without a search.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    SparseKDEClassifier : Gives every point a label.
    mmd : The distance that is minimised.

    Notes
    -----
    By posteriors, training costs six fits of each classifier that is tried, on at most 20 000 rows;
    predicting costs O(n·k) for k cells of the classes, and what the classifiers take. The shares
    are those among the rows of the sample; intervals are for the population behind it.

    Kernel means have a bandwidth that is searched for: centres are selected once and coefficients
    recomputed for each bandwidth. Halves of the training data take turns in making the means and in
    making 100 mixtures with Dirichlet proportions, whose truth is known; the mean ℓ1 error is
    minimised on a log grid, then by a bounded scalar search. Spreads are fitted to the bandwidth
    that was found. Fitting costs O(n·Σk·d), predicting O(n_new·Σk·d); memory O(n·d + k²), k the
    largest of a class.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 200)
    >>> X = rng.normal(size=(400, 2)) + 2.0 * (y == "b")[:, None]
    >>> new = rng.normal(size=(500, 2)) + 2.0 * (np.arange(500) < 100)[:, None]
    >>> km.ClassProportions(random_state=0).fit(X, y).predict(new).round(1)
    array([0.8, 0.2])
    """

    def __init__(
        self,
        *,
        solver: str = "auto",
        space: Space = "rkhs",
        sparse: bool = True,
        kernel: str | Kernel = "gaussian",
        bandwidth: float | str | None = None,
        scale: str | ArrayLike | None = None,
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        selection: str = "auto",
        spread: str | None = "auto",
        representation: Any = "auto",
        sparse_test: bool = False,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.solver = solver
        self.space = space
        self.sparse = sparse
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.k = k
        self.k_max = k_max
        self.tol = tol
        self.selection = selection
        self.spread = spread
        self.representation = representation
        self.sparse_test = sparse_test
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn what the classes look like, from labelled rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training points, one per row.
        y : array-like of shape (n,)
            The labels of the rows, of at least two classes.

        Returns
        -------
        ClassProportions
            The fitted estimator itself. By kernel means: time O(n·Σk·d), memory O(n·d + k²); by
            posteriors what the classifiers take.

        Raises
        ------
        ValueError
            If ``y`` holds one class only, or an option is unknown.

        See Also
        --------
        predict : The proportions in a new sample.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["a", "b"], 200)
        >>> X = rng.normal(size=(400, 2)) + 2.0 * (y == "b")[:, None]
        >>> model = km.ClassProportions(bandwidth="median", random_state=0).fit(X, y)
        >>> model.classes_.tolist()
        ['a', 'b']
        """
        with _progress.asked(self.verbose):
            if samples.lies_elsewhere(X):
                points = estimators.sample(self, X)
                labels = np.asarray(y)
                _checks.labels(labels, len(points))
            else:
                points, labels = estimators.sample_and_labels(self, X, y)
            check_classification_targets(labels)
            self.classes_, codes = np.unique(labels, return_inverse=True)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y holds one class only ({self.classes_.tolist()[0]!r}); proportions need at "
                    "least two."
                )
            self._class_sizes = np.bincount(codes)
            chance = _checks.streams(self.random_state)
            self._count(points, codes, chance)
            groups = [
                points.restrict(np.flatnonzero(codes == c)) for c in range(len(self.classes_))
            ]
            self._mixture_test = mixture_test(groups, chance)
            self.means_ = self._fitted.means
            self.kernel_ = self._fitted.kernel
            self.search_ = self._fitted.search
            self.choice_ = self._fitted.choice
            self.solver_ = self._fitted.solver
            return self

    def _count(self, points: Sample, codes: IntVector, chance: Streams) -> None:
        """Learn to count, by features, by the scores of a classifier or by posteriors."""
        settings = self._settings()
        settings.check()
        names = self.classes_.tolist()
        chosen = way(settings, self.representation, self._class_sizes, names)
        self.classifier_ = None
        self.representation_ = None
        tried = None
        if chosen == "posteriors":
            given = None if isinstance(self.representation, str) else self.representation
            learned = learn(points, codes, given, settings, chance)
            tried = learned.counter.choice
            if given is None:
                tried = with_features(points, codes, learned, settings, chance)
            if tried is None or tried.chosen.solver != "features":
                self.classifier_ = learned.classifier.named(self.classes_)
                self.representation_ = Representation(learned.classifier)
                self._fitted: ClassMeans | Counter = replace(learned.counter, choice=tried)
                return
            settings = settings.of_features()
        if chosen == "scores":
            seed = chance.seed("representation")
            self.representation_, represented = represent(
                self.representation, points.array(), codes, names, seed
            )
            points = ArraySample(represented)
        groups = [points.restrict(np.flatnonzero(codes == c)) for c in range(len(names))]
        fitted = fit_class_means(groups, names, settings.solved(), chance)
        self._fitted = replace(fitted, choice=tried)

    def predict(self, X: Any) -> Vector | Matrix:
        """The estimated proportion of each class in the sample X.

        Parameters
        ----------
        X : array-like of shape (n, d), or a list of such samples
            The new sample, one point per row; or several, which may have different sizes.

        Returns
        -------
        ndarray of shape (C,) or (samples, C)
            The proportions in the order of ``classes_``; they sum to one. Time O(n·Σk·d), and what
            a classifier takes.

        See Also
        --------
        predict_interval : The same with confidence intervals.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["a", "b"], 200)
        >>> X = rng.normal(size=(400, 2)) + 2.0 * (y == "b")[:, None]
        >>> model = km.ClassProportions(bandwidth="median", random_state=0).fit(X, y)
        >>> model.predict(X).round(1)
        array([0.5, 0.5])
        """
        fitted = self._checked()
        if is_several(X):
            found = [fitted.proportions(sample) for sample in self._each(X)]
            return np.stack(found) if found else np.empty((0, len(self.classes_)))
        return fitted.proportions(self._represented(X))

    def predict_interval(
        self,
        X: Any,
        *,
        level: float = 0.95,
        n_bootstrap: int = 1000,
        random_state: RandomState = 0,
    ) -> ProportionIntervals | list[ProportionIntervals]:
        """The proportions of the sample X with a confidence interval for each.

        They are those of the population that the sample was drawn from. Nothing is fitted again,
        and few training points widen the intervals. By likelihood they hold the values that a score
        test does not reject; with kernel means the rows of the sample's values z_c(x) are
        resampled, and those of the training data given their own sampling error. Each interval
        holds for its class alone.

        Parameters
        ----------
        X : array-like of shape (n, d), or a list of such samples
            The new sample, one point per row, at least two points; or several.
        level : float, default=0.95
            The confidence level of each interval, between 0 and 1.
        n_bootstrap : int, default=1000
            How often the sample is resampled, with kernel means.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=0
            Seeds the bootstrap.

        Returns
        -------
        ProportionIntervals, or a list of them
            ``proportions``, ``lower`` and ``upper`` of shape (C,), ``covariance`` of shape (C, C)
            (without the constraint π ≥ 0), and ``level``.

        Raises
        ------
        ValueError
            If the sample or a class has one point only, or the level is not between 0 and 1.

        See Also
        --------
        predict : The proportions alone.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["a", "b"], 200)
        >>> X = rng.normal(size=(400, 2)) + 2.0 * (y == "b")[:, None]
        >>> model = km.ClassProportions(bandwidth="median", random_state=0).fit(X, y)
        >>> found = model.predict_interval(X)
        >>> inside = (found.lower <= found.proportions) & (found.proportions <= found.upper)
        >>> inside.tolist()
        [True, True]
        """
        fitted = self._checked()
        if not 0.0 < _checks.number(level, "level") < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        if self._class_sizes.min() < 2:
            alone = self.classes_.tolist()[int(np.argmin(self._class_sizes))]
            raise ValueError(
                f"class {alone!r} was fitted on one point, which says nothing of its spread: no "
                "interval can be given."
            )
        count = _checks.count(n_bootstrap, "n_bootstrap", least=2)
        chance = _checks.streams(random_state)

        def interval(points: Sample) -> ProportionIntervals:
            if len(points) < 2:
                raise ValueError("an interval needs a sample of at least two points, got one.")
            return fitted.intervals(points, float(level), count, chance)

        if is_several(X):
            return [interval(sample) for sample in self._each(X)]
        return interval(self._represented(X))

    def goodness_of_fit(
        self, X: Any, *, random_state: RandomState = 0
    ) -> GoodnessOfFit | list[GoodnessOfFit]:
        """Whether the sample X can be a mixture of the classes at all.

        Proportions mean something only where the classes look as they did in training and nothing
        else is in the sample. This looks at the coordinates themselves, whatever
        ``representation`` is: a class that training did not have, noise, a shift or another unit of
        a column leave a distance between the sample and every mixture of the classes.

        Parameters
        ----------
        X : array-like of shape (n, d), or a list of such samples
            The new sample, one point per row; or several.
        random_state : int, RandomState instance, numpy.random.Generator or None, default=0
            Seeds the simulated law of the distance.

        Returns
        -------
        GoodnessOfFit, or a list of them
            ``distance`` to the nearest mixture, the ``expected_distance`` of one by chance,
            ``p_value``, and ``proportions`` of the nearest mixture. Time O(n·d) kernel values at
            200 landmarks.

        Raises
        ------
        ValueError
            If every class was fitted on one or two points.

        See Also
        --------
        predict : The proportions, which suppose that the sample is such a mixture.
        mmd_test : Whether two samples are of one distribution.

        Notes
        -----
        The p-value is at least 1/1001. The test keeps its level from about ten training points per
        class on; fewer points lower its power. A change that turns one mixture of the classes
        into another cannot be seen by anyone without labels.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat(["a", "b"], 200)
        >>> X = rng.normal(size=(400, 2)) + 2.0 * (y == "b")[:, None]
        >>> model = km.ClassProportions(bandwidth="median", random_state=0).fit(X, y)
        >>> new = rng.normal(size=(100, 2)) + 2.0
        >>> bool(model.goodness_of_fit(new).p_value > 0.05)
        True
        >>> bool(model.goodness_of_fit(new * [1.0, 2.5]).p_value < 0.01)
        True
        """
        check_is_fitted(self, "means_")
        if self._mixture_test is None:
            raise ValueError(
                "every class was fitted on one or two points, which say too little of its spread: "
                "no goodness of fit can be given."
            )
        chance = _checks.streams(random_state)
        if is_several(X):
            each = [self._sample(sample, i) for i, sample in enumerate(X)]
            return [self._mixture_test.test(points, self.engine, chance) for points in each]
        points = estimators.sample(self, X, reset=False)
        return self._mixture_test.test(points, self.engine, chance)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _checked(self) -> ClassMeans | Counter:
        check_is_fitted(self, "means_")
        return self._fitted

    def _represented(self, X: Any) -> Sample:
        points = estimators.sample(self, X, reset=False)
        return points if self.representation_ is None else self._scored(points)

    def _each(self, several: Any) -> list[Sample]:
        """The samples; a classifier is asked for all of them at once, which it likes better."""
        each = [self._sample(X, i) for i, X in enumerate(several)]
        if self.representation_ is None or not each:
            return each
        if not all(sample.resident for sample in each):
            return [self._scored(sample) for sample in each]
        scores = self.representation_.scores(np.concatenate([sample.array() for sample in each]))
        ends = np.cumsum([len(sample) for sample in each])
        return [ArraySample(part) for part in np.split(scores, ends[:-1])]

    def _sample(self, X: Any, position: int) -> Sample:
        """One of several samples; an error says which."""
        try:
            return estimators.sample(self, X, reset=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"in sample {position}: {error}") from error

    def _scored(self, points: Sample) -> Sample:
        assert self.representation_ is not None
        return ArraySample(points.apply(self.representation_.scores))

    def _settings(self) -> Settings:
        names = (name for name in Settings.__dataclass_fields__)
        return Settings(**{name: getattr(self, name) for name in names})

"""Class proportions as a scikit-learn style estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, samples
from kernelmean._types import ArrayLike, RandomState, Space, Vector
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel
from kernelmean.proportions.fitting import ClassMeans, Settings, fit_class_means
from kernelmean.proportions.intervals import ProportionIntervals
from kernelmean.proportions.representing import represent
from kernelmean.samples import ArraySample, Sample, estimators


class ClassProportions(BaseEstimator):  # type: ignore[misc]
    """How much of each class an unlabelled sample holds: the mixture of class means nearest to the
    sample's mean.

    The training data are samples of classes P_1, …, P_C; a new sample is one of P_0 = Σ_c π_c P_c
    with unknown π. Only π is estimated; no point gets a label.

    Parameters
    ----------
    solver : "qp" minimises ‖P_0 − Σπ_c P_c‖² over π ≥ 0, Σπ = 1, exactly; "paper" solves the linear
        system without π ≥ 0 and projects; "moments" corrects "qp" for the bias of finite and of
        sparse class means (Mπ = κ, M measured on the training points without each point's own
        share): better where classes have few points or the bandwidth is narrow.
    space : "rkhs" (kernel mean embeddings) or "l2" (densities).
    sparse : False uses the full class means.
    kernel : a kernel, or a name ("gaussian", "laplacian", "cauchy").
    bandwidth : None or "search" (see below), a number, or a rule on all training points: "scott",
        "silverman", "iqr", "median", "mode", "likelihood", "jaakkola". With a kernel instance, None
        means its own length and "search" looks for another of its family.
    scale : None, "std", "cov" or a matrix that maps the data first.
    k, k_max, tol, selection : of the sparse means, as in :func:`kernelmean.sparse_kernel_mean`.
    representation : a scikit-learn classifier; the kernel means are then over its posteriors
        (``predict_proba``, or ``decision_function`` where there is none), out-of-fold for the
        training points.
    sparse_test : also replace the new sample by its sparse mean, as the paper did; slower, unless a
        sample is used often.
    engine : "cpu", "naive", or an engine instance.
    random_state : first centres, folds, simulated mixtures.

    Attributes
    ----------
    classes_ : the C labels, sorted.
    means_ : C kernel means, over X or over what ``representation`` makes of it.
    kernel_ : the kernel of all of them.
    search_ : the bandwidths tried and their errors; None without a search.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    The search selects centres once and recomputes coefficients for each bandwidth. Halves of the
    training data take turns in making the means and in making 100 mixtures with Dirichlet
    proportions, whose truth is known; the mean ℓ1 error is minimised on a log grid, then by a
    bounded scalar search. Fitting costs O(n·Σk·d), predicting O(n_new·Σk·d); memory O(n·d + k²), k
    the largest of a class.

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
        solver: str = "qp",
        space: Space = "rkhs",
        sparse: bool = True,
        kernel: str | Kernel = "gaussian",
        bandwidth: float | str | None = None,
        scale: str | ArrayLike | None = None,
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        selection: str = "auto",
        representation: Any = None,
        sparse_test: bool = False,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
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
        self.representation = representation
        self.sparse_test = sparse_test
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Class means of X (n, d) with labels y (n,)."""
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
        chance = _checks.streams(self.random_state)
        names = self.classes_.tolist()
        self.representation_ = None
        if self.representation is not None:
            seed = chance.seed("representation")
            self.representation_, represented = represent(
                self.representation, points.array(), codes, names, seed
            )
            points = ArraySample(represented)
        groups = [points.restrict(np.flatnonzero(codes == c)) for c in range(len(names))]
        self._class_sizes = np.array([len(group) for group in groups])
        self._fitted = fit_class_means(groups, names, self._settings(), chance)
        self.means_ = self._fitted.means
        self.kernel_ = self._fitted.plan.kernel
        self.search_ = self._fitted.search
        return self

    def predict(self, X: ArrayLike) -> Vector:
        """(C,): the estimated proportion of each class in the sample X (n, d), in the order of
        ``classes_``; they sum to one.
        """
        return self._fitted_means.proportions(self._represented(X))

    def predict_interval(
        self,
        X: ArrayLike,
        *,
        level: float = 0.95,
        n_bootstrap: int = 1000,
        random_state: RandomState = 0,
    ) -> ProportionIntervals:
        """The proportions of the sample X with a confidence interval for each, by bootstrap and
        without refitting.

        The rows of the sample's kernel values z_c(x) are resampled, and the class means' values on
        the training data are given their own sampling error, so that few training points widen the
        intervals. Each interval holds for its class alone.

        Returns
        -------
        ProportionIntervals
            ``proportions``, ``lower``, ``upper``, ``covariance`` (without the constraint π ≥ 0),
            ``level``.
        """
        fitted = self._fitted_means
        points = self._represented(X)
        if not 0.0 < _checks.number(level, "level") < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        if len(points) < 2:
            raise ValueError("an interval needs a sample of at least two points, got one.")
        if self._class_sizes.min() < 2:
            alone = self.classes_.tolist()[int(np.argmin(self._class_sizes))]
            raise ValueError(
                f"class {alone!r} was fitted on one point, which says nothing of its spread: no "
                "interval can be given."
            )
        count = _checks.count(n_bootstrap, "n_bootstrap", least=2)
        return fitted.intervals(points, float(level), count, _checks.streams(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _fitted_means(self) -> ClassMeans:
        check_is_fitted(self, "means_")
        return self._fitted

    def _represented(self, X: ArrayLike) -> Sample:
        points = estimators.sample(self, X, reset=False)
        if self.representation_ is None:
            return points
        return ArraySample(self.representation_(points.array()))

    def _settings(self) -> Settings:
        names = (name for name in Settings.__dataclass_fields__)
        return Settings(**{name: getattr(self, name) for name in names})

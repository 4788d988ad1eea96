"""SparseKDEClassifier: Bayes' rule with one sparse density per class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks
from kernelmean._types import ArrayLike, Matrix, RandomState, Vector
from kernelmean.density.bayes import fit_classes, log_joint, log_posteriors
from kernelmean.density.fitting import fit_settings, memory_of
from kernelmean.samples import WeightedSample, estimators


class SparseKDEClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The class of largest π_c f_c(x), f_c the sparse kernel density estimate of class c and π_c
    its prior.

    Parameters
    ----------
    priors : class priors in the order of ``classes_``; by default the (weighted) share of each
        class.
    bandwidth : a number for all classes, a rule applied to each class, or "jaakkola", one bandwidth
        from the labels.
    scale : None, "std", "cov" or a matrix, common to all classes.
    kernel, k, k_max, tol, patience, selection, refine, sparse, engine, random_state, memory : see
        :class:`SparseKDE`.

    Attributes
    ----------
    classes_ : labels
    means_ : list of the class densities
    class_prior_ : (classes,)
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Fitting costs O(n·k·d + k³) in all classes together, predicting O(Σk·d) per point; memory O(n·d
    + k²).

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
        bandwidth: float | str = "scott",
        kernel: Any = "gaussian",
        scale: Any = None,
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        patience: int = 10,
        selection: Any = "auto",
        refine: int = 0,
        sparse: bool = True,
        engine: Any = "cpu",
        random_state: RandomState = None,
        memory: Any = None,
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
        self.sparse = sparse
        self.engine = engine
        self.random_state = random_state
        self.memory = memory

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """One density per label of y."""
        least = estimators.fewest(self.bandwidth)
        points, labels = estimators.sample_and_labels(self, X, y, least)
        check_classification_targets(labels)
        sample = WeightedSample.of(points, estimators.weights(sample_weight, len(points)))
        present = labels if sample.present is None else labels[sample.present]
        self.classes_, numbers = np.unique(present, return_inverse=True)
        self.class_prior_ = self._class_priors(numbers, sample.weights)
        settings = fit_settings(self, sample, labels)
        chance = _checks.streams(self.random_state)
        self.means_ = fit_classes(
            sample, numbers, settings, chance, sparse=self.sparse, memory=memory_of(self)
        )
        return self

    def predict_log_proba(self, X: ArrayLike) -> Matrix:
        """log P(class | x), (q, classes), computed in the log domain: no row is 0/0, however far
        out.
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):  # a prior of zero
            log_priors = np.log(self.class_prior_)
        joint = log_joint(self.means_, log_priors, estimators.queries(self, X))
        return log_posteriors(joint)

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """P(class | x), (q, classes); rows sum to one."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """The most probable class of each row."""
        most_probable = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[most_probable]

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

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
from kernelmean.density.scoring import threshold
from kernelmean.samples import estimators as checking

LOW_DIMENSION = 4


class SparseKDEOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outliers are the points whose log-density lies below that quantile of the training points'
    log-density.

    Parameters
    ----------
    contamination : share of the training points taken for outliers, in (0, 0.5].
    bandwidth : a number or a rule, as in :class:`SparseKDE`, or "auto": Scott's rule up to four
        dimensions; beyond, "iqr", the scale of the data. In high dimension Scott's bandwidth leaves
        most points nothing but their own kernel, in an exact density too, and says little about
        which of them lie apart.
    kernel, scale, k, k_max, tol, patience, selection, refine, sparse, engine, random_state : see
        :class:`SparseKDE`.

    Attributes
    ----------
    density_ : the fitted :class:`SparseKDE`
    offset_ : log-density below which a point is an outlier
    log_quantiles_ : (1001,) quantiles of the training points' log-density, for other thresholds
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Fitting costs O(n·k·d + k³), scoring O(k·d) per point; memory O(n·d + k²).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> km.SparseKDEOutlierDetector(contamination=0.01, random_state=0).fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
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
        sparse: bool = True,
        engine: Any = "cpu",
        random_state: RandomState = None,
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
        self.sparse = sparse
        self.engine = engine
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the density, and the threshold from the training points; y is ignored."""
        share = _checks.number(self.contamination, "contamination", above=0.0)
        if share > 0.5:
            raise ValueError(f"contamination must be at most 0.5, got {self.contamination!r}.")
        checked = checking.points(self, X, reset=True, least=checking.fewest(self.bandwidth))
        weights = checking.weights(sample_weight, len(checked))
        own = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name != "contamination"
        }
        if isinstance(self.bandwidth, str) and self.bandwidth == "auto":
            own["bandwidth"] = (
                DEFAULT_RULE
                if checked.shape[1] <= LOW_DIMENSION or not isinstance(self.kernel, str)
                else "iqr"
            )
        self.density_ = SparseKDE(**own).fit(checked, sample_weight=weights)
        self.log_quantiles_ = self.density_.log_quantiles_
        assert self.log_quantiles_ is not None
        self.offset_ = threshold(self.log_quantiles_, share)
        return self

    def score_samples(self, X: ArrayLike) -> Vector:
        """Log-density of each row: the lower, the more abnormal."""
        check_is_fitted(self)
        scores: Vector = self.density_.mean_.log(checking.points(self, X, reset=False))
        return scores

    def decision_function(self, X: ArrayLike) -> Vector:
        """Log-density above the threshold; negative for outliers."""
        scores: Vector = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: ArrayLike) -> IntVector:
        """1 for inliers, −1 for outliers."""
        labels: IntVector = np.where(self.decision_function(X) < 0.0, -1, 1)
        return labels

"""Mean shift as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks
from kernelmean._types import ArrayLike, IntVector, RandomState
from kernelmean.engines import Engine
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel
from kernelmean.meanshift.clustering import Rules, cluster, density
from kernelmean.samples import WeightedSample, estimators


class MeanShift(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters are the peaks of a sparse density: every point climbs to its own (Comaniciu & Meer
    2002).

    Parameters
    ----------
    kernel : "gaussian", "laplacian", "cauchy", or a kernel such as ``km.Student(3.0, 1.0)``.
    bandwidth : the kernel's own length (σ, γ, √β), or a rule; "mode" is that of Chen, Genovese &
        Wasserman for modes.
    scale : None, "std", "cov" or a (d, d) matrix that maps the data first; lengths below are after
        it.
    sparse : climb a sparse density of k centres with nonnegative weights; False climbs the full
        one, at O(n²) per step.
    k, k_max, selection : centres of the sparse density; see :func:`sparse_kernel_mean`.
    tol : a point has arrived when it would move by at most ``tol`` bandwidths.
    merge_radius : ends are one cluster if a chain of steps of this length joins them (single
        linkage); None: the bandwidth.
    min_cluster_size : smaller clusters join the one whose peak is nearest; the largest always
        stays.
    max_iter : steps after which a warning counts the points that still move.
    engine : "cpu", "naive", or an engine instance.
    random_state : the first centre of the sparse density, and whatever else a selection draws.

    Attributes
    ----------
    labels_ : (n,) cluster of each point; 0 is that of the highest peak.
    cluster_centers_ : (clusters, d) the peaks, to a step of 1e-9 bandwidths.
    cluster_densities_, cluster_log_densities_ : (clusters,) the density at the peaks, falling.
    shifted_ : (n, d) where each point ended, for :func:`discrepancy_index`.
    mean_ : the density that was climbed.
    bandwidth_ : its kernel's length.
    n_iter_ : steps of the slowest point.

    Notes
    -----
    A fit of the density, then O(n·k·d) per step; memory O(n·d).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 0.5, (200, 2)), rng.normal(4.0, 0.5, (100, 2))])
    >>> shift = km.MeanShift(random_state=0).fit(X)
    >>> np.bincount(shift.labels_), shift.predict([[3.5, 4.5]])
    (array([200, 100]), array([1]))
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel = "gaussian",
        bandwidth: float | str = "mode",
        scale: str | ArrayLike | None = None,
        sparse: bool = True,
        k: int | str = "auto",
        k_max: int | None = None,
        selection: str | ArrayLike = "auto",
        tol: float = 1e-3,
        merge_radius: float | None = None,
        min_cluster_size: int = 1,
        max_iter: int = 10_000,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.sparse = sparse
        self.k = k
        self.k_max = k_max
        self.selection = selection
        self.tol = tol
        self.merge_radius = merge_radius
        self.min_cluster_size = min_cluster_size
        self.max_iter = max_iter
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the density, and climb it from every row of X; weights count in the density, not in
        cluster sizes.

        Rows of weight zero are absent from both; they have the label and the end that they climb
        to.
        """
        rules = Rules(self.tol, self.merge_radius, self.min_cluster_size, self.max_iter).checked()
        checked = estimators.sample(self, X)
        sample = WeightedSample.of(checked, estimators.weights(sample_weight, len(checked)))
        names = ("kernel", "bandwidth", "scale", "k", "k_max", "selection", "engine")
        settings = FitSettings.density(**{name: getattr(self, name) for name in names})
        chance = _checks.streams(self.random_state)
        mean = density(sample, settings, chance, sparse=self.sparse)
        found = cluster(mean, sample.sample, rules)
        if sample.present is not None:
            found = found.with_absent(checked, sample.present)
        self._clustering = found
        self.mean_ = mean
        self.bandwidth_ = mean.expansion.kernel.length
        self.labels_ = self._clustering.labels
        self.cluster_centers_ = self._clustering.centers
        self.cluster_log_densities_ = self._clustering.log_densities
        with np.errstate(over="ignore"):
            self.cluster_densities_ = np.exp(self.cluster_log_densities_)
        self.shifted_ = self._clustering.shifted
        self.n_iter_ = self._clustering.n_iter
        return self

    def predict(self, X: ArrayLike) -> IntVector:
        """The cluster that each row climbs to, which need not be the one whose centre is nearest."""
        check_is_fitted(self)
        return self._clustering.predict(estimators.queries(self, X))

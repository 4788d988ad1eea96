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
    """Clusters are the peaks of a sparse density: every point climbs to its own [1]_.

    Parameters
    ----------
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian", "cauchy", or a kernel such as ``km.Student(3.0, 1.0)``.
    bandwidth : float or str, default='mode'
        The kernel's own length (σ, γ, √β), or a rule that reads it from the data.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first; the lengths below are after it.
    sparse : bool, default=True
        Whether to climb a sparse density of k centres with nonnegative weights. False climbs the
        full one, at O(n²·d) per step.
    k : int or 'auto', default='auto'
        The number of centres of the sparse density.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take, as in :func:`sparse_kernel_mean`.
    selection : str or array-like of int, default='auto'
        How centres are found, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    tol : float, default=1e-3
        A point has arrived when it would move by at most ``tol`` bandwidths.
    merge_radius : float or None, default=None
        Ends are one cluster if a chain of steps of this length joins them (single linkage). None
        stands for the bandwidth.
    min_cluster_size : int, default=1
        Smaller clusters join the one whose peak is nearest; the largest always stays.
    max_iter : int, default=10000
        The number of steps after which a warning counts the points that still move.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of the first centre of the sparse density, and whatever else a selection
        draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each point; 0 is that of the highest peak.
    cluster_centers_ : ndarray of shape (clusters, d)
        The peaks, to a step of 1e-9 bandwidths.
    cluster_densities_ : ndarray of shape (clusters,)
        The density at the peaks, falling.
    cluster_log_densities_ : ndarray of shape (clusters,)
        Its logarithm.
    shifted_ : ndarray of shape (n, d)
        Where each point ended, for :func:`discrepancy_index`.
    mean_ : SparseKernelMean or KernelMean
        The density that was climbed.
    bandwidth_ : float
        The length of its kernel.
    n_iter_ : int
        The number of steps of the slowest point.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    segment_image : Mean shift on the pixels of an image.
    discrepancy_index : How far two mean shifts differ.
    sklearn.cluster.MeanShift : Mean shift with a flat kernel.

    Notes
    -----
    The density is fitted, and climbed at O(n·k·d) per step. Memory is O(n·d).

    References
    ----------
    .. [1] D. Comaniciu and P. Meer, "Mean shift: a robust approach toward feature space analysis",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 24(5), 2002.
    .. [2] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

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
        spread: str | None = "auto",
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
        self.spread = spread
        self.tol = tol
        self.merge_radius = merge_radius
        self.min_cluster_size = min_cluster_size
        self.max_iter = max_iter
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the density, and climb it from every row of X.

        Weights count in the density, not in the sizes of clusters. Rows of weight zero are absent
        from both; they have the label and the end that they climb to.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points, one per row.
        y : array-like or None, default=None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows.

        Returns
        -------
        MeanShift
            The fitted estimator itself. Time O(n·k·d) per step, memory O(n·d).

        See Also
        --------
        predict : The clusters of new points.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> shift = km.MeanShift(bandwidth=0.5).fit(X)
        >>> shift.labels_
        array([1, 1, 0, 0, 0])
        """
        rules = Rules(self.tol, self.merge_radius, self.min_cluster_size, self.max_iter).checked()
        checked = estimators.sample(self, X)
        sample = WeightedSample.of(checked, estimators.weights(sample_weight, len(checked)))
        names = ("kernel", "bandwidth", "scale", "k", "k_max", "selection", "spread", "engine")
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
        """The cluster that each row climbs to, which need not be the one whose centre is nearest.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            The number of a cluster for each point. Time O(q·k·d) per step.

        See Also
        --------
        fit : Finds the clusters.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> shift = km.MeanShift(bandwidth=0.5).fit(X)
        >>> shift.predict([[0.2], [4.8]])
        array([1, 0])
        """
        check_is_fitted(self)
        return self._clustering.predict(estimators.queries(self, X))

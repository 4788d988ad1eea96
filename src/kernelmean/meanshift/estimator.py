"""Mean shift as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, IntVector, RandomState
from kernelmean.engines import Engine
from kernelmean.fitting.settings import FitSettings, in_own_units, is_auto
from kernelmean.kernels import Kernel
from kernelmean.meanshift.clustering import Rules, cluster
from kernelmean.meanshift.plans import DensityPlan
from kernelmean.meanshift.strengths import CLEAR, strengths
from kernelmean.meanshift.tree import MergeTree
from kernelmean.samples import WeightedSample, estimators


class MeanShift(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters are the peaks of a sparse density: every point climbs to its own [1]_.

    A peak counts if it stands higher above its surroundings than the chance of the sample explains;
    the others join what they stand on.

    Parameters
    ----------
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian", "cauchy", or a kernel such as ``km.Student(3.0, 1.0)``.
    bandwidth : float or str, default='auto'
        The kernel's own length (σ, γ, √β), or a rule that reads it from the data. "auto" is the
        bandwidth at which significant peaks stand highest above the noise; where there is no test,
        or the kernel is no Gaussian, the rule "mode".
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first; the lengths below are after it. "auto"
        divides each column by a width that outliers do not change. It maps nothing where the
        bandwidth is a number or the kernel an instance, which are in the data's units, and where
        ``significance`` is None.
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
        round or of any shape. "auto": round ones where the kernel is a Gaussian and the selection
        open; where ``significance`` is None, whichever does best.
    significance : float or None, default=0.05
        The level of the test by which peaks are kept (Benjamini and Hochberg): of the clusters that
        are found, at most that share is chance on average. None keeps every peak.
    tol : float, default=1e-3
        A point has arrived when it would move by at most ``tol`` bandwidths.
    merge_radius : float or None, default=None
        Ends are one cluster if a chain of steps of this length joins them (single linkage). None
        stands for the bandwidth.
    min_cluster_size : int, default=1
        Smaller clusters join the one that they meet first; without a test, the one whose peak is
        nearest. One cluster always stays.
    noise : bool, default=False
        Whether points that belong to no cluster clearly, with a strength below two thirds, have the
        label −1.
    max_iter : int, default=10000
        The number of steps after which a warning counts the points that still move.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of rows and of first centres for the sparse density, and whatever else a
        selection draws.
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each point; 0 is that of the highest peak, −1 none (``noise``).
    strengths_ : ndarray of shape (n,)
        How clearly each point belongs to its cluster, from 0 to 1: the share of the cluster in the
        density there, about a half between two clusters; less for points on a hill of their own
        that is no cluster, by the ratio of its saddle to its peak.
    tree_ : MergeTree
        All peaks, kept or not, and how they merge.
    cluster_modes_ : ndarray of shape (clusters,)
        The number of the peak of each cluster in ``tree_``.
    cluster_centers_ : ndarray of shape (clusters, d)
        The peaks, to a step of 1e-9 bandwidths.
    cluster_densities_ : ndarray of shape (clusters,)
        The density at the peaks, falling.
    cluster_log_densities_ : ndarray of shape (clusters,)
        Its logarithm.
    shifted_ : ndarray of shape (n, d)
        Where each point ended, for :func:`discrepancy_index`; the peak itself where that was known
        before the point came there.
    mean_ : SparseKernelMean or KernelMean
        The density that was climbed: of k-means cells by default, a KernelMean on atoms.
    bandwidth_ : float
        The length of its kernel.
    scale_ : ndarray of shape (d, d) or None
        The map that was applied to the data; None for none.
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
    The density is fitted, and climbed at O(n·k·d) per step at most: points that come to places of
    a known peak take no further step. Memory is O(n·d). Peaks are told from noise by the height
    above the saddle [3]_ in standard deviations of that difference.

    References
    ----------
    .. [1] D. Comaniciu and P. Meer, "Mean shift: a robust approach toward feature space analysis",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 24(5), 2002.
    .. [2] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.
    .. [3] F. Chazal, L. J. Guibas, S. Y. Oudot and P. Skraba, "Persistence-based clustering in
       Riemannian manifolds", Journal of the ACM 60(6), 2013.

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
        bandwidth: float | str = "auto",
        scale: str | ArrayLike | None = "auto",
        sparse: bool = True,
        k: int | str = "auto",
        k_max: int | None = None,
        selection: str | ArrayLike = "auto",
        spread: str | None = "auto",
        significance: float | None = 0.05,
        tol: float = 1e-3,
        merge_radius: float | None = None,
        min_cluster_size: int = 1,
        noise: bool = False,
        max_iter: int = 10_000,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.sparse = sparse
        self.k = k
        self.k_max = k_max
        self.selection = selection
        self.spread = spread
        self.significance = significance
        self.tol = tol
        self.merge_radius = merge_radius
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.max_iter = max_iter
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

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
            Nonnegative weights of the rows. Integer weights mean repeated rows: a test has so many
            rows to go by. Weights that are no counts should not be whole numbers.

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
        with _progress.asked(self.verbose):
            rules = Rules(
                self.tol, self.merge_radius, self.min_cluster_size, self.max_iter, self.significance
            ).checked()
            checked = estimators.sample(self, X)
            sample = WeightedSample.of(checked, estimators.weights(sample_weight, len(checked)))
            plan = DensityPlan.of(
                sample, self._settings(), sparse=self.sparse, significance=rules.significance
            )
            streams = _checks.streams(self.random_state)
            judge = plan.judge(streams)
            mean = plan.density(streams, judge)
            found = cluster(mean, sample.sample, rules._replace(significance=plan.level), judge)
            if sample.present is not None:
                found = found.with_absent(checked, sample.present)
            self._clustering = found
            self.mean_ = mean
            self.bandwidth_ = mean.expansion.kernel.length
            self.scale_ = mean.expansion.scale
            self.strengths_ = strengths(found, checked)
            self.labels_ = self._with_noise(found.labels)
            self.cluster_modes_ = found.kept
            self.cluster_centers_ = found.centers
            self.cluster_log_densities_ = found.log_densities
            with np.errstate(over="ignore"):
                self.cluster_densities_ = np.exp(self.cluster_log_densities_)
            self.shifted_ = found.shifted
            self.n_iter_ = found.n_iter
            return self

    @property
    def tree_(self) -> MergeTree:
        """All peaks of the density, kept or not, and how they merge.

        Returns
        -------
        MergeTree
            Found when it is first asked for, if no test needed it before.
        """
        check_is_fitted(self)
        return self._clustering.tree

    def cut(self, n_clusters: int | None = None, persistence: float | None = None) -> IntVector:
        """Other labels of the same points, without another fit.

        Parameters
        ----------
        n_clusters : int or None, default=None
            So many clusters: the peaks that stand highest above the noise.
        persistence : float or None, default=None
            The peaks that stand so high above their saddle, in the units of the density.

        Returns
        -------
        ndarray of shape (n,)
            The cluster of each point; 0 is that of the highest peak. ``noise`` and
            ``min_cluster_size`` have no part in it.

        Raises
        ------
        ValueError
            If not exactly one of the two is given, or the density has fewer peaks.

        See Also
        --------
        MergeTree : What is cut.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
        >>> km.MeanShift(bandwidth=0.5).fit(X).cut(n_clusters=2)
        array([1, 1, 0, 0, 0])
        """
        owners = self.tree_.cut(n_clusters, persistence)
        return self._clustering.cut(owners)

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

    def _settings(self) -> FitSettings:
        names = ("kernel", "bandwidth", "scale", "k", "k_max", "selection", "spread", "engine")
        settings = FitSettings.density(**{name: getattr(self, name) for name in names})
        plain = in_own_units(self.kernel, self.bandwidth) or self.significance is None
        return replace(settings, scale=None) if plain and is_auto(self.scale) else settings

    def _with_noise(self, labels: IntVector) -> IntVector:
        if not self.noise:
            return labels
        return np.where(self.strengths_ < CLEAR, labels.dtype.type(-1), labels)

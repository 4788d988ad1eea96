"""Distributions as points, in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, Matrix, Points, RandomState, Vector
from kernelmean.embedding.collection import collect
from kernelmean.embedding.coordinates import classical_mds, geodesics
from kernelmean.embedding.distances import METRICS, compare
from kernelmean.embedding.outputs import OUTPUTS, StringVector, feature_names, frame
from kernelmean.engines import Engine
from kernelmean.fitting.recipe import RULE, Recipe, common
from kernelmean.kernels import Kernel

EMBEDDINGS = ("isomap", "mds", None)


class DistributionEmbedding(  # type: ignore[call-arg]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,  # rows of the result are samples, and have their names
):
    """Samples as points in a plane, near one another where their distributions are alike.

    It is the first application of [1]_. Every sample gets a sparse kernel mean with one common
    kernel; the distances between the means, O(N²k²), are embedded by ISOMAP [2]_ or classical
    scaling. N samples of n points cost N selections, O(N·n·k·d); memory is O(n·d + k²) for a fit,
    and O(N·k·d + N²) for what is kept.

    Samples are a list of (n_l, d) arrays, a mapping from names to arrays, a pandas or polars table
    with a ``group`` column, or one table with ``groups``, a label per row.

    Parameters
    ----------
    n_components : int, default=2
        The number of coordinates of the embedding.
    metric : {'mmd', 'l2', 'kl'}, default='mmd'
        "mmd" is the distance of the kernel means in the RKHS, "l2" that of the densities. "kl" is
        the Kullback–Leibler divergence, both directions added: densities with nonnegative weights
        are fitted on one half of each sample and averaged over the other half in the log domain;
        where chance takes it below 0, it is 0.
    embedding : {'isomap', 'mds'} or None, default='isomap'
        "mds" is classical scaling. None finds the distances only, which ``fit_transform`` then
        returns, for UMAP, t-SNE or clustering with precomputed distances.
    n_neighbors : int, default=5
        The neighbours in the graph of ISOMAP, at most N − 1. More are taken, with a warning, where
        the graph would fall into parts.
    kernel : str or Kernel, default='gaussian'
        A name that goes with ``bandwidth``, or a kernel such as ``km.Gaussian(0.5)``.
    bandwidth : float or str, default='iqr'
        One bandwidth for all samples: a number, or a rule that is read on each sample and averaged
        over the samples that have any spread. "iqr" is that of [1]_ for cytometry.
    scale : {'std', 'cov'}, array-like of shape (d, d) or None, default=None
        A linear map that is applied to the data first; the first two are read on the pooled points.
    sparse : bool, default=True
        False compares the full kernel means, so that what sparsity costs can be checked.
    k : int or 'auto', default='auto'
        The number of centres of each sample's mean.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take; by default below 3√n_l.
    tol : float, default=1e-10
        When "auto" stops adding centres, as in :func:`sparse_kernel_mean`.
    patience : int, default=10
        For how many steps in a row, as in :func:`sparse_kernel_mean`.
    selection : str, default='auto'
        How centres are found, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    error_bars : bool, default=False
        Whether to measure the error of each mean by its certificate, so that |distances_ − full
        distances| ≤ distance_errors_. No bound is known for "kl".
    group : hashable, default=None
        The column of a table that tells samples apart.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the first centres and the halves. All samples share one seed, so that none depends on
        the others.
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    distances_ : ndarray of shape (N, N)
        The distances of the samples: symmetric, with a zero diagonal.
    embedding_ : ndarray of shape (N, n_components) or None
        The coordinates of the samples.
    names_ : list
        The N names of the samples.
    means_ : list of SparseKernelMean or KernelMean
        The N kernel means.
    kernel_ : Kernel
        The kernel of all means.
    bandwidth_ : float
        The kernel's own length (σ, γ, √β).
    scale_ : ndarray of shape (d, d) or None
        The linear map that all samples went through.
    n_neighbors_ : int or None
        The number of neighbours that connected the graph; None without ISOMAP.
    sample_errors_ : ndarray of shape (N,) or None
        The errors of the means, with ``error_bars``; two standard errors up where a certificate is
        an estimate.
    distance_errors_ : ndarray of shape (N, N) or None
        The bounds on the errors of the distances, with ``error_bars``.
    divergences_ : tuple of ndarray or None
        With "kl", D(p_a|p_b) one way as (values, standard_errors, largest_terms), of shape (N, N)
        each.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    distance_matrix : The distances of given means.
    procrustes : Lays two embeddings over one another.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.
    .. [2] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", Science 290, 2000.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> samples = [rng.normal(m, 1.0, (200, 2)) for m in (0.0, 0.0, 2.0, 2.0)]
    >>> embedding = km.DistributionEmbedding(embedding="mds", random_state=0).fit(samples)
    >>> embedding.embedding_.shape, bool(embedding.distances_[0, 1] < embedding.distances_[0, 2])
    ((4, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "mmd",
        embedding: str | None = "isomap",
        n_neighbors: int = 5,
        kernel: str | Kernel = "gaussian",
        bandwidth: float | str = RULE,
        scale: str | ArrayLike | None = None,
        sparse: bool = True,
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        patience: int = 10,
        selection: str = "auto",
        spread: str | None = "auto",
        error_bars: bool = False,
        group: Hashable = None,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.embedding = embedding
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.scale = scale
        self.sparse = sparse
        self.k = k
        self.k_max = k_max
        self.tol = tol
        self.patience = patience
        self.selection = selection
        self.spread = spread
        self.error_bars = error_bars
        self.group = group
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, samples: Any, y: Any = None, *, groups: ArrayLike | None = None) -> Self:
        """Fit a mean to every sample, compare all pairs, and embed.

        Parameters
        ----------
        samples : list of array-like, mapping of names to array-like, or table
            The samples, as the class describes them.
        y : object, default=None
            Not used; there for scikit-learn's pipelines.
        groups : array-like of shape (n,) or None, default=None
            A label per row that tells samples apart, where ``samples`` is one table.

        Returns
        -------
        DistributionEmbedding
            The fitted estimator itself. Time O(N·n·k·d + N²k²·d), memory O(n·d + N·k·d + N²).

        Raises
        ------
        ValueError
            If there are fewer than two samples, or an option is unknown.

        See Also
        --------
        transform : Places new samples among these.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = [rng.normal(m, 1.0, (200, 2)) for m in (0.0, 0.0, 2.0, 2.0)]
        >>> km.DistributionEmbedding(embedding=None, random_state=0).fit(samples).distances_.shape
        (4, 4)
        """
        with _progress.asked(self.verbose):
            self._check()
            found = collect(samples, self.group, groups, engine=self.engine)
            if len(found.samples) < 2:
                raise ValueError(
                    "an embedding compares samples: give at least two, got one (1 sample)."
                )
            kernel, matrix = common(
                found.samples, self.kernel, self.bandwidth, self.scale, self.engine
            )
            names = ("k", "k_max", "tol", "patience", "selection", "spread")
            options = {name: getattr(self, name) for name in names}
            recipe = Recipe(
                kernel,
                matrix,
                sparse=self.sparse,
                engine=self.engine,
                streams=_checks.streams(self.random_state),
                options=options,
                times=len(found.samples),
            )
            self._comparison = compare(self.metric, recipe, found.samples, found.names)
            self.distances_, self.divergences_ = self._comparison.distances()
            self.names_ = found.names
            self.means_ = self._comparison.means
            self.n_features_in_ = found.dimension
            self.kernel_ = kernel
            self.bandwidth_ = kernel.length
            self.scale_ = matrix
            self._remember_columns(found.columns)
            self.sample_errors_ = (
                self._comparison.errors(found.samples) if self.error_bars else None
            )
            self.distance_errors_ = (
                None if self.sample_errors_ is None else _pair_sums(self.sample_errors_)
            )
            self._embed()
            return self

    def fit_transform(self, samples: Any, y: Any = None, *, groups: ArrayLike | None = None) -> Any:
        """Fit, and return the coordinates of the samples.

        Parameters
        ----------
        samples : list of array-like, mapping of names to array-like, or table
            The samples, as the class describes them.
        y : object, default=None
            Not used; there for scikit-learn's pipelines.
        groups : array-like of shape (n,) or None, default=None
            A label per row that tells samples apart, where ``samples`` is one table.

        Returns
        -------
        ndarray of shape (N, n_components) or (N, N)
            The coordinates, or with ``embedding=None`` the distances; a frame where
            :meth:`set_output` says so.

        See Also
        --------
        transform : Places new samples among these.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = [rng.normal(m, 1.0, (200, 2)) for m in (0.0, 0.0, 2.0, 2.0)]
        >>> km.DistributionEmbedding(embedding="mds", random_state=0).fit_transform(samples).shape
        (4, 2)
        """
        self.fit(samples, y, groups=groups)
        found = self.distances_ if self.embedding_ is None else self.embedding_
        return self._contained(found, self.names_)

    def transform(self, new_samples: Any, *, groups: ArrayLike | None = None) -> Any:
        """The coordinates of new samples; the old ones are not fitted again.

        Classical scaling places by Gower's formula [1]_, and ISOMAP by the same on the shortest
        paths through a new sample's nearest neighbours. A sample of the fit comes out where it was.

        Parameters
        ----------
        new_samples : list of array-like, mapping of names to array-like, or table
            M samples, as the class describes them.
        groups : array-like of shape (n,) or None, default=None
            A label per row that tells samples apart, where ``new_samples`` is one table.

        Returns
        -------
        ndarray of shape (M, n_components) or (M, N)
            The coordinates, or with ``embedding=None`` the distances to the old samples; a frame
            where :meth:`set_output` says so.

        See Also
        --------
        fit_transform : The coordinates of the fitted samples.

        References
        ----------
        .. [1] J. C. Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika
           55(3), 1968.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = [rng.normal(m, 1.0, (200, 2)) for m in (0.0, 0.0, 2.0, 2.0)]
        >>> embedding = km.DistributionEmbedding(embedding="mds", random_state=0).fit(samples)
        >>> embedding.transform([rng.normal(1.0, 1.0, (200, 2))]).shape
        (1, 2)
        """
        check_is_fitted(self)
        new = collect(new_samples, self.group, groups, self.n_features_in_, self.engine)
        if (
            new.columns is not None
            and list(getattr(self, "feature_names_in_", new.columns)) != new.columns
        ):
            raise ValueError(
                f"the columns are {new.columns}, but {list(self.feature_names_in_)} were fitted, "
                "in this order."
            )
        D = self._comparison.distances_from(self._comparison.add(new.samples, new.names))
        if self._configuration is not None:
            paths = D if self._geodesics is None else self._geodesics.extend(D)
            D = self._configuration.place(paths)
        return self._contained(D, new.names)

    def get_feature_names_out(self, input_features: Any = None) -> StringVector:
        """The names of the columns of ``transform``.

        Parameters
        ----------
        input_features : object, default=None
            Not used; there for scikit-learn's pipelines.

        Returns
        -------
        ndarray of shape (n_components,) or (N,)
            "distributionembedding0", …, as scikit-learn calls them; with ``embedding=None``
            "distance_" and the name of the fitted sample.

        See Also
        --------
        set_output : Frames with these names.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = {name: rng.normal(size=(200, 2)) for name in ("anna", "bert", "carl")}
        >>> embedding = km.DistributionEmbedding(embedding=None, random_state=0).fit(samples)
        >>> embedding.get_feature_names_out().tolist()
        ['distance_anna', 'distance_bert', 'distance_carl']
        """
        check_is_fitted(self)
        return feature_names(self.embedding_, self.names_)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` and ``fit_transform`` return.

        Parameters
        ----------
        transform : {'default', 'pandas', 'polars'} or None, default=None
            An array, or a frame whose columns are :meth:`get_feature_names_out`; with pandas its
            index has the names of the samples. None changes nothing.

        Returns
        -------
        DistributionEmbedding
            The estimator itself. Without this call ``sklearn.set_config(transform_output=…)``
            decides.

        See Also
        --------
        get_feature_names_out : The names of the columns.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> samples = {name: rng.normal(size=(200, 2)) for name in ("anna", "bert", "carl")}
        >>> embedding = km.DistributionEmbedding(n_neighbors=2, random_state=0)
        >>> embedding.set_output(transform="pandas").fit_transform(samples).index.tolist()
        ['anna', 'bert', 'carl']
        """
        if transform is not None:
            _checks.choice(transform, "output", OUTPUTS)
            self._sklearn_output_config = {"transform": transform}
        return self

    def _contained(self, values: Points, names: list[Any]) -> Any:
        """The values in what was asked for, by ``set_output`` or for all of scikit-learn."""
        own = getattr(self, "_sklearn_output_config", {})
        kind = own.get("transform", get_config()["transform_output"])
        return (
            values
            if kind == "default"
            else frame(values, kind, names, self.get_feature_names_out())
        )

    def _check(self) -> None:
        _checks.choice(self.metric, "metric", METRICS)
        _checks.choice(self.embedding, "embedding", EMBEDDINGS)
        _checks.count(self.n_components, "n_components")
        _checks.count(self.n_neighbors, "n_neighbors")
        if self.error_bars and self.metric == "kl":
            raise ValueError(
                "error_bars=True needs a norm (metric='mmd' or 'l2'): no bound is known for the "
                "Kullback–Leibler divergence; "
                "compare with sparse=False instead."
            )

    def _remember_columns(self, columns: list[str] | None) -> None:
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _embed(self) -> None:
        self._geodesics = (
            geodesics(self.distances_, self.n_neighbors) if self.embedding == "isomap" else None
        )
        D = self.distances_ if self._geodesics is None else self._geodesics.matrix
        self._configuration = (
            None if self.embedding is None else classical_mds(D, self.n_components)
        )
        self.embedding_ = None if self._configuration is None else self._configuration.coordinates
        self.n_neighbors_ = None if self._geodesics is None else self._geodesics.n_neighbors


def _pair_sums(errors: Vector) -> Matrix:
    """err_a + err_b, which bounds |D_ab − D0_ab|; 0 on the diagonal, where both are 0."""
    sums: Matrix = errors[:, None] + errors[None, :]
    np.fill_diagonal(sums, 0.0)
    return sums

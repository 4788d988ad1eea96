"""Distributions as points, in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks
from kernelmean._types import ArrayLike, Matrix, Points, RandomState, Vector
from kernelmean.embedding.collection import collect
from kernelmean.embedding.coordinates import classical_mds, geodesics
from kernelmean.embedding.distances import METRICS, compare
from kernelmean.engines import Engine
from kernelmean.fitting.recipe import RULE, Recipe, common
from kernelmean.kernels import Kernel

EMBEDDINGS = ("isomap", "mds", None)


class DistributionEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Samples as points in a plane, near where their distributions are alike (the paper's first
    application).

    Every sample gets a sparse kernel mean with one common kernel; the distances between the means,
    O(N²k²), are embedded by ISOMAP or classical scaling. N samples of n points cost N selections,
    O(N·n·k·d); memory is O(n·d + k²) for a fit, and O(N·k·d + N²) for what is kept.

    Samples are a list of (n_l, d) arrays, a mapping from names to arrays, a pandas or polars table
    with a ``group`` column, or one table with ``groups``, a label per row.

    Parameters
    ----------
    n_components : coordinates of the embedding.
    metric : "mmd" (distance of the kernel means in the RKHS), "l2" (of the densities), or "kl"
        (Kullback–Leibler divergence, both directions added: densities with nonnegative weights
        fitted on one half of each sample, averaged over the other half in the log domain, and 0
        where chance takes it below).
    embedding : "isomap", "mds" (classical scaling), or None for the distances only, which
        ``fit_transform`` then returns (for UMAP, t-SNE or clustering with precomputed distances).
    n_neighbors : of the graph of ISOMAP, at most N − 1; more are taken, with a warning, where it
        would fall into parts.
    kernel : a name with ``bandwidth``, or an instance such as ``km.Gaussian(0.5)``.
    bandwidth : one for all samples. A number, or a rule that is read on each sample and averaged
        over the samples that have any spread; "iqr" is the paper's for cytometry.
    scale : None, "std" or "cov" (of the pooled points), or a matrix.
    sparse : False for the full kernel means: what sparsity costs can be checked.
    k, k_max, tol, patience, selection : of each sample's mean, as in :func:`sparse_kernel_mean`; at
        most the largest integer below 3√n_l centres.
    error_bars : measure each mean's error by its certificate, so that |distances_ − full distances|
        ≤ distance_errors_. None is known for "kl".
    group : the column of a table that tells samples apart.
    engine : "cpu", "naive", or an engine instance.
    random_state : first centres and halves. All samples share one seed, so that none depends on the
        others.

    Attributes
    ----------
    distances_ : (N, N), symmetric, zero diagonal.
    embedding_ : (N, n_components), or None.
    names_ : list of N names.
    means_ : list of N kernel means.
    kernel_, bandwidth_, scale_ : common to all; ``bandwidth_`` is the kernel's own length (σ, γ,
        √β).
    n_neighbors_ : that connected the graph; None without ISOMAP.
    sample_errors_, distance_errors_ : (N,) and (N, N) with ``error_bars``, else None; two standard
        errors up where a certificate is an estimate.
    divergences_ : with "kl", D(p_a|p_b) one way as (values, standard_errors, largest_terms), (N, N)
        each; else None.

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
        error_bars: bool = False,
        group: Hashable = None,
        engine: str | Engine = "cpu",
        random_state: RandomState = None,
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
        self.error_bars = error_bars
        self.group = group
        self.engine = engine
        self.random_state = random_state

    def fit(self, samples: Any, y: Any = None, *, groups: ArrayLike | None = None) -> Self:
        """Fit a mean to every sample, compare all pairs, and embed."""
        self._check()
        found = collect(samples, self.group, groups, engine=self.engine)
        if len(found.samples) < 2:
            raise ValueError(
                "an embedding compares samples: give at least two, got one (1 sample)."
            )
        kernel, matrix = common(found.samples, self.kernel, self.bandwidth, self.scale, self.engine)
        options = {
            name: getattr(self, name) for name in ("k", "k_max", "tol", "patience", "selection")
        }
        recipe = Recipe(
            kernel,
            matrix,
            sparse=self.sparse,
            engine=self.engine,
            streams=_checks.streams(self.random_state),
            options=options,
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
        self.sample_errors_ = self._comparison.errors(found.samples) if self.error_bars else None
        self.distance_errors_ = (
            None if self.sample_errors_ is None else _pair_sums(self.sample_errors_)
        )
        self._embed()
        return self

    def fit_transform(
        self, samples: Any, y: Any = None, *, groups: ArrayLike | None = None
    ) -> Points:
        """The coordinates of the samples, (N, n_components); the distances, (N, N), with
        ``embedding=None``.
        """
        self.fit(samples, y, groups=groups)
        return self.distances_ if self.embedding_ is None else self.embedding_

    def transform(self, new_samples: Any, *, groups: ArrayLike | None = None) -> Points:
        """Coordinates of new samples, the old ones not fitted again; without embedding the
        distances to the old, (M, N).

        Classical scaling places by Gower's formula, ISOMAP by the same on the shortest paths
        through a new sample's nearest neighbours. A sample of the fit comes out where it was.
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
        if self._configuration is None:
            return D
        return self._configuration.place(
            D if self._geodesics is None else self._geodesics.extend(D)
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

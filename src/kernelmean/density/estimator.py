"""SparseKDE: a kernel density estimate that takes the place of scikit-learn's KernelDensity."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, engines
from kernelmean._types import ArrayLike, Points, RandomState, Vector
from kernelmean.density import scoring as density
from kernelmean.engines.arrays import WeightedPoints
from kernelmean.fitting.stream import MeanStream
from kernelmean.mean import sampling
from kernelmean.mean.loading import load
from kernelmean.mean.value import SparseKernelMean
from kernelmean.samples import estimators as checking

RESERVOIR = 10_000  # rows kept by partial_fit to know the quantiles of the log-density


def _is_sparse(estimator: SparseKDE) -> bool:
    if not estimator.sparse:
        raise AttributeError(
            "partial_fit needs sparse=True: a full density estimate would keep every batch."
        )
    return True


class SparseKDE(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel density estimate on k ≪ n centres: nonnegative, of integral one, optimal in L2.

    The interface is that of ``sklearn.neighbors.KernelDensity``.

    Parameters
    ----------
    bandwidth : a positive number (the kernel's own length), or a rule that follows the data's
        scale: "scott", "silverman", "iqr", "median", "mode", "likelihood"; "jaakkola" where ``fit``
        is given labels.
    kernel : "gaussian", "laplacian" (or "exponential"), "cauchy", or a kernel such as
        ``km.Student(3, 1.0)``.
    scale : None, "std", "cov" or a matrix that maps the data first; log-densities carry its
        Jacobian.
    k : "auto", or the number of centres.
    k_max : most that "auto" may take; by default below 3√n, but at least 600.
    tol, patience, selection, refine : see ``km.sparse_kernel_mean``.
    sparse : False keeps every point as a centre: the exact kernel density estimate, through the
        same fast sums.
    engine : "cpu", "gpu", "cluster", "naive", or an engine instance; threads are the engine's.
        Mapped files, ``km.read`` and Dask collections are fitted where they are, with any.
    random_state : the first centre, and whatever else the selection draws.

    Attributes
    ----------
    mean_ : the fitted density, a :class:`SparseKernelMean` (a :class:`KernelMean` with
        ``sparse=False``)
    bandwidth_ : length of the fitted kernel (σ, γ, √β)
    log_quantiles_ : (1001,) quantiles of the training points' log-density, at levels 0, .001, …, 1
    merging_error_ : after ``partial_fit`` or ``merge``, what the merges have cost at most, in the
        L2 norm; files keep it
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Fitting costs time O(n·k·d + k³) and memory O(n·d + k²); scoring O(k·d) per point.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> density = km.SparseKDE(k=60, random_state=0).fit(X)
    >>> near, far = density.score_samples([[0.0, 0.0], [3.0, 3.0]])
    >>> bool(near > far)
    True
    >>> density.sample(3, random_state=0).shape
    (3, 2)
    """

    def __init__(
        self,
        *,
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
    ) -> None:
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
        """Fit to the rows of X, (n, d); y only serves the rule "jaakkola". Time O(n·k·d + k³)."""
        checked = checking.points(self, X, reset=True, least=checking.fewest(self.bandwidth))
        weights = checking.weights(sample_weight, len(checked))
        self._stream: MeanStream | None = None
        self._reservoir: Points | None = None
        settings = fit_settings(self, checked, y, weights)
        if self.sparse:
            fitted: density.Density = settings.fit(checked, weights, self.random_state)
        else:
            fitted = settings.full(checked, weights)
        return self._become(fitted, density.log_quantiles(fitted, checked, weights))

    @available_if(_is_sparse)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch: fitted on its own with the kernel of the first batch, and merged as in a
        balanced tree.

        Memory does not grow with the number of batches (but for its logarithm): with ``k="auto"`` a
        merged density has at most ``k_max`` centres, or as many as the largest batch's, at least
        600. After ``load`` the stream goes on. ``merging_error_`` bounds what the merges have cost,
        in the L2 norm.
        """
        old: SparseKernelMean | None = getattr(self, "mean_", None)
        least = 1 if old else checking.fewest(self.bandwidth)
        checked = checking.points(self, X, reset=old is None, least=least, sample=True)
        weights = checking.weights(sample_weight, len(checked))
        settings = (
            fit_settings(self, checked, y, weights) if old is None else settings_of(self).like(old)
        )
        batch = settings.fit(checked, weights, self.random_state)
        stream = self._streamed(batch).add(batch)
        _, present, positive = engines.present(checked, weights)
        self._reservoir = self._drawn_rows(
            present, positive, batch.n_points / sum(mean.n_points for mean in stream.means)
        )
        return self._go_on(stream)

    def merge(self, other: SparseKDE) -> Self:
        """Take in what another estimator was fitted to, such as that of another machine; both with
        the same kernel.
        """
        for estimator in (self, other):
            check_is_fitted(estimator)
            if not isinstance(estimator.mean_, SparseKernelMean):
                raise ValueError("a full density estimate cannot be merged: fit with sparse=True.")
        share = other.mean_.n_points / (self.mean_.n_points + other.mean_.n_points)
        second: SparseKernelMean = other.mean_  # type: ignore[assignment]  # both were looked at above
        stream = self._streamed(second).merge(other._streamed(second))
        self._reservoir = self._drawn_rows(other._remembered(), None, share)
        return self._go_on(stream)

    def score_samples(self, X: ArrayLike) -> Vector:
        """log f at each row of X, (q,), normalised in any dimension."""
        check_is_fitted(self)
        return self.mean_.log(checking.points(self, X, reset=False))

    def score(self, X: ArrayLike, y: ArrayLike | None = None) -> float:
        """Total log-likelihood of the rows of X."""
        return float(np.sum(self.score_samples(X)))

    def score_gradient(self, X: ArrayLike) -> Points:
        """∇ log f at each row of X, (q, d)."""
        check_is_fitted(self)
        return self.mean_.log_gradient(checking.points(self, X, reset=False))

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Points:
        """(n_samples, d) random points of the fitted density."""
        check_is_fitted(self)
        return sampling.draw(
            self.mean_,
            _checks.count(n_samples, "n_samples"),
            _checks.streams(random_state).of("sample"),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """One small file: centres, weights, column names and quantiles of the log-density; no
        pickle, no training data.
        """
        check_is_fitted(self)
        if not isinstance(self.mean_, SparseKernelMean):
            raise ValueError(
                "a full density estimate is its data, and no model without it: fit with "
                "sparse=True to save one."
            )
        self.mean_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Any = None) -> Self:
        """A fitted estimator from its file; ``kernel`` only for one that was fitted with a kernel
        of the user's own.
        """
        mean = load(path, kernel=kernel)
        if not mean.is_density:
            raise ValueError(
                f"{os.fspath(path)} holds a kernel mean that is no density; use km.load(path)."
            )
        fitted = cls(kernel=mean.kernel, scale=mean.scale, k=mean.k)
        fitted.n_features_in_ = mean.dimension
        if mean.columns is not None:
            fitted.feature_names_in_ = np.array(mean.columns, dtype=object)
        return fitted._become(mean, mean.log_quantiles)

    def _go_on(self, stream: MeanStream) -> Self:
        assert self._reservoir is not None
        fitted = stream.with_error()
        self._stream = stream
        return self._become(fitted, density.log_quantiles(fitted, self._reservoir))

    def _streamed(self, batch: SparseKernelMean) -> MeanStream:
        """The stream so far, with room for the centres of this batch; after fit or load it begins
        with the fitted density.
        """
        stream: MeanStream | None = getattr(self, "_stream", None)
        if stream is None:
            stream = MeanStream(constraint="simplex")
            fitted: SparseKernelMean | None = getattr(self, "mean_", None)
            stream = stream if fitted is None else stream.add(fitted, fitted.merging_error or 0.0)
        return replace(stream, k=self._most_centers(max(mean.k for mean in (*stream.means, batch))))

    def _most_centers(self, largest: int) -> int:
        if self.k != "auto":
            return _checks.count(self.k, "k")
        return (
            max(largest, density.FEWEST)
            if self.k_max is None
            else _checks.count(self.k_max, "k_max")
        )

    def _remembered(self) -> Points:
        """Rows of all batches so far; after fit or load, points drawn from the fitted density in
        their place.
        """
        kept: Points | None = getattr(self, "_reservoir", None)
        if kept is None:
            kept = sampling.draw(
                self.mean_, RESERVOIR, _checks.streams(self.random_state).of("reservoir")
            )
        return kept

    def _become(self, fitted: density.Density, log_quantiles: Vector | None) -> Self:
        if isinstance(fitted, SparseKernelMean):
            fitted = replace(
                fitted, log_quantiles=log_quantiles, columns=checking.column_names(self)
            )
        self.__dict__.pop("merging_error_", None)  # of an earlier stream
        if isinstance(fitted, SparseKernelMean) and fitted.merging_error is not None:
            self.merging_error_ = fitted.merging_error
        self.mean_ = fitted
        self.bandwidth_ = fitted.kernel.length
        self.log_quantiles_ = log_quantiles
        return self

    def _drawn_rows(self, X: Points, weights: Vector | None, share: float) -> Points:
        """Rows that stand for all batches so far: the new batch has its share of them."""
        old = self._remembered() if hasattr(self, "mean_") else X[:0]
        sample = WeightedPoints(X, weights)
        most = (
            int(sample.size) if sample.counted else len(X)
        )  # integer weights are repeated rows here too
        fresh = min(most, max(1, round(share * RESERVOIR)))
        kept = min(len(old), round((1.0 - share) * fresh / share))
        drawn = X[sample.locate((np.arange(fresh) + 0.5) / fresh)]
        return np.concatenate([self._kept_rows(old, kept), drawn])

    def _kept_rows(self, rows: Points, count: int) -> Points:
        """Some of the rows of earlier batches; one order for every batch would keep the same places
        for ever.
        """
        batches = int(self.mean_.n_points) if hasattr(self, "mean_") else 0
        return (
            _checks.streams(self.random_state)
            .of("reservoir rows", batches)
            .permutation(rows)[:count]
        )


def settings_of(estimator: Any) -> density.Settings:
    """The parameters of an estimator that say how a density is fitted."""
    return density.Settings(
        **{name: getattr(estimator, name) for name in density.Settings.__dataclass_fields__}
    )


def fit_settings(
    estimator: Any, X: Points, y: ArrayLike | None, weights: Vector | None
) -> density.Settings:
    """The same with the rule "jaakkola" turned into a kernel, where there are labels."""
    settings = settings_of(estimator)
    if y is None or settings.bandwidth != "jaakkola":
        return settings
    return settings.labelled(X, y, weights)

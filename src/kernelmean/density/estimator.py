"""SparseKDE: a kernel density estimate that takes the place of scikit-learn's KernelDensity."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernelmean import _checks, _progress
from kernelmean._types import ArrayLike, Points, RandomState, Vector
from kernelmean.density.fitting import (
    Density,
    density_settings,
    fit_density,
    fit_settings,
    like,
    memory_of,
)
from kernelmean.density.mixture import gaussian_mixture, mean_log_density
from kernelmean.density.on_domain import fit_on_domain
from kernelmean.density.quantiles import evenly_spread_rows, log_quantiles
from kernelmean.fitting.full import full_mean
from kernelmean.fitting.settings import FEWEST_DENSITY_CENTERS
from kernelmean.fitting.stream import MeanStream
from kernelmean.mean import sampling
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.loading import load_mean
from kernelmean.mean.on_domain import DomainMean
from kernelmean.mean.questions.answers import Answers
from kernelmean.mean.questions.methods import DensityQuestions
from kernelmean.mean.value import SparseKernelMean, is_by_likelihood
from kernelmean.samples import ArraySample, Sample, WeightedSample, coded, estimators
from kernelmean.samples.coded import CodedSample

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

RESERVOIR = 10_000  # rows kept by partial_fit to know the quantiles of the log-density


def _is_sparse(estimator: SparseKDE) -> bool:
    if not estimator.sparse:
        raise AttributeError(
            "partial_fit needs sparse=True: a full density estimate would keep every batch."
        )
    return True


def _kind_of(density: Density) -> str | None:
    """What the spreads of a density are."""
    mean = density.base if isinstance(density, DomainMean) else density
    return mean.expansion.atoms.kind


def _refuse_domain(estimator: SparseKDE, method: str) -> None:
    """A ValueError for what is not offered where columns are bounded or periodic, or hold names."""
    if estimator.domain is not None or isinstance(getattr(estimator, "mean_", None), DomainMean):
        raise ValueError(
            f"{method} is for densities whose columns take any number, and this one has a domain."
        )


class SparseKDE(DensityQuestions, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Density on k ≪ n centres: the likeliest, or a copy of a kernel density estimate.

    It is nonnegative and of integral one. The interface is that of
    ``sklearn.neighbors.KernelDensity``. ``target`` says which of the two it is.

    Parameters
    ----------
    bandwidth : float or str, default='auto'
        The kernel's own length, or a rule that follows the data's scale: "scott", "silverman",
        "iqr", "median", "mode", "likelihood"; also "jaakkola" where ``fit`` is given labels. "auto"
        leaves it to the likelihood of rows that are left out: see ``target``.
    kernel : str or Kernel, default='gaussian'
        "gaussian", "laplacian" (or "exponential"), "cauchy", or a kernel such as ``km.Student(3,
        1.0)``.
    scale : {'auto', 'std', 'cov'}, array-like of shape (d, d) or None, default='auto'
        A linear map that is applied to the data first; log-densities carry its Jacobian. "auto"
        divides each coordinate by its width, measured by quantiles: neither foreign units nor a
        few gross outliers change anything. With a bandwidth or a kernel of one's own, which is in
        the units of the data, "auto" leaves these as they are, as None always does.
    k : int or 'auto', default='auto'
        The number of centres.
    k_max : int or None, default=None
        The most centres that ``k="auto"`` may take. By default it is below 3√n, but at least 600.
    tol : float, default=1e-10
        When "auto" stops adding centres, as in :func:`sparse_kernel_mean`.
    patience : int, default=10
        For how many steps in a row, as in :func:`sparse_kernel_mean`.
    error : float or None, default=None
        A relative error in L2 to reach, in the place of ``k`` and ``tol``: the fewest centres that
        do, up to ``k_max``, which is then n by default or as many as fit memory.
    selection : str or array-like of int, default='auto'
        How centres are found, as in :func:`sparse_kernel_mean`.
    refine : int, default=0
        How many steps move the centres off the data, as in :func:`sparse_kernel_mean`.
    spread : {'auto', 'scalar', 'full'} or None, default='auto'
        Whether centres have a width of their own, as in :func:`sparse_kernel_mean`. None: they are
        points. "scalar" and "full": they are small Gaussians in the place of the points near them,
        round or of any shape. "auto": whichever does best, where the kernel is a Gaussian.
    target : {'auto', 'kde', 'likelihood'}, default='auto'
        What the density is to be near to. "kde": the kernel density estimate of all points, of
        which it is a sparse copy with a certificate. "likelihood": the density that the points come
        from. Its atoms are then fitted by EM, their number and how freely their covariances vary by
        rows that are held out, and ``mean_.estimated_error`` is None: there is no kernel mean to be
        near to. Only for a Gaussian kernel; a bandwidth that is given is the least width of an
        atom. "auto" is "likelihood", unless a bandwidth, ``k``, another kernel, ``selection``,
        ``refine``, ``error``, ``spread=None`` or ``sparse=False`` ask for a copy.
    sparse : bool, default=True
        False keeps every point as a centre: the exact kernel density estimate, by the same fast
        sums.
    domain : mapping or None, default=None
        What columns can hold, by name or position: a pair ``(lower, upper)`` of bounds, None where
        there is none, :class:`Periodic`, :class:`Categorical`, or for two columns that are
        longitude and latitude :class:`Sphere`. The density is zero beyond bounds and loses nothing
        there, and rows beyond them are refused. Columns of categories may hold words. Only for a
        Gaussian kernel and rows in memory.
    engine : {'cpu', 'gpu', 'cluster', 'auto', 'naive'} or Engine, default='cpu'
        What computes; threads are the engine's. Mapped files, :func:`read` and Dask collections are
        fitted where they are, with any engine.
    random_state : int, RandomState instance, numpy.random.Generator or None, default=None
        Seeds the choice of the first centre, and whatever else the selection draws.
    memory : str, joblib.Memory or None, default=None
        A folder or a joblib memory that keeps selections, as in scikit-learn's ``Pipeline``: a
        search over bandwidths with a whole number as ``random_state`` then selects once per fold,
        where centres are points (``spread=None``); spreads are fitted for each bandwidth.
        Without it nothing is remembered from one fit to the next.
    verbose : bool, default=False
        Whether to show on stderr how far a fit is that takes longer than a second.

    Attributes
    ----------
    mean_ : SparseKernelMean or KernelMean
        The fitted density; the latter with ``sparse=False``.
    bandwidth_ : float
        The length of the fitted kernel (σ, γ, √β); the least width of atoms where ``target_`` is
        "likelihood".
    scale_ : ndarray of shape (d, d) or None
        The linear map before the kernel.
    target_ : {'kde', 'likelihood'}
        What the density was fitted to be near to.
    log_quantiles_ : ndarray of shape (1001,)
        The quantiles of the log-density of the training points, at levels 0, 0.001, …, 1.
    merging_error_ : float
        What the merges of ``partial_fit`` or ``merge`` have cost at most, in the L2 norm; there
        only after one of them. Files keep it.
    n_features_in_ : int
        The number of coordinates seen in ``fit``.
    feature_names_in_ : ndarray of shape (d,)
        The names of the coordinates, where the data had names.

    See Also
    --------
    sparse_kernel_mean : The same fit without scikit-learn's interface.
    SparseKDEClassifier : Bayes' rule with one density per class.
    SparseKDEOutlierDetector : Points where the density is low.
    sklearn.neighbors.KernelDensity : The exact estimate by trees.

    Notes
    -----
    A copy costs time O(n·k·d + k³) and memory O(n·d + k²), and is optimal in L2 [1]_; scoring costs
    O(k·d) per point. By likelihood [2]_ at most 20 000 rows are searched for the number of atoms,
    each step at O(k·d²) per row; scoring costs O(k·d²) per point.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.
    .. [2] P. Smyth and D. Wolpert, "Linearly Combining Density Estimators via Stacking", Machine
       Learning 36, 1999.

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
        bandwidth: float | str = "auto",
        kernel: Any = "gaussian",
        scale: Any = "auto",
        k: int | str = "auto",
        k_max: int | None = None,
        tol: float = 1e-10,
        patience: int = 10,
        error: float | None = None,
        selection: Any = "auto",
        refine: int = 0,
        spread: str | None = "auto",
        target: str = "auto",
        sparse: bool = True,
        domain: Any = None,
        engine: Any = "cpu",
        random_state: RandomState = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.scale = scale
        self.k = k
        self.k_max = k_max
        self.tol = tol
        self.patience = patience
        self.error = error
        self.selection = selection
        self.refine = refine
        self.spread = spread
        self.target = target
        self.sparse = sparse
        self.domain = domain
        self.engine = engine
        self.random_state = random_state
        self.memory = memory
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike | Sample,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the density to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training points, one per row.
        y : array-like of shape (n,) or None, default=None
            Labels of the rows, which only the rule ``bandwidth="jaakkola"`` reads.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows.

        Returns
        -------
        SparseKDE
            The fitted estimator itself. Time O(n·k·d + k³), memory O(n·d + k²).

        See Also
        --------
        partial_fit : Takes the sample batch by batch.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> density.mean_.k
        40
        """
        with _progress.asked(self.verbose):
            least = estimators.fewest(self.bandwidth)
            if self.domain is not None:
                return self._fit_coded(coded.weighted_sample(self, X, sample_weight, least))
            sample = estimators.weighted_sample(self, X, sample_weight, least=least)
            self._stream: MeanStream | None = None
            self._reservoir: Points | None = None
            settings = fit_settings(self, sample, y, self.error)
            if self.sparse:
                chance = _checks.streams(self.random_state)
                fitted: Density = fit_density(sample, settings, chance, memory_of(self))
            else:
                fitted = full_mean(sample, settings)
            return self._become(fitted, log_quantiles(fitted, sample))

    def _fit_coded(self, rows: CodedSample) -> Self:
        """:meth:`fit` for rows of a domain that are checked, and numbers, already."""
        settings = density_settings(self, self.error)
        chance = _checks.streams(self.random_state)
        fitted = fit_on_domain(rows, settings, chance, memory_of(self), sparse=self.sparse)
        return self._become(fitted, log_quantiles(fitted, rows.sample))

    @available_if(_is_sparse)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of points to those that were fitted before.

        The batch is fitted on its own with the kernel of the first batch, and merged as in a
        balanced tree; by likelihood, the width of that kernel is the least of an atom. Memory does
        not grow with the number of batches, but for its logarithm: with ``k="auto"`` a merged
        density has at most ``k_max`` centres, or as many as the largest batch's, at least 600.
        After ``load`` the stream goes on. ``merging_error_`` bounds what the merges have cost, in
        the L2 norm.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points of the batch, one per row.
        y : array-like of shape (n,) or None, default=None
            Labels of the rows, which only the rule ``bandwidth="jaakkola"`` reads, and in the first
            batch.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows. Integer weights mean repeated rows.

        Returns
        -------
        SparseKDE
            The fitted estimator itself. Time O(n·k·d + k³) for a batch of n points.

        Raises
        ------
        AttributeError
            If ``sparse=False``: a full density estimate would keep every batch.

        See Also
        --------
        merge : Takes in another estimator.
        MeanStream : What keeps the densities of the batches.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> rng, density = np.random.default_rng(0), km.SparseKDE(k=40, random_state=0)
        >>> for _ in range(3):
        ...     density = density.partial_fit(rng.normal(size=(500, 2)))
        >>> density.mean_.n_points
        1500
        """
        with _progress.asked(self.verbose):
            _refuse_domain(self, "partial_fit")
            old: SparseKernelMean | None = getattr(self, "mean_", None)
            least = 1 if old else estimators.fewest(self.bandwidth)
            sample = estimators.weighted_sample(
                self, X, sample_weight, reset=old is None, least=least
            )
            if old is None:
                settings = fit_settings(self, sample, y, self.error)
            else:
                settings = like(density_settings(self, self.error), old)
            batch = fit_density(
                sample, settings, _checks.streams(self.random_state), memory_of(self)
            )
            stream = self._streamed(batch).add(batch)
            total = sum(mean.n_points for mean in stream.means)
            self._reservoir = self._drawn_rows(sample, batch.n_points / total)
            by_likelihood = is_by_likelihood(batch) and (old is None or is_by_likelihood(old))
            return self._go_on(stream, by_likelihood)

    def merge(self, other: SparseKDE) -> Self:
        """Take in what another estimator was fitted to, such as that of another machine.

        Parameters
        ----------
        other : SparseKDE
            A fitted estimator with the same kernel and scale. Those by likelihood have the same
            where both were given the same ``bandwidth``, in the units of the data or with the same
            matrix as ``scale``.

        Returns
        -------
        SparseKDE
            This estimator, which now stands for the points of both.

        Raises
        ------
        ValueError
            If one of them was fitted with ``sparse=False``, or if their kernels differ.

        See Also
        --------
        partial_fit : Adds a batch of points.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(600, 2))
        >>> halves = [km.SparseKDE(bandwidth=0.5, k=40).fit(part) for part in (X[:300], X[300:])]
        >>> halves[0].merge(halves[1]).mean_.n_points
        600
        """
        for estimator in (self, other):
            check_is_fitted(estimator)
            _refuse_domain(estimator, "merge")
            if not isinstance(estimator.mean_, SparseKernelMean):
                raise ValueError("a full density estimate cannot be merged: fit with sparse=True.")
        by_likelihood = is_by_likelihood(self.mean_) and is_by_likelihood(other.mean_)
        share = other.mean_.n_points / (self.mean_.n_points + other.mean_.n_points)
        second: SparseKernelMean = other.mean_  # type: ignore[assignment]  # both were looked at above
        stream = self._streamed(second).merge(other._streamed(second))
        rows = WeightedSample.of(ArraySample(other._remembered()))
        self._reservoir = self._drawn_rows(rows, share)
        return self._go_on(stream, by_likelihood)

    def score_samples(self, X: ArrayLike, *, missing: str = "error") -> Vector:
        """The log-density at each row of X, normalised in any dimension.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.
        missing : {'error', 'marginal'}, default='error'
            What to do with NaN, None or NA, and with nothing in a file: refuse it, or take the
            marginal density of the columns that a row has, which is log f = 0 where it has none.
            The latter needs a Gaussian kernel, and is a density in as many dimensions as the row
            has values: compare such rows with others that miss the same columns.

        Returns
        -------
        ndarray of shape (q,)
            log f at each point. Time O(q·k·d), and O(k·d³) for each set of columns that rows miss.

        See Also
        --------
        score : Their sum.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> near, far = density.score_samples([[0.0, 0.0], [3.0, 3.0]])
        >>> bool(near > far)
        True
        """
        check_is_fitted(self)
        incomplete = _checks.choice(missing, "missing", ("error", "marginal")) == "marginal"
        if isinstance(self.mean_, DomainMean):
            rows = coded.queries(self, X, self.mean_.domain, incomplete=incomplete)
            return self.mean_.log(rows, missing=missing)
        if incomplete:
            return self.mean_.log(estimators.incomplete(self, X), missing="marginal")
        return self.mean_.log(estimators.queries(self, X))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """The total log-likelihood of the rows of X.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.
        y : array-like or None, default=None
            Not used; there for scikit-learn's pipelines.
        sample_weight : array-like of shape (q,) or None, default=None
            Nonnegative weights w of the rows. Integer weights mean repeated rows.

        Returns
        -------
        float
            Σ log f over the points, or Σ w log f. Time O(q·k·d).

        See Also
        --------
        score_samples : The single terms.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> bool(np.isclose(density.score(X), density.score_samples(X).sum()))
        True
        """
        logs = self.score_samples(X)
        if estimators.weights(sample_weight, len(logs)) is None:
            return float(np.sum(logs))
        w = np.asarray(sample_weight, dtype=np.float64)
        counted = w > 0.0  # a row of weight zero is absent, even where f is zero
        return float(np.sum(w[counted] * logs[counted]))

    def score_gradient(self, X: ArrayLike) -> Points:
        """The gradient of the log-density at each row of X.

        Parameters
        ----------
        X : array-like of shape (q, d)
            The points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇ log f at each point. Time O(q·k·d).

        See Also
        --------
        score_samples : The log-density itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> density.score_gradient(X[:3]).shape
        (3, 2)
        """
        check_is_fitted(self)
        if isinstance(self.mean_, DomainMean):
            return self.mean_.log_gradient(coded.queries(self, X, self.mean_.domain))
        return self.mean_.log_gradient(estimators.queries(self, X))

    def to_gaussian_mixture(self) -> GaussianMixture:
        """The fitted density as scikit-learn's Gaussian mixture, which it is.

        Component a has the weight α_a, the mean c_a and the covariance A⁻¹(S_a + σ²I)A⁻ᵀ, with σ
        the bandwidth, S_a the spread of the centre, 0 for points, and A the ``scale``. Centres of
        weight zero are left out.

        Returns
        -------
        sklearn.mixture.GaussianMixture
            The fitted mixture, with ``covariance_type="full"``. Its ``lower_bound_`` is the mean
            log-density of the training points, from ``log_quantiles_``. Time O(k·d³), memory
            O(k·d²).

        Raises
        ------
        ValueError
            If the kernel is not a Gaussian, or the covariances do not fit memory.

        See Also
        --------
        score_samples : The same log-density.
        sklearn.mixture.GaussianMixture : Mixtures fitted by likelihood.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(k=40, random_state=0).fit(X)
        >>> mixture = density.to_gaussian_mixture()
        >>> np.allclose(mixture.score_samples(X), density.score_samples(X))
        True
        """
        check_is_fitted(self)
        _refuse_domain(self, "to_gaussian_mixture")
        mixture = gaussian_mixture(self.mean_)  # type: ignore[arg-type]  # a mean on no domain
        mixture.lower_bound_ = mean_log_density(self.log_quantiles_)
        if estimators.column_names(self) is not None:
            mixture.feature_names_in_ = self.feature_names_in_
        return mixture

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float64") -> None:
        """Write the log-density to an ONNX file, which runs without this package or Python.

        The graph has the input "X" of shape (n, d) and the output "log_density" of shape (n,).
        Nothing of the training data is in the file but the centres; ``columns`` in its properties
        names the columns of X.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file, which is whole or absent.
        dtype : {'float64', 'float32'}, default='float64'
            The type of input, arithmetic and output. In double precision the output is
            ``score_samples`` to some 1e-12 of its size, far in the tails too; in single precision
            to some 1e-5, as far as the rows themselves can be told apart.

        Raises
        ------
        ValueError
            If the density has a ``domain`` or a kernel of one's own, or was fitted with
            ``sparse=False``: a full estimate is its data.
        ImportError
            If onnx is not installed.

        See Also
        --------
        save : Writes a file that this package reads.
        to_gaussian_mixture : The same density as an estimator of scikit-learn.

        Notes
        -----
        A batch of n rows takes time O(n·k·d), O(n·k·d²) where the spreads are full, and memory
        O(n·k·d): send batches.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> density = km.SparseKDE(random_state=0).fit(X)
        >>> density.to_onnx("density.onnx")  # doctest: +SKIP
        """
        check_is_fitted(self)
        _refuse_domain(self, "to_onnx")
        if not isinstance(self.mean_, SparseKernelMean):
            raise ValueError(
                "a full density estimate is its data, and no model without it: fit with "
                "sparse=True for to_onnx."
            )
        self.mean_.to_onnx(path, dtype=dtype)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted density to one small file, without pickle and without training data.

        The file holds the centres, the weights, the names of the columns and the quantiles of the
        log-density. It is whole or absent.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file.

        Raises
        ------
        ValueError
            If the estimator was fitted with ``sparse=False``: a full estimate is its data.

        See Also
        --------
        load : Reads the file again.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import numpy as np, kernelmean as km
        >>> density = km.SparseKDE(bandwidth=1.0).fit(np.array([[0.0], [1.0]]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     density.save(pathlib.Path(folder) / "density.km")
        ...     km.SparseKDE.load(pathlib.Path(folder) / "density.km").mean_.k
        2
        """
        check_is_fitted(self)
        if isinstance(getattr(self.mean_, "base", self.mean_), KernelMean):
            raise ValueError(
                "a full density estimate is its data, and no model without it: fit with "
                "sparse=True to save one."
            )
        self.mean_.save(path)  # type: ignore[union-attr]  # it is none of KernelMean

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Any = None) -> Self:
        """Read a fitted estimator from its file.

        Parameters
        ----------
        path : str or os.PathLike
            A file that :meth:`save` wrote, or :meth:`SparseKernelMean.save` for a mean that is a
            density.
        kernel : Kernel or None, default=None
            The kernel, which is only needed where it is the user's own (:class:`Radial`).

        Returns
        -------
        SparseKDE
            The fitted estimator; :meth:`partial_fit` goes on from there.

        Raises
        ------
        ValueError
            If the file is damaged or of another kind, or holds a kernel mean that is no density.

        See Also
        --------
        save : Writes the file.
        kernelmean.load : Reads a mean that need not be a density.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import numpy as np, kernelmean as km
        >>> density = km.SparseKDE(bandwidth=1.0).fit(np.array([[0.0], [1.0]]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     density.save(pathlib.Path(folder) / "density.km")
        ...     km.SparseKDE.load(pathlib.Path(folder) / "density.km").n_features_in_
        1
        """
        mean = load_mean(path, kernel)
        if not mean.is_density:
            raise ValueError(
                f"{os.fspath(path)} holds a kernel mean that is no density; use km.load(path)."
            )
        target = "likelihood" if is_by_likelihood(mean) else "kde"
        fitted = cls(
            kernel=mean.kernel,
            scale=mean.scale,
            k="auto" if target == "likelihood" else mean.k,
            spread=_kind_of(mean),
            target=target,
            domain=mean.domain if isinstance(mean, DomainMean) else None,
        )
        fitted.n_features_in_ = mean.dimension
        if mean.columns is not None:
            fitted.feature_names_in_ = np.array(mean.columns, dtype=object)
        return fitted._become(mean, mean.log_quantiles)

    def _asked(self) -> Answers:
        check_is_fitted(self)
        return self.mean_._asked().named(estimators.column_names(self))

    def _again(self, mean: Any, names: tuple[str, ...] | None) -> Self:
        """A fitted estimator of a part of this density."""
        part: Density = self.mean_._again(mean, names)
        by_likelihood = self.target_ == "likelihood"
        fitted: Self = clone(self)  # of which a subclass may have parameters of its own
        settings = SparseKDE(
            kernel=part.kernel,
            scale=part.scale,
            k="auto" if by_likelihood or not self.sparse else part.k,
            spread=_kind_of(part) if self.sparse else "auto",
            target=self.target_ if self.sparse else "auto",
            sparse=self.sparse,
            domain=part.domain if isinstance(part, DomainMean) else None,
            engine=self.engine,
            random_state=self.random_state,
            verbose=self.verbose,
        )
        fitted.__dict__.update(settings.__dict__)
        fitted.n_features_in_ = part.dimension
        if names is not None:
            fitted.feature_names_in_ = np.array(names, dtype=object)
        return fitted._become(part, None)

    def _go_on(self, stream: MeanStream, by_likelihood: bool) -> Self:
        assert self._reservoir is not None
        fitted = stream.with_error()
        if by_likelihood:
            fitted = replace(fitted, kappa=None, indicator=None, stop_reason="likelihood")
        self._stream = stream
        rows = WeightedSample.of(ArraySample(self._reservoir))
        return self._become(fitted, log_quantiles(fitted, rows))

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
            max(largest, FEWEST_DENSITY_CENTERS)
            if self.k_max is None
            else _checks.count(self.k_max, "k_max")
        )

    def _remembered(self) -> Points:
        """Rows of all batches so far; after fit or load, points drawn from the fitted density in
        their place.
        """
        kept: Points | None = getattr(self, "_reservoir", None)
        if kept is None:
            rng = _checks.streams(self.random_state).of("reservoir")
            kept = sampling.draw(self.mean_, RESERVOIR, rng)  # type: ignore[arg-type]  # as above
        return kept

    def _become(self, fitted: Density, log_quantiles: Vector | None) -> Self:
        if isinstance(fitted, SparseKernelMean | DomainMean):
            fitted = replace(
                fitted, log_quantiles=log_quantiles, columns=estimators.column_names(self)
            )
        self.__dict__.pop("merging_error_", None)  # of an earlier stream
        if isinstance(fitted, SparseKernelMean) and fitted.merging_error is not None:
            self.merging_error_ = fitted.merging_error
        self.mean_ = fitted
        self.bandwidth_ = fitted.kernel.length
        self.scale_ = fitted.scale
        self.target_ = "likelihood" if is_by_likelihood(fitted) else "kde"
        self.log_quantiles_ = log_quantiles
        return self

    def _drawn_rows(self, sample: WeightedSample, share: float) -> Points:
        """Rows that stand for all batches so far: the new batch has its share of them."""
        points = sample.sample
        old = self._remembered() if hasattr(self, "mean_") else points.rows(np.arange(0))
        summary = sample.summary
        # Integer weights are repeated rows here too.
        most = int(summary.size) if summary.counted else len(sample)
        fresh = min(most, max(1, round(share * RESERVOIR)))
        kept = min(len(old), round((1.0 - share) * fresh / share))
        drawn = points.rows(evenly_spread_rows(sample, fresh))
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

"""The sparse kernel mean: a frozen value that evaluates, compares, truncates, refits, certifies and
saves itself.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from kernelmean import _checks, _shown, coefficients, engines, kernels, samples
from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import (
    ArrayLike,
    Constraint,
    IntVector,
    Matrix,
    Points,
    RandomState,
    Solver,
    Space,
    StopReason,
    Vector,
)
from kernelmean.bandwidth.resolve import DEFAULT_RULE, rescaled, resolve_kernel
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Atoms, Kernel, RadialFunction, Spreads
from kernelmean.linalg.factor import Factor
from kernelmean.mean import certificate as certificates
from kernelmean.mean import scaling, storage
from kernelmean.mean.cards import mean_card
from kernelmean.mean.certificate import Certificate, Comparison, kernel_means
from kernelmean.mean.expansion import AnyMean, KernelMean, freeze
from kernelmean.mean.gauge import Candidate, Gauge
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mean.onnx_graph import write_density
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.methods import Asked, DensityQuestions
from kernelmean.samples import Queries, Sample, WeightedSample

ARRAYS = (
    "centers",
    "weights",
    "scale",
    "indices",
    "radii",
    "kappa",
    "indicator",
    "center_mass",
    "log_quantiles",
    "spreads",
)
NUMBERS = ("cover", "incoherence", "jitter", "n_points", "nearest_bound")
LEVELS = np.linspace(0.0, 1.0, 1001)  # of ``log_quantiles``
PLAIN = ("nested", "merging_error", "estimated_error")  # in headers of later releases alone
LIKELIHOOD = "likelihood"  # ``selection`` of fits by likelihood
WORDS = ("space", "selection", "stop_reason", "constraint", "solver")


@dataclass(frozen=True, eq=False)
class SparseKernelMean(DensityQuestions):
    """z = Σ_a α_a φ(·, c_a) ≈ z̄ = Σ_j p_j φ(·, x_j), with k centres for n points.

    It is a frozen value that :func:`sparse_kernel_mean` makes. It evaluates itself at O(k·d) per
    point, and needs O(k·d) memory. Quantities of the k × k problem (``kappa``, ``indicator``,
    ``incoherence``, ``jitter``) are in units of g(0), where g(r) is the inner product of two
    kernels at a distance r.

    Attributes
    ----------
    centers : ndarray of shape (k, d)
        The centres c_a, in the order in which they were selected.
    weights : ndarray of shape (k,)
        The coefficients α_a.
    kernel : Kernel
        The kernel φ, with its bandwidth.
    space : {'rkhs', 'l2'}
        The space in which distances are taken.
    scale : ndarray of shape (d, d) or None
        The linear map that is applied to the data before the kernel. Distances are taken after it.
    selection : str
        How the centres were found.
    indices : ndarray of shape (k,) or None
        The rows of X that are centres; None where centres are no rows.
    radii : ndarray of shape (k,)
        The distance of each centre to the nearest earlier one when it was picked.
    cover : float
        The largest distance of a point to its nearest centre.
    incoherence : float
        ν = g(cover).
    kappa : ndarray of shape (k,) or None
        κ_a = Σ_j p_j g(‖c_a − x_j‖); for atoms the mean of that over the atom. None for a density
        that was fitted by likelihood: there is no kernel mean that it would be near to.
    indicator : ndarray of shape (k,) or None
        E_1, …, E_k, with err² = ‖z̄‖² + E; None where ``kappa`` is.
    jitter : float
        What was added to the diagonal of the k × k matrix so that its Cholesky factor exists.
    stop_reason : {'tol', 'k_max', 'rank', 'distinct', 'fixed', 'error', 'likelihood', 'derived'}
        Why no further centre was taken; "error": the estimated relative error is at most what was
        asked for, 1 % where centres may have spreads and nothing was;
        "likelihood": rows that were held out asked for no more; "derived": it is a marginal or a
        conditional of another mean, or several merged.
    n_points : float
        The number n of points; for a weighted sample the sum of its weights, or Kish's effective
        size.
    constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None
        The constraint on the weights.
    solver : {'cholesky', 'cg'}
        What found the weights.
    center_mass : ndarray of shape (k,) or None
        The weight of the points that coincide with each centre.
    nearest_bound : float or None
        The bound behind :attr:`tighter_bound`, in units of the norm of one kernel.
    columns : tuple of str or None
        The names of the coordinates, where the data had them.
    transform : str or None
        What the values of a file went through, as :func:`read` names it.
    log_quantiles : ndarray of shape (1001,) or None
        The quantiles of the log-density of the training points, where an estimator fitted the mean.
    nested : bool
        Whether the centres are farthest-first on these points, so that the first m of them cover
        the points within ``radii[m]``.
    merging_error : float or None
        What the merges of the batches of a stream have cost at most, in the norm, where an
        estimator merged some.
    spreads : ndarray of shape (k,) or (k, d, d), or None
        The variances s_a² or the covariances S_a of centres that are Gaussians N(c_a, S_a), in the
        coordinates of the kernel, that is after ``scale``; None where centres are points. φ(·, c_a)
        is then the mean of φ(·, x) over x from that Gaussian. Such centres are no rows, and there
        is no ``bound``; the certificate says the error.
    estimated_error : float or None
        What the fit thinks of its own relative error ‖z̄ − z‖/‖z̄‖, mostly within 20 %: from about
        a hundred random frequencies. None where it is not known: after ``truncate``, ``refit``
        without data and ``merge``, in files of earlier releases, and where a kernel of one's own
        leaves it open. :meth:`certificate` measures it.
    engine : str or Engine
        What computes kernel sums.

    See Also
    --------
    sparse_kernel_mean : Fits one to a sample.
    KernelMean : The same sum without what is known of the fit.
    load : Reads one from a file.

    References
    ----------
    .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE Transactions
       on Signal Processing 65(5), 2017.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> mean = km.sparse_kernel_mean(
    ...     X, kernel=km.Gaussian(0.8), k=40, constraint="simplex", random_state=0
    ... )
    >>> mean(X[:3]).shape, mean.gradient(X[:3]).shape
    ((3,), (3, 2))
    >>> mean.truncate(10).k, mean.refit(constraint=None).constraint
    (10, None)
    >>> mean.distance(mean)
    0.0
    """

    centers: Points  # (k, d), in selection order
    weights: Vector  # (k,) α
    kernel: Kernel
    space: Space
    scale: (
        Matrix | None
    )  # (d, d) map applied to the data before the kernel; distances below are after it
    selection: str
    indices: IntVector | None  # rows of X; None off the data
    radii: Vector  # (k,) distance of each centre to the earlier ones
    cover: float  # largest distance of a point to its nearest centre
    incoherence: float  # ν = g(cover)
    kappa: Vector | None  # (k,) κ_a = Σ_j p_j g(‖c_a − x_j‖)
    indicator: Vector | None  # (k,) E_1..E_k; err² = ‖z̄‖² + E
    jitter: float
    stop_reason: StopReason
    n_points: float  # n; Σw or Kish's effective size for a weighted sample
    constraint: Constraint = None
    solver: Solver = "cholesky"
    center_mass: Vector | None = None  # (k,) weight of the points that coincide with each centre
    nearest_bound: float | None = None  # tighter than ``bound``, where that applies
    columns: tuple[str, ...] | None = None  # names of the coordinates, where the data had them
    transform: str | None = (
        None  # what the values of its file went through, as ``km.read`` names it
    )
    log_quantiles: Vector | None = (
        None  # (1001,) of the training points' log-density at levels 0, .001, …, 1
    )
    # farthest-first on the points behind κ: the first m centres cover them within radii[m]
    nested: bool = False
    merging_error: float | None = (
        None  # what the merges of a stream behind it have cost, at most, in the norm
    )
    spreads: Spreads | None = None  # (k,) or (k, d, d), in the coordinates of the kernel
    estimated_error: float | None = None  # ‖z̄ − z‖/‖z̄‖, as the fit estimates it
    engine: str | Engine = field(default="cpu", repr=False)

    def __post_init__(self) -> None:
        freeze(self, ARRAYS)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseKernelMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        kind = "centres" if self.spreads is None else f"{self.expansion.atoms.kind} atoms"
        where = _shown.counted(self.dimension, "dimension")
        size = f"{self.k} {kind} for {self.n_points:.15g} points in {where}"
        stop = (
            f"{self.stop_reason}, every distinct point is a centre"
            if self.stop_reason == "distinct"
            else self.stop_reason
        )
        found = self.estimated_error
        error = "" if found is None else f", estimated error: {found:.2g}"
        kernel = str(self.kernel)
        if self.kappa is None and self.stop_reason != "derived":
            kernel = f"each at least {self.kernel.length:.3g} wide"
        scaled = "" if self.scale is None else ", scaled"
        return (
            f"SparseKernelMean({size}, {kernel}{scaled}, space={self.space!r}, {self.selection}, "
            f"stop: {stop}{error})"
        )

    def _repr_html_(self) -> str:
        facts = self.expansion._facts() | {"selection": self.selection, "stop": self.stop_reason}
        if self.estimated_error is not None:
            facts["estimated error"] = f"{100.0 * self.estimated_error:.2g} %"
        if self.columns is not None:
            facts["columns"] = _listed(self.columns)
        return mean_card("SparseKernelMean", facts, self.expansion, curve=True)

    @property
    def k(self) -> int:
        """Number of centres."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""
        return int(self.centers.shape[1])

    @property
    def is_density(self) -> bool:
        """Whether it is a mixture of density-normalised kernels: in L2, with weights α ≥ 0."""
        return self.expansion.is_density

    def __call__(self, Q: ArrayLike | Queries) -> Vector:
        """The value of z at the query points.

        Far in the tails or in high dimension z may underflow to 0; :meth:`log` does not.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            z(q_1), …, z(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If Q is a frame whose columns have other names, or stand in another order.
        """
        return self._named(Q)(Q)

    def log(self, Q: ArrayLike | Queries, *, missing: str = "error") -> Vector:
        """The logarithm of z at the query points, without underflow.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.
        missing : {'error', 'marginal'}, default='error'
            What to do with NaN, None or NA, and with nothing in a file: refuse it, or take the
            marginal of the columns that a row has, which is 0 where it has none. The latter needs a
            Gaussian density.

        Returns
        -------
        ndarray of shape (q,)
            log z(q_1), …, log z(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If a weight is negative: fit or refit with ``constraint="simplex"``. If Q is a frame
            whose columns have other names, or stand in another order.

        See Also
        --------
        log_gradient : Its gradient.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [1.0]])
        >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=2, constraint="simplex")
        >>> mean.log([[100.0]]).round(1)
        array([-4901.2])
        """
        return self._named(Q).log(Q, missing=missing)

    def gradient(self, Q: ArrayLike | Queries) -> Points:
        """The gradient ∇z at the query points; a centre adds nothing at its own kink.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇z(q_1), …, ∇z(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If Q is a frame whose columns have other names, or stand in another order.

        See Also
        --------
        log_gradient : The gradient of the logarithm.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> abs(mean.gradient([[1.0]])).round(6)
        array([[0.]])
        """
        return self._named(Q).gradient(Q)

    def log_gradient(self, Q: ArrayLike | Queries) -> Points:
        """The gradient ∇ log z at the query points, also where z underflows.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇ log z(q_1), …, ∇ log z(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If a weight is negative: fit or refit with ``constraint="simplex"``. If Q is a frame
            whose columns have other names, or stand in another order.

        See Also
        --------
        gradient : The gradient of z itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [1.0]])
        >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=2, constraint="simplex")
        >>> mean.log_gradient([[100.0]]).round(1)
        array([[-99.]])
        """
        return self._named(Q).log_gradient(Q)

    def inner(self, other: AnyMean) -> float:
        """The inner product ⟨z, z′⟩ in the space of both means.

        Parameters
        ----------
        other : SparseKernelMean or KernelMean
            A mean of the same space and scale, with k′ centres.

        Returns
        -------
        float
            Σ_ab α_a α′_b g(‖c_a − c′_b‖). Time O(k·k′·d).

        Raises
        ------
        ValueError
            If the two means live in different spaces, or use different scales.

        See Also
        --------
        distance : The norm of the difference.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> round(mean.inner(mean), 4)
        0.8033
        """
        return self.expansion.inner(other)

    def distance(self, other: AnyMean) -> float:
        """The distance ‖z − z′‖ to another mean.

        In the RKHS it is the maximum mean discrepancy, in L2 the L2 distance of the two densities.

        Parameters
        ----------
        other : SparseKernelMean or KernelMean
            A mean of the same space and scale, with k′ centres.

        Returns
        -------
        float
            The distance. Time O((k + k′)²·d).

        Raises
        ------
        ValueError
            If the two means live in different spaces, or use different scales.

        See Also
        --------
        distance_matrix : All distances between many means.
        mmd : The distance of two samples.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=20, random_state=0)
        >>> mean.distance(mean)
        0.0
        """
        return self.expansion.distance(other)

    @lazy
    def expansion(self) -> KernelMean:
        """The mean z as a plain sum over its centres, without what is known of how it came about.

        Returns
        -------
        KernelMean
            The same centres, weights, kernel, space and scale.
        """
        return KernelMean(
            self.centers,
            self.weights,
            self.kernel,
            self.space,
            self.scale,
            self.n_points,
            self.engine,
            self.spreads,
        )

    def truncate(self, m: int) -> SparseKernelMean:
        """The optimal mean on the first m centres, found without the data.

        Parameters
        ----------
        m : int
            How many centres to keep, at most k.

        Returns
        -------
        SparseKernelMean
            The mean with the best weights on those centres, under the same constraint. Time O(m³).

        Raises
        ------
        ValueError
            If m is below 1 or above the number of centres.

        See Also
        --------
        refit : Other weights on all centres.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=20, random_state=0)
        >>> mean.truncate(5).k
        5
        """
        if _checks.count(m, "m") > self.k:
            raise ValueError(f"m must be at most the number of centres, {self.k}, got {m}.")
        if m == self.k:
            return self
        short = replace(
            self,
            centers=self.centers[:m],
            indices=None if self.indices is None else self.indices[:m],
            spreads=None if self.spreads is None else self.spreads[:m],
            radii=self.radii[:m],
            cover=float(self.radii[m]) if self.nested else math.nan,
            center_mass=None if self.center_mass is None else self.center_mass[:m],
            stop_reason="fixed",
        )
        kappa = self._required_kappa("truncate")[:m]
        return short._solved(kappa, self.kernel, self.constraint, nearest_bound=None)

    def refit(
        self,
        X: ArrayLike | Sample | None = None,
        *,
        kernel: str | Kernel | None = None,
        bandwidth: float | str | None = None,
        constraint: Constraint | str = "same",
        sample_weight: ArrayLike | None = None,
    ) -> SparseKernelMean:
        """Other coefficients on the same centres; the selection is not repeated.

        Parameters
        ----------
        X : array-like of shape (n, d) or None, default=None
            The sample. A new kernel or bandwidth needs it, since κ changes; a new constraint does
            not.
        kernel : str, Kernel or None, default=None
            The new kernel, or its name; None keeps the family of the present one.
        bandwidth : float, str or None, default=None
            The new kernel's own length, or a rule that reads it from X; None keeps the present one.
        constraint : {'same', 'simplex', 'simplex-projection', 'sum-to-one'} or None, default='same'
            The constraint on the new weights.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows of X. Integer weights mean repeated rows.

        Returns
        -------
        SparseKernelMean
            The mean with the same centres and new weights. Time O(n·k·d + k³) with X, O(k³)
            without.

        Raises
        ------
        ValueError
            If a kernel or a bandwidth is given without X.

        See Also
        --------
        truncate : The best mean on the first few centres.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(1.0), k=20, random_state=0)
        >>> mean.refit(X, bandwidth=0.5).kernel.length
        0.5
        >>> bool((mean.refit(constraint="simplex").weights >= 0).all())
        True
        """
        _checks.choice(constraint, "constraint", ("same", *coefficients.CONSTRAINTS))
        wanted: Constraint = self.constraint if constraint == "same" else constraint  # type: ignore[assignment]
        if X is None:
            if kernel is not None or bandwidth is not None:
                raise ValueError(
                    "a new kernel or bandwidth changes κ: give the data, refit(X, ...)."
                )
            kappa = self._required_kappa("refit")
            return self._solved(kappa, self.kernel, wanted, self.nearest_bound)
        if kernel is None and bandwidth is None:
            self._required_kappa("refit")
        data = self._load(X, sample_weight)
        new = self._other_kernel(kernel, bandwidth, data.cloud)
        if self.spreads is not None and not new.traits.spreads:
            raise ValueError(
                f"the centres have spreads, which need a Gaussian kernel, not {new}: fit again "
                "with spread=None."
            )
        return self.refit_on(data, new, wanted)

    @property
    def bound(self) -> float | None:
        """The bound of Theorem 1 of [1]_ on ‖z̄ − z‖.

        With the unit of the norm put back it is (1 − k/n)·√(g(0) − g(cover)²/g(0)).

        Returns
        -------
        float or None
            The bound; None where it does not apply, that is for constrained, merged or off-data
            means.

        References
        ----------
        .. [1] E. Cruz Cortés and C. Scott, "Sparse Approximation of a Kernel Mean", IEEE
           Transactions on Signal Processing 65(5), 2017.
        """
        if not self._bounded or math.isnan(self.cover):
            return None
        assert self.center_mass is not None
        radial = self.kernel.radial(self.dimension, self.space)
        return self._with_jitter(
            certificates.theorem_1(self.cover, radial, float(self.center_mass.sum()))
        )

    @property
    def tighter_bound(self) -> float | None:
        """The bound Σ_j p_j √(g(0) − g(D_j)²/g(0)) on ‖z̄ − z‖.

        D_j is the distance of x_j to its nearest centre.

        Returns
        -------
        float or None
            A bound that is never above :attr:`bound`; None where that does not apply.
        """
        if not self._bounded or self.nearest_bound is None:
            return None
        return self._with_jitter(self.nearest_bound)

    def certificate(
        self,
        X: ArrayLike | Sample,
        *,
        method: str = "auto",
        sample_weight: ArrayLike | None = None,
        size: int | None = None,
        random_state: RandomState = None,
    ) -> Certificate:
        """The measured error ‖z̄ − z‖, where z̄ is the kernel mean of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The sample whose kernel mean is compared with z.
        method : {'auto', 'exact', 'rows', 'spectral'}, default='auto'
            "exact" sums over all pairs, in time O(n²·d). "rows" takes the residual at ``size``
            rows, and is good above relative errors of 1e-2. "spectral" takes ``size`` random
            frequencies, in time O((n + k)·size·d), and has no floor that matters. "auto" is exact
            up to 20 000 points unless rounding hides the answer, else spectral.
        sample_weight : array-like of shape (n,) or None, default=None
            Nonnegative weights of the rows of X. Integer weights mean repeated rows.
        size : int or None, default=None
            The number of rows (2000 by default) or of frequencies (4000 by default).
        random_state : int, RandomState instance, numpy.random.Generator or None, default=None
            Decides which rows or which frequencies are taken.

        Returns
        -------
        Certificate
            The error, the error relative to ‖z̄‖, and its standard error. Memory O(n·d + k²).

        See Also
        --------
        bound : What is promised without measuring.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> mean = km.sparse_kernel_mean(X, bandwidth=1.0, k=9, selection="kcenter", random_state=0)
        >>> found = mean.certificate(X)
        >>> found.method, bool(found.error <= mean.bound)
        ('exact', True)
        """
        _checks.choice(method, "method", certificates.METHODS)
        self._required_kappa("certificate")
        opened = engines.precise(engines.open(self.engine))
        case = Comparison(
            self._load(X, sample_weight).cloud,
            opened,
            self.kernel,
            self.space,
            self.expansion.atoms,
            self.weights,
        )
        count = None if size is None else _checks.count(size, "size", least=2)
        found = certificates.measure(case, method, _checks.streams(random_state), count)
        error, spread = scaling.times_exp(
            np.array([found.error, found.standard_error]), 0.5 * self.expansion.log_unit
        )
        return found._replace(error=float(error), standard_error=float(spread))

    def to_onnx(self, path: str | os.PathLike[str], *, dtype: str = "float64") -> None:
        """Write the logarithm of a density to an ONNX file, which runs without Python.

        The graph has the input "X" of shape (n, d) and the output "log_density" of shape (n,).
        Nothing of the training data is in the file but the centres; ``columns`` and ``transform``
        in its properties say what the columns of X are.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file, which is whole or absent.
        dtype : {'float64', 'float32'}, default='float64'
            The type of input, arithmetic and output.

        Raises
        ------
        ValueError
            If the mean is no density, or its kernel is the user's own (:class:`Radial`).
        ImportError
            If onnx is not installed.

        See Also
        --------
        log : The same values.
        save : Writes a file that this package reads.

        Notes
        -----
        A batch of n rows takes time O(n·k·d), O(n·k·d²) where the spreads are full, and memory
        O(n·k·d): send batches.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> X = np.array([[0.0], [1.0]])
        >>> mean = km.sparse_kernel_mean(X, k=2, space="l2", constraint="simplex")
        >>> mean.to_onnx("density.onnx")  # doctest: +SKIP
        """
        known = {"columns": self.columns, "transform": self.transform}
        given = {name: value for name, value in known.items() if value is not None}
        write_density(self.expansion, path, dtype, given)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mean to one small file, without pickle and without the data.

        The file is whole or absent, even if the program ends while it is written.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write the file.

        See Also
        --------
        load : Reads the mean again.

        Examples
        --------
        >>> import tempfile, pathlib, numpy as np, kernelmean as km
        >>> mean = km.sparse_kernel_mean(np.array([[0.0], [1.0]]), kernel=km.Gaussian(1.0), k=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mean.save(pathlib.Path(folder) / "mean.km")
        ...     km.load(pathlib.Path(folder) / "mean.km").k
        2
        """
        storage.write(path, *self.packed())

    def packed(self) -> tuple[dict[str, Any], storage.Arrays]:
        """What a file holds of the mean: a header and arrays.

        Returns
        -------
        header : dict
            Words and small values, as JSON can hold them.
        arrays : dict of str to ndarray
            The arrays by name.
        """
        numbers = {name: getattr(self, name) for name in NUMBERS}
        header: dict[str, Any] = {name: getattr(self, name) for name in WORDS}
        header["kernel"] = kernels.describe(self.kernel)
        header["transform"] = self.transform
        header |= {name: getattr(self, name) for name in PLAIN}
        header["columns"] = None if self.columns is None else list(self.columns)
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        present["numbers"] = np.array([math.nan if v is None else v for v in numbers.values()])
        return header, {name: _plain(a) for name, a in present.items()}

    # The rest is how the value works inside.

    def _named(self, Q: Any) -> KernelMean:
        """The expansion, or a ValueError where Q has other columns or another order of them."""
        self._asked().columns.refuse_other_order(Q, "Q")
        return self.expansion

    def _asked(self) -> Asked:
        return Asked(self.expansion, Columns(self.dimension, self.columns))

    def _again(self, mean: KernelMean, names: tuple[str, ...] | None) -> SparseKernelMean:
        """A part of this density: nothing of what is known of the fit holds for it.

        It says that it comes from a fit by likelihood, even where such fits were merged.
        """
        return replace(
            self,
            centers=mean.centers,
            weights=mean.weights,
            kernel=mean.kernel,
            scale=mean.scale,
            spreads=mean.spreads,
            columns=names,
            indices=None,
            radii=np.full(mean.k, np.inf),
            cover=math.nan,
            incoherence=math.nan,
            kappa=None,
            indicator=None,
            selection=LIKELIHOOD if is_by_likelihood(self) else self.selection,
            stop_reason="derived",
            center_mass=None,
            nearest_bound=None,
            log_quantiles=None,
            nested=False,
            merging_error=None,
            estimated_error=None,
        )

    @property
    def _bounded(self) -> bool:
        return (
            self.center_mass is not None and self.constraint is None and self.solver == "cholesky"
        )

    def _with_jitter(self, bound: float) -> float:
        """The theorem speaks of the exact optimum; λ‖α‖² is what the jitter can add to the squared
        error.
        """
        squared = bound**2 + self.jitter * float(self.weights @ self.weights)
        return float(scaling.times_exp(math.sqrt(squared), 0.5 * self.expansion.log_unit))

    def refit_on(
        self,
        data: LoadedSample,
        kernel: Kernel,
        constraint: Constraint,
        gauge: Gauge | None = None,
    ) -> SparseKernelMean:
        """Other coefficients on the same centres, from a sample that is loaded already.

        Parameters
        ----------
        data : LoadedSample
            The sample, in the coordinates of the kernel.
        kernel : Kernel
            The new kernel.
        constraint : {'simplex', 'simplex-projection', 'sum-to-one'} or None
            On the new weights.
        gauge : Gauge or None, default=None
            What estimates the error of the new mean, where the caller has one.

        Returns
        -------
        SparseKernelMean
            The new mean, as by :meth:`refit`.
        """
        cloud = data.cloud
        centers = data.map(self.centers)
        radial = kernel.radial(self.dimension, self.space)
        kappa = kernel_means(cloud, radial, Atoms(centers, self.spreads))
        distances = cloud.nearest(centers).distances()
        rows = None if self.indices is None else data.find(self.indices, self.centers)
        mass = None
        if self.center_mass is not None:
            opened = engines.open(self.engine)
            mass = certificates.coincident_mass(cloud, opened, distances, centers)
        fresh = replace(
            self,
            n_points=cloud.summary.size,
            cover=distances.cover,
            indices=None if rows is None else self.indices,
            nested=self.nested and rows is not None and _is_farthest_first(cloud, rows),
            center_mass=mass,
        )
        points = self.spreads is None
        bound = certificates.nearest_bound(distances, radial) if points else None
        solved = fresh._solved(kappa, kernel, constraint, bound)
        gauge = gauge or Gauge(cloud, data.engine, kernel, self.space, Streams(0))
        atoms = Atoms(centers, self.spreads)
        found = Candidate.of(atoms, solved.weights, kappa, kernel, self.space)
        return replace(solved, estimated_error=gauge.estimate(found))

    def _required_kappa(self, method: str) -> Vector:
        """κ, or a ValueError where no kernel mean was approximated."""
        if self.kappa is None and self.stop_reason == "derived":
            raise ValueError(
                f"this density is a part of another, and nothing is known of its kernel mean: "
                f"{method} needs that; use the density that it was taken from."
            )
        if self.kappa is None:
            raise ValueError(
                f"this density was fitted by likelihood and is near to no kernel mean: {method} "
                "needs one; fit again with other settings, or with target='kde'."
            )
        return self.kappa

    def _load(self, X: ArrayLike | Sample, sample_weight: ArrayLike | None) -> LoadedSample:
        """The data in the coordinates of the kernel."""
        self._asked().columns.refuse_other_order(X, "X")
        checked = samples.check(X, self.engine, "X", self.dimension)
        weighted = WeightedSample.of(checked, _checks.weights(sample_weight, len(checked)))
        count = float(len(weighted)) * self.k
        engine = engines.choose(self.engine, count, checked.on_device)
        return LoadedSample.of(weighted, engine, self.scale, self.centers[0])

    def _other_kernel(
        self, kernel: str | Kernel | None, bandwidth: float | str | None, cloud: PointCloud
    ) -> Kernel:
        """The kernel asked for; a length or a rule rescales the present family."""
        if bandwidth is None:
            return self.kernel if kernel is None else resolve_kernel(kernel, DEFAULT_RULE, cloud)
        if kernel is None:
            return rescaled(self.kernel, bandwidth, cloud)
        return resolve_kernel(kernel, bandwidth, cloud)

    def _solved(
        self, kappa: Vector, kernel: Kernel, constraint: Constraint, nearest_bound: float | None
    ) -> SparseKernelMean:
        """The same centres with new coefficients for κ."""
        radial = kernel.radial(self.dimension, self.space)
        factor = Factor(radial)
        factor.append(self.expansion.atoms, kappa)
        return replace(
            self,
            kernel=kernel,
            weights=coefficients.weights(factor, len(kappa), constraint, self.solver),
            kappa=kappa,
            indicator=factor.indicator,
            jitter=factor.jitter,
            incoherence=incoherence(radial, self.cover),
            constraint=constraint,
            nearest_bound=nearest_bound,
            log_quantiles=None,
            merging_error=None,
            estimated_error=None,
        )


def is_by_likelihood(density: Any) -> bool:
    """Whether a density, or that inside one on a domain, was fitted by likelihood.

    A part of one that was is, too.
    """
    density = getattr(density, "base", density)
    if not isinstance(density, SparseKernelMean):
        return False
    return LIKELIHOOD in (density.selection, density.stop_reason)


def _is_farthest_first(cloud: PointCloud, rows: IntVector) -> bool:
    """Whether farthest-first from the first of these rows picks the others in this order: O(nkd) at
    most, as κ.
    """
    return np.array_equal(cloud.traverse(int(rows[0])).take(len(rows)).indices, rows)


def incoherence(radial: RadialFunction, cover: float) -> float:
    """ν = g(W)/g(0), W the cover; not known where the cover is not."""
    return math.nan if math.isnan(cover) else float(radial(np.array(cover**2)))


def _plain(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.astype(np.int64) if a.dtype.kind == "i" else a


def _listed(names: tuple[str, ...], most: int = 8) -> str:
    """The first names, and how many more there are."""
    more = f", … ({len(names)})" if len(names) > most else ""
    return ", ".join(names[:most]) + more

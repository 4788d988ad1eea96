"""The sparse kernel mean: a frozen value that evaluates, compares, truncates, refits, certifies and
saves itself.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from kernelmean import _checks, coefficients, engines, kernels, samples
from kernelmean._lazy import lazy
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
from kernelmean.kernels import Kernel, RadialFunction
from kernelmean.linalg.factor import Factor
from kernelmean.mean import certificate as certificates
from kernelmean.mean import scaling, storage
from kernelmean.mean.certificate import Certificate, Comparison
from kernelmean.mean.expansion import AnyMean, KernelMean, freeze
from kernelmean.mean.loaded import LoadedSample
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
)
NUMBERS = ("cover", "incoherence", "jitter", "n_points", "nearest_bound")
LEVELS = np.linspace(0.0, 1.0, 1001)  # of ``log_quantiles``
WORDS = ("space", "selection", "stop_reason", "constraint", "solver")


@dataclass(frozen=True, eq=False)
class SparseKernelMean:
    """z = Σ_a α_a φ(·, c_a) ≈ z̄ = Σ_j p_j φ(·, x_j), with k centres for n points.

    A frozen value: it evaluates itself at O(k·d) per point, and needs O(k·d) memory. Quantities of
    the k × k problem (``kappa``, ``indicator``, ``incoherence``, ``jitter``) are in units of g(0).

    Attributes
    ----------
    centers : (k, d) in selection order.
    weights : (k,) α.
    kernel : φ, with its bandwidth.
    space : "rkhs" or "l2", in which distances are taken.
    scale : a (d, d) map applied before the kernel, or None.
    selection : how centres were found.
    indices : (k,) rows of X that are centres; None off the data.
    radii : (k,) distance of each centre to the earlier ones.
    cover : largest distance of a point to its nearest centre.
    incoherence : ν = g(cover).
    kappa : (k,) κ_a = Σ_j p_j g(‖c_a − x_j‖).
    indicator : (k,) E_1, …, E_k with err² = ‖z̄‖² + E.
    jitter : what was added to the diagonal so that the factor exists.
    stop_reason : "tol", "k_max", "rank", "distinct" or "fixed".
    n_points : n; Σw or the effective size of a weighted sample.
    constraint : on the weights, None where there is none.
    solver : that found the weights.
    columns : names of the coordinates, where they were known.
    transform : what the values of a file went through.
    log_quantiles : of the log-density of the training points, where an estimator fitted the mean.
    merging_error : what merging the batches of a stream has cost, at most, where an estimator
        merged some.
    nested : whether the centres are farthest-first on these points, so that the first m cover them
        within ``radii[m]``.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> mean = km.sparse_kernel_mean(X, kernel=km.Gaussian(0.8), k=40, constraint="simplex", random_state=0)
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
    kappa: Vector  # (k,) κ_a = Σ_j p_j g(‖c_a − x_j‖)
    indicator: Vector  # (k,) E_1..E_k; err² = ‖z̄‖² + E
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
    engine: str | Engine = field(default="cpu", repr=False)

    def __post_init__(self) -> None:
        freeze(self, ARRAYS)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseKernelMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        size = f"{self.k} centres for {self.n_points:.15g} points in {self.dimension} dimensions"
        stop = (
            f"{self.stop_reason}, every distinct point is a centre"
            if self.stop_reason == "distinct"
            else self.stop_reason
        )
        return (
            f"SparseKernelMean({size}, {self.kernel}, space={self.space!r}, {self.selection}, "
            f"stop: {stop})"
        )

    @property
    def k(self) -> int:
        """Number of centres."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.centers.shape[1])

    @property
    def is_density(self) -> bool:
        """Whether it is a mixture of density-normalised kernels: in L2, with weights α ≥ 0."""
        return self.expansion.is_density

    def __call__(self, Q: ArrayLike | Queries) -> Vector:
        """z at the query points, (q,). Time O(qkd); far in the tails or in high dimension use
        :meth:`log`.
        """
        return self.expansion(Q)

    def log(self, Q: ArrayLike | Queries) -> Vector:
        """log z at the query points, without underflow; needs nonnegative weights."""
        return self.expansion.log(Q)

    def gradient(self, Q: ArrayLike | Queries) -> Points:
        """∇z at the query points, (q, d); 0 from a centre at its own kink."""
        return self.expansion.gradient(Q)

    def log_gradient(self, Q: ArrayLike | Queries) -> Points:
        """∇ log z at the query points, (q, d), also where z underflows; needs nonnegative weights."""
        return self.expansion.log_gradient(Q)

    def inner(self, other: AnyMean) -> float:
        """⟨z, z′⟩ in the space of both; the other may be a full :class:`KernelMean`."""
        return self.expansion.inner(other)

    def distance(self, other: AnyMean) -> float:
        """‖z − z′‖: the maximum mean discrepancy in the RKHS, the L2 distance of densities in L2."""
        return self.expansion.distance(other)

    @lazy
    def expansion(self) -> KernelMean:
        """z as a plain sum over its centres, without what is known of how it came about."""
        return KernelMean(
            self.centers,
            self.weights,
            self.kernel,
            self.space,
            self.scale,
            self.n_points,
            self.engine,
        )

    def truncate(self, m: int) -> SparseKernelMean:
        """The optimal mean on the first m centres, without the data."""
        if _checks.count(m, "m") > self.k:
            raise ValueError(f"m must be at most the number of centres, {self.k}, got {m}.")
        if m == self.k:
            return self
        short = replace(
            self,
            centers=self.centers[:m],
            indices=None if self.indices is None else self.indices[:m],
            radii=self.radii[:m],
            cover=float(self.radii[m]) if self.nested else math.nan,
            center_mass=None if self.center_mass is None else self.center_mass[:m],
            stop_reason="fixed",
        )
        return short._solved(self.kappa[:m], self.kernel, self.constraint, nearest_bound=None)

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

        A new kernel or bandwidth needs X for κ (time O(nkd)); a new constraint does not.
        """
        _checks.choice(constraint, "constraint", ("same", *coefficients.CONSTRAINTS))
        wanted: Constraint = self.constraint if constraint == "same" else constraint  # type: ignore[assignment]
        if X is None:
            if kernel is not None or bandwidth is not None:
                raise ValueError(
                    "a new kernel or bandwidth changes κ: give the data, refit(X, ...)."
                )
            return self._solved(self.kappa, self.kernel, wanted, self.nearest_bound)
        data = self._load(X, sample_weight)
        return self.refit_on(data, self._other_kernel(kernel, bandwidth, data.cloud), wanted)

    @property
    def bound(self) -> float | None:
        """Theorem 1, in units of the norm; None where it does not apply (constrained, merged or
        off-data means).
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
        """Σ_j p_j √(g(0) − g(D_j)²/g(0)), D_j the distance to the nearest centre: never above
        :attr:`bound`.
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
        """‖z̄ − z‖ for the kernel mean z̄ of X, measured.

        ``"exact"``: all pairs, O(n²d). ``"rows"``: residual at ``size`` rows (2000), good above
        relative errors of 1e-2. ``"spectral"``: ``size`` random frequencies (4000), O((n +
        k)·size·d), no floor that matters. ``"auto"``: exact up to 20 000 points unless rounding
        hides the answer, else spectral.
        """
        _checks.choice(method, "method", certificates.METHODS)
        opened = engines.precise(engines.open(self.engine))
        centers = self.expansion.mapped_centers
        case = Comparison(
            self._load(X, sample_weight).cloud,
            opened,
            self.kernel,
            self.space,
            centers,
            self.weights,
        )
        count = None if size is None else _checks.count(size, "size", least=2)
        found = certificates.measure(case, method, _checks.streams(random_state), count)
        error, spread = scaling.times_exp(
            np.array([found.error, found.standard_error]), 0.5 * self.expansion.log_unit
        )
        return found._replace(error=float(error), standard_error=float(spread))

    def save(self, path: str | os.PathLike[str]) -> None:
        """One small file without pickle and without the data; whole or absent."""
        storage.write(path, *self.packed())

    def packed(self) -> tuple[dict[str, Any], storage.Arrays]:
        """What a file holds of the mean: a header and arrays."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        header: dict[str, Any] = {name: getattr(self, name) for name in WORDS}
        header["kernel"] = kernels.describe(self.kernel)
        header["transform"] = self.transform
        header |= {"nested": self.nested, "merging_error": self.merging_error}
        header["columns"] = None if self.columns is None else list(self.columns)
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        present["numbers"] = np.array([math.nan if v is None else v for v in numbers.values()])
        return header, {name: _plain(a) for name, a in present.items()}

    # The rest is how the value works inside.

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
        self, data: LoadedSample, kernel: Kernel, constraint: Constraint
    ) -> SparseKernelMean:
        """:meth:`refit` on a sample that is loaded already."""
        cloud = data.cloud
        centers = data.map(self.centers)
        radial = kernel.radial(self.dimension, self.space)
        kappa = cloud.kernel_sum(radial, centers)
        distances = cloud.nearest(centers).distances()
        found = None if self.indices is None else data.find(self.indices, self.centers)
        mass = None
        if self.center_mass is not None:
            opened = engines.open(self.engine)
            mass = certificates.coincident_mass(cloud, opened, distances, centers)
        fresh = replace(
            self,
            n_points=cloud.summary.size,
            cover=distances.cover,
            indices=None if found is None else self.indices,
            nested=self.nested and found is not None and _is_farthest_first(cloud, found),
            center_mass=mass,
        )
        bound = certificates.nearest_bound(distances, radial)
        return fresh._solved(kappa, kernel, constraint, bound)

    def _load(self, X: ArrayLike | Sample, sample_weight: ArrayLike | None) -> LoadedSample:
        """The data in the coordinates of the kernel."""
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
        factor.append(scaling.apply(self.scale, self.centers, self.centers[0]), kappa)
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
        )


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

"""The sparse kernel mean: a frozen value that evaluates, compares, truncates, refits, certifies and saves itself."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from kernelmean import _checks, certificates, coefficients, engines, kernels
from kernelmean._lazy import lazy
from kernelmean._types import ArrayLike, Constraint, IntVector, Matrix, Points, RandomState, Solver, Space, StopReason, Vector
from kernelmean.certificates import Certificate, Comparison
from kernelmean.engines import Engine, Room
from kernelmean.factor import Factor
from kernelmean.kernels import Formula, Kernel
from kernelmean.mean import scaling, storage
from kernelmean.mean.resolving import DEFAULT_RULE, rescaled, resolve_kernel
from kernelmean.selection import positive_rows

LOG_DOMAIN = 600.0  # constants beyond e^±600 are added to exponents, not multiplied


@dataclass(frozen=True, eq=False)
class SparseKernelMean:
    """z = Σ_a α_a φ(·, c_a) ≈ z̄ = Σ_j p_j φ(·, x_j), with k centres for n points.

    Quantities of the k × k problem (``kappa``, ``indicator``, ``incoherence``, ``jitter``) are in units of g(0).
    """

    centers: Points  # (k, d), in selection order
    weights: Vector  # (k,) α
    kernel: Kernel
    space: Space
    scale: Matrix | None  # (d, d) map applied to the data before the kernel; distances below are after it
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
    engine: str | Engine = field(default="cpu", repr=False)

    def __post_init__(self) -> None:
        for name in ("centers", "weights", "scale", "indices", "radii", "kappa", "indicator", "center_mass"):
            array = getattr(self, name)
            if array is not None and array.flags.writeable:
                own = array.copy()
                own.flags.writeable = False
                object.__setattr__(self, name, own)
        if float(self.n_points).is_integer():
            object.__setattr__(self, "n_points", int(self.n_points))

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseKernelMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        size = f"{self.k} centres for {self.n_points:.15g} points in {self.dimension} dimensions"
        return f"SparseKernelMean({size}, {self.kernel}, space={self.space!r}, {self.selection}, stop: {self.stop_reason})"

    @property
    def k(self) -> int:
        """Number of centres."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return int(self.centers.shape[1])

    def __call__(self, Q: ArrayLike) -> Vector:
        """z at the query points, (q,). Time O(qkd); far in the tails or in high dimension use :meth:`log`."""
        mapped = self._map(_checks.points(Q, "Q", self.dimension))
        return self._density_sum(self.kernel.formula(self.dimension), mapped, self.weights)

    def log(self, Q: ArrayLike) -> Vector:
        """log z at the query points, without underflow; needs nonnegative weights."""
        if (self.weights < 0).any():
            raise ValueError("log needs nonnegative weights: fit or refit with constraint='simplex'.")
        mapped = self._map(_checks.points(Q, "Q", self.dimension))
        return self._room.log_kernel_sum(self.kernel.formula(self.dimension), mapped, self.weights) + self._log_constant

    def gradient(self, Q: ArrayLike) -> Points:
        """∇z at the query points, (q, d): 2·rate·Σ_a α_a ψ(s_a)(c_a − q), ψ = −dφ/ds; 0 from a centre at its own kink."""
        mapped = self._map(_checks.points(Q, "Q", self.dimension))
        decay = self.kernel.decay(self.dimension)
        origin = np.median(self._mapped_centers, axis=0)  # amid the centres, whatever a few far ones do
        W = np.column_stack([self.weights[:, None] * (self._mapped_centers - origin), self.weights])
        sums = self._density_sum(decay, mapped, W)
        gradient: Points = 2 * decay.rate * (sums[:, :-1] - (mapped - origin) * sums[:, -1:])
        return scaling.pull_back(self.scale, gradient)

    def inner(self, other: SparseKernelMean) -> float:
        """⟨z, z′⟩ in the space of both."""
        value, log_unit = self._inner(other)
        return float(scaling.times_exp(value, log_unit))

    def distance(self, other: SparseKernelMean) -> float:
        """‖z − z′‖: the maximum mean discrepancy in the RKHS, the L2 distance of densities in L2."""
        radial, log_unit = self._pairing(other)
        if self.kernel != other.kernel:
            products = [self._inner(self), other._inner(other), self._inner(other)]
            own, others, cross = (float(scaling.times_exp(value, unit - log_unit)) for value, unit in products)
            return float(scaling.times_exp(math.sqrt(max(own + others - 2 * cross, 0.0)), 0.5 * log_unit))
        # r = z − z′ at the centres of both: equal means cancel term by term, not only in the total.
        theirs = other._map(self.centers)
        at_mine = self._room.kernel_sum(radial, self._mapped_centers, self.weights)
        at_mine = at_mine - other._room.kernel_sum(radial, theirs, other.weights)
        at_theirs = self._room.kernel_sum(radial, self._map(other.centers), self.weights)
        at_theirs = at_theirs - other._room.kernel_sum(radial, other._mapped_centers, other.weights)
        squared = float(self.weights @ at_mine) - float(other.weights @ at_theirs)
        return float(scaling.times_exp(math.sqrt(max(squared, 0.0)), 0.5 * log_unit))

    def truncate(self, m: int) -> SparseKernelMean:
        """The optimal mean on the first m centres, without the data."""
        if _checks.count(m, "m") > self.k:
            raise ValueError(f"m must be at most the number of centres, {self.k}, got {m}.")
        if m == self.k:
            return self
        nested = self.selection == "kcenter"  # W(I_m) is the radius of the next pick
        cover = float(self.radii[m]) if nested else math.nan
        short = replace(
            self,
            centers=self.centers[:m],
            indices=None if self.indices is None else self.indices[:m],
            radii=self.radii[:m],
            cover=cover,
            center_mass=None if self.center_mass is None else self.center_mass[:m],
            stop_reason="fixed",
        )
        return short._solved(self.kappa[:m], self.kernel, self.constraint, nearest_bound=None)

    def refit(
        self,
        X: ArrayLike | None = None,
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
                raise ValueError("a new kernel or bandwidth changes κ: give the data, refit(X, ...).")
            return self._solved(self.kappa, self.kernel, wanted, self.nearest_bound)
        room = self._load(X, sample_weight)
        new = self._other_kernel(kernel, bandwidth, room)
        radial = new.radial(self.dimension, self.space)
        kappa = room.kernel_sum(radial, self._mapped_centers)
        distances = room.nearest(self._mapped_centers).distances()
        mass = certificates.coincident_mass(room, engines.open(self.engine), distances, self._mapped_centers)
        fresh = replace(self, n_points=room.summary.size, cover=distances.cover, center_mass=mass)
        return fresh._solved(kappa, new, wanted, certificates.nearest_bound(distances, radial))

    @property
    def bound(self) -> float | None:
        """Theorem 1, in units of the norm; None where it does not apply (constrained, merged or off-data means)."""
        if not self._bounded or self.center_mass is None or math.isnan(self.cover):
            return None
        radial = self.kernel.radial(self.dimension, self.space)
        return self._with_jitter(certificates.theorem_1(self.cover, radial, float(self.center_mass.sum())))

    @property
    def tighter_bound(self) -> float | None:
        """Σ_j p_j √(g(0) − g(D_j)²/g(0)), D_j the distance to the nearest centre: never above :attr:`bound`."""
        if not self._bounded or self.nearest_bound is None:
            return None
        return self._with_jitter(self.nearest_bound)

    def certificate(
        self,
        X: ArrayLike,
        *,
        method: str = "auto",
        sample_weight: ArrayLike | None = None,
        size: int | None = None,
        random_state: RandomState = None,
    ) -> Certificate:
        """‖z̄ − z‖ for the kernel mean z̄ of X, measured.

        ``"exact"``: all pairs, O(n²d). ``"rows"``: residual at ``size`` rows (2000), good above relative errors of 1e-2.
        ``"spectral"``: ``size`` random frequencies (4000), O((n + k)·size·d), no floor that matters. ``"auto"``: exact up to
        20 000 points unless rounding hides the answer, else spectral.
        """
        _checks.choice(method, "method", certificates.METHODS)
        case = Comparison(
            self._load(X, sample_weight), engines.open(self.engine), self.kernel, self.space, self._mapped_centers, self.weights
        )
        count = None if size is None else _checks.count(size, "size", least=2)
        found = certificates.measure(case, method, _checks.generator(random_state), count)
        error, spread = scaling.times_exp(np.array([found.error, found.standard_error]), 0.5 * self._log_unit)
        return found._replace(error=float(error), standard_error=float(spread))

    def save(self, path: str | os.PathLike[str]) -> None:
        """One small file without pickle and without the data; whole or absent."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        header: dict[str, Any] = {name: getattr(self, name) for name in WORDS}
        header["kernel"] = kernels.describe(self.kernel)
        present = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        present["numbers"] = np.array([math.nan if v is None else v for v in numbers.values()])
        storage.write(path, header, {name: _plain(a) for name, a in present.items()})

    # The rest is how the value works inside.

    def _density_sum(self, formula: Formula, Q: Points, W: Matrix) -> Matrix:
        """c·Σ_a W_a g(‖q − c_a‖²), also where c and the sum do not fit a float but their product does."""
        if abs(self._log_constant) < LOG_DOMAIN:
            return scaling.times_exp(self._room.kernel_sum(formula, Q, W), self._log_constant)
        columns = [self._signed_sum(formula, Q, w) for w in W.reshape(self.k, -1).T]
        return np.stack(columns, axis=-1).reshape(len(Q), *W.shape[1:])

    def _signed_sum(self, formula: Formula, Q: Points, w: Vector) -> Vector:
        """The same for one column: positive and negative weights apart, in the log domain."""
        positive, negative = (self._room.log_kernel_sum(formula, Q, np.maximum(part, 0.0)) for part in (w, -w))
        with np.errstate(over="ignore"):
            value: Vector = np.exp(positive + self._log_constant) - np.exp(negative + self._log_constant)
        return value

    def _inner(self, other: SparseKernelMean) -> tuple[float, float]:
        """⟨z, z′⟩ in units of g(0), and the logarithm of that unit."""
        radial, log_unit = self._pairing(other)
        return float(self.weights @ other._room.kernel_sum(radial, other._map(self.centers), other.weights)), log_unit

    @lazy
    def _mapped_centers(self) -> Points:
        return self._map(self.centers)

    @lazy
    def _room(self) -> Room:
        return engines.open(self.engine).load(self._mapped_centers)

    @lazy
    def _log_constant(self) -> float:
        """log c, with the Jacobian of the scale; 0 in the RKHS, where c = 1."""
        if self.space == "rkhs":
            return 0.0
        return self.kernel.log_density_constant(self.dimension) + scaling.log_jacobian(self.scale)

    @property
    def _log_unit(self) -> float:
        """log g(0), with the Jacobian: the unit of squared norms."""
        return self._pairing(self)[1]

    @property
    def _bounded(self) -> bool:
        return self.indices is not None and self.constraint is None and self.solver == "cholesky"

    def _with_jitter(self, bound: float) -> float:
        """The theorem speaks of the exact optimum; λ‖α‖² is what the jitter can add to the squared error."""
        squared = bound**2 + self.jitter * float(self.weights @ self.weights)
        return float(scaling.times_exp(math.sqrt(squared), 0.5 * self._log_unit))

    def _map(self, X: Points) -> Points:
        return scaling.apply(self.scale, X, self.centers[0])

    def _load(self, X: ArrayLike, sample_weight: ArrayLike | None) -> Room:
        checked = _checks.points(X, "X", self.dimension)
        rows, weights = positive_rows(_checks.weights(sample_weight, len(checked)))
        return engines.open(self.engine).load(self._map(checked if rows is None else checked[rows]), weights)

    def _pairing(self, other: SparseKernelMean) -> tuple[kernels.RadialFunction, float]:
        """(g/g(0), log of its unit) between two means; a ValueError where they live in different spaces."""
        if not isinstance(other, SparseKernelMean):
            raise TypeError(f"a SparseKernelMean is needed, got {type(other).__name__}.")
        if self.dimension != other.dimension or self.space != other.space:
            mine, theirs = f"{self.dimension}-D {self.space}", f"{other.dimension}-D {other.space}"
            raise ValueError(f"the means live in different spaces: {mine} and {theirs}.")
        if not scaling.same(self.scale, other.scale):
            raise ValueError("the means use different scales; fit both with the same matrix as scale=.")
        radial, log_unit = self.kernel.cross(other.kernel, self.dimension, self.space)
        return radial, log_unit + (scaling.log_jacobian(self.scale) if self.space == "l2" else 0.0)

    def _other_kernel(self, kernel: str | Kernel | None, bandwidth: float | str | None, room: Room) -> Kernel:
        """The kernel asked for; a length or a rule rescales the present family."""
        if bandwidth is None:
            return self.kernel if kernel is None else resolve_kernel(kernel, DEFAULT_RULE, room)
        if kernel is None:
            return rescaled(self.kernel, bandwidth, room)
        return resolve_kernel(kernel, bandwidth, room)

    def _solved(self, kappa: Vector, kernel: Kernel, constraint: Constraint, nearest_bound: float | None) -> SparseKernelMean:
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
            incoherence=float(radial(np.array(self.cover**2))),
            constraint=constraint,
            nearest_bound=nearest_bound,
        )


ARRAYS = ("centers", "weights", "scale", "indices", "radii", "kappa", "indicator", "center_mass")
NUMBERS = ("cover", "incoherence", "jitter", "n_points", "nearest_bound")
WORDS = ("space", "selection", "stop_reason", "constraint", "solver")


def _plain(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.astype(np.int64) if a.dtype.kind == "i" else a

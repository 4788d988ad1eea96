"""A kernel mean as a sum over its centres: what the full mean and a sparse one have in common."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from kernelmean import _checks, _shown, engines, kernels, samples
from kernelmean._lazy import lazy
from kernelmean._types import ArrayLike, IntVector, Matrix, Points, Space, Vector
from kernelmean.engines import Engine, KernelSums
from kernelmean.kernels import Atoms, Kernel, Spreads
from kernelmean.linalg.gram import log_total, weighted_products
from kernelmean.mean import scaling, sums
from kernelmean.mean.cards import mean_card
from kernelmean.mean.questions.asking import Columns
from kernelmean.mean.questions.methods import Asked, DensityQuestions
from kernelmean.mean.questions.parts import log_with_missing
from kernelmean.samples import Queries

# Products of atoms up to which a distance is taken term by term: about a second's work.
MAX_PRODUCTS = 2**25

AnyQueries = TypeVar("AnyQueries", bound=Queries)


class AnyMean(Protocol):
    """A full kernel mean or a sparse one."""

    @property
    def expansion(self) -> KernelMean:
        """The mean as a sum over its centres."""


@dataclass(frozen=True, eq=False)
class KernelMean(DensityQuestions):
    """f = Σ_a α_a φ(·, c_a): a kernel mean as a sum over its centres.

    With every point of a sample a centre it is the full kernel mean. It takes O(k·d) per evaluated
    point, O(k·k′·d) to be compared with another, and O(k·d) memory; k = n for a full mean.

    Attributes
    ----------
    centers : ndarray of shape (k, d)
        The centres c_a.
    weights : ndarray of shape (k,)
        The coefficients α_a.
    kernel : Kernel
        The kernel φ, with its bandwidth.
    space : {'rkhs', 'l2'}
        The space in which distances are taken.
    scale : ndarray of shape (d, d) or None
        The linear map that is applied to the data before the kernel.
    n_points : float
        The number n of points; for a weighted sample the sum of its weights, or Kish's effective
        size.
    engine : str or Engine
        What computes kernel sums.
    spreads : ndarray of shape (k,) or (k, d, d), or None
        The variances s_a² or the covariances S_a of centres that are Gaussians N(c_a, S_a), in the
        coordinates of the kernel; None where centres are points. φ(·, c_a) is then the mean of
        φ(·, x) over x from that Gaussian.

    See Also
    --------
    kernel_mean : Makes the full mean of a sample.
    SparseKernelMean : A mean with few centres, and what is known of its error.

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0), space="l2")
    >>> full.k, full([[1.0]]).round(4)
    (2, array([0.242]))
    """

    centers: Points  # (k, d)
    weights: Vector  # (k,) α
    kernel: Kernel
    space: Space
    scale: Matrix | None  # (d, d) map applied to the data before the kernel
    n_points: float  # n; Σw or Kish's effective size for a weighted sample
    engine: str | Engine = field(default="cpu", repr=False)
    spreads: Spreads | None = None  # (k,) or (k, d, d), after ``scale``

    def __post_init__(self) -> None:
        freeze(self, ("centers", "weights", "scale", "spreads"))

    def __reduce__(self) -> tuple[Any, ...]:
        return KernelMean, tuple(getattr(self, entry.name) for entry in fields(self))

    def __repr__(self) -> str:
        kind = "centres" if self.spreads is None else f"{self.atoms.kind} atoms"
        where = _shown.counted(self.dimension, "dimension")
        size = f"{self.k} {kind} for {self.n_points:.15g} points in {where}"
        return f"KernelMean({size}, {self.kernel}, space={self.space!r})"

    def _repr_html_(self) -> str:
        return mean_card("KernelMean", self._facts(), self, curve=True)

    def _facts(self) -> dict[str, str]:
        """What cards say of a mean."""
        kind = "centres" if self.spreads is None else f"{self.atoms.kind} atoms"
        return {
            kind: str(self.k),
            "points": f"{self.n_points:.15g}",
            "dimensions": str(self.dimension),
            "kernel": repr(self.kernel),
            "space": self.space,
        }

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
        return self.space == "l2" and not bool((self.weights < 0).any())

    def __call__(self, Q: ArrayLike | Queries) -> Vector:
        """The value of f at the query points.

        Far in the tails or in high dimension f may underflow to 0; :meth:`log` does not.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q,)
            f(q_1), …, f(q_q). Time O(q·k·d).
        """
        formula = self.kernel.formula(self.dimension)
        return self._over(
            Q,
            lambda mapped: sums.density_sum(
                self.cloud_for(mapped), formula, mapped, self.weights, self.log_constant
            ),
        )

    def log(self, Q: ArrayLike | Queries, *, missing: str = "error") -> Vector:
        """The logarithm of f at the query points, without underflow.

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
            log f(q_1), …, log f(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If a weight is negative.

        See Also
        --------
        log_gradient : Its gradient.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0), space="l2")
        >>> full.log([[100.0]]).round(1)
        array([-4803.6])
        """
        self._need_density("log")
        if _checks.choice(missing, "missing", ("error", "marginal")) == "marginal":
            return log_with_missing(self, _checks.incomplete_points(Q, "Q", self.dimension))
        formula = self.kernel.formula(self.dimension)
        return self._over(
            Q,
            lambda mapped: (
                self.cloud_for(mapped).log_kernel_sum(formula, mapped, self.weights)
                + self.log_constant
            ),
        )

    def gradient(self, Q: ArrayLike | Queries) -> Points:
        """The gradient ∇f at the query points; a centre adds nothing at its own kink.

        It is 2·rate·Σ_a α_a ψ(s_a)(c_a − q), with φ the profile of the kernel in s, the squared
        distance times the kernel's rate, and ψ = −dφ/ds.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇f(q_1), …, ∇f(q_q). Time O(q·k·d).

        See Also
        --------
        log_gradient : The gradient of the logarithm.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0), space="l2")
        >>> full.gradient([[0.0]]).round(4)
        array([[0.054]])
        """
        queries = samples.check_queries(Q, self.engine, "Q", self.dimension)
        return self._over(queries.on_host(), self._gradient_at)

    def _gradient_at(self, mapped: Points) -> Points:
        decay = self.kernel.decay(self.dimension)
        if self.spreads is not None:  # each centre pulls by its own width: only logarithms do that
            pulls, levels = sums.signed_pull(self.cloud, decay, mapped, self.weights)
            return scaling.times_exp(
                2 * decay.rate * scaling.pull_back(self.scale, pulls),
                (self.log_constant + levels)[:, None],
            )
        unit = 2.0 ** round(math.log2(self.kernel.length))  # exact to divide by
        origin = np.median(
            self.mapped_centers, axis=0
        )  # amid the centres, whatever a few far ones do
        W = np.column_stack(
            [self.weights[:, None] * ((self.mapped_centers - origin) / unit), self.weights]
        )
        found = self.cloud.kernel_sum(decay, mapped, W)  # differences of sums: in float64
        pull: Points = found[:, :-1] - (mapped - origin) / unit * found[:, -1:]
        level = np.zeros(len(pull))
        factor = 2 * decay.rate * unit
        far = sums.lost(
            decay, found[:, -1], sums.mass(self.weights), self.log_constant + math.log(factor)
        )
        if len(far):
            pull[far], level[far] = sums.signed_pull(self.cloud, decay, mapped[far], self.weights)
            pull[far] /= unit
        return scaling.times_exp(
            factor * scaling.pull_back(self.scale, pull), (self.log_constant + level)[:, None]
        )

    def log_gradient(self, Q: ArrayLike | Queries) -> Points:
        """The gradient ∇ log f at the query points, also where f underflows.

        It is 2·rate·(Σ_a α_a ψ_a / Σ_a α_a φ_a)·step, where the step is that of mean shift.

        Parameters
        ----------
        Q : array-like of shape (q, d)
            The query points, one per row.

        Returns
        -------
        ndarray of shape (q, d)
            ∇ log f(q_1), …, ∇ log f(q_q). Time O(q·k·d).

        Raises
        ------
        ValueError
            If a weight is negative.

        See Also
        --------
        gradient : The gradient of f itself.

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0), space="l2")
        >>> full.log_gradient([[100.0]]).round(1)
        array([[-98.]])
        """
        self._need_density("log_gradient")
        if not self.kernel.traits.profile.logarithmic:  # as a profile of the user's own
            return self.gradient(Q) / self(Q)[:, None]
        return self._over(Q, self._log_gradient_at)

    def _log_gradient_at(self, mapped: Points) -> Points:
        decay = self.kernel.decay(self.dimension)
        found = self.cloud.shift(decay, mapped, self.weights)
        pull = 2 * decay.rate * np.exp(found.log_pull - found.log_value)
        return scaling.pull_back(self.scale, pull[:, None] * found.pull)

    def inner(self, other: AnyMean) -> float:
        """The inner product ⟨f, f′⟩ in the space of both means.

        Parameters
        ----------
        other : KernelMean or SparseKernelMean
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
        >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0))
        >>> round(full.inner(full), 4)
        0.5677
        """
        return self._inner(expansion_of(other))

    def distance(self, other: AnyMean) -> float:
        """The distance ‖f − f′‖ to another mean.

        In the RKHS it is the maximum mean discrepancy, in L2 the L2 distance of the two densities.

        Parameters
        ----------
        other : KernelMean or SparseKernelMean
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

        Examples
        --------
        >>> import numpy as np, kernelmean as km
        >>> full = km.kernel_mean(np.array([[0.0], [2.0]]), kernel=km.Gaussian(1.0))
        >>> full.distance(full)
        0.0
        """
        return self._distance(expansion_of(other))

    @property
    def expansion(self) -> KernelMean:
        """The mean itself; a sparse mean gives its plain sum under this name.

        Returns
        -------
        KernelMean
            This mean.
        """
        return self

    # What the rest of the package asks of a mean; not part of the public surface.

    def _asked(self) -> Asked:
        return Asked(self, Columns(self.dimension, None))

    def _again(self, mean: KernelMean, names: tuple[str, ...] | None) -> KernelMean:
        return mean

    def _over(self, Q: ArrayLike | Queries, function: Callable[[Points], Any]) -> Points:
        """``function`` of the query points in the coordinates of the kernel, where they lie."""
        found: Points
        if type(Q) is np.ndarray:  # most often: a single point should not wait for other questions
            found = function(self.map(_checks.points(Q, "Q", self.dimension)))
            return found
        checked = samples.check_queries(Q, self.engine, "Q", self.dimension)
        found = self.map_queries(checked).apply(function)
        return found

    def map(self, X: Points) -> Points:
        """The points X in the coordinates of the kernel.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Points in the coordinates of the data.

        Returns
        -------
        ndarray of shape (n, d)
            The points after ``scale``.
        """
        return scaling.apply(self.scale, X, self.centers[0])

    def map_queries(self, Q: AnyQueries) -> AnyQueries:
        """Query points or a sample in the coordinates of the kernel, where they lie.

        Parameters
        ----------
        Q : Queries or Sample
            Checked points in the coordinates of the data.

        Returns
        -------
        Queries or Sample
            The same points after ``scale``.
        """
        return Q if self.scale is None else Q.map(self.scale, self.centers[0])

    @lazy
    def mapped_centers(self) -> Points:
        """The centres in the coordinates of the kernel."""
        return self.map(self.centers)

    @lazy
    def atoms(self) -> Atoms:
        """The centres with their spreads, in the coordinates of the kernel."""
        return Atoms(self.mapped_centers, self.spreads)

    def atoms_in(self, other: KernelMean) -> Atoms:
        """The atoms in the coordinates of another mean of the same scale.

        Parameters
        ----------
        other : KernelMean
            A mean whose scale measures distances alike; its coordinates may be turned.

        Returns
        -------
        Atoms
            The same atoms.
        """
        centers = other.map(self.centers)
        spreads = self.spreads
        if spreads is not None and spreads.ndim == 3 and self.scale is not None:
            assert other.scale is not None
            if not np.array_equal(self.scale, other.scale):
                turn = np.linalg.solve(self.scale.T, other.scale.T).T
                spreads = turn @ spreads @ turn.T
                spreads = 0.5 * (spreads + np.swapaxes(spreads, 1, 2))  # to the last bit
        return Atoms(centers, spreads)

    def restricted(self, rows: IntVector) -> KernelMean:
        """The part of the sum over some of its centres.

        Parameters
        ----------
        rows : ndarray of int
            Which centres.

        Returns
        -------
        KernelMean
            The same mean without the other terms.
        """
        return replace(
            self,
            centers=self.centers[rows],
            weights=self.weights[rows],
            spreads=None if self.spreads is None else self.spreads[rows],
        )

    def loaded(self, engine: Engine, rows: IntVector | None = None) -> KernelSums:
        """Some of the centres in an engine, in the coordinates of the kernel.

        Parameters
        ----------
        engine : Engine
            What is to sum over them.
        rows : ndarray of int or None, default=None
            Which centres; None for all of them.

        Returns
        -------
        KernelSums
            The loaded centres.
        """
        atoms = self.atoms if rows is None else self.atoms[rows]
        return engine.load(atoms.centers) if atoms.spreads is None else engine.load_atoms(atoms)

    @lazy
    def cloud(self) -> KernelSums:
        """The centres, loaded for comparisons: in float64 whatever the engine's precision."""
        return self.loaded(engines.precise(engines.open(self.engine)))

    def cloud_for(self, Q: Points) -> KernelSums:
        """The centres, loaded for evaluation at Q: in the engine's own precision.

        Parameters
        ----------
        Q : ndarray of shape (q, d)
            The query points, which decide where the engine "auto" computes.

        Returns
        -------
        KernelSums
            The loaded centres.
        """
        if self.engine == "auto":
            count = float(len(Q)) * self.k
            return self.loaded(engines.choose(self.engine, count, _checks.on_device(Q)))
        return self._evaluation_cloud

    @lazy
    def _evaluation_cloud(self) -> KernelSums:
        opened = engines.open(self.engine)
        return self.cloud if engines.precise(opened) is opened else self.loaded(opened)

    @lazy
    def log_constant(self) -> float:
        """The logarithm of the density constant, with the Jacobian of the scale; 0 in the RKHS."""
        if self.space == "rkhs":
            return 0.0
        return self.kernel.log_density_constant(self.dimension) + scaling.log_jacobian(self.scale)

    @property
    def log_unit(self) -> float:
        """The logarithm of g(0), with the Jacobian of the scale: the unit of squared norms."""
        return self.pairing(self)[1]

    def inner_in_units(self, other: KernelMean) -> tuple[float, float]:
        """The inner product ⟨f, f′⟩ in units of g(0), and the logarithm of that unit.

        Parameters
        ----------
        other : KernelMean
            A mean of the same space and scale.

        Returns
        -------
        value : float
            The inner product in units of g(0).
        log_unit : float
            The logarithm of g(0), with the Jacobian of the scale.
        """
        radial, log_unit = self.pairing(other)
        if self.spreads is not None:
            if other.spreads is None:
                return other.inner_in_units(self)
            mantissa, level = log_total(
                radial, self.atoms_in(other), self.weights, other.atoms, other.weights
            )
            return mantissa * math.exp(level), log_unit
        return float(
            self.weights @ other.cloud.kernel_sum(radial, other.map(self.centers), other.weights)
        ), log_unit

    def _inner(self, other: KernelMean) -> float:
        radial, log_unit = self.pairing(other)
        if self.spreads is not None:
            if other.spreads is None:
                return other._inner(self)
            value, level = log_total(
                radial, self.atoms_in(other), self.weights, other.atoms, other.weights
            )
            return float(scaling.times_exp(value, log_unit + level))
        theirs = other.map(self.centers)
        value = float(self.weights @ other.cloud.kernel_sum(radial, theirs, other.weights))
        mass = sums.mass(self.weights) * sums.mass(other.weights)
        if len(sums.lost(radial, np.array([value]), mass, log_unit)):
            value, level = sums.signed_total(
                other.cloud, radial, theirs, other.weights, self.weights
            )
            log_unit += level
        return float(scaling.times_exp(value, log_unit))

    def pairing(self, other: KernelMean) -> tuple[kernels.RadialFunction, float]:
        """The radial function g/g(0) between two means, and the logarithm of its unit.

        Parameters
        ----------
        other : KernelMean
            A mean of the same space and scale.

        Returns
        -------
        radial : RadialFunction
            The inner product of two kernels as a function of their distance, in units of its peak.
        log_unit : float
            The logarithm of that peak, with the Jacobian of the scale.

        Raises
        ------
        ValueError
            If the two means live in different spaces, or use different scales.
        """
        if self.dimension != other.dimension or self.space != other.space:
            mine = f"{self.dimension}-D {self.space}"
            theirs = f"{other.dimension}-D {other.space}"
            raise ValueError(f"the means live in different spaces: {mine} and {theirs}.")
        if not scaling.same(self.scale, other.scale):
            raise ValueError(
                "the means use different scales; fit both with the same matrix as scale=."
            )
        radial, log_unit = self.kernel.cross(other.kernel, self.dimension, self.space)
        return radial, log_unit + (scaling.log_jacobian(self.scale) if self.space == "l2" else 0.0)

    def _need_density(self, method: str) -> None:
        if (self.weights < 0).any():
            raise ValueError(
                f"{method} needs nonnegative weights: fit or refit with constraint='simplex'."
            )

    def _distance(self, other: KernelMean) -> float:
        radial, log_unit = self.pairing(other)
        spread = self.spreads is not None or other.spreads is not None
        if self.kernel != other.kernel or (spread and self.k * other.k > MAX_PRODUCTS):
            products = [
                self.inner_in_units(self),
                other.inner_in_units(other),
                self.inner_in_units(other),
            ]
            log_unit = max(
                unit for _, unit in products
            )  # in that of a wide kernel, the norm of a narrow one overflows
            own, others, cross = (
                float(scaling.times_exp(value, unit - log_unit)) for value, unit in products
            )
            return float(
                scaling.times_exp(math.sqrt(max(own + others - 2 * cross, 0.0)), 0.5 * log_unit)
            )
        # r = f − f′ at the centres of both: equal means cancel term by term, not only in the total.
        if spread:
            mine = self.atoms_in(other)
            at_mine = weighted_products(radial, mine, mine, self.weights)
            at_mine -= weighted_products(radial, mine, other.atoms, other.weights)
            at_theirs = weighted_products(radial, other.atoms, mine, self.weights)
            at_theirs -= weighted_products(radial, other.atoms, other.atoms, other.weights)
            squared = float(self.weights @ at_mine) - float(other.weights @ at_theirs)
            return float(scaling.times_exp(math.sqrt(max(squared, 0.0)), 0.5 * log_unit))
        theirs = other.map(self.centers)
        at_mine = self.cloud.kernel_sum(radial, self.mapped_centers, self.weights)
        at_mine = at_mine - other.cloud.kernel_sum(radial, theirs, other.weights)
        at_theirs = self.cloud.kernel_sum(radial, self.map(other.centers), self.weights)
        at_theirs = at_theirs - other.cloud.kernel_sum(radial, other.mapped_centers, other.weights)
        squared = float(self.weights @ at_mine) - float(other.weights @ at_theirs)
        return float(scaling.times_exp(math.sqrt(max(squared, 0.0)), 0.5 * log_unit))


def _immutable(array: np.ndarray[Any, Any]) -> bool:
    """Whether the memory is bytes, which never change, or a file that is mapped to be read, and no
    view can write to it.

    A read-only array alone is no promise: it may be a view of one that its owner writes to, or have
    its flag turned back.
    """
    memory: Any = array
    while isinstance(memory, np.ndarray):
        if memory.flags.writeable:
            return False
        memory = memory.base
    return isinstance(memory, bytes | mmap.mmap)


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy in the memory of a bytes object: neither it nor a view of it can be made writeable."""
    copy: np.ndarray[Any, Any] = np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(
        array.shape
    )
    return copy


def expansion_of(mean: AnyMean) -> KernelMean:
    """The sum over centres behind any mean; a TypeError for anything else."""
    expansion = getattr(mean, "expansion", None)
    if not isinstance(expansion, KernelMean):
        raise TypeError(f"a SparseKernelMean is needed, got {type(mean).__name__}.")
    return expansion


def freeze(value: Any, arrays: tuple[str, ...]) -> None:
    """Arrays that nobody can change, and a whole number of points where it is whole: for the
    dataclasses of this package.
    """
    freeze_arrays(value, arrays)
    if float(value.n_points).is_integer():
        object.__setattr__(value, "n_points", int(value.n_points))


def freeze_arrays(value: Any, arrays: tuple[str, ...]) -> None:
    """Arrays of a dataclass that nobody can change, those that are None left out."""
    for name in arrays:
        array = getattr(value, name)
        if array is not None and not _immutable(array):
            object.__setattr__(value, name, _frozen(array))

"""What every engine must offer, as types, and the values that come out of it.

What an engine may offer beyond is in :mod:`kernelmean.engines.optional_protocols`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.kernels import Atoms, Formula, RadialFunction, Spreads


class Picks(NamedTuple):
    """Centres in the order picked, each with its distance to the earlier ones."""

    indices: IntVector
    radii: Vector


class Shift(NamedTuple):
    """One step of mean shift from each query, in the log domain: φ the kernel, ψ = −dφ/ds, s = rate
    · r².
    """

    log_value: Vector  # (q,)   log Σ_j w_j φ_j
    log_pull: Vector  # (q,)   log Σ_j w_j ψ_j, without the points at a kink
    # (q,)   log Σ_j w_j φ_j over the points at a kink, where ψ has no value; −inf for smooth
    # kernels
    log_held: Vector
    # (q, d) Σ_j w_j ψ_j (x_j − q) / Σ_j w_j ψ_j, without the points at a kink; 0 where nothing
    # pulls
    step: Points
    # (q, d) the same mean with each term in the direction of its own slope, of which ∇f is a
    # multiple; None where that is the step, as it is unless atoms have covariances
    direction: Points | None = None

    @property
    def pull(self) -> Points:
        """Where ∇f points: ∇f = 2·rate·exp(log_pull)·pull."""
        return self.step if self.direction is None else self.direction


class PointRows(Protocol):
    """(n, d) numbers that are read by row or by coordinate: an array, or what stands in for one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def T(self) -> Iterable[Vector]:  # noqa: N802
        """Coordinate by coordinate."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any:
        """Rows by number, slice or list; (all rows, one coordinate) as a pair."""

    def __array__(self, dtype: Any = None, /) -> Any: ...


class Summary(Protocol):
    """Counts, moments and quantiles of a weighted sample, computed when asked for and then kept."""

    @property
    def size(self) -> float:
        """n; Σw where weights count rows, else Kish's effective size (Σw)²/Σw²."""

    @property
    def counted(self) -> bool:
        """Whether ``size`` counts rows: no weights, or integers."""

    @property
    def count(self) -> int:
        """Rows, whatever their weight."""

    @property
    def dimension(self) -> int:
        """Number of coordinates."""

    @property
    def mean(self) -> Vector:
        """Σ p_j x_j."""

    @property
    def std(self) -> Vector:
        """√(N/(N−1) Σ p_j (x_j − mean)²) per coordinate."""

    @property
    def covariance(self) -> Matrix:
        """N/(N−1) Σ p_j (x_j − mean)(x_j − mean)ᵀ."""

    def quantiles(self, levels: Vector) -> Matrix:
        """(levels, d) quantiles by linear interpolation; integer weights give those of the repeated
        rows.
        """

    def quantile_range(self, low: float, high: float) -> Vector:
        """Distance of two quantiles in each coordinate."""


class Distances(Protocol):
    """Squared nearest-centre distances D² of all points, handed out as reductions only."""

    @property
    def cover(self) -> float:
        """Covering radius max_j D_j."""

    def values(self) -> Vector:
        """D² of every point, on the host: for point clouds of few points."""

    def coincident(self) -> tuple[IntVector, Vector]:
        """Rows at distance 0 from a centre (centres and their duplicates), and their weights."""

    def mean(self, function: Callable[[Vector], Vector]) -> float:
        """Σ_j p_j function(D²_j)."""

    def draw(self, u: float) -> int | None:
        """The point at position u of the cumulative p_j D²_j (D² sampling); None when every D² is
        zero.
        """

    def draws(self, u: Vector) -> IntVector:
        """The points at positions u of the cumulative p_j D²_j; none when every D² is zero."""


class Traversal(Protocol):
    """A farthest-first traversal that can be asked for more, again and again."""

    def take(self, m: int) -> Picks:
        """The next m centres; fewer when every distinct point is a centre."""

    def distances(self) -> Distances:
        """Each point's squared distance to the centres taken so far, behind reductions."""


class Nearest(Protocol):
    """Each point's nearest centre, behind reductions."""

    def add(self, centers: Points) -> None:
        """Lower the distances by further centres."""

    def distances(self) -> Distances:
        """The squared distances, behind reductions."""

    def masses(self) -> Vector:
        """Total weight of the points nearest to each centre."""

    def means(self) -> Points:
        """Weighted mean of the points nearest to each centre; the centre itself where there are
        none.
        """

    def variances(self) -> Vector:
        """Mean squared distance of these points to their mean, divided by d; 0 where there are
        none.
        """

    def covariances(self) -> Spreads:
        """(k, d, d): covariance of these points about their mean; 0 where there are none."""


class KernelSums(Protocol):
    """Sums over k points, or over k atoms, for which g is the Gaussian that blurs them.

    For an atom N(c, S) the value g(‖q − c‖²) is replaced by the mean of g(‖q − x‖²) over the atom.
    """

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        """f_ic = Σ_a W_ac g_a(q_i); (q,) for W of shape (k,), (q, c) for (k, c)."""

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        """log Σ_a w_a g_a(q_i) without underflow, w ≥ 0."""

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        """Where mean shift goes from each query, w ≥ 0.

        With P_a the inverse covariance of g_a and σ² = 1/(2·rate), ψ_a = σ²P_a g_a, of which
        log_pull takes the trace over d: step = (Σ w_a ψ_a)⁻¹ Σ w_a ψ_a (c_a − q), and direction =
        Σ w_a ψ_a (c_a − q) / exp(log_pull). For scalar spreads both are equal.
        """


class PointCloud(Protocol):
    """Holds n points with weights p, Σp = 1."""

    @property
    def summary(self) -> Summary:
        """Counts, moments and quantiles; one for all who ask."""

    def rows(self, indices: IntVector) -> Points:
        """Some of the points themselves."""

    def locate(self, u: Vector) -> IntVector:
        """Rows at the positions u ∈ [0, 1) of the cumulative weight: chance is drawn outside, on
        the host.
        """

    def traverse(self, first: int) -> Traversal:
        """Farthest-first order of the points from row ``first``."""

    def nearest(self, centers: Points) -> Nearest:
        """Each point's nearest of these centres, the lowest on ties."""

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²); (q,) for W of shape (n,) or None (the weights p), (q, c)
        for (n, c).
        """

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        """(q, 1 + d): Σ_j p_j g(‖q_i − x_j‖²), then Σ_j p_j g(‖q_i − x_j‖²)(x_j − q_i): a kernel
        mean and its pull.
        """

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        """(k,): Σ_j p_j g_a(x_j), g_a the Gaussian ``radial`` blurred by atom a: κ of atoms."""

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        """Σ_j p_j g_a(x_j) times 1, u = x_j − c_a, and ‖u‖² or the d² products uuᵀ.

        (k, 2 + d) for scalar spreads, (k, 1 + d + d²) for full ones: κ and its derivatives.
        """

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        """log Σ_j w_j g(‖q_i − x_j‖²) without underflow, w ≥ 0."""

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        """Where mean shift goes from each query, w ≥ 0: ``decay`` is a kernel's φ = exp(log_value)
        times its −d log φ/ds.
        """

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g(‖x_i − x_j‖²), without n outputs."""

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        """(M, 2): Σ_j p_j cos ω·(x_j − origin) and the same with sin."""


@runtime_checkable
class Engine(Protocol):
    """Opens point clouds."""

    @property
    def name(self) -> str:
        """What the engine is called, in messages and by ``mean.engine``."""

    def load(self, X: Points, weights: Vector | None = None) -> PointCloud:
        """Take the points in; X is neither copied needlessly nor ever modified."""

    def load_atoms(self, atoms: Atoms) -> KernelSums:
        """Take atoms with spreads in, for sums over them at points."""

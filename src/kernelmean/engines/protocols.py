"""The doors of a point cloud, which are the same in every engine, and the values that come out of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.arrays import Distances, Summary
from kernelmean.kernels import Formula, RadialFunction


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


class PointCloud(Protocol):
    """Holds n points with weights p, Σp = 1."""

    @property
    def summary(self) -> Summary: ...

    def rows(self, indices: IntVector) -> Points:
        """Some of the points themselves."""

    def locate(self, u: Vector) -> IntVector:
        """Rows at the positions u ∈ [0, 1) of the cumulative weight: chance is drawn outside, on
        the host.
        """

    def traverse(self, first: int) -> Traversal: ...

    def nearest(self, centers: Points) -> Nearest: ...

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²); (q,) for W of shape (n,) or None (the weights p), (q, c)
        for (n, c).
        """

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        """(q, 1 + d): Σ_j p_j g(‖q_i − x_j‖²), then Σ_j p_j g(‖q_i − x_j‖²)(x_j − q_i): a kernel
        mean and its pull.
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


class Elimination(Protocol):
    """The cubic part of a growing Cholesky factor, for point clouds on hardware that does it better than
    the host.
    """

    def __call__(self, old: Points, new: Points, jitter: Vector) -> tuple[Matrix, Matrix]:
        """(Xᵀ, M) for new centres after the old ones: X = L⁻¹K₁₂, MMᵀ = K₂₂ + Λ₂ − XᵀX; K + Λ = LLᵀ
        for the old ones.
        """


class Projections(NamedTuple):
    """What some directions hold of each candidate and, with it, of a few sides."""

    products: Matrix  # (c, P) Σ_m V_m· a_mc, a the sides' coordinates in these directions
    squares: Vector  # (P,)   Σ_m V_m·²


class OrthonormalBasis(Protocol):
    """Orthonormal directions V of the span of the picks so far, as (m, P) products with P
    candidates that may grow.

    What greedy selection spends its time on, for point clouds on hardware that does it better than the
    host: V never leaves it.
    """

    def extend(self, points: Points, picks: IntVector, coordinates: Matrix) -> Projections:
        """New candidates, and what the directions, which span the picks, hold of them;
        ``coordinates`` (m, c) of the sides.
        """

    def residual_gram(self, listed: IntVector) -> Matrix:
        """K − VᵀV among some candidates."""

    def include(self, chosen: IntVector, sides: Matrix) -> tuple[Matrix, Projections]:
        """Further directions for the chosen: R = K(J, ·) − V_JᵀV, MMᵀ = R_J, V ← [V; M⁻¹R].

        ``sides`` (b, c) are what is left of them at the chosen; their coordinates M⁻¹ sides are
        returned with the shares. A LinAlgError where R_J is not positive.
        """


class Engine(Protocol):
    """Opens point clouds."""

    name: str

    def load(self, X: Points, weights: Vector | None = None) -> PointCloud:
        """Take the points in; X is neither copied needlessly nor ever modified."""

"""What an engine or a point cloud may offer beyond the required operations, as types.

Whoever can use such an ability checks for it by ``isinstance``, and has another way without it.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines.protocols import Distances, Engine, PointCloud, PointRows
from kernelmean.kernels import RadialFunction


@runtime_checkable
class ThreadedEngine(Engine, Protocol):
    """An engine whose work is shared by threads of this machine; their number changes no result."""

    @property
    def threads(self) -> int:
        """How many."""

    def with_threads(self, threads: int) -> Engine:
        """The same engine with another number of them."""


@runtime_checkable
class PreciseEngine(Engine, Protocol):
    """An engine whose kernel sums may be in single precision."""

    def precise(self) -> Engine:
        """The engine whose kernel sums are in float64; itself where they are."""


class Elimination(Protocol):
    """The cubic part of a growing Cholesky factor, on hardware better at it than the host."""

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

    What greedy selection spends its time on, for hardware that does it better than the host: V
    never leaves it.
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


@runtime_checkable
class EliminatingCloud(Protocol):
    """A point cloud on hardware that may do k × k algebra better than the host."""

    def elimination(self, radial: RadialFunction, size: int) -> Elimination | None:
        """For a factor of up to ``size`` centres; None where that is better done on the host."""

    def orthonormal_basis(self, radial: RadialFunction, size: int) -> OrthonormalBasis | None:
        """For greedy selection of up to ``size`` centres; None where that is better done on the
        host.
        """


class Pool(NamedTuple):
    """The points of largest distance; every other point ranks at or below (bound, rival)."""

    rows: NDArray[np.int64]  # (p,) ascending
    points: Points  # (d, p)
    nearest: Vector  # (p,) squared distance to the nearest centre, picks of this pool included
    bound: float  # no point outside is farther than this (squared); −1 where none is outside
    rival: int  # the lowest row outside that is as far; n if none


class FarthestOffers(Protocol):
    """Squared distances of a point cloud's points to centres that come from anywhere, and the
    farthest of the points: what one part has to say in a traversal of many parts.
    """

    def update(self, centers: Points) -> None:
        """D² ← min(D², min_a ‖x − c_a‖²)."""

    def farthest(self, m: int) -> Pool:
        """The m points of largest distance, the lowest rows on ties."""

    def distances(self) -> Distances:
        """The squared distances, behind reductions."""


@runtime_checkable
class OfferingCloud(Protocol):
    """A point cloud with a way of its own to keep distances to centres from anywhere."""

    def farthest_offers(self, squared: Vector | None = None) -> FarthestOffers:
        """With ``squared``, the distances to earlier centres, these are lowered in place and
        nothing else is kept.
        """


@runtime_checkable
class CompactCloud(PointCloud, Protocol):
    """A point cloud that keeps the points in a layout of its own."""

    def compact(self) -> CompactCloud:
        """The same point cloud without the array it was made of; itself where it needs that."""

    def stored_rows(self) -> PointRows:
        """What the point cloud reads its rows from."""

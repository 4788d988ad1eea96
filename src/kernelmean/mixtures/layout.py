"""What the columns of rows are, and the features by which components of all of them are fitted.

A row is its m coordinates that are numbers, a unit vector for each sphere, and for each column of
categories as many columns as it has levels, one of which is 1 and the others 0. The features of

    w · N(x; c, V) · Π_s vMF(u_s; μ_s, κ_s) · Π_j p_j(level)

are those of the Gaussian (:mod:`kernelmean.mixtures.gaussians`) behind all other columns as they
are: the logarithm is κ_s μ_sᵀu_s for a sphere, and log p_j for the column that is 1.

Before the sums of features stand those of x and x² within the bounds of columns that have any.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.domains import Group, Images
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures import gaussians


class Shares(NamedTuple):
    """Sums of features, by what they tell of."""

    masses: Vector  # (k,)
    lines: Matrix  # (k, features of m coordinates)
    resultants: NDArray[np.float64]  # (k, s, 3) Σ_j m_j r_ja u_s
    levels: Matrix  # (k, ΣL) Σ_j m_j r_ja [row j has the level]
    within: NDArray[np.float64]  # (k, b, 2) Σ_j m_j r_ja (x_j, x_j²), x a number with bounds


@dataclass(frozen=True, eq=False)
class Layout:
    """What the columns of rows are.

    Parameters
    ----------
    group : Group
        The bounds and periods of the m coordinates that are numbers.
    spheres : int
        How many unit vectors follow them.
    sizes : tuple of int
        The number of levels of each column of categories.
    kind : {'full', 'scalar'}
        Whether covariances of the numbers are matrices; without numbers they are, with no entries.
    """

    group: Group
    spheres: int = 0
    sizes: tuple[int, ...] = ()
    kind: SpreadKind = "full"

    def __post_init__(self) -> None:
        if not len(self.group):
            object.__setattr__(self, "kind", "full")

    @property
    def lines(self) -> int:
        """The m coordinates that are numbers."""
        return len(self.group)

    @property
    def continuous(self) -> int:
        """The number of columns that are no categories, m + 3s."""
        return self.lines + 3 * self.spheres

    @property
    def columns(self) -> int:
        """The number of columns of a row, m + 3s + ΣL."""
        return self.continuous + sum(self.sizes)

    @property
    def feature_count(self) -> int:
        """F, the number of features of a row."""
        return self.columns - self.lines + gaussians.feature_count(self.lines, self.kind)

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """(m,) which coordinates go on for ever on one side at least."""
        return np.isinf(self.group.widths)

    @property
    def level_slices(self) -> list[slice]:
        """The levels of each column of categories, among those of all."""
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    @property
    def even_shares(self) -> Vector:
        """(ΣL,) 1/L for each level of a column of L."""
        return np.repeat(1.0 / np.array(self.sizes, dtype=np.float64), self.sizes)

    def features(self, X: Points) -> Matrix:
        """(F, n) Ψ: unit vectors and levels as they are, then the features of numbers."""
        numbers = gaussians.features(X[:, : self.lines], self.kind)
        return np.concatenate([X[:, self.lines :].T, numbers])

    def shares(self, sums: Matrix) -> Shares:
        """What (k, 2b + F) sums tell of."""
        within, features = np.split(sums, [2 * len(self.bounded)], axis=1)
        first = 3 * self.spheres
        others = self.columns - self.lines
        return Shares(
            features[:, -1],
            features[:, others:],
            features[:, :first].reshape(len(sums), self.spheres, 3),
            features[:, first:others],
            within.reshape(len(sums), 2, -1).swapaxes(1, 2),
        )

    @property
    def bounded(self) -> IntVector:
        """(b,) the numbers with bounds or periods, at which components may end."""
        return np.flatnonzero(self.group.moves & (self.kind == "full"))

    def with_own(self, sums: Matrix) -> Matrix:
        """(k, 2b + F) sums of x and x² within bounds, before the (k, F) sums that hold them."""
        m = self.lines
        t = self.bounded
        of_numbers = self.columns - m
        squares = of_numbers + t * m - t * (t - 1) // 2  # (t, t) in the order of np.triu_indices
        first = self.feature_count - 1 - m + t
        found: Matrix = np.concatenate([sums[:, first], sums[:, squares], sums], axis=1)
        return found

    def of_owners(self, sums: Matrix, images: Images) -> Matrix:
        """(k, 2b + F) sums for the components, of (K, F) sums for their images.

        The image by g(x) = s∘x + b has the share of the component itself in g⁻¹(x) = s∘(x − b).
        """
        m = self.lines
        s = images.signs
        b = images.shifts
        found = self.with_own(sums)
        mass = sums[:, -1:]
        first = sums[:, -m - 1 : -1]  # Σx
        found[:, -m - 1 : -1] = s * (first - b * mass)
        squares = found[:, 2 * len(self.bounded) + self.columns - m : -m - 1]
        if self.kind == "scalar":  # Σ‖x − b‖² = Σ‖x‖² − 2bᵀΣx + N‖b‖²
            squares -= ((2.0 * first - b * mass) * b).sum(axis=1, keepdims=True)
        else:  # ssᵀ∘(Σxxᵀ − bΣxᵀ − Σxbᵀ + Nbbᵀ)
            i, j = np.triu_indices(m)
            squares -= b[:, i] * first[:, j] + first[:, i] * b[:, j] - mass * b[:, i] * b[:, j]
            squares *= s[:, i] * s[:, j]
        k = int(images.owner[-1]) + 1
        if len(found) == k:
            return found
        owned: Matrix = np.add.reduceat(found, np.searchsorted(images.owner, np.arange(k)), axis=0)
        return owned

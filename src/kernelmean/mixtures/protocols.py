"""What the search asks of a family of mixtures, so that it need not know what components are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.mixtures.rows import Rows


class Mixture(Protocol):
    """Components with weights."""

    @property
    def weights(self) -> Vector:
        """(k,), positive, of sum one."""

    def __len__(self) -> int: ...

    def log_density(self, X: Points) -> Vector:
        """(n,) at each row."""


M = TypeVar("M", bound=Mixture)


class Family(Protocol[M]):
    """Mixtures of components of one form, whose logarithms are linear in features ψ(x)."""

    @property
    def lines(self) -> int:
        """Coordinates that have covariances."""

    @property
    def continuous(self) -> int | None:
        """How many columns of the rows, from the first on, are no categories; None for all."""

    @property
    def estimates_first(self) -> bool:
        """Whether kernel density estimates are trials as any other; else they join the stack."""

    @property
    def feature_count(self) -> int:
        """F, the length of ψ(x)."""

    def estimates(self, n: int, most: int) -> int:
        """How many kernel density estimates of n rows are tried; ``most`` components each."""

    @property
    def bends(self) -> int:
        """At how many places a kernel density estimate may be of another kind.

        There are 2^bends kinds of so many estimates each; those of one kind are numbered on end.
        """

    def estimate_size(self, n: int) -> int:
        """How many components one of them has."""

    def as_seen(self, rows: Rows) -> Points:
        """The rows as k-means sees them: where one cluster ends is told by distances there."""

    def fitted(self, sums: Matrix, strength: float) -> M:
        """M step: the mixture of (k, F) sums; what is common to all counts as so many points."""

    def shared_out(self, rows: Rows, mixture: M) -> tuple[Matrix, float]:
        """E step: (k, F) Σ_j m_j r_ja ψ(x_j), and the mean log-density of the rows."""

    def log_density(self, mixture: M, X: Points) -> Vector:
        """(n,) what the E step takes the log-density for, by which mixtures are compared."""

    def cells(self, cloud: PointCloud, rows: Rows, k: int, rng: np.random.Generator) -> Matrix:
        """(k, F) sums of features over the cells of k centroids of the rows.

        The cloud has the rows as k-means sees them.
        """

    def estimate(self, cloud: PointCloud, rows: Rows, number: int, rng: np.random.Generator) -> M:
        """A kernel density estimate of the rows, which a cloud has as seen: the one of a number."""

    def joined(self, parts: Sequence[M], shares: Vector) -> M:
        """A mixture of mixtures, which is one: each has its share of the weight."""

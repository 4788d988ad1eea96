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
    def feature_count(self) -> int:
        """F, the length of ψ(x)."""

    @property
    def fits_each_row(self) -> bool:
        """Whether ``each_row`` is offered."""

    def fitted(self, sums: Matrix, strength: float) -> M:
        """M step: the mixture of (k, F) sums; what is common to all counts as so many points."""

    def shared_out(self, rows: Rows, mixture: M) -> tuple[Matrix, float]:
        """E step: (k, F) Σ_j m_j r_ja ψ(x_j), and the mean log-density of the rows."""

    def log_density(self, mixture: M, X: Points) -> Vector:
        """(n,) what the E step takes the log-density for, by which mixtures are compared."""

    def cells(self, cloud: PointCloud, rows: Rows, k: int, rng: np.random.Generator) -> Matrix:
        """(k, F) sums of features over the cells of k centroids of the rows, which a cloud has."""

    def each_row(self, rows: Rows) -> M:
        """A component for each row: a kernel density estimate."""

    def joined(self, parts: Sequence[M], shares: Vector) -> M:
        """A mixture of mixtures, which is one: each has its share of the weight."""

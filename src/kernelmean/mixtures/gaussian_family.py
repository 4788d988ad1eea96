"""Mixtures of Gaussians, as the search asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import SpreadKind
from kernelmean.mixtures import expectation, gaussians, starts
from kernelmean.mixtures.expectation import Prior
from kernelmean.mixtures.gaussians import Gaussians
from kernelmean.mixtures.rows import Rows

MAX_ROWS_EACH = 600  # up to which a component for each row is tried


@dataclass(frozen=True, eq=False)
class GaussianFamily:
    """Gaussians in d coordinates that take any number.

    Parameters
    ----------
    lines : int
        d.
    floor : ndarray of shape (d,)
        Variances that are added to each covariance.
    kind : {'scalar', 'full'}
        Whether covariances are numbers or matrices.
    """

    lines: int
    floor: Vector
    kind: SpreadKind

    continuous = None
    estimates_first = True
    bends = 0

    @property
    def feature_count(self) -> int:
        return gaussians.feature_count(self.lines, self.kind)

    def estimates(self, n: int, most: int) -> int:
        return int(self.kind == "full" and n <= min(MAX_ROWS_EACH, most))

    def estimate_size(self, n: int) -> int:
        return n

    def as_seen(self, rows: Rows) -> Points:
        return rows.points

    def fitted(self, sums: Matrix, strength: float) -> Gaussians:
        return expectation.fitted(sums, self.lines, Prior(self.floor, strength), self.kind)

    def shared_out(self, rows: Rows, mixture: Gaussians) -> tuple[Matrix, float]:
        return expectation.shared_out(rows, mixture)

    def log_density(self, mixture: Gaussians, X: Points) -> Vector:
        return mixture.log_density(X)

    def cells(self, cloud: PointCloud, rows: Rows, k: int, rng: np.random.Generator) -> Matrix:
        return starts.cells(cloud, rows.size, k, self.kind, rng)

    def estimate(
        self, cloud: PointCloud, rows: Rows, number: int, rng: np.random.Generator
    ) -> Gaussians:
        """A component for each row."""
        return starts.each_row(rows, self.floor)

    def joined(self, parts: Sequence[Gaussians], shares: Vector) -> Gaussians:
        return gaussians.joined(parts, shares)

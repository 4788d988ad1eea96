"""What every selection is given: the fit that it is to serve, and where traversals begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._random import Streams
from kernelmean._types import Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import RadialFunction


@dataclass(frozen=True)
class Task:
    """The fit that a source is to serve."""

    cloud: PointCloud
    engine: Engine
    radial: RadialFunction
    limit: int  # most centres
    fixed: bool  # exactly that many, not as many as it takes
    unit_sum: bool  # weights that sum to one and are not negative, not any weights
    density: bool  # a density that is judged by its likelihood, so that its tails count
    streams: Streams

    @lazy
    def kappa(self) -> Vector:
        """κ of every row, for samples so small that all rows are candidates.

        It is summed once for all selections that try them.
        """
        return self.cloud.kernel_sum(
            self.radial, self.cloud.rows(np.arange(self.cloud.summary.count))
        )


def first_row(cloud: PointCloud, rng: np.random.Generator) -> int:
    """One row, drawn by cumulative weight."""
    return int(cloud.locate(rng.random(1))[0])


def first_center(cloud: PointCloud, streams: Streams) -> int:
    """The row where a traversal that hands out centres begins, the same for every selection."""
    return first_row(cloud, streams.of("first centre"))

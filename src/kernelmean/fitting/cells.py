"""Cells of a sample: groups of near points, each with its mass, its mean and its spread.

Blurred by a kernel of any bandwidth they are a copy of the kernel density estimate, so that one
set of cells serves every bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean._types import Points, Space, Vector
from kernelmean.fitting.prepare import engine_name
from kernelmean.fitting.settings import FitSettings
from kernelmean.kernels import Kernel, SpreadKind
from kernelmean.kernels.atoms import Spreads
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.loaded import LoadedSample
from kernelmean.mixtures.rows import Rows
from kernelmean.selection.kmeans import lloyd
from kernelmean.selection.listed import Listed, d2_batches

LLOYD_ITERATIONS = 10


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a sample, in the coordinates of the kernel."""

    data: LoadedSample
    means: Points
    spreads: Spreads
    masses: Vector
    settings: FitSettings

    def blurred(self, kernel: Kernel, space: Space = "l2") -> KernelMean:
        """The cells, blurred by a kernel."""
        return KernelMean(
            centers=self.data.original(self.means, None),
            weights=self.masses / self.masses.sum(),
            kernel=kernel,
            space=space,
            scale=self.data.scale,
            n_points=self.data.cloud.summary.size,
            engine=engine_name(self.settings.engine, self.data),
            spreads=self.spreads,
        )


def find_cells(
    data: LoadedSample,
    rows: Rows,
    k: int,
    kind: SpreadKind,
    settings: FitSettings,
    rng: np.random.Generator,
) -> Cells:
    """At most k cells of the rows, by k-means; their moments are those of all points."""
    whole = len(rows) == data.cloud.summary.count  # no row was drawn, or is several
    cloud = data.cloud if whole else data.engine.load(rows.points, rows.masses)
    seeds = Listed("kmeans++", cloud, d2_batches(cloud, rng)).take(k)
    nearest = data.cloud.nearest(lloyd(cloud, seeds.points, LLOYD_ITERATIONS))
    spreads = nearest.variances() if kind == "scalar" else nearest.covariances()
    masses = nearest.masses()
    kept = masses > 0.0
    return Cells(data, nearest.means()[kept], spreads[kept], masses[kept], settings)

"""A sample in an engine, in the coordinates of a kernel: what every fit works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelmean import engines
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.mean import scaling
from kernelmean.samples import WeightedSample


@dataclass(frozen=True, eq=False)
class LoadedSample:
    """The rows that count, mapped by A(x − origin) and loaded once."""

    sample: WeightedSample
    cloud: PointCloud  # holds the sample in the coordinates of the kernel
    engine: Engine  # with sums in float64
    scale: Matrix | None  # A; None where nothing is mapped
    origin: Vector

    @classmethod
    def of(
        cls,
        sample: WeightedSample,
        engine: Engine,
        scale: Matrix | None = None,
        origin: Vector | None = None,
    ) -> LoadedSample:
        """Map, check what the map has made, and load; the origin is the first row by default."""
        start = sample.sample.first if origin is None else origin
        mapped = sample.sample
        if scale is not None:
            mapped = mapped.map(scale, start)
            mapped.require_finite("X, mapped by scale,")
        cloud = mapped.load(engines.precise(engine), sample.weights)
        return cls(sample, cloud, engines.precise(engine), scale, start)

    def map(self, points: Points) -> Points:
        """Points in memory, in the coordinates of the kernel."""
        return scaling.apply(self.scale, points, self.origin)

    def original(self, centers: Points, rows: IntVector | None) -> Points:
        """Centres as they were before the map: the rows themselves where they are rows."""
        if self.scale is None:
            return np.array(centers)
        if rows is not None:
            return np.array(self.sample.sample.rows(rows))
        return scaling.undo(self.scale, centers, self.origin)

    def find(self, rows: IntVector, points: Points) -> IntVector | None:
        """Positions of the given rows among those that count, if they hold these points."""
        if int(rows.max()) >= self.sample.total:
            return None
        positions = self.sample.positions(rows)
        if positions is None or not np.array_equal(self.sample.sample.rows(positions), points):
            return None
        return positions

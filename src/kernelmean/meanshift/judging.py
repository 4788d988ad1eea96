"""The density of rows, which judges the modes of one whose centres stand for many rows each.

The hills of a density of few centres may be the centres themselves. Cells about as many as the
default takes, at bandwidths about as wide, show no such hills; of any other number, width or kind
this is not known, and the kernel density estimate of the rows says what is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelmean._random import Streams
from kernelmean._types import Points, Vector
from kernelmean.engines import Engine
from kernelmean.mean.expansion import KernelMean
from kernelmean.mixtures.rows import drawn
from kernelmean.samples import WeightedSample

MAX_ROWS = 20_000  # that are looked at


@dataclass(frozen=True, eq=False)
class Judge:
    """Rows in the coordinates of the data, and the number of points that each stands for."""

    rows: Points
    masses: Vector

    @classmethod
    def of(cls, sample: WeightedSample, engine: Engine, streams: Streams) -> Judge:
        """All rows of a sample, or some spread evenly over its weight."""
        cloud = sample.sample.load(engine, sample.weights)
        found = drawn(cloud, sample.weights, MAX_ROWS, streams.of("judging modes"))
        return cls(found.points, found.masses)

    def of_kernel(self, mean: KernelMean) -> KernelMean:
        """The density of the rows with the kernel of a mean, in the coordinates of its kernel.

        Its noise is that of so many rows, also where they were drawn from more.
        """
        size = min(float(self.masses.sum()), float(MAX_ROWS))
        return KernelMean(
            mean.map(self.rows),
            self.masses / self.masses.sum(),
            mean.kernel,
            "l2",
            None,
            size,
            mean.engine,
        )

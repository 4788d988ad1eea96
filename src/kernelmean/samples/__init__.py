"""Where points lie: in memory, on a device, in files or on a cluster.

:func:`check` turns what users pass into a :class:`Sample`, which every fit understands; what
computes with it is an engine, and ``sample.load(engine)`` brings the two together.
"""

from kernelmean.samples.checking import check, check_queries, lies_elsewhere
from kernelmean.samples.memory import ArraySample
from kernelmean.samples.protocol import Queries, Sample, WeightedSample

__all__ = [
    "ArraySample",
    "Queries",
    "Sample",
    "WeightedSample",
    "check",
    "check_queries",
    "lies_elsewhere",
]

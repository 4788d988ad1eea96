"""Many distributions as points: samples → kernel means → distance matrix → coordinates (paper, section 6.1)."""

from kernelmean.applications.embedding.coordinates import Configuration, Geodesics, classical_mds, geodesics
from kernelmean.applications.embedding.distances import METRICS, Comparison, compare
from kernelmean.applications.embedding.samples import Samples, collect

__all__ = [
    "METRICS",
    "Comparison",
    "Configuration",
    "Geodesics",
    "Samples",
    "classical_mds",
    "collect",
    "compare",
    "geodesics",
]

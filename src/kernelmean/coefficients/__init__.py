"""From centres to a mean: grow the factor, stop, solve for the weights, move the centres."""

from kernelmean.coefficients.growth import Growth, Path, Progress, Stopping, grow
from kernelmean.coefficients.sources import Batch, Source, picking_radii
from kernelmean.coefficients.weights import CONSTRAINTS, SOLVERS, weights

__all__ = [
    "CONSTRAINTS",
    "SOLVERS",
    "Batch",
    "Growth",
    "Path",
    "Progress",
    "Source",
    "Stopping",
    "grow",
    "picking_radii",
    "weights",
]

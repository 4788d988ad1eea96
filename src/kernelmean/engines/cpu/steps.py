"""How many steps of NumPy on one number an operation takes, by its sizes alone.

A step is about a nanosecond. The counts need to be right within a factor of a few: they decide
whether an operation is worth compiling for, not what it computes.
"""

from __future__ import annotations

import math

from kernelmean._types import Points
from kernelmean.kernels import Atoms, RadialFunction, Table

DISTANCE = 1.0  # per coordinate: difference, square and sum
EXPONENTIAL = 6.0  # with the formula and the sum
SEVERAL = 12.0  # the further sums and logarithms of a moment
LOOKED_UP = 60.0  # a value of a table
CALLED = 1000.0  # a value of a user's function of one number
PHASE = 30.0  # a cosine and a sine
FEW_CENTERS = 32  # sampling in proportion to squared distances asks for one at a time
AGAIN = 20.0  # times that iterations ask for moments or for nearest centres of one cloud


def value(radial: RadialFunction, d: int) -> float:
    """One value of a radial function of a squared distance."""
    if isinstance(radial, Table):
        return LOOKED_UP + DISTANCE * d
    return (CALLED if radial.scalar is not None else EXPONENTIAL) + DISTANCE * d


def values(radial: RadialFunction, n: int, Q: Points, columns: int = 1) -> float:
    """A kernel sum over n points at queries."""
    return float(n) * len(Q) * (value(radial, int(Q.shape[1])) + columns - 1.0)


def pairs(radial: RadialFunction, n: int, d: int) -> float:
    """A kernel sum over n points at themselves."""
    return float(n) * n * value(radial, d)


def moments(radial: RadialFunction, n: int, Q: Points) -> float:
    """Kernel sums with a pull, which refinement and mean shift ask for again and again."""
    d = int(Q.shape[1])
    return AGAIN * n * len(Q) * (SEVERAL + value(radial, d) + 2.0 * DISTANCE * d)


def atom_value(atoms: Atoms) -> float:
    """One value of a blurred atom."""
    d = atoms.dimension
    return EXPONENTIAL + DISTANCE * (d * d + d if atoms.kind == "full" else d)


def atom_values(atoms: Atoms, q: int, columns: int = 1) -> float:
    """A sum over atoms at queries."""
    return len(atoms) * q * (atom_value(atoms) + columns - 1.0)


def atom_moments(atoms: Atoms, q: int) -> float:
    """Sums over atoms, or over points for atoms, that iterations ask for again and again."""
    d = atoms.dimension
    further = 2 * d * d if atoms.kind == "full" else 2 * d
    return AGAIN * len(atoms) * q * (SEVERAL + atom_value(atoms) + DISTANCE * further)


def nearest(n: int, centers: Points) -> float:
    """Nearest of some centres, of which k-means asks again and again, of few more often."""
    k, d = map(int, centers.shape)
    return AGAIN * n * max(k, FEW_CENTERS) * DISTANCE * d


def traversal(n: int, d: int) -> float:
    """A farthest-first traversal of about 3√n centres."""
    return n * 3.0 * math.sqrt(n) * DISTANCE * (d + 1)


def phases(n: int, frequencies: Points) -> float:
    """Characteristic functions at frequencies."""
    return n * len(frequencies) * (PHASE + DISTANCE * int(frequencies.shape[1]))

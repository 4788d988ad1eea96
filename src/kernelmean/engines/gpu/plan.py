"""A radial function as the loops take it: numbers in the unit of the points, and how far single
precision is trusted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from kernelmean.engines.gpu.arrays import Tensor
from kernelmean.kernels.radials import Formula, RadialFunction, Table

LOG2E = 1.4426950408889634  # log₂ e, which turns exp into a power of two
DEPTH = 5.0  # |log g| up to which it is known to 1e-6 where it is a float32 number
GRID = np.exp(np.arange(-14.0, 28.0, 0.05))  # values of s at which the steepness is looked at
UNROLLED = 16  # coordinates up to which queries and points stay in registers
OWN = 16.0  # s up to which a user's own profile is asked: beyond, it need not even be finite


class Factors(NamedTuple):
    """Atoms as the loops take them: g(‖F_a(x − c_a)‖²) in the place of g(‖x − c_a‖²).

    F = 1 for points, and no singular value of F is more than 1.
    """

    values: Tensor  # (k padded,) the numbers F², or (k, d, d) upper triangular matrices F
    of_queries: bool = False  # whether the queries are the atoms, and not the points; numbers only
    # Whether points come as −F_a c_a, and the numbers are F: one fused multiply-add, F_a q + (−F_a
    # c_a), takes the place of a difference. Up to UNROLLED coordinates.
    mirrored: bool = False

    @property
    def full(self) -> bool:
        return self.values.ndim == 3


class Plan(NamedTuple):
    """g(r²) for squared distances in units of ``unit``²."""

    function: RadialFunction
    rate: float
    shape: float
    table: Tensor | None  # (cells, 6)
    cells: int
    factors: Factors | None = None  # of atoms, which stretch distances before g sees them

    @classmethod
    def of(
        cls, function: RadialFunction, squared_unit: float, dtype: torch.dtype, device: torch.device
    ) -> Plan:
        """Numbers for points that were multiplied by the unit."""
        rate = function.rate / squared_unit
        if isinstance(function, Table):
            table = torch.from_numpy(function.coefficients.copy()).to(device, dtype)
            return cls(function, rate, 1.0 / function.step, table, len(table))
        return cls(function, rate, function.shape, None, 0)

    @property
    def binary(self) -> bool:
        """Whether g = 2^(−r²) in single precision, where points are in :func:`unit_for`."""
        return self.function.exponential


def unit_for(function: RadialFunction) -> float:
    """√rate, one over the kernel's length: no rate is left to multiply by, nor one in powers of two
    for an exponential.
    """
    return math.sqrt(function.rate * (LOG2E if function.exponential else 1.0))


def trusted(function: RadialFunction, steepness: float, logarithm: bool = False) -> float:
    """The largest s up to which |d log g/d log s| ≤ ``steepness``: s is known to so many times 2⁻²⁴
    of itself.

    Where g is the exponential of a float32 number, that must not be large either.
    """
    own = isinstance(function, Formula) and function.scalar is not None
    s = GRID[GRID <= OWN] if own else GRID
    with np.errstate(all="ignore"):
        log_g = function.log(s / function.rate)
        fine = np.abs(np.diff(log_g)) <= steepness * np.diff(np.log(s))
    if logarithm or not (own or function.exponential):
        fine &= np.abs(log_g[1:] - log_g[0]) <= DEPTH
    if not fine.all():
        return float(s[np.argmin(fine)])
    return OWN if own else math.inf

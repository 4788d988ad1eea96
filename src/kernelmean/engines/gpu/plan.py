"""A radial function as the loops take it: numbers in the unit of the points."""

from __future__ import annotations

from typing import NamedTuple

import torch

from kernelmean.engines.gpu.arrays import Tensor
from kernelmean.kernels.radials import RadialFunction, Table


class Plan(NamedTuple):
    """g(r²) for squared distances in units of ``unit``²."""

    function: RadialFunction
    rate: float
    shape: float
    table: Tensor | None  # (cells, 6)
    cells: int

    @classmethod
    def of(cls, function: RadialFunction, squared_unit: float, dtype: torch.dtype, device: torch.device) -> Plan:
        """Numbers for points that were multiplied by the unit."""
        rate = function.rate / squared_unit
        if isinstance(function, Table):
            table = torch.from_numpy(function.coefficients.copy()).to(device, dtype)
            return cls(function, rate, 1.0 / function.step, table, len(table))
        return cls(function, rate, function.shape, None, 0)

"""Radial kernels: values that know their mathematics.

A kernel is a density-shaped function φ of the distance r. In the RKHS its inner product is g = φ
(constant c = 1); in L2 it is g = φ∗φ with φ normalised to integrate to one. Engines receive g/g(0)
as a :class:`Formula` or :class:`Table` with its :class:`RadialTraits`; constants stay apart, as
logarithms, because in hundreds of dimensions none of them fits a float.
"""

from __future__ import annotations

from kernelmean.kernels.atoms import Atoms, Components, SpreadKind, Spreads
from kernelmean.kernels.base import SPACES, Kernel
from kernelmean.kernels.custom import Radial
from kernelmean.kernels.gaussian import Gaussian
from kernelmean.kernels.laplacian import Laplacian
from kernelmean.kernels.radials import Formula, RadialDensity, RadialFunction, Slope, Table
from kernelmean.kernels.registry import describe, family, restorable, restore
from kernelmean.kernels.student import Cauchy, Student
from kernelmean.kernels.traits import KernelTraits, RadialTraits

__all__ = [
    "SPACES",
    "Atoms",
    "Cauchy",
    "Components",
    "Formula",
    "Gaussian",
    "Kernel",
    "KernelTraits",
    "Laplacian",
    "Radial",
    "RadialDensity",
    "RadialFunction",
    "RadialTraits",
    "Slope",
    "SpreadKind",
    "Spreads",
    "Student",
    "Table",
    "describe",
    "family",
    "restorable",
    "restore",
]

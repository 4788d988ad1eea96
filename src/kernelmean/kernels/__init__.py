"""Radial kernels: values that know their mathematics.

A kernel is a density-shaped function φ of the distance r. In the RKHS its inner product is g = φ
(constant c = 1); in L2 it is g = φ∗φ with φ normalised to integrate to one. Engines receive g/g(0)
as a :class:`Formula` or :class:`Table`; constants stay apart, as logarithms, because in hundreds of
dimensions none of them fits a float.
"""

from __future__ import annotations

from kernelmean import _checks
from kernelmean.kernels.base import SPACES, Kernel
from kernelmean.kernels.custom import Radial
from kernelmean.kernels.gaussian import Gaussian
from kernelmean.kernels.laplacian import Laplacian
from kernelmean.kernels.radials import Formula, RadialDensity, RadialFunction, Slope, Table
from kernelmean.kernels.student import Cauchy, Student
from kernelmean.kernels.traits import KernelTraits, RadialTraits

__all__ = [
    "SPACES",
    "Cauchy",
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
    "Student",
    "Table",
    "describe",
    "family",
    "restore",
]

FAMILIES: dict[str, Kernel] = {
    "gaussian": Gaussian(1.0),
    "laplacian": Laplacian(1.0),
    "exponential": Laplacian(1.0),  # scikit-learn's name
    "cauchy": Cauchy(1.0),
}

COMPACT = {
    "tophat": "h/√3",
    "epanechnikov": "h/√5",
    "linear": "h/√6",
    "cosine": "0.435·h",
}  # σ of equal spread in 1-D


def family(name: str) -> Kernel:
    """The kernel of that name at unit scale, to be given its bandwidth."""
    if name in COMPACT:
        raise ValueError(
            f"kernel {name!r} has compact support and is not offered; use kernel='gaussian' "
            "instead, with bandwidth "
            f"{COMPACT[name]} for the same spread as {name!r} of bandwidth h in one dimension."
        )
    if name == "student":
        raise ValueError(
            "kernel 'student' has two parameters: give an instance, km.Student(alpha, beta)."
        )
    member: Kernel = FAMILIES[_checks.choice(name, "kernel", FAMILIES)]
    return member


def describe(kernel: Kernel) -> dict[str, float | str]:
    """Name and parameters, as a model file holds them; a user's own kernel leaves only its scale."""
    if isinstance(kernel, Radial):
        return {"name": kernel.name, "bandwidth": kernel.bandwidth}
    return {"name": kernel.name, **{key: float(value) for key, value in vars(kernel).items()}}


def restore(description: dict[str, float | str], own: Kernel | None = None) -> Kernel:
    """The kernel that :func:`describe` described; a user's own one must be given again."""
    parameters = {key: float(value) for key, value in description.items() if key != "name"}
    classes = {"gaussian": Gaussian, "laplacian": Laplacian, "student": Student, "cauchy": Cauchy}
    if description["name"] != "radial":
        restored: Kernel = classes[str(description["name"])](**parameters)
        return restored
    if not isinstance(own, Radial):
        raise ValueError(
            "this model uses a kernel of its author's own: give the same one, load(path, "
            "kernel=km.Radial(...))."
        )
    return own.rescaled(parameters["bandwidth"], 0)

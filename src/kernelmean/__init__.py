"""Sparse kernel means: a kernel density estimate or mean embedding by a few well-chosen centres.

    import kernelmean as km
    mean = km.sparse_kernel_mean(X)

Names are resolved when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelmean import bandwidth, engines
    from kernelmean.certificates import Certificate
    from kernelmean.estimators.proportions import ClassProportions
    from kernelmean.kernels import Cauchy, Gaussian, Laplacian, Radial, Student
    from kernelmean.mean import KernelMean, SparseKernelMean, distance_matrix, kernel_mean, load, merge, sparse_kernel_mean
    from kernelmean.selection import Centers, k_center

__version__ = "0.1.0"

_HOMES = {
    "bandwidth": "kernelmean.bandwidth",
    "engines": "kernelmean.engines",
    "Certificate": "kernelmean.certificates",
    "ClassProportions": "kernelmean.estimators.proportions",
    "Cauchy": "kernelmean.kernels",
    "Gaussian": "kernelmean.kernels",
    "Laplacian": "kernelmean.kernels",
    "Radial": "kernelmean.kernels",
    "Student": "kernelmean.kernels",
    "KernelMean": "kernelmean.mean",
    "SparseKernelMean": "kernelmean.mean",
    "distance_matrix": "kernelmean.mean",
    "kernel_mean": "kernelmean.mean",
    "load": "kernelmean.mean",
    "merge": "kernelmean.mean",
    "sparse_kernel_mean": "kernelmean.mean",
    "Centers": "kernelmean.selection",
    "k_center": "kernelmean.selection",
}

__all__ = [
    "Cauchy",
    "Centers",
    "Certificate",
    "ClassProportions",
    "Gaussian",
    "KernelMean",
    "Laplacian",
    "Radial",
    "SparseKernelMean",
    "Student",
    "__version__",
    "bandwidth",
    "distance_matrix",
    "engines",
    "k_center",
    "kernel_mean",
    "load",
    "merge",
    "sparse_kernel_mean",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'kernelmean' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"kernelmean.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

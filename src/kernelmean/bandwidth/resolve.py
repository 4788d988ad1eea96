"""Which kernel a name and a bandwidth mean, for the points at hand."""

from __future__ import annotations

import numbers
from typing import Any

from kernelmean import _checks, bandwidth, kernels
from kernelmean._types import ArrayLike, Points, Vector
from kernelmean.engines import Engine, PointCloud
from kernelmean.kernels import Kernel

DEFAULT_RULE = "scott"
OWN_SCALE = (DEFAULT_RULE, "auto")  # defaults, which leave a kernel its own scale


def resolve_kernel(kernel: Any, scale: Any, cloud: PointCloud) -> Kernel:
    """A kernel as it is; a name with its own length, or with a rule that reads the data."""
    if isinstance(kernel, Kernel):
        if not (isinstance(scale, str) and scale in OWN_SCALE):
            raise ValueError(
                f"{kernel} carries its own scale: give either a kernel instance, or a name and "
                f"bandwidth={scale!r}."
            )
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(
            f"kernel must be a name or a kernel such as km.Gaussian(1.0), got {kernel!r}."
        )
    return rescaled(kernels.family(kernel), scale, cloud)


def rescaled(family: Kernel, scale: Any, cloud: PointCloud) -> Kernel:
    """The kernel of a family with this length, or with the length that a rule asks for.

    A rule gives the σ of a Gaussian; the kernel gets the half-maximum radius of that Gaussian.
    """
    d = cloud.summary.dimension
    if isinstance(scale, str):
        return family.matching(bandwidth.by_rule(scale, cloud), d)
    if not isinstance(scale, numbers.Real):
        raise TypeError(
            "bandwidth must be a positive number or one of "
            f"{', '.join(map(repr, bandwidth.RULES))}, got {scale!r}."
        )
    return family.rescaled(_checks.length(scale, "bandwidth"), d)


def labelled_kernel(
    kernel: Any, X: Points, y: ArrayLike, weights: Vector | None, engine: str | Engine
) -> Kernel:
    """The kernel of that name whose bandwidth is Jaakkola's for labelled points.

    The points are in the coordinates of the kernel.
    """
    if not isinstance(kernel, str):
        raise ValueError(
            f"{kernel} carries its own scale: give its name with bandwidth='jaakkola', or the "
            "instance alone."
        )
    return kernels.family(kernel).matching(
        bandwidth.jaakkola(X, y, weights, engine=engine), X.shape[1]
    )

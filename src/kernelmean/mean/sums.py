"""Sums over centres times a constant, right wherever their product fits a float.

In many dimensions, or at small lengths, the constant c of a density is huge and the kernel far from
its centre underflows, while their product is an ordinary number. The plain sum is taken first; only
where it is so small that underflow may have cost it digits is it taken again by logarithms.
"""

from __future__ import annotations

import numpy as np

from kernelmean._types import IntVector, Points, Vector
from kernelmean.engines import KernelSums
from kernelmean.kernels import Formula, RadialFunction
from kernelmean.mean import scaling

LEAST_SUM = 1e-280  # in units of max(1, Σ|w|): a sum above it has lost nothing to underflow
NEGLIGIBLE_LOG = 100.0  # a constant below e^−100 takes what is smaller than that to zero


def density_sum(
    cloud: KernelSums, radial: RadialFunction, Q: Points, w: Vector, log_constant: float
) -> Vector:
    """c·Σ_a w_a g(‖q − c_a‖²); ±∞ where it overflows."""
    plain = cloud.kernel_sum(radial, Q, w)
    value = scaling.times_exp(plain, log_constant)
    far = lost(radial, plain, mass(w), log_constant)
    if len(far):
        mantissa, level = signed_sum(cloud, radial, Q[far], w)
        value[far] = scaling.times_exp(mantissa, level + log_constant)
    return value


def lost(radial: RadialFunction, plain: Vector, mass: float, log_constant: float) -> IntVector:
    """Rows whose sum may have lost digits that its product with the constant would have.

    Σ|w| is their mass. What is lost as a whole stays below the smallest normal number unless the
    constant is above one. A radial that is not logarithmic, as a user's profile, cannot be summed
    again by logarithms.
    """
    if log_constant < -NEGLIGIBLE_LOG or not radial.traits.logarithmic:
        return np.empty(0, dtype=np.intp)
    small = np.flatnonzero(np.abs(plain) < LEAST_SUM * max(1.0, mass))
    return small if log_constant > 0.0 else small[plain[small] != 0.0]


def mass(w: Vector) -> float:
    """Σ|w|."""
    return float(np.abs(w).sum())


def signed_sum(
    cloud: KernelSums, radial: RadialFunction, Q: Points, w: Vector
) -> tuple[Vector, Vector]:
    """(m, ℓ) such that Σ_a w_a g(‖q − c_a‖²) = m·e^ℓ.

    Positive and negative weights are summed apart, by logarithms.
    """
    logs = [cloud.log_kernel_sum(radial, Q, np.maximum(side, 0.0)) for side in sides(w)]
    level = common_level(logs)
    mantissa: Vector = np.exp(logs[0] - level)
    return (mantissa if len(logs) == 1 else mantissa - np.exp(logs[1] - level)), level


def signed_total(
    cloud: KernelSums, radial: RadialFunction, Q: Points, w: Vector, v: Vector
) -> tuple[float, float]:
    """(m, ℓ) such that Σ_i v_i Σ_a w_a g(‖q_i − c_a‖²) = m·e^ℓ."""
    mantissa, level = signed_sum(cloud, radial, Q, w)
    terms = v * mantissa
    if not terms.any():
        return 0.0, 0.0
    top = float(level[terms != 0.0].max())
    return float(np.sum(terms * np.exp(np.minimum(level - top, 0.0)))), top


def signed_pull(cloud: KernelSums, decay: Formula, Q: Points, w: Vector) -> tuple[Points, Vector]:
    """(m, ℓ) such that Σ_a w_a ψ(‖q − c_a‖²)(c_a − q) = m·e^ℓ, each of them a row; the same way."""
    found = [cloud.shift(decay, Q, np.maximum(side, 0.0)) for side in sides(w)]
    level = common_level([shift.log_pull for shift in found])
    pulls = [np.exp(shift.log_pull - level)[:, None] * shift.pull for shift in found]
    return (pulls[0] if len(pulls) == 1 else pulls[0] - pulls[1]), level


def sides(w: Vector) -> list[Vector]:
    """W, and −w where it has anything positive."""
    return [w, -w] if bool((w < 0.0).any()) else [w]


def common_level(logs: list[Vector]) -> Vector:
    """The larger of the logarithms in each row; 0 where all are of zero."""
    level = np.max(logs, axis=0)
    return np.where(np.isneginf(level), 0.0, level)

"""A kernel mean seen along a line or in a plane: the other directions integrated out, exactly.

With x ↦ z = Ax the map before the kernel and y = Px what is looked at, (PA⁻¹)ᵀ = QR gives y =
Rᵀ·Qᵀz. Qᵀz keeps of every kernel its m-dimensional marginal, which is radial again, so that the
marginal of Σ_a α_a φ(A(x − c_a)) is Σ_a α_a φ_m(B(y − Pc_a)) · |det B|, with B = R⁻ᵀ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from kernelmean import engines
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import (
    Cauchy,
    Gaussian,
    Kernel,
    Laplacian,
    RadialFunction,
    Student,
    Table,
    quadrature,
)
from kernelmean.mean import scaling, sums
from kernelmean.mean.expansion import AnyMean


class Profile(NamedTuple):
    """A radial density: φ(0) · radial(r²)."""

    radial: RadialFunction
    log_peak: float


@dataclass(frozen=True, eq=False)
class Marginal:
    """f_P(y) = ∫ f over the points that P maps to y; kernels are normalised to one, so ∫ f_P = Σ_a
    α_a.
    """

    centers: Points  # (k, m), as P sees them
    weights: Vector  # (k,)
    cloud: PointCloud
    profile: Profile
    scale: Matrix  # (m, m) B

    def __call__(self, Y: Points) -> Vector:
        """f_P at the rows of Y, (q, m).  Time O(qkm)."""
        mapped = scaling.apply(self.scale, Y, self.centers[0])
        log_constant = self.profile.log_peak + scaling.log_jacobian(self.scale)
        return sums.density_sum(self.cloud, self.profile.radial, mapped, self.weights, log_constant)


def marginal(mean: AnyMean, P: Matrix) -> Marginal:
    """The marginal of a mean under a linear map P, (m, d) of rank m; a ValueError for a kernel
    whose marginals are not known.
    """
    full = mean.expansion
    m, d = P.shape
    profile = kernel_marginal(full.kernel, d, m)
    to_data = P if full.scale is None else np.linalg.solve(full.scale.T, P.T).T  # PA⁻¹
    _, R = qr(to_data.T, mode="economic")
    B = solve_triangular(R.T, np.eye(m), lower=True)
    centers = full.centers @ P.T
    engine = engines.precise(engines.open(full.engine))
    return Marginal(
        centers, full.weights, engine.load(scaling.apply(B, centers, centers[0])), profile, B
    )


def kernel_marginal(kernel: Kernel, d: int, m: int) -> Profile:
    """∫ φ over d − m of its d coordinates, for density-normalised φ.

    Gaussian: itself. Student: α − (d − m)/2, the same β. Cauchy: itself. Laplacian: Matérn, M_ν of
    ν = (d − m + 1)/2.
    """
    if isinstance(kernel, Laplacian) and d > m:
        return _laplacian_marginal(kernel, d, m)
    kernel.log_density_constant(
        d
    )  # a kernel without an integral has no marginal either, and says so
    if isinstance(kernel, Student):
        kernel = Student(kernel.alpha - (d - m) / 2, kernel.beta)
    elif d > m and not isinstance(kernel, (Gaussian, Cauchy)):
        raise ValueError(f"the marginals of {kernel} are not known; only its slices can be drawn.")
    return Profile(kernel.formula(m), kernel.log_density_constant(m))


def _laplacian_marginal(kernel: Laplacian, d: int, m: int) -> Profile:
    """M_ν(r/γ)/C,  M_ν = t^ν K_ν(t)/(2^{ν−1} Γ(ν)),  C = ∫ M_ν = (2γ)^m π^{m/2} Γ(ν + m/2)/Γ(ν)."""
    nu = (d - m + 1) / 2
    log_integral = (
        m * math.log(2 * kernel.scale)
        + 0.5 * m * math.log(math.pi)
        + math.lgamma(nu + m / 2)
        - math.lgamma(nu)
    )
    return Profile(
        Table(quadrature.laplacian_table(d - m - 1), quadrature.STEP, kernel.scale**-2),
        -log_integral,
    )

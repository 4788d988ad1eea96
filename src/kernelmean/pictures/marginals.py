"""A kernel mean seen along a line or in a plane: the other directions integrated out, exactly.

With x ↦ z = Ax the map before the kernel and y = Px what is looked at, (PA⁻¹)ᵀ = QR gives y =
Rᵀ·Qᵀz. Qᵀz keeps of every kernel its m-dimensional marginal, which is radial again, so that the
marginal of Σ_a α_a φ(A(x − c_a)) is Σ_a α_a φ_m(B(y − Pc_a)) · |det B|, with B = R⁻ᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from kernelmean import engines
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import PointCloud
from kernelmean.kernels import RadialDensity
from kernelmean.mean import scaling, sums
from kernelmean.mean.expansion import AnyMean


@dataclass(frozen=True, eq=False)
class Marginal:
    """f_P(y) = ∫ f over the points that P maps to y; kernels are normalised to one, so ∫ f_P = Σ_a
    α_a.
    """

    centers: Points  # (k, m), as P sees them
    weights: Vector  # (k,)
    cloud: PointCloud
    profile: RadialDensity  # φ_m
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
    profile = full.kernel.marginal(d, m)
    to_data = P if full.scale is None else np.linalg.solve(full.scale.T, P.T).T  # PA⁻¹
    _, R = qr(to_data.T, mode="economic")
    B = solve_triangular(R.T, np.eye(m), lower=True)
    centers = full.centers @ P.T
    engine = engines.precise(engines.open(full.engine))
    return Marginal(
        centers, full.weights, engine.load(scaling.apply(B, centers, centers[0])), profile, B
    )

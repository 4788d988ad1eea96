"""A kernel mean seen along a line or in a plane: the other directions integrated out, exactly.

With x ↦ z = Ax the map before the kernel and y = Px what is looked at, (PA⁻¹)ᵀ = QR gives y =
Rᵀ·Qᵀz. Qᵀz keeps of every kernel its m-dimensional marginal, which is radial again, so that the
marginal of Σ_a α_a φ(A(x − c_a)) is Σ_a α_a φ_m(B(y − Pc_a)) · |det B|, with B = R⁻ᵀ. Of a spread
S_a it keeps QᵀS_aQ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from kernelmean import engines
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import KernelSums
from kernelmean.kernels import Atoms, RadialDensity
from kernelmean.mean import scaling, sums
from kernelmean.mean.covariances import covariances, seen_from_kernel
from kernelmean.mean.expansion import AnyMean


@dataclass(frozen=True, eq=False)
class Marginal:
    """f_P(y) = ∫ f over the points that P maps to y; kernels are normalised to one, so ∫ f_P = Σ_a
    α_a.
    """

    centers: Points  # (k, m), as P sees them
    weights: Vector  # (k,)
    cloud: KernelSums
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
    Q, R = qr(seen_from_kernel(full, P).T, mode="economic")
    B = solve_triangular(R.T, np.eye(m), lower=True)
    centers = full.centers @ P.T
    engine = engines.precise(engines.open(full.engine))
    mapped = scaling.apply(B, centers, centers[0])
    cloud: KernelSums
    if full.spreads is None:
        cloud = engine.load(mapped)
    else:
        across = np.asarray(Q.T, dtype=np.float64)
        seen = full.spreads if full.spreads.ndim == 1 else covariances(full.spreads, across)
        cloud = engine.load_atoms(Atoms(mapped, seen))
    return Marginal(centers, full.weights, cloud, profile, B)

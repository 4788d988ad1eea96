"""The cubic part of the growing factor on the device: from some thousand centres on, the host
cannot keep up.
"""

from __future__ import annotations

import torch
from numpy.linalg import LinAlgError

from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines.gpu import torch_loops
from kernelmean.engines.gpu.arrays import Tensor, to_device, to_host
from kernelmean.engines.gpu.plan import Plan
from kernelmean.kernels import RadialFunction


class Elimination:
    """Keeps L of the centres met so far; see :class:`kernelmean.engines.Elimination`. Time k³/3 in
    all, memory k² there.
    """

    def __init__(self, radial: RadialFunction, device: torch.device) -> None:
        self._plan = Plan.of(radial, 1.0, torch.float64, device)
        self._device = device
        self._L = torch.zeros((0, 0), dtype=torch.float64, device=device)

    def __call__(self, old: Points, new: Points, jitter: Vector) -> tuple[Matrix, Matrix]:
        """(Xᵀ, M): X = L⁻¹K₁₂, MMᵀ = K₂₂ + Λ₂ − XᵀX; a LinAlgError where that is not positive."""
        m = len(old)
        b = len(new)
        A, B = (to_device(C, self._device).T for C in (old, new))
        grown = torch.zeros((m + b, m + b), dtype=torch.float64, device=self._device)
        grown[:m, :m] = self._L[:m, :m]
        left = torch.linalg.solve_triangular(self._L[:m, :m], self._gram(A, B), upper=False).T
        schur = self._gram(B, B) - left @ left.T
        schur.diagonal().add_(to_device(jitter, self._device))
        M, failure = torch.linalg.cholesky_ex(schur)
        if int(failure):
            raise LinAlgError(f"the leading minor of order {int(failure)} is not positive")
        grown[m:, :m] = left
        grown[m:, m:] = M
        self._L = grown
        return to_host(left.contiguous()), to_host(M)

    def _gram(self, A: Tensor, B: Tensor) -> Tensor:
        """K_ab = g(‖a − b‖²), by direct differences."""
        return torch_loops.values(self._plan, torch_loops.squared_distances(A, B))

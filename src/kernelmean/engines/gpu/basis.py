"""Orthonormal directions against a pool of candidates, on the device: what greedy selection spends
its time on.
"""

from __future__ import annotations

import torch
from numpy.linalg import LinAlgError

from kernelmean._types import IntVector, Matrix, Points
from kernelmean.engines import Projections
from kernelmean.engines.gpu import torch_loops
from kernelmean.engines.gpu.arrays import Tensor, to_device, to_host
from kernelmean.engines.gpu.plan import Plan
from kernelmean.kernels import RadialFunction


class OrthonormalBasis:
    """V of :class:`kernelmean.engines.OrthonormalBasis`.

    Memory 8Pk bytes on the device for k directions and P candidates.
    """

    def __init__(self, radial: RadialFunction, device: torch.device) -> None:
        self._plan = Plan.of(radial, 1.0, torch.float64, device)
        self._device = device
        self._size = 0
        self._points: Tensor | None = None  # (d, P)
        self._V = torch.empty((0, 0), dtype=torch.float64, device=device)

    def extend(self, points: Points, picks: IntVector, coordinates: Matrix) -> Projections:
        """New candidates: L⁻¹K of the picks with them, L = V_picksᵀ."""
        new = to_device(points, self._device).T
        rows = torch.empty((self._size, len(points)), dtype=torch.float64, device=self._device)
        if self._points is None:
            self._points = new.contiguous()
        else:
            if self._size:
                at = self._at(picks)
                lower = self._V[: self._size, at].T.contiguous()
                rows = torch.linalg.solve_triangular(
                    lower, self._gram(self._points[:, at], new), upper=False
                )
            self._points = torch.cat([self._points, new], dim=1)
        self._V = torch.cat([self._V[: self._size], rows], dim=1)
        return _shares(rows, to_device(coordinates, self._device))

    def residual_gram(self, listed: IntVector) -> Matrix:
        """K − VᵀV among some candidates."""
        assert self._points is not None
        at = self._at(listed)
        some = self._points[:, at]
        known = self._V[: self._size, at]
        return to_host(self._gram(some, some) - known.T @ known)

    def include(self, chosen: IntVector, sides: Matrix) -> tuple[Matrix, Projections]:
        """R = K(J, ·) − V_JᵀV, MMᵀ = R_J, V ← [V; M⁻¹R]."""
        assert self._points is not None
        at = self._at(chosen)
        m = self._size
        R = torch.addmm(
            self._gram(self._points[:, at], self._points),
            self._V[:m, at].T,
            self._V[:m],
            alpha=-1.0,
        )
        M, failure = torch.linalg.cholesky_ex(R[:, at])
        if int(failure):
            raise LinAlgError(f"the leading minor of order {int(failure)} is not positive")
        rows, coordinates = (
            torch.linalg.solve_triangular(M, B, upper=False)
            for B in (R, to_device(sides, self._device))
        )
        self._append(rows)
        return to_host(coordinates), _shares(rows, coordinates)

    def _append(self, rows: Tensor) -> None:
        """Further directions, by their products with all candidates."""
        stop = self._size + len(rows)
        if stop > len(self._V):
            larger = torch.empty(
                (stop + stop // 4 + 32, self._V.shape[1]), dtype=torch.float64, device=self._device
            )
            larger[: self._size] = self._V[: self._size]
            self._V = larger
        self._V[self._size : stop] = rows
        self._size = stop

    def _at(self, rows: IntVector) -> Tensor:
        return to_device(rows.astype("int64"), self._device)

    def _gram(self, A: Tensor, B: Tensor) -> Tensor:
        return torch_loops.values(self._plan, torch_loops.squared_distances(A, B))


def _shares(rows: Tensor, coordinates: Tensor) -> Projections:
    """Σ over the directions, in one transfer."""
    both: Matrix = to_host(
        torch.cat([coordinates.T @ rows, (rows * rows).sum(dim=0, keepdim=True)])
    )
    return Projections(both[:-1], both[-1])

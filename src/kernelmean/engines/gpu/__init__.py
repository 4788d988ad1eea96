"""The engine for CUDA devices: torch holds the points, Triton compiles the loops.  Extra: ``gpu``.

``precision`` is that of kernel *evaluation*: "float32" (added in float64; 1e-6 of Σ|w|g) or
"float64" (1e-13). Whatever it is, selection compares exact float64 distances, so centres are those
of the other engines, and whoever solves for coefficients or certifies an error asks
:func:`kernelmean.engines.precise` for float64 sums.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from kernelmean import _checks
from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Shift
from kernelmean.engines.gpu.arrays import Tensor, to_device, to_host, vector
from kernelmean.engines.gpu.atoms import AtomCloud, atom_moments, atom_sum
from kernelmean.engines.gpu.basis import OrthonormalBasis
from kernelmean.engines.gpu.elimination import Elimination
from kernelmean.engines.gpu.points import DeviceSample, DeviceSummary
from kernelmean.engines.gpu.sums import Sums
from kernelmean.engines.gpu.traversal import Nearest, Traversal
from kernelmean.engines.rounds import CloudOffers
from kernelmean.kernels import Atoms, Formula, RadialFunction

PRECISIONS = ("float32", "float64")
FEW = (
    1024  # centres up to which the host is as fast at k × k algebra: a device waits for its orders
)


@dataclass(frozen=True)
class Engine:
    """Opens point clouds on a device.

    ``device="cpu"`` runs the same logic in plain torch, slowly, where there is none.
    """

    precision: str = "float32"
    device: str = "cuda"
    name: str = field(default="gpu", init=False)

    def __post_init__(self) -> None:
        _checks.choice(self.precision, "precision", PRECISIONS)
        try:
            kind = torch.device(self.device).type
        except (RuntimeError, TypeError) as error:
            raise ValueError(
                f"device must name a torch device such as 'cuda' or 'cuda:1', got {self.device!r}."
            ) from error
        if kind not in ("cuda", "cpu"):
            raise ValueError(
                f"device must be a CUDA device (or 'cpu', for tests), got {self.device!r}."
            )
        if kind == "cuda" and not torch.cuda.is_available():
            raise RuntimeError(
                "engine='gpu' needs a CUDA device, and torch finds none here; use engine='cpu'."
            )
        if kind == "cuda" and importlib.util.find_spec("triton") is None:
            raise ImportError(
                "engine='gpu' needs Triton, which comes with torch on Linux; install it, or use "
                "engine='cpu'."
            )

    def load(self, X: Points, weights: Vector | None = None) -> PointCloud:
        """Take the points in: an array of the host is copied to the device, one that is there
        already is not.
        """
        device = torch.device(self.device)
        sample = DeviceSample(
            to_device(X, device), None if weights is None else vector(weights, device)
        )
        return PointCloud(sample, self.precision)

    def load_atoms(self, atoms: Atoms) -> AtomCloud:
        """Take the atoms in; they are copied to the device."""
        return AtomCloud(atoms, self.precision, torch.device(self.device))

    def precise(self) -> Engine:
        """The same engine with sums in float64."""
        return self if self.precision == "float64" else replace(self, precision="float64")


@dataclass(frozen=True, eq=False)
class PointCloud:
    """n points on a device; what leaves it is small and NumPy. Queries and weights may be on the
    device already.
    """

    sample: DeviceSample
    precision: str

    @lazy
    def summary(self) -> DeviceSummary:
        """Counts, moments and quantiles."""
        return DeviceSummary(self.sample)

    def rows(self, indices: IntVector) -> Points:
        return self.sample.rows(indices)

    def locate(self, u: Vector) -> IntVector:
        return self.sample.locate(u)

    def traverse(self, first: int) -> Traversal:
        return Traversal(self.sample, first)

    def nearest(self, centers: Points) -> Nearest:
        return Nearest(self.sample, centers)

    def farthest_offers(self, squared: Vector | None = None) -> CloudOffers:
        """Distances to centres from anywhere; ``squared`` are lowered in place."""
        known = np.full(len(self.sample.X), np.inf) if squared is None else squared
        return CloudOffers(self, to_host(self.sample.p), known)

    def kernel_sum(
        self, radial: RadialFunction, Q: Points | Tensor, W: Matrix | Tensor | None = None
    ) -> Matrix:
        return self._sums.kernel_sum(radial, Q, W)

    def kernel_moments(self, radial: RadialFunction, Q: Points | Tensor) -> Matrix:
        return self._sums.kernel_moments(radial, Q)

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        return atom_sum(self.sample, radial, atoms)

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        return atom_moments(self.sample, radial, atoms)

    def log_kernel_sum(
        self, radial: RadialFunction, Q: Points | Tensor, w: Vector | Tensor | None = None
    ) -> Vector:
        return self._sums.log_kernel_sum(radial, Q, w)

    def shift(self, decay: Formula, Q: Points | Tensor, w: Vector | Tensor | None = None) -> Shift:
        return self._sums.shift(decay, Q, w)

    def quadratic(self, radial: RadialFunction) -> float:
        return self._sums.quadratic(radial)

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        return self._sums.fourier_sum(frequencies, origin)

    def elimination(self, radial: RadialFunction, size: int) -> Elimination | None:
        return Elimination(radial, self.sample.X.device) if size > FEW else None

    def orthonormal_basis(self, radial: RadialFunction, size: int) -> OrthonormalBasis | None:
        return OrthonormalBasis(radial, self.sample.X.device) if size > FEW else None

    @lazy
    def _sums(self) -> Sums:
        return Sums(self.sample, self.precision == "float32")

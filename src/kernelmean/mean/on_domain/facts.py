"""What a mean on a domain has of the sum over centres inside of it."""

from __future__ import annotations

from typing import Any

from kernelmean._types import Constraint, Matrix, Space, StopReason, Vector
from kernelmean.domains import Domain
from kernelmean.engines import Engine
from kernelmean.kernels import Kernel, Spreads
from kernelmean.mean.expansion import KernelMean
from kernelmean.mean.value import SparseKernelMean


class OfBase:
    """A sum over centres, on a domain."""

    base: SparseKernelMean | KernelMean
    domain: Domain

    @property
    def k(self) -> int:
        """Number of centres."""
        return self.base.k

    @property
    def dimension(self) -> int:
        """Number of columns."""
        return self.domain.dimension

    @property
    def weights(self) -> Vector:
        """(k,): the coefficients α_a."""
        return self.base.weights

    @property
    def kernel(self) -> Kernel:
        """The kernel of the numbers and of the chord distance on spheres."""
        return self.base.kernel

    @property
    def space(self) -> Space:
        """The space in which distances are taken."""
        return self.base.space

    @property
    def scale(self) -> Matrix | None:
        """The linear map that is applied to the coordinates before the kernel."""
        return self.base.scale

    @property
    def spreads(self) -> Spreads | None:
        """The spreads of the centres, in the coordinates of the kernel."""
        return self.base.spreads

    @property
    def n_points(self) -> float:
        """The number of points that were fitted."""
        return self.base.n_points

    @property
    def is_density(self) -> bool:
        """Whether no weight is negative, in L2."""
        return self.base.is_density

    @property
    def engine(self) -> str | Engine:
        """What computes kernel sums."""
        return self.base.engine

    @property
    def estimated_error(self) -> float | None:
        """What the fit thinks of its own relative error, where all columns are numbers.

        It is that of the mean inside, without reflections.
        """
        return self._of_fit("estimated_error") if self.domain.is_flat else None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why no further centre was taken; None where every row is one."""
        found: StopReason | None = self._of_fit("stop_reason")
        return found

    @property
    def selection(self) -> str | None:
        """How the centres were found; None where every row is one."""
        found: str | None = self._of_fit("selection")
        return found

    @property
    def constraint(self) -> Constraint:
        """The constraint on the weights."""
        found: Constraint = self._of_fit("constraint")
        return found

    @property
    def kappa(self) -> Vector | None:
        """The inner products of the mean inside with its centres, where they are known."""
        found: Vector | None = self._of_fit("kappa")
        return found

    def _of_fit(self, name: str) -> Any:
        """What is known of the fit; None where every row is a centre."""
        return getattr(self.base, name) if isinstance(self.base, SparseKernelMean) else None

"""A point cloud over many parts: every operation asks the parts' own point clouds and puts their
answers together, in the order of the parts.

No formula is written twice: kernel sums, distances and traversals are those of the local engine.
What is added here is how parts combine: sums of sums weighted by each part's share, log-sum-exp,
maxima, and rounds of a farthest-first traversal. The parts may be batches of a file that are read
one after another, or live on the workers of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Shift
from kernelmean.engines.parts.part import Operation
from kernelmean.engines.parts.part_index import PartIndex
from kernelmean.engines.parts.summary import PartsSummary
from kernelmean.engines.parts.traversal import Nearest, Traversal
from kernelmean.kernels import Atoms, Formula, RadialFunction

BLOCK = 16384  # rows that are sent to all parts at a time where all pairs count


@dataclass(frozen=True)
class PointCloud:
    """n points in parts."""

    index: PartIndex

    @lazy
    def summary(self) -> PartsSummary:
        """Counts, moments and quantiles."""
        return PartsSummary(self.index)

    def rows(self, indices: IntVector) -> Points:
        return self.index.rows(indices)

    def locate(self, u: Vector) -> IntVector:
        return self.index.locate(u)

    def traverse(self, first: int) -> Traversal:
        return Traversal(self.index, first)

    def nearest(self, centers: Points) -> Nearest:
        return Nearest(self.index, centers)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix | None = None) -> Matrix:
        """Σ_l share_l f_l over the parts l, or Σ_l f_l where W is given."""
        if W is None:
            return self._weighted(self._ask("kernel_sum", radial, Q))
        return _ordered_sum(self._ask("kernel_sum", radial, Q, own=self._cut(W)))

    def kernel_moments(self, radial: RadialFunction, Q: Points) -> Matrix:
        return self._weighted(self._ask("kernel_moments", radial, Q))

    def atom_sum(self, radial: RadialFunction, atoms: Atoms) -> Vector:
        return self._weighted(self._ask("atom_sum", radial, atoms))

    def atom_moments(self, radial: RadialFunction, atoms: Atoms) -> Matrix:
        return self._weighted(self._ask("atom_moments", radial, atoms))

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector | None = None) -> Vector:
        """log Σ_l share_l e^{f_l}."""
        own = None if w is None else self._cut(w)
        return _log_sum(self._ask("log_kernel_sum", radial, Q, own=own), self._log_shares(w))

    def shift(self, decay: Formula, Q: Points, w: Vector | None = None) -> Shift:
        """The parts' steps weighted by how much each pulls."""
        found: list[Shift] = self._ask("shift", decay, Q, own=None if w is None else self._cut(w))
        shares = self._log_shares(w)
        value = _log_sum([part.log_value for part in found], shares)
        pull = _log_sum([part.log_pull for part in found], shares)
        held = _log_sum([part.log_held for part in found], shares)
        return Shift(value, pull, held, _pulled_steps(found, pull, shares))

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g(‖x_i − x_j‖²): every row is sent to all parts, O(n²d) work and O(nd) bytes
        to each.
        """
        index = self.index
        total = 0.0
        for share, begin, size in zip(
            index.shares, index.begins[:-1], index.parts.sizes, strict=True
        ):
            for start in range(0, int(size), BLOCK):
                rows = np.arange(start, min(start + BLOCK, int(size)))
                values = self.kernel_sum(radial, index.rows(begin + rows))
                total += float(share * np.sum(self._local_weights(int(begin), rows) * values))
        return total

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        return self._weighted(self._ask("fourier_sum", frequencies, origin))

    def _ask(
        self, operation: Operation, *arguments: Any, own: list[tuple[Matrix]] | None = None
    ) -> list[Any]:
        return self.index.parts.each("ask", operation, *arguments, own=own)

    def _weighted(self, parts: list[Matrix]) -> Matrix:
        return _ordered_sum(
            [share * part for share, part in zip(self.index.shares, parts, strict=True)]
        )

    def _log_shares(self, w: Vector | None) -> Vector:
        return np.log(self.index.shares) if w is None else np.zeros(len(self.index.shares))

    def _cut(self, W: Matrix) -> list[tuple[Matrix]]:
        return [(np.ascontiguousarray(part),) for part in np.split(W, self.index.begins[1:-1])]

    def _local_weights(self, begin: int, rows: IntVector) -> Vector:
        which = int(np.searchsorted(self.index.begins, begin, side="right")) - 1
        own = [(rows,) if i == which else None for i in range(len(self.index.shares))]
        weights: Vector = self.index.parts.each("probabilities", own=own)[which]
        return weights


def _pulled_steps(found: list[Shift], pull: Vector, log_shares: Vector) -> Points:
    """Σ_l w_l step_l / Σ_l w_l, w_l = share_l e^{log_pull_l}: far from all points the logarithms
    are so large that their rounding would keep the weights from adding up to one.
    """
    total = np.zeros(pull.shape)
    step = np.zeros(found[0].step.shape)
    with np.errstate(invalid="ignore"):
        for part, share in zip(found, log_shares, strict=True):
            weight = np.where(pull > -np.inf, np.exp(part.log_pull + share - pull), 0.0)
            total += weight
            step += weight[:, None] * part.step
    return np.divide(step, total[:, None], out=np.zeros_like(step), where=total[:, None] > 0.0)


def _ordered_sum(parts: list[Matrix]) -> Matrix:
    """Parts added in their order."""
    total: Matrix = np.array(parts[0])
    for part in parts[1:]:
        total += part
    return total


def _log_sum(parts: list[Vector], log_shares: Vector) -> Vector:
    """log Σ_l e^{f_l + log share_l}, added in the order of the parts."""
    total: Vector = parts[0] + log_shares[0]
    for part, share in zip(parts[1:], log_shares[1:], strict=True):
        total = np.logaddexp(total, part + share)
    return total

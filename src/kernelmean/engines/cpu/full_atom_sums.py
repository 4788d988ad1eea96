"""Sums over atoms with a covariance each, which are passed over blocks of queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelmean._lazy import kept
from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.signatures import Loop
from kernelmean.engines import Shift
from kernelmean.engines.cpu import full_atom_loops as loops
from kernelmean.engines.cpu import sums
from kernelmean.engines.cpu.atom_sums import log_weights
from kernelmean.engines.cpu.blocks import CELL, padded_dimension, queries, width
from kernelmean.engines.cpu.component_sums import packed
from kernelmean.engines.cpu.full_atom_loops import PULL, TRACE, VALUE
from kernelmean.kernels import Atoms, Components, Formula, RadialFunction
from kernelmean.kernels.atoms import variance

TASK = 2**16  # kernel values per piece of work, a few tenths of a millisecond


class Blurred(NamedTuple):
    """Atoms blurred by a kernel, in the layout of the loops."""

    components: Components
    centers: Points  # (k, padded d)
    factors: Matrix  # (k, padded d²)
    precisions: NDArray[np.float64]  # (k, d, d), in units of the kernel's
    traces: Vector  # (k,) of these, over d


@dataclass(frozen=True)
class FullAtoms:
    """k atoms N(c_a, S_a)."""

    atoms: Atoms
    threads: int
    _blurred: dict[float, Blurred] = field(default_factory=dict)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        """Σ_a W_ac g_a(q_i)."""
        own = self._layout(variance(radial))
        heights = np.exp(own.components.log_heights)
        found = self._plain(own, query_blocks(Q), (W.T * heights).T)[: len(Q)]
        return found[:, 0] if W.ndim == 1 else found

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        """log Σ_a w_a g_a(q_i): the logarithm of the plain sum, in units of the highest atom,
        unless it is near underflow.
        """
        own = self._layout(variance(radial))
        log_v, top = log_weights(w, own.components)
        plain = self._plain(own, query_blocks(Q), np.exp(log_v))[: len(Q), 0]
        with np.errstate(divide="ignore"):
            value: Vector = np.log(plain)
        far = np.flatnonzero(plain < sums.LEAST * max(1, len(w)))
        if len(far):
            blocks = query_blocks(Q[far])
            peak = self._peaks(own, blocks, log_v)
            total = np.zeros(peak.shape)
            loop = loops.totals(self.atoms.dimension)
            self._run(loop, blocks, lambda b: (own.centers, own.factors, log_v, peak[b], total[b]))
            with np.errstate(divide="ignore"):
                value[far] = (peak + np.log(total)).reshape(-1)[: len(far)]
        return value + top

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        """Step (Σ r_a P_a)⁻¹ Σ r_a P_a (c_a − q), r_a ∝ w_a g_a, P_a in units of the kernel's."""
        own = self._layout(variance(decay.times(None)))
        log_v, top = log_weights(w, own.components)
        d = self.atoms.dimension
        blocks = query_blocks(Q)
        peak = self._peaks(own, blocks, log_v)
        totals = np.zeros((len(blocks), PULL + d + d * (d + 1) // 2, blocks.shape[2]))
        self._run(
            loops.shift(d),
            blocks,
            lambda b: (
                own.centers,
                own.factors,
                log_v,
                own.precisions,
                own.traces,
                peak[b],
                totals[b],
            ),
        )
        return _solved(as_rows(totals, len(Q)), peak.reshape(-1)[: len(Q)] + top, d)

    def _plain(self, own: Blurred, blocks: NDArray[np.float64], V: Matrix) -> Matrix:
        """(queries and padding, columns): Σ_a V_ac exp(−‖F_a(q_i − c_a)‖²)."""
        V = np.ascontiguousarray(V.reshape(len(V), -1))
        out = np.zeros((len(blocks), V.shape[1], blocks.shape[2]))
        loop = loops.kernel_sum(self.atoms.dimension)
        self._run(loop, blocks, lambda b: (own.centers, own.factors, V, out[b]))
        return as_rows(out, out.shape[0] * out.shape[2])

    def _peaks(self, own: Blurred, blocks: NDArray[np.float64], log_v: Vector) -> Matrix:
        """(blocks, width): the largest term of each query."""
        peak = np.full((len(blocks), blocks.shape[2]), -np.inf)
        loop = loops.peaks(self.atoms.dimension)
        self._run(loop, blocks, lambda b: (own.centers, own.factors, log_v, peak[b]))
        return peak

    def _run(
        self, loop: Loop, blocks: NDArray[np.float64], further: Callable[[slice], tuple[Any, ...]]
    ) -> None:
        """A loop over pieces of the blocks, with the further arguments of each piece."""
        size = max(1, TASK // max(1, len(self.atoms) * blocks.shape[2]))
        pieces = [slice(b, b + size) for b in range(0, len(blocks), size)]
        threads.run(loop, [(blocks[b], *further(b)) for b in pieces], self.threads)

    def _layout(self, tau2: float) -> Blurred:
        return kept(self._blurred, tau2, self._laid_out)

    def _laid_out(self, tau2: float) -> Blurred:
        components = self.atoms.blurred(tau2)
        P = np.ascontiguousarray(tau2 * components.precisions())
        traces = np.ascontiguousarray(np.trace(P, axis1=1, axis2=2) / self.atoms.dimension)
        return Blurred(components, queries(components.centers), packed(components), P, traces)


def query_blocks(Q: Points) -> NDArray[np.float64]:
    """(blocks, padded d, width): queries side by side, in narrower blocks where there are few."""
    q, d = Q.shape
    side = min(width(d), max(1, -(-q // CELL)) * CELL)
    rows = np.zeros((-(-q // side) * side, padded_dimension(d)))
    rows[:q, :d] = Q
    return np.ascontiguousarray(np.swapaxes(rows.reshape(-1, side, rows.shape[1]), 1, 2))


def as_rows(values: NDArray[np.float64], q: int) -> Matrix:
    """(blocks, columns, width) as one row for each of the q queries."""
    columns = values.shape[1]
    return np.ascontiguousarray(np.swapaxes(values, 1, 2)).reshape(-1, columns)[:q]


def _solved(totals: Matrix, top: Vector, d: int) -> Shift:
    """Quotients of the sums of each query; nothing moves where no atom has a weight."""
    upper = np.triu_indices(d)
    matrices = np.zeros((len(totals), d, d))
    matrices[:, upper[0], upper[1]] = totals[:, PULL + d :]
    matrices[:, upper[1], upper[0]] = totals[:, PULL + d :]
    pulled = totals[:, PULL : PULL + d]
    some = totals[:, VALUE] > 0.0
    step = np.zeros((len(totals), d))
    step[some] = np.linalg.solve(matrices[some], pulled[some, :, None])[:, :, 0]
    direction = np.zeros((len(totals), d))
    np.divide(pulled, totals[:, TRACE, None], out=direction, where=some[:, None])
    with np.errstate(divide="ignore"):
        logs = np.log(totals[:, [VALUE, TRACE]]) + np.where(some, top, 0.0)[:, None]
    held = np.full(len(totals), -np.inf)
    return Shift(logs[:, 0], logs[:, 1], held, step, direction)

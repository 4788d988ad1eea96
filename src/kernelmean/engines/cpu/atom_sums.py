"""Sums over atoms with a variance each, which lie in blocks like points, at queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelmean._lazy import kept, lazy
from kernelmean._types import Matrix, Points, Vector
from kernelmean.compiled import threads
from kernelmean.compiled.radial import FUSED
from kernelmean.engines import Shift
from kernelmean.engines.cpu import atom_loops as loops
from kernelmean.engines.cpu import shifts, sums
from kernelmean.engines.cpu.blocks import Blocks, padded_dimension, queries
from kernelmean.kernels import Atoms, Components, Formula, RadialFunction
from kernelmean.kernels.atoms import variance


@dataclass(frozen=True)
class ScalarAtoms:
    """k atoms N(c_a, s_a²I) in blocks."""

    atoms: Atoms
    threads: int
    _blurred: dict[float, tuple[Components, Matrix]] = field(default_factory=dict)

    @lazy
    def blocks(self) -> Blocks:
        """The centres in the layout of the compiled loops."""
        return Blocks.of(self.atoms.centers, self.threads)

    def kernel_sum(self, radial: RadialFunction, Q: Points, W: Matrix) -> Matrix:
        """Σ_a W_ac g_a(q_i)."""
        components, rates = self._components(variance(radial))
        heights = np.exp(components.log_heights)
        if W.ndim == 1:
            return self._plain(rates, queries(Q), W * heights)
        V = W * heights[:, None]
        spread = np.ascontiguousarray(np.stack([self.blocks.spread(v) for v in V.T], axis=1))
        loop = loops.kernel_sum_columns(self.blocks.d)
        rows = queries(Q)
        pieces, across = sums.shares(self.blocks, rows)
        parts = np.zeros((len(pieces), len(Q), W.shape[1]))
        tasks = [
            (self.blocks.points[piece], spread[piece], rates[piece], rows[i], parts[c, i])
            for c, piece in enumerate(pieces)
            for i in across
        ]
        threads.run(loop, tasks, self.threads)
        return sums.ordered_sum(parts)

    def log_kernel_sum(self, radial: RadialFunction, Q: Points, w: Vector) -> Vector:
        """log Σ_a w_a g_a(q_i): the logarithm of the plain sum, in units of the highest atom,
        unless it is near underflow.
        """
        components, rates = self._components(variance(radial))
        log_v, top = log_weights(w, components)
        rows = queries(Q)
        plain = self._plain(rates, rows, np.exp(log_v))
        with np.errstate(divide="ignore"):
            value: Vector = np.log(plain)
        far = np.flatnonzero(plain < sums.LEAST * max(1, len(w)))
        if len(far):
            value[far] = self._in_the_log_domain(rates, rows[far], log_v)
        return value + top

    def shift(self, decay: Formula, Q: Points, w: Vector) -> Shift:
        """Σ w_a ψ_a (c_a − q) / Σ w_a ψ_a in the log domain."""
        components, rates = self._components(variance(decay.times(None)))
        log_v, top = log_weights(w, components)
        spread = self.blocks.spread(log_v, padding=-np.inf)
        rows = queries(Q)
        pieces, across = sums.shares(self.blocks, rows)
        peak = np.full((len(pieces), len(Q)), -np.inf)
        totals = np.zeros((len(pieces), len(Q), shifts.STEP + padded_dimension(self.blocks.d)))
        tasks = [
            (
                self.blocks.points[piece],
                spread[piece],
                rates[piece],
                shifts.live(self.blocks, piece),
                rows[i],
                decay.rate,
                peak[c, i],
                totals[c, i],
            )
            for c, piece in enumerate(pieces)
            for i in across
        ]
        threads.run(loops.shift(self.blocks.d), tasks, self.threads)
        found = shifts.quotients(peak, totals, self.blocks.d)
        return found._replace(log_value=found.log_value + top, log_pull=found.log_pull + top)

    def _components(self, tau2: float) -> tuple[Components, Matrix]:
        """The atoms blurred by a kernel of variance τ², and their rates in the layout of the
        blocks.
        """
        return kept(self._blurred, tau2, self._spread_rates)

    def _spread_rates(self, tau2: float) -> tuple[Components, Matrix]:
        components = self.atoms.blurred(tau2)
        return components, self.blocks.spread(components.factors)

    def _plain(self, rates: Matrix, rows: Points, v: Vector) -> Vector:
        """Σ_a v_a exp(−rate_a ‖q_i − c_a‖²)."""
        blocks = self.blocks
        loop = loops.kernel_sum(blocks.d)
        spread = blocks.spread(v)
        pieces, across = sums.shares(blocks, rows)
        parts = np.zeros((len(pieces), len(rows)))
        if len(pieces) > 1:
            tasks = [
                (blocks.points[c], spread[c], rates[c], rows, part)
                for c, part in zip(pieces, parts, strict=True)
            ]
            threads.run(loop, tasks, self.threads)
            return sums.ordered_sum(parts)
        whole = [(blocks.points, spread, rates)]
        for own in sums.without_padding(blocks, spread, rates) if blocks.d <= FUSED else whole:
            threads.run(loop, [(*own, rows[i], parts[0, i]) for i in across], self.threads)
        found: Vector = parts[0]
        return found

    def _in_the_log_domain(self, rates: Matrix, rows: Points, log_v: Vector) -> Vector:
        """The logarithm of the same, without underflow."""
        loop = loops.log_kernel_sum(self.blocks.d)
        spread = self.blocks.spread(log_v, padding=-np.inf)
        pieces, across = sums.shares(self.blocks, rows)
        peak = np.full((len(pieces), len(rows)), -np.inf)
        total = np.zeros((len(pieces), len(rows)))
        tasks = [
            (
                self.blocks.points[piece],
                spread[piece],
                rates[piece],
                rows[i],
                peak[c, i],
                total[c, i],
            )
            for c, piece in enumerate(pieces)
            for i in across
        ]
        threads.run(loop, tasks, self.threads)
        return sums.joined_logs(peak, total)


def log_weights(w: Vector, components: Components) -> tuple[Vector, float]:
    """log w_a h_a relative to the largest, and the largest; 0 where every weight is zero."""
    with np.errstate(divide="ignore"):
        log_v = np.log(w) + components.log_heights
    top = float(log_v.max(initial=-np.inf))
    top = top if top > -np.inf else 0.0
    return log_v - top, top

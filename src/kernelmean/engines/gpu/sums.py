"""Kernel sums on a device, operation by operation: in which precision, and what leaves.

``single`` is the precision of sums that evaluate (:mod:`.single`: 1e-6 of Σ|w|g); all else is
float64 (:mod:`.double`: 1e-13).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean._types import IntVector, Matrix, Points, Vector
from kernelmean.engines import Shift, naive
from kernelmean.engines.gpu.arrays import (
    PADDING,
    Tensor,
    double_columns,
    padded,
    spread,
    to_device,
    to_host,
    vector,
)
from kernelmean.engines.gpu.double import QUERIES, Blur, Double, Evaluation, loops
from kernelmean.engines.gpu.points import DeviceSample
from kernelmean.engines.gpu.single import Single
from kernelmean.kernels import Formula, RadialFunction
from kernelmean.kernels.radials import log_one, touching

AT_ONCE = 1 << 22  # queries per launch
FAR_LOG_PULL = 4e6  # beyond, float64 leaves a logarithm fewer than nine decimal places
FEW_PIECES = 32  # into how many pieces a quadratic form is cut at most


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of one point cloud, in one precision."""

    sample: DeviceSample
    single: bool
    blur: Blur | None = None  # where the points are the centres of atoms

    def kernel_sum(
        self, radial: RadialFunction, Q: Points | Tensor, W: Matrix | Tensor | None
    ) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²); W is (n,), (n, c), or None for the points' own."""
        weights = self._weights(W).reshape(len(self.sample.X), -1)
        f = self._in_parts(self._own.sums(radial, weights), Q, weights.shape[1])
        return to_host(f[0] if W is None or W.ndim == 1 else f.T.contiguous())

    def kernel_moments(self, radial: RadialFunction, Q: Points | Tensor) -> Matrix:
        """(q, 1 + d): Σ_j p_j g, then Σ_j p_j g (x_j − q_i); by differences from the query, in
        float64 in either precision.
        """
        X = self.sample.columns
        n = len(self.sample.X)
        plan = self._double.plan(radial)
        sums = self._double.sums(radial, self.sample.p[:, None])
        w = spread(self.sample.p[:, None], X.shape[1], torch.float64)

        def evaluate(queries: Tensor) -> Tensor:
            pulls = self._loops.kernel_pulls(plan, X, n, w, double_columns(queries, QUERIES))
            return torch.cat([sums(queries), pulls[:, : len(queries)]])

        return to_host(self._in_parts(evaluate, Q, 1 + len(X)).T.contiguous())

    def log_kernel_sum(
        self, radial: RadialFunction, Q: Points | Tensor, w: Vector | Tensor | None
    ) -> Vector:
        """log Σ_j w_j g: the largest term first, then the sum relative to it."""
        return to_host(self._in_parts(self._own.logs(radial, self._weights(w)), Q, 1)[0])

    def shift(self, decay: Formula, Q: Points | Tensor, w: Vector | Tensor | None) -> Shift:
        """One step of mean shift, in the log domain and in float64 in either precision."""
        exact = replace(self, single=False)
        X = self.sample.columns
        weights = self._weights(w)
        queries = to_device(Q, X.device)
        log_pull = exact.log_kernel_sum(decay, queries, weights)
        log_held = np.full(len(queries), -np.inf)
        if decay.traits.kink:
            at_query = Formula(log_one, decay.rate, factor=touching)
            with np.errstate(divide="ignore"):
                log_held = np.log(exact.kernel_sum(at_query, queries, weights))  # φ(0) = 1
        log_value = exact.log_kernel_sum(decay.times(None), queries, weights)
        step = self.steps(decay, queries, weights, log_pull)
        far = far_out(log_pull)
        if len(far):
            step[far] = self._far_steps(decay, to_host(queries.double())[far], weights)
        return Shift(log_value, log_pull, log_held, step)

    def steps(self, decay: Formula, queries: Tensor, weights: Tensor, log_pull: Vector) -> Points:
        """(q, d): Σ_j w_j ψ_j (x_j − q) divided by Σ_j w_j ψ_j, of which the logarithm is given."""
        X = self.sample.columns
        level = torch.where(torch.isfinite(peaks := to_device(log_pull, X.device)), peaks, 0.0)
        framed = double_columns(queries, QUERIES)
        levels = torch.nn.functional.pad(level, (0, framed.shape[1] - len(level)))
        log_w = self._double.log_weights(weights)
        pulls = self._loops.kernel_pulls(
            self._double.plan(decay), X, len(self.sample.X), log_w, framed, levels
        )
        return to_host(pulls[:, : len(queries)].T.contiguous())

    def _far_steps(self, decay: Formula, Q: Points, weights: Tensor) -> Points:
        """Steps of the few queries so far out that their logarithms have no digits to add up by."""
        points = naive.Engine().load(to_host(self.sample.X.double()))
        return points.shift(decay, Q, to_host(weights)).step

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g over half of the pairs: each piece with itself, and twice with the later
        ones.
        """
        n = len(self.sample.X)
        p = self.sample.p * len(self.sample.X)
        between = self._own.between(radial, p)
        width = padded(n, PADDING)
        size = -(-max(n // FEW_PIECES, 1) // 4096) * 4096
        total = torch.zeros((), dtype=torch.float64, device=p.device)
        for start in range(0, n, size):
            stop = min(start + size, width)
            own = spread(p[start : min(stop, n), None], stop - start, torch.float64)[0]
            total += (own * between(slice(start, stop), start, min(stop, n))).sum()
            if stop < n:
                total += 2.0 * (own * between(slice(start, stop), stop, n)).sum()
        return float(total) / n**2

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        """(M, 2): Σ_j p_j cos ω·(x_j − origin) and the same with sin; in float64 in either
        precision.
        """
        X = self.sample.columns
        device = self.sample.X.device
        w = spread(self.sample.p[:, None], X.shape[1], torch.float64)
        F = double_columns(to_device(frequencies, device), QUERIES)
        sums = self._loops.fourier_sums(
            X, len(self.sample.X), w, F, to_device(origin, device).to(torch.float64)
        )
        return to_host(sums[:, : len(frequencies)].T.contiguous())

    def _in_parts(self, evaluate: Evaluation, Q: Points | Tensor, rows: int) -> Tensor:
        """(rows, q) in float64, a few million queries at a time."""
        queries = to_device(Q, self.sample.X.device)
        f = torch.empty((rows, len(queries)), dtype=torch.float64, device=queries.device)
        for start in range(0, len(queries), AT_ONCE):
            f[:, start : start + AT_ONCE] = evaluate(queries[start : start + AT_ONCE])
        return f

    def _weights(self, W: Matrix | Tensor | None) -> Tensor:
        return self.sample.p if W is None else vector(W, self.sample.X.device)

    @property
    def _own(self) -> Single | Double:
        return self._single if self.single else self._double

    @lazy
    def _double(self) -> Double:
        return Double(self.sample, self.blur)

    @lazy
    def _single(self) -> Single:
        return Single(self.sample, self._double)

    @property
    def _loops(self) -> ModuleType:
        return loops(self.sample.X.device)


def far_out(log_pull: Vector) -> IntVector:
    """The queries whose logarithms have no digits to add steps up by."""
    return np.flatnonzero(np.isfinite(log_pull) & (np.abs(log_pull) > FAR_LOG_PULL))

"""Kernel sums on a device: in which precision and unit, over which pieces, by which loop.

Single precision. A term w g is computed in float32 from points rounded about their middle, and added in float64 after a few
terms. Its error is a few 2⁻²⁴ of g times 1 + |log g|, and what rounding points and queries does: a shift of 2⁻²⁴ times their
distance from the middle. At queries within five of the kernel's lengths of it that is below 1e-6 of Σ|w|g; farther out it
grows with the distance.

Double precision is float64 throughout, by direct differences: 1e-13 of Σ|w|g.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean._types import Matrix, Points, Vector
from kernelmean.engines import Shift
from kernelmean.engines.gpu.arrays import Frame, Tensor, double_columns, middle, spread, to_device, to_host, unit_for, vector
from kernelmean.engines.gpu.plan import Plan
from kernelmean.engines.gpu.sample import DeviceSample
from kernelmean.kernels import Formula, RadialFunction
from kernelmean.kernels.radials import Factor, laplacian_decay, log_one

QUERIES = 64  # queries are padded to a multiple of this
AT_ONCE = 1 << 22  # queries per launch
COLUMNS = 4  # columns of weights per launch
FEW_PIECES = 32  # into how many pieces a quadratic form is cut at most
PRODUCTS = 32  # coordinates from which tensor cores pay
REACH = 8.0  # rate·(|x|² + |q|²) up to which cancellation in |x|² + |q|² − 2x·q stays below 1e-6


def loops(device: torch.device) -> ModuleType:
    """Triton's loops on CUDA devices, torch's elsewhere."""
    return importlib.import_module(f"kernelmean.engines.gpu.{'triton' if device.type == 'cuda' else 'torch'}_loops")


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of one room, in one precision."""

    sample: DeviceSample
    single: bool
    _kept: dict[float, tuple[Frame, Tensor]] = field(default_factory=dict)

    def kernel_sum(self, radial: RadialFunction, Q: Points | Tensor, W: Matrix | Tensor | None) -> Matrix:
        """f_ic = Σ_j W_jc g(‖q_i − x_j‖²); W is (n,), (n, c) or None for the room's own weights."""
        frame, X = self._points(radial)
        plan, (columns, scales) = self._plan(radial, frame), self._columns(W, X)
        queries = to_device(Q, X.device)
        f = torch.empty((len(columns), len(queries)), dtype=torch.float64, device=X.device)
        for start in range(0, len(queries), AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, len(queries)))
            part = self._framed(queries[rows], frame)
            for c in range(0, len(columns), COLUMNS):
                f[c : c + COLUMNS, rows] = self._sum(plan, X, columns[c : c + COLUMNS], part)[:, : rows.stop - rows.start]
        f *= scales[:, None]
        return to_host(f[0] if W is None or W.ndim == 1 else f.T.contiguous())

    def kernel_moments(self, radial: RadialFunction, Q: Points | Tensor) -> Matrix:
        """(q, 1 + d): Σ_j p_j g, then Σ_j p_j g (x_j − q_i); by differences from the query, in float64 in either precision."""
        X, n = self.sample.columns, len(self.sample.X)
        plan, (w, _) = self._plan(radial, None), Sums(self.sample, single=False)._columns(None, X)
        queries = to_device(Q, X.device)
        f = torch.empty((1 + len(X), len(queries)), dtype=torch.float64, device=X.device)
        for start in range(0, len(queries), AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, len(queries)))
            part, size = double_columns(queries[rows], QUERIES), rows.stop - rows.start
            f[:1, rows] = self._loops.kernel_sums(plan, X, n, w, part)[:, :size]
            f[1:, rows] = self._loops.kernel_pulls(plan, X, n, w, part)[:, :size]
        return to_host(f.T.contiguous())

    def log_kernel_sum(self, radial: RadialFunction, Q: Points | Tensor, w: Vector | Tensor | None) -> Vector:
        """log Σ_j w_j g: the largest term first, then the sum relative to it."""
        frame, X = self._points(radial)
        plan, device = self._plan(radial, frame), X.device
        weights = self.sample.p if w is None else vector(w, device)
        top = weights.max().clamp(min=torch.finfo(torch.float64).tiny)
        log_w = spread(torch.log(weights / top)[:, None], X.shape[1], X.dtype, -torch.inf)
        queries = to_device(Q, device)
        f = torch.empty(len(queries), dtype=torch.float64, device=device)
        for start in range(0, len(queries), AT_ONCE):
            rows = slice(start, min(start + AT_ONCE, len(queries)))
            f[rows] = self._log_sum(plan, X, log_w, self._framed(queries[rows], frame))[: rows.stop - rows.start]
        return to_host(f + torch.log(top))

    def shift(self, decay: Formula, Q: Points | Tensor, w: Vector | Tensor | None) -> Shift:
        """One step of mean shift, in the log domain and in float64 in either precision."""
        exact = replace(self, single=False)
        X, weights = self.sample.columns, self.sample.p if w is None else vector(w, self.sample.X.device)
        queries = to_device(Q, X.device)
        log_pull = exact.log_kernel_sum(decay, queries, weights)
        touching = exact.kernel_sum(replace(decay, log_value=log_one, factor=at_kink(decay)), queries, weights)
        with np.errstate(divide="ignore"):
            log_held = np.log(touching)  # φ(0) = 1
        level = torch.where(torch.isfinite(peaks := to_device(log_pull, X.device)), peaks, 0.0)
        log_w = spread(torch.log(weights)[:, None], X.shape[1], torch.float64, -torch.inf)
        framed = double_columns(queries, QUERIES)
        levels = torch.nn.functional.pad(level, (0, framed.shape[1] - len(level)))
        pulls = self._loops.kernel_pulls(self._plan(decay, None), X, len(self.sample.X), log_w, framed, levels)
        log_value = exact.log_kernel_sum(replace(decay, factor=None), queries, weights)
        return Shift(log_value, log_pull, log_held, to_host(pulls[:, : len(queries)].T.contiguous()))

    def quadratic(self, radial: RadialFunction) -> float:
        """Σ_ij p_i p_j g over half of the pairs: each piece with itself, and twice with the later ones."""
        frame, X = self._points(radial)
        plan, (w, scales), n = self._plan(radial, frame), self._columns(None, X), len(self.sample.X)
        size = -(-max(n // FEW_PIECES, 1) // 4096) * 4096
        total = torch.zeros((), dtype=torch.float64, device=X.device)
        for start in range(0, n, size):
            stop = min(start + size, X.shape[1])
            Q, own = X[:, start:stop].contiguous(), w[0, start:stop].double()
            inner = self._loops.kernel_sums(plan, X[:, start:], min(stop, n) - start, w[:, start:], Q)[0]
            total += (own * inner).sum()
            if stop < n:
                later = self._loops.kernel_sums(plan, X[:, stop:], n - stop, w[:, stop:], Q)[0]
                total += 2.0 * (own * later).sum()
        return float(total * scales[0] ** 2)

    def fourier_sum(self, frequencies: Points, origin: Vector) -> Matrix:
        """(M, 2): Σ_j p_j cos ω·(x_j − origin) and the same with sin; in float64 in either precision."""
        X, device = self.sample.columns, self.sample.X.device
        w = spread(self.sample.p[:, None], X.shape[1], torch.float64)
        F = double_columns(to_device(frequencies, device), QUERIES)
        sums = self._loops.fourier_sums(X, len(self.sample.X), w, F, to_device(origin, device).to(torch.float64))
        return to_host(sums[:, : len(frequencies)].T.contiguous())

    def _sum(self, plan: Plan, X: Tensor, W: Tensor, Q: Tensor) -> Tensor:
        n = len(self.sample.X)
        if self.single and len(X) >= PRODUCTS and len(W) == 1:
            norms = (X * X).sum(dim=0), (Q * Q).sum(dim=0)
            if plan.rate * float(norms[0].max() + norms[1].max()) <= REACH:
                return self._loops.dot_sums(plan, X, n, W, Q, norms)
        return self._loops.kernel_sums(plan, X, n, W, Q)

    def _log_sum(self, plan: Plan, X: Tensor, log_w: Tensor, Q: Tensor) -> Tensor:
        n = len(self.sample.X)
        peak = self._loops.log_peaks(plan, X, n, log_w, Q)
        shift = torch.where(torch.isfinite(peak), peak, 0.0)
        total = self._loops.kernel_sums(plan, X, n, log_w, Q, shift)[0]
        return torch.where(torch.isfinite(peak), shift.double() + torch.log(total), peak.double())

    def _points(self, radial: RadialFunction) -> tuple[Frame | None, Tensor]:
        """The points in the precision of the sums; a rounded copy is kept for the kernel used last."""
        if not self.single:
            return None, self.sample.columns
        unit = unit_for(radial.rate)
        if unit not in self._kept:
            frame = Frame(self._middle, unit)
            self._kept.clear()
            self._kept[unit] = frame, frame.columns(self.sample.X)
        return self._kept[unit]

    def _framed(self, Q: Tensor, frame: Frame | None) -> Tensor:
        return double_columns(Q, QUERIES) if frame is None else frame.columns(Q, QUERIES)

    def _plan(self, radial: RadialFunction, frame: Frame | None) -> Plan:
        dtype = torch.float64 if frame is None else torch.float32
        return Plan.of(radial, 1.0 if frame is None else frame.squared_unit, dtype, self.sample.X.device)

    def _columns(self, W: Matrix | Tensor | None, X: Tensor) -> tuple[Tensor, Tensor]:
        """(c, n padded) weights, in float32 scaled so that the largest of each column is 1, and the scales."""
        if W is None:
            columns = self.sample.p[:, None]
        else:
            columns = vector(W, X.device).reshape(len(self.sample.X), -1)
        largest = columns.abs().amax(dim=0)
        scales = torch.where((largest > 0) & self.single, largest, 1.0)
        return spread(columns / scales, X.shape[1], X.dtype), scales

    @property
    def _loops(self) -> ModuleType:
        return loops(self.sample.X.device)

    @lazy
    def _middle(self) -> Tensor:
        return middle(self.sample.X)


def at_kink(decay: Formula) -> Factor:
    """1 at distance zero for a kernel with a kink there, where its decay has no value; 0 elsewhere."""
    return _touching if decay.factor is laplacian_decay else _nowhere


def _touching(s: Any, shape: float, sqrt: Any) -> Any:
    return (s <= 0.0) * 1.0


def _nowhere(s: Any, shape: float, sqrt: Any) -> Any:
    return 0.0

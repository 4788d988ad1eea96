"""Kernel sums in float32 on a device: 1e-6 of Σ|w|g, and how that is kept.

A term is computed in float32 and added in float64 after a few. Its error has two parts. Points and queries are rounded about
the middle of the data, a shift of 2⁻²⁴ times the distance from there; at queries farther out than about a length of the kernel
(NEAR) coordinates are therefore taken in two parts, with what rounding took. And s itself is known to a few 2⁻²⁴ of s, which
for an exponential is a few s·2⁻²⁴ of g: enough where the terms that matter are within :func:`.plan.trusted` s. Elsewhere, far
out in a tail, the few queries concerned are summed again in float64. Which these are is seen from the sum itself where weights
are about equal, since no nearby term means a small sum; else from Σ|w|g s / Σ|w|g, kept beside the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean.engines.gpu.arrays import Frame, Rest, Tensor, middle, spread
from kernelmean.engines.gpu.double import QUERIES, Between, Double, Evaluation, loops
from kernelmean.engines.gpu.plan import Plan, trusted, unit_for
from kernelmean.engines.gpu.sample import DeviceSample
from kernelmean.kernels import RadialFunction

NEAR = 1.0  # root mean square of a query's coordinates, in lengths of the kernel, up to which rounded ones serve
EVEN = 16.0  # weights none of which is negative or so many times their mean are about equal
VANISHED = 1e-30  # sums, in units of the largest weight, below which float32 may have lost terms altogether
COLUMNS = 2  # columns of weights per launch
PRODUCTS = 32  # coordinates from which tensor cores pay
REACH = 8.0  # rate·(|x|² + |q|²) up to which cancellation in |x|² + |q|² − 2x·q stays below 1e-6


class Rounded:
    """The points as float32 columns for one kernel."""

    def __init__(self, frame: Frame, X: Tensor) -> None:
        self.frame, self.columns, self._X = frame, frame.columns(X), X

    @lazy
    def rest(self) -> Tensor:
        """What rounding took from them."""
        return self.frame.rest(self._X, self.columns)

    @lazy
    def largest(self) -> float:
        """The largest squared norm."""
        return float((self.columns * self.columns).sum(dim=0).max())


class Doubt(NamedTuple):
    """When a sum is not trusted: the terms that matter lie beyond s = ``limit``, where g = ``floor``."""

    limit: float
    floor: float
    even: bool  # about equal weights

    @classmethod
    def of(cls, radial: RadialFunction, weights: Tensor) -> Doubt:
        limit = trusted(radial)
        floor = float(np.exp(radial.log(np.array([limit / radial.rate]))[0])) if np.isfinite(limit) else 0.0
        even = bool(((weights >= 0.0).all(dim=0) & (weights.amax(dim=0) <= EVEN * weights.mean(dim=0))).all())
        return cls(limit, floor, even)

    @property
    def tracked(self) -> bool:
        """Whether the sum itself does not tell."""
        return bool(np.isfinite(self.limit)) and not self.even


@dataclass(frozen=True, eq=False)
class Single:
    """Sums over the points of a room in float32, with a way out."""

    sample: DeviceSample
    exact: Double
    _kept: dict[float, Rounded] = field(default_factory=dict)

    def sums(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """f_ci = Σ_j W_jc g(‖q_i − x_j‖²) for weights (n, c); columns are scaled before they are rounded."""
        X, doubt = self.points(radial), Doubt.of(radial, weights)
        largest = weights.abs().amax(dim=0)
        scales = torch.where(largest > 0.0, largest, 1.0)
        columns = spread(weights / scales, X.columns.shape[1], torch.float32)

        def evaluate(queries: Tensor) -> Tensor:
            f, size, s = self._by_reach(radial, X, columns, queries, doubt.tracked)
            doubtful = ~(s <= doubt.limit) | (size < VANISHED) if doubt.tracked else size < doubt.floor
            doubtful = (doubtful & (largest > 0.0)[:, None]).any(dim=0)
            return _again(f * scales[:, None], doubtful, lambda: self.exact.sums(radial, weights), queries)

        return evaluate

    def logs(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """log Σ_j w_j g for weights (n,): the largest term first, then the sum relative to it."""
        X, doubt = self.points(radial), Doubt.of(radial, weights[:, None])
        top = weights.max().clamp(min=torch.finfo(torch.float64).tiny)
        log_w = spread(torch.log(weights / top)[:, None], X.columns.shape[1], torch.float32, -torch.inf)
        n, plan = len(self.sample.X), self.plan(radial, X.frame)

        def evaluate(queries: Tensor) -> Tensor:
            Q = X.frame.columns(queries, QUERIES)
            rest = X.rest, X.frame.rest(queries, Q, QUERIES)
            run = loops(Q.device)
            peak = run.log_peaks(plan, X.columns, n, log_w, Q)
            level = torch.where(torch.isfinite(peak), peak, 0.0)
            total, sizes = run.tracked_sums(plan, X.columns, n, log_w, Q, level, rest)
            f = (level.double() + torch.log(total))[:, : len(queries)]
            doubtful = ~(plan.rate * sizes[1] <= doubt.limit * sizes[0])[0, : len(queries)] | ~torch.isfinite(f[0])
            return _again(f + torch.log(top), doubtful, lambda: self.exact.logs(radial, weights), queries)

        return evaluate

    def between(self, radial: RadialFunction, p: Tensor) -> Between:
        """Σ_j p_j g over points first ≤ j < last, with the points of a slice as queries."""
        points, run = self.points(radial), loops(p.device).kernel_sums
        X, plan = points.columns, self.plan(radial, points.frame)
        rest = points.rest if points.largest > NEAR**2 * len(X) else None
        w = spread(p[:, None], X.shape[1], torch.float32)

        def evaluate(rows: slice, first: int, last: int) -> Tensor:
            left = None if rest is None else (rest[:, first:], rest[:, rows].contiguous())
            f: Tensor = run(plan, X[:, first:], last - first, w[:, first:], X[:, rows].contiguous(), None, left)[0]
            return f

        return evaluate

    def points(self, radial: RadialFunction) -> Rounded:
        """The points rounded for a kernel; those for the one used last are kept."""
        unit = unit_for(radial)
        if unit not in self._kept:
            self._kept.clear()
            self._kept[unit] = Rounded(Frame(self._middle, unit), self.sample.X)
        return self._kept[unit]

    def plan(self, radial: RadialFunction, frame: Frame) -> Plan:
        """The radial in the unit of the rounded points."""
        return Plan.of(radial, frame.squared_unit, torch.float32, self.sample.X.device)

    def _by_reach(
        self, radial: RadialFunction, X: Rounded, columns: Tensor, queries: Tensor, track: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(c, q) each: the sums, Σ|term| and mean s of the terms; queries far from the middle with what rounding took."""
        plan, Q = self.plan(radial, X.frame), X.frame.columns(queries, QUERIES)
        near = ((Q * Q).sum(dim=0) <= NEAR**2 * len(Q))[: len(queries)]
        if bool(near.all()):
            return self._sum(plan, X, columns, (Q, None), track)[:, :, : len(queries)].unbind()
        found = torch.empty((3, len(columns), len(queries)), dtype=torch.float64, device=Q.device)
        for rows, careful in ((torch.nonzero(near)[:, 0], False), (torch.nonzero(~near)[:, 0], True)):
            if len(rows):
                some = queries[rows]
                part = X.frame.columns(some, QUERIES)
                rest = (X.rest, X.frame.rest(some, part, QUERIES)) if careful else None
                found[:, :, rows] = self._sum(plan, X, columns, (part, rest), track)[:, :, : len(rows)]
        return found.unbind()

    def _sum(self, plan: Plan, X: Rounded, W: Tensor, Q: tuple[Tensor, Rest | None], track: bool) -> Tensor:
        """(3, c, q); where nothing is tracked the sums stand for the sizes too."""
        points, n, run = X.columns, len(self.sample.X), loops(W.device)
        queries, rest = Q
        if rest is None and not track and len(points) >= PRODUCTS and len(W) == 1:
            norms = (points * points).sum(dim=0), (queries * queries).sum(dim=0)
            if plan.rate * (X.largest + float(norms[1].max())) <= REACH:
                f = run.dot_sums(plan, points, n, W, queries, norms)
                return torch.stack([f, f, torch.zeros_like(f)])
        parts = []
        for c in range(0, len(W), COLUMNS):
            if track:
                f, sizes = run.tracked_sums(plan, points, n, W[c : c + COLUMNS], queries, None, rest)
                parts.append(torch.stack([f, sizes[0], plan.rate * sizes[1] / sizes[0]]))
            else:
                f = run.kernel_sums(plan, points, n, W[c : c + COLUMNS], queries, None, rest)
                parts.append(torch.stack([f, f, torch.zeros_like(f)]))
        return torch.cat(parts, dim=1)

    @lazy
    def _middle(self) -> Tensor:
        return middle(self.sample.X)


def _again(f: Tensor, doubtful: Tensor, exact: Callable[[], Evaluation], queries: Tensor) -> Tensor:
    """What is not trusted, in float64."""
    rows = torch.nonzero(doubtful)[:, 0]
    if len(rows):
        f[:, rows] = exact()(queries[rows])
    return f

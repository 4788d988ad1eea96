"""Kernel sums in float32 on a device: 1e-6 of Σ|w|g, and how that is kept.

A term is computed in float32 and added in float64 after a few. What its error is depends on how
well s is known. The *plain* loop has points and queries rounded about the middle of the data; it
serves queries within about a length of the kernel (NEAR). The *careful* loop takes coordinates in
two parts and knows s to 2⁻²⁴ of itself, wherever the query is. For an exponential that is s·2⁻²⁴ of
g: enough where the terms that matter are within :func:`.plan.trusted` s. Elsewhere, far out in a
tail, the few queries concerned are summed again in float64. Which these are is seen from the sum
itself where weights are about equal, since no nearby term means a small sum; else from Σ|w|g s /
Σ|w|g, kept beside the sum by the careful loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch

from kernelmean._lazy import lazy
from kernelmean.engines.gpu.arrays import PADDING, Frame, Rounded, Tensor, middle, padded, spread
from kernelmean.engines.gpu.double import QUERIES, Between, Double, Evaluation, loops, weighed
from kernelmean.engines.gpu.plan import DEPTH, UNROLLED, Factors, Plan, trusted, unit_for
from kernelmean.engines.gpu.points import DeviceSample
from kernelmean.kernels import RadialFunction

# root mean square of a query's coordinates, in lengths of the kernel, up to which the plain loop
# serves
NEAR = 1.0
PLAIN = 2.5  # |d log g/d log s| up to which the loops give g to 1e-6
CAREFUL = 12.0  # |d log g/d log s| up to which the loops give g to 1e-6
# The same two for atoms, whose s has two more errors of ε = 2⁻²⁴ of itself: F² is rounded, and so
# is its product with r². The plain loop up to UNROLLED coordinates rounds f = √F² instead, which is
# 2ε of s, and rounds c times this f. As q times it is exact in a fused multiply-add, f(q − c) has
# an error of ε(f|q| + f|c| + f|q − c|) in a coordinate, f times that of q − c: a bound no worse.
ATOM_PLAIN = 2.1
ATOM_CAREFUL = 8.0
EVEN = 16.0  # weights none of which is negative or so many times their mean are about equal
# sums, in units of the largest weight, below which float32 may have lost terms altogether
VANISHED = 1e-30
COLUMNS = 2  # columns of weights per launch
PRODUCTS = 32  # coordinates from which tensor cores pay
REACH = 8.0  # rate·(|x|² + |q|²) up to which cancellation in |x|² + |q|² − 2x·q stays below 1e-6


class Found(NamedTuple):
    """(c, q) each."""

    sums: Tensor
    doubtful: Tensor


@dataclass(frozen=True, eq=False)
class Single:
    """Sums over the points of a point cloud in float32, with a way out."""

    sample: DeviceSample
    exact: Double
    _kept: dict[float, Rounded] = field(default_factory=dict)

    def sums(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """f_ci = Σ_j W_jc g(‖q_i − x_j‖²) for weights (n, c); columns are scaled before they are
        rounded.
        """
        X = self.points(radial)
        heavy = weighed(weights, self.exact.blur)
        even = about_equal(heavy)
        largest = heavy.abs().amax(dim=0)
        scales = torch.where(largest > 0.0, largest, 1.0)
        columns = spread(heavy / scales, padded(len(weights), PADDING), torch.float32)

        def evaluate(queries: Tensor) -> Tensor:
            found = (
                self._by_reach(radial, X, columns, queries)
                if even
                else self._tracked(radial, X, columns, queries)
            )
            doubtful = (found.doubtful & (largest > 0.0)[:, None]).any(dim=0)
            return _again(
                found.sums * scales[:, None],
                doubtful,
                lambda: self.exact.sums(radial, weights),
                queries,
            )

        return evaluate

    def logs(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """log Σ_j w_j g for weights (n,): the largest term first, then the sum relative to it."""
        logs, top = self._log_weights(weights)
        if self.exact.blur is not None and _depth(logs) > DEPTH:
            return self.exact.logs(radial, weights)
        X = self.points(radial)
        n = len(weights)
        limit = trusted(radial, self._steepness[1], logarithm=True)
        log_w = spread(logs[:, None], padded(n, PADDING), torch.float32, -torch.inf)
        plan = self.plan(radial, X.frame)

        def evaluate(queries: Tensor) -> Tensor:
            run = loops(queries.device)
            points, rest = X.split
            Q, q_rest = X.frame.split(queries, QUERIES)
            peak = run.log_peaks(plan, points, n, log_w, Q)
            level = torch.where(torch.isfinite(peak), peak, 0.0)
            total, sizes = run.tracked_sums(plan, points, n, log_w, Q, level, (rest, q_rest))
            f = (level.double() + torch.log(total))[:, : len(queries)]
            doubtful = ~(plan.rate * sizes[1] <= limit * sizes[0])[
                0, : len(queries)
            ] | ~torch.isfinite(f[0])
            return _again(f + top, doubtful, lambda: self.exact.logs(radial, weights), queries)

        return evaluate

    def between(self, radial: RadialFunction, p: Tensor) -> Between:
        """Σ_j p_j g over points first ≤ j < last, with the points of a slice as queries."""
        points = self.points(radial)
        run = loops(p.device).kernel_sums
        far = points.largest > NEAR**2 * self.sample.X.shape[1]
        X, rest = points.split if far else (points.columns, None)
        plan = self.plan(radial, points.frame)
        w = spread(p[:, None], X.shape[1], torch.float32)

        def evaluate(rows: slice, first: int, last: int) -> Tensor:
            left = None if rest is None else (rest[:, first:], rest[:, rows].contiguous())
            f: Tensor = run(
                plan, X[:, first:], last - first, w[:, first:], X[:, rows].contiguous(), None, left
            )[0]
            return f

        return evaluate

    def points(self, radial: RadialFunction) -> Rounded:
        """The points rounded for a kernel; those for the one used last are kept."""
        unit = unit_for(radial)
        if unit not in self._kept:
            self._kept.clear()
            roots = None if self._roots is None else self._roots.values[: len(self.sample.X)]
            self._kept[unit] = Rounded(Frame(self._middle, unit), self.sample.X, roots)
        return self._kept[unit]

    def plan(self, radial: RadialFunction, frame: Frame) -> Plan:
        """The radial in the unit of the rounded points."""
        plan = Plan.of(radial, frame.squared_unit, torch.float32, self.sample.X.device)
        return plan if self._factors is None else plan._replace(factors=self._factors)

    def _log_weights(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """(n,) log w_j, with the height of an atom, relative to the largest, and that."""
        if self.exact.blur is None:
            top = weights.max().clamp(min=torch.finfo(torch.float64).tiny)
            return torch.log(weights / top), torch.log(top)
        logs = torch.log(weights) + self.exact.blur.log_heights
        top = logs.max().clamp(min=torch.finfo(torch.float64).min)
        return logs - top, top

    @lazy
    def _factors(self) -> Factors | None:
        blur = self.exact.blur
        return None if blur is None else Factors(blur.factors.values.float())

    @lazy
    def _roots(self) -> Factors | None:
        """F in the place of F², where the plain loop has points that come multiplied by it."""
        blur = self.exact.blur
        if blur is None or self.sample.X.shape[1] > UNROLLED:
            return None
        return Factors(torch.sqrt(blur.factors.values).float(), mirrored=True)

    @property
    def _steepness(self) -> tuple[float, float]:
        """|d log g/d log s| up to which the plain and the careful loop give g to 1e-6."""
        return (PLAIN, CAREFUL) if self.exact.blur is None else (ATOM_PLAIN, ATOM_CAREFUL)

    def _by_reach(self, radial: RadialFunction, X: Rounded, W: Tensor, queries: Tensor) -> Found:
        """About equal weights: the plain loop near the middle, the careful one elsewhere; small
        sums are doubtful.
        """
        Q = X.frame.columns(queries, QUERIES)
        near = ((Q * Q).sum(dim=0) <= NEAR**2 * len(Q))[: len(queries)]
        floors = torch.where(
            near, *(_value(radial, trusted(radial, steepness)) for steepness in self._steepness)
        )
        if bool(near.all()):
            f = self._plain(radial, X, W, Q)[:, : len(queries)]
            return Found(f, f < floors)
        f = torch.empty((len(W), len(queries)), dtype=torch.float64, device=Q.device)
        close, far = (torch.nonzero(which)[:, 0] for which in (near, ~near))
        f[:, far] = self._careful(radial, X, W, queries[far])[:, : len(far)]
        if len(close):
            f[:, close] = self._plain(radial, X, W, X.frame.columns(queries[close], QUERIES))[
                :, : len(close)
            ]
        return Found(f, f < floors)

    def _plain(self, radial: RadialFunction, X: Rounded, W: Tensor, Q: Tensor) -> Tensor:
        """(c, q) from rounded queries (d, q padded)."""
        n = len(self.sample.X)
        run = loops(W.device)
        plan = self.plan(radial, X.frame)
        if self._roots is None:
            points = X.columns
        else:
            points = X.mirrored
            plan = plan._replace(factors=self._roots)
        if len(points) >= PRODUCTS and len(W) == 1:
            norms = (points * points).sum(dim=0), (Q * Q).sum(dim=0)
            if plan.rate * (X.largest + float(norms[1].max())) <= REACH:
                return run.dot_sums(plan, points, n, W, Q, norms)
        return torch.cat(
            [
                run.kernel_sums(plan, points, n, W[c : c + COLUMNS], Q)
                for c in range(0, len(W), COLUMNS)
            ]
        )

    def _careful(self, radial: RadialFunction, X: Rounded, W: Tensor, queries: Tensor) -> Tensor:
        """(c, q padded)."""
        n = len(self.sample.X)
        plan = self.plan(radial, X.frame)
        run = loops(W.device).kernel_sums
        points, rest = X.split
        Q, q_rest = X.frame.split(queries, QUERIES)
        parts = [
            run(plan, points, n, W[c : c + COLUMNS], Q, None, (rest, q_rest))
            for c in range(0, len(W), COLUMNS)
        ]
        return torch.cat(parts)

    def _tracked(self, radial: RadialFunction, X: Rounded, W: Tensor, queries: Tensor) -> Found:
        """Any weights: the careful loop, which also says how far away the terms are that matter."""
        n = len(self.sample.X)
        plan = self.plan(radial, X.frame)
        limit = trusted(radial, self._steepness[1])
        points, rest = X.split
        Q, q_rest = X.frame.split(queries, QUERIES)
        parts = []
        for c in range(0, len(W), COLUMNS):
            f, (size, far) = loops(W.device).tracked_sums(
                plan, points, n, W[c : c + COLUMNS], Q, None, (rest, q_rest)
            )
            parts.append(
                torch.stack([f, 1.0 * (~(plan.rate * far <= limit * size) | (size < VANISHED))])
            )
        both = torch.cat(parts, dim=1)[:, :, : len(queries)]
        return Found(both[0], both[1] > 0.0)

    @lazy
    def _middle(self) -> Tensor:
        return middle(self.sample.X)


def about_equal(weights: Tensor) -> bool:
    """Whether in every column (n, c) no weight is negative or many times the mean."""
    return bool(
        ((weights >= 0.0).all(dim=0) & (weights.amax(dim=0) <= EVEN * weights.mean(dim=0))).all()
    )


def _depth(logs: Tensor) -> float:
    """How far below the largest, 0, the logarithms of weights go that are not zero."""
    return -float(torch.where(torch.isfinite(logs), logs, 0.0).min())


def _value(radial: RadialFunction, s: float) -> float:
    """g where it is rate · r² = s; zero at infinity."""
    return float(np.exp(radial.log(np.array([s / radial.rate]))[0])) if np.isfinite(s) else 0.0


def _again(f: Tensor, doubtful: Tensor, exact: Callable[[], Evaluation], queries: Tensor) -> Tensor:
    """What is not trusted, in float64."""
    rows = torch.nonzero(doubtful)[:, 0]
    if len(rows):
        f[:, rows] = exact()(queries[rows])
    return f

"""Kernel sums in float64 on a device, by direct differences: 1e-13 of Σ|w|g."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple, TypeAlias

import torch

from kernelmean.engines.gpu.arrays import Tensor, double_columns, spread
from kernelmean.engines.gpu.plan import Factors, Plan
from kernelmean.engines.gpu.points import DeviceSample
from kernelmean.kernels import RadialFunction

QUERIES = 64  # queries are padded to a multiple of this
COLUMNS = 4  # columns of weights per launch

Evaluation: TypeAlias = Callable[[Tensor], Tensor]  # (q, d) queries -> (c, q) sums in float64
Between: TypeAlias = Callable[
    [slice, int, int], Tensor
]  # queries among the points, first and last point -> (q,) sums


def loops(device: torch.device) -> ModuleType:
    """Triton's loops on CUDA devices, torch's elsewhere."""
    return importlib.import_module(
        f"kernelmean.engines.gpu.{'triton' if device.type == 'cuda' else 'torch'}_loops"
    )


class Blur(NamedTuple):
    """What a Gaussian radial makes of atoms: Gaussians h_a g(‖F_a(x − c_a)‖²)."""

    factors: Factors
    log_heights: Tensor  # (k,)


@dataclass(frozen=True, eq=False)
class Double:
    """Sums over the points of a point cloud, all in float64; over atoms, where there is a blur."""

    sample: DeviceSample
    blur: Blur | None = None

    def sums(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """f_ci = Σ_j W_jc g(‖q_i − x_j‖²) for weights (n, c)."""
        X = self.sample.columns
        n = len(self.sample.X)
        run = loops(self.sample.X.device).kernel_sums
        plan = self.plan(radial)
        columns = spread(weighed(weights, self.blur), X.shape[1], torch.float64)

        def evaluate(queries: Tensor) -> Tensor:
            Q = double_columns(queries, QUERIES)
            parts = [
                run(plan, X, n, columns[c : c + COLUMNS], Q)
                for c in range(0, len(columns), COLUMNS)
            ]
            return torch.cat(parts)[:, : len(queries)]

        return evaluate

    def logs(self, radial: RadialFunction, weights: Tensor) -> Evaluation:
        """log Σ_j w_j g for weights (n,): the largest term first, then the sum relative to it."""
        X = self.sample.columns
        n = len(self.sample.X)
        plan = self.plan(radial)
        log_w = self.log_weights(weights)

        def evaluate(queries: Tensor) -> Tensor:
            Q = double_columns(queries, QUERIES)
            run = loops(X.device)
            peak = run.log_peaks(plan, X, n, log_w, Q)
            level = torch.where(torch.isfinite(peak), peak, 0.0)
            logarithm = level + torch.log(run.kernel_sums(plan, X, n, log_w, Q, level)[0])
            return torch.where(torch.isfinite(peak), logarithm, peak)[None, : len(queries)]

        return evaluate

    def between(self, radial: RadialFunction, p: Tensor) -> Between:
        """Σ_j p_j g over points first ≤ j < last, with the points of a slice as queries."""
        X = self.sample.columns
        plan = self.plan(radial)
        run = loops(p.device).kernel_sums
        w = spread(p[:, None], X.shape[1], torch.float64)

        def evaluate(rows: slice, first: int, last: int) -> Tensor:
            f: Tensor = run(
                plan, X[:, first:], last - first, w[:, first:], X[:, rows].contiguous()
            )[0]
            return f

        return evaluate

    def log_weights(self, weights: Tensor) -> Tensor:
        """(1, n padded): log w_j, with the height of an atom."""
        logs = torch.log(weights) + (0.0 if self.blur is None else self.blur.log_heights)
        return spread(logs[:, None], self.sample.columns.shape[1], torch.float64, -torch.inf)

    def plan(self, radial: RadialFunction) -> Plan:
        """The radial in the unit of the points as they are."""
        plan = Plan.of(radial, 1.0, torch.float64, self.sample.X.device)
        return plan if self.blur is None else plan._replace(factors=self.blur.factors)


def weighed(weights: Tensor, blur: Blur | None) -> Tensor:
    """Weights (n, c) times the heights of atoms, where there are any."""
    return weights if blur is None else weights * torch.exp(blur.log_heights)[:, None]
